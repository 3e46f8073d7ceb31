"""Is every fault that we can think of noticed?

python -m experiments.mutants                     all mutants; exit code 1 if one is missed
python -m experiments.mutants -o docs/results/mutants.md          and the page
python -m experiments.mutants -o docs/results/mutants.md --new    only those that the page does not have
                                                            as caught, as they are now
python -m experiments.mutants charge noise        those with one of these words in name, place or file
python -m experiments.mutants --jobs 4            so many at once; two by default
"""  # noqa: E501

from __future__ import annotations

import argparse
import signal
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from experiments.mutants.listed import MUTANTS
from experiments.mutants.mutant import Moved, Mutant
from experiments.mutants.report import line, lines
from experiments.mutants.run import ROOT, Broken, Copy, Outcome, forks
from experiments.mutants.source import Package


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--new", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    try:
        chosen = [mutant for mutant, text in described() if has_one(options.words, text)]
    except Moved as problem:
        parser.exit(2, f"{problem}\n")
    if not chosen:
        parser.error("no mutant has one of these words in its name, place or file")
    if options.words and options.output is not None:
        parser.error("the page is of all mutants: give no words with --output")
    if options.new and options.output is None:
        parser.error("--new compares with the page: give it with --output")
    page = ""
    if options.new and options.output.exists():
        page = options.output.read_text(encoding="utf-8")
    known = {mutant: Outcome(mutant, {}, ()) for mutant in chosen}
    known = {mutant: told for mutant, told in known.items() if line(told) in page.splitlines()}
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as after Ctrl-C
    try:
        left = [mutant for mutant in chosen if mutant not in known]
        known |= {outcome.mutant: outcome for outcome in tried(left, options.jobs)}
    except KeyboardInterrupt:
        parser.exit(130, "interrupted\n")
    outcomes = [known[mutant] for mutant in chosen]
    missed = [outcome for outcome in outcomes if not outcome.caught]
    if options.output is not None:
        new = options.output.with_suffix(".new")
        new.write_text(lines(outcomes), encoding="utf-8")
        new.replace(options.output)
    print(f"{len(outcomes) - len(missed)} of {len(outcomes)} caught")
    return 1 if missed else 0


def described() -> list[tuple[Mutant, str]]:
    """Return all mutants, each with its name, place and file."""
    package = Package.read(ROOT / "src" / "privet")
    sites = [(mutant, package.find(mutant)) for mutant in MUTANTS]
    return [(mutant, f"{mutant.name} {mutant.where} {site.path}") for mutant, site in sites]


def has_one(words: Sequence[str], text: str) -> bool:
    return not words or any(word in text for word in words)


def tried(mutants: Sequence[Mutant], jobs: int) -> list[Outcome]:
    """Return what came of each mutant, in order, and print a line for each.

    What must catch them is run without any first, and must pass.
    """
    begun, processes = time.monotonic(), forks()
    with (
        tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(jobs) as pool,
    ):
        made = [Copy(Path(folder) / str(number), processes) for number in range(jobs)]
        copies: SimpleQueue[Copy] = SimpleQueue()
        for copy in made:
            copies.put(copy)

        def one(mutant: Mutant) -> Outcome:
            copy = copies.get()
            try:
                outcome = copy.tried(mutant)
            except Broken as problem:
                outcome = Outcome(mutant, {}, (str(problem),))
            finally:
                copies.put(copy)
            said = "caught" if outcome.caught else f"MISSED by {', '.join(outcome.missed)}"
            taken = f"{time.monotonic() - begun:5.0f} s"
            print(f"{taken}  {mutant.where}: {mutant.name}: {said}", flush=True)
            return outcome

        try:
            told = "first, what must catch them is run without any"
            print(f"{len(mutants)} mutants; {told}", flush=True)
            for _ in pool.map(Copy.check, made, (mutants[at::jobs] for at in range(jobs))):
                pass
            return list(pool.map(one, mutants))
        except BaseException:
            for copy in made:
                copy.interrupt()
            raise


if __name__ == "__main__":
    raise SystemExit(main())
