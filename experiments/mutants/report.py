"""The table of all mutants, for docs/results/mutants.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.mutants.mutant import Mutant
from experiments.mutants.run import Outcome

TOP = """# Faults that are put in on purpose

Made by `make mutants` (`python -m experiments.mutants`). Each row is one small change of the real source,
put into a copy of the package; then exactly the tests and audits of the row are run. All of them
pass without the change, and each of them must fail with it. A change that does not even run is not
counted as caught. How the audit works: [Is the claimed epsilon true?](../concepts/audit.md)
"""  # noqa: E501

#: Faults that tests put into the functions of a database themselves.
SQL = Path(__file__).with_name("sql.md")


def lines(outcomes: Sequence[Outcome]) -> str:
    """The page."""
    caught = sum(outcome.caught for outcome in outcomes)
    places = len({outcome.mutant.where for outcome in outcomes})
    head = f"{caught} of {len(outcomes)} mutants in {places} places of the package are caught.\n"
    table = [
        "| mutant | where | what would go wrong for a person | caught by | verdict |",
        "|---|---|---|---|---|",
        *map(line, outcomes),
    ]
    return "\n".join([TOP, head, *table, "", SQL.read_text(encoding="utf-8")])


def named(mutant: Mutant) -> list[str]:
    """What must catch a mutant, for readers: audits, and tests by their names."""
    tests = [f"`{test.rpartition('::')[2].partition('[')[0]}`" for test in mutant.tests]
    files = dict.fromkeys(f"{test.partition('::')[0]}" for test in mutant.tests)
    where = f" in {', '.join(files)}" if files else ""
    audits = [f"{audit} ({audit.runs} runs)" for audit in mutant.audits]
    return [*audits, *([", ".join(dict.fromkeys(tests)) + where] if tests else [])]


def line(outcome: Outcome) -> str:
    """The line of one mutant."""
    mutant = outcome.mutant
    verdict = "caught" if outcome.caught else f"**missed** by {', '.join(outcome.missed)}"
    told = (mutant.name, f"`{mutant.where}`", mutant.harm, "; ".join(named(mutant)), verdict)
    return f"| {' | '.join(told)} |"
