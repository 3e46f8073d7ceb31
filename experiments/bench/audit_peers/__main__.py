"""python -m experiments.bench.audit_peers [--cases forest-seed,ebm-value] [--runs 500] [--anew]
[--report] [--out docs/results]

Do the peers keep what they promise? Audits their fitted models, and writes audit-peers.csv and
audit-peers.md. Cases that are in the CSV file already are not audited again unless asked with
--anew; --report writes the page only. The peers' environment is that of experiments.bench.accuracy,
kept in --cache, and made with the first run. Some minutes of processor time.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from experiments.bench.accuracy.environment import Conversation
from experiments.bench.audit_peers.audits import Ask, audited
from experiments.bench.audit_peers.cases import CASES
from experiments.bench.audit_peers.report import line_of, read, write

NAMES = tuple(case.name for case in CASES)


def main() -> None:
    options = parse()
    with Conversation(options.cache, "experiments.bench.audit_peers.fits") as peers:
        measure(options, peers.ask)


def measure(options: argparse.Namespace, ask: Ask) -> None:
    """Audit what is asked for and not known yet, and write all that is known."""
    console = Console(stderr=True)
    lines = read(options.out / "audit-peers.csv")
    chosen = [
        case
        for case in CASES
        if case.name in options.cases and (options.anew or case.name not in lines)
    ]
    if chosen and not options.report:
        console.print(
            "starting the peers; their environment is made if it is not there (once; a minute or "
            "two)"
        )
        versions = ask({"release": "versions"})["seen"]
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console) as progress:
            bar = progress.add_task(
                "", total=sum(2 * (options.runs or case.runs) for case in chosen)
            )

            def counted(request: dict) -> dict:
                progress.advance(bar)
                return ask(request)

            for case in chosen:
                progress.update(bar, description=case.name)
                result = audited(case, counted, options.runs or case.runs, len(CASES))
                lines[case.name] = line_of(case, result, versions)
                write(lines, options.out)
    for name, line in lines.items():
        print(
            f"{name}: {line['verdict']}, at least {line['bound']} where {line['epsilon']} is "
            "claimed"
        )
    print("written:", *write(lines, options.out))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--cases", default=",".join(NAMES), help="default: %(default)s")
    add("--runs", type=int, default=0, help="in each world, for every case; default: each its own")
    add("--anew", action="store_true", help="audit again what is in the CSV file")
    add("--report", action="store_true", help="audit nothing, and write the page")
    add(
        "--out",
        type=Path,
        default=Path("docs/results"),
        help="where page and CSV file go; default: %(default)s",
    )
    add(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "privet-bench",
    )
    options = parser.parse_args()
    options.cases = options.cases.split(",")
    if unknown := set(options.cases) - set(NAMES):
        parser.error(f"there is no case {min(unknown)!r}; there are {', '.join(NAMES)}")
    if options.runs < 0:
        parser.error(f"--runs must be at least 1, got {options.runs}")
    return options


if __name__ == "__main__":
    main()
