"""The figures: one line per target, on the terminal and in docs/results/fuzz.md; kept in a file, so
that targets can be run apart.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from rich import box
from rich.table import Table

from tests.fuzz.fuzzing import MEMORY, PATIENCE, Result
from tests.fuzz.targets import NAMES, target_called

ROOT = Path(__file__).parents[2]
FIGURES, PAGE = ROOT / "docs/results/fuzz.csv", ROOT / "docs/results/fuzz.md"
COLUMNS = (
    "target",
    "inputs",
    "taken",
    "refused",
    "messages",
    "crashes",
    "slowest_seconds",
    "inputs_per_second",
    "memory_mb",
    "seed",
)

_INTRO = f"""# Bad input

Every kind of file, request and argument that Privet reads was changed at random, from valid ones, and given to the real reader. An input
is *taken*, or it is *refused* with an error of `privet.errors` (over HTTP: with a problem of the 400s). Anything else is a crash: another
exception, a process that dies, too much CPU time for one input (10 seconds; 20 to 60 for models, keys and commands), one that waits for
{PATIENCE} seconds, more than {MEMORY >> 30} GiB of memory, a message that cannot be printed, a file that is half-written, or left by
an input that was refused; and whatever the last column says must hold.

```sh
make fuzz                                              # all targets, 100 000 inputs each
python -m tests.fuzz schema ledger --inputs 1000       # some of them; Ctrl-C shows what there is so far
python -m tests.fuzz schema --replay fuzz-crashes/...  # an input that was kept, made smaller
```

Inputs come from one seed (by default 1), so that a run can be repeated. Values are changed by what they are: a number becomes a
neighbour, a power of two, 10^400, NaN; a text becomes empty, a lone surrogate, a NUL, 100 000 characters; keys are dropped, doubled and
exchanged, parts copied into one another, nested a hundred thousand deep; and bytes are flipped, cut out, repeated and cut off. Checksums
and fingerprints are made to fit afterwards, or nothing would get past them. An input that gets a new error message is changed further.
`make test` tries a slice of each.

Why not a fuzzer that is led by coverage, such as Atheris: most of what is read here is guarded by a checksum, a fingerprint or a tag, and
parsed by compiled code that such a fuzzer does not see into. A change that keeps the structure gets farther, and needs nothing installed.

These figures are of runs of `python -m tests.fuzz --page`, which writes this page. "messages" counts the different error messages, less
the names and numbers in them: it tells how far into a reader inputs got. **A target with fewer than 100 000 inputs has not had its full
run yet**: it was stopped, or given fewer, because the machine had other work, at whose side it ran with a low priority (so do not take
the inputs per second for its speed).
"""  # noqa: E501


def row(name: str, result: Result, seed: int) -> dict[str, str]:
    """The figures of one target."""
    rate = result.inputs / result.seconds if result.seconds else 0
    numbers = (
        result.inputs,
        result.taken,
        result.refused,
        len(result.messages),
        sum(crash.times for crash in result.crashes.values()),
    )
    rest = (f"{result.slowest:.2f}", f"{rate:.0f}", str(result.memory >> 10), str(seed))
    return dict(zip(COLUMNS, (name, *map(str, numbers), *rest), strict=True))


def table_of(rows: Mapping[str, Mapping[str, str]]) -> Table:
    """As it is shown."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in COLUMNS:
        table.add_column(
            column.replace("_", " "), justify="left" if column == "target" else "right"
        )
    for name in NAMES:
        if name in rows:
            table.add_row(*(rows[name][column] for column in COLUMNS))
    return table


def kept() -> dict[str, dict[str, str]]:
    """The figures of earlier runs."""
    if not FIGURES.is_file():
        return {}
    with FIGURES.open(encoding="utf-8", newline="") as file:
        return {line["target"]: line for line in csv.DictReader(file)}


def keep(rows: Mapping[str, Mapping[str, str]]) -> None:
    """Write the figures, and the page with them."""
    ordered = [rows[name] for name in NAMES if name in rows]
    with FIGURES.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(ordered)
    lines = [
        (
            "\n| target | inputs | taken | refused | messages | crashes | slowest (CPU s) | "
            "inputs/s | "
            "what is read, and what must hold |"
        )
    ]
    lines.append("|---|--:|--:|--:|--:|--:|--:|--:|---|")
    for one in ordered:
        numbers = [
            f"{int(one[column]):,}"
            for column in ("inputs", "taken", "refused", "messages", "crashes")
        ]
        rest = [one["slowest_seconds"], one["inputs_per_second"], target_called(one["target"]).what]
        lines.append(f"| `{one['target']}` | {' | '.join([*numbers, *rest])} |")
    found = (Path(__file__).parent / "found.md").read_text(encoding="utf-8")
    PAGE.write_text(_INTRO + "\n".join(lines) + "\n" + found, encoding="utf-8")
