"""Commands, options and exit codes of 0.1."""

from __future__ import annotations

import pytest

from tests.golden.files import GOLDEN, read_json
from tests.golden.reach import commands, privet

COMMAND = GOLDEN / "command"
#: Taken out on purpose after 0.1.
REMOVED = ("reproduce",)
#: What 0.1 did and is refused on purpose, with what it takes now: a ledger whose name is typed
#: wrongly was made anew, with a budget that nobody had spent from.
CHANGED = {("ledger", "cap", "c", "people", "1"): ("--new",)}
KEPT = {
    name: facts
    for name, facts in read_json(COMMAND / "commands.json").items()
    if name.partition(" ")[0] not in REMOVED
}


@pytest.fixture(scope="module")
def present():
    return commands()


@pytest.mark.parametrize("name", KEPT, ids=lambda name: name or "privet")
def test_a_command_of_0_1_takes_its_options_and_arguments(name, present):
    kept = KEPT[name]
    assert name in present, "this command is gone"
    here = present[name]
    for option, facts in kept["options"].items():
        assert option in here["options"], f"{option} is gone"
        found = here["options"][option]
        assert found["flag"] == facts["flag"], option
        assert found["repeated"] >= facts["repeated"], option
        assert found["required"] <= facts["required"], f"{option} was not required"
        assert facts["variable"] is None or found["variable"] == facts["variable"], option
    new = {one for one, facts in here["options"].items() if facts["required"]} - {*kept["options"]}
    assert not new, "a script of 0.1 does not give these"
    assert len(here["arguments"]) >= len(kept["arguments"])
    for (_, required, number), (own, needed, many) in zip(
        kept["arguments"], here["arguments"], strict=False
    ):
        assert needed <= required, f"{own} was not required"
        assert many in (number, -1), own
    assert not any(needed for _, needed, _ in here["arguments"][len(kept["arguments"]) :])


def test_exit_codes(copied):
    """In their order, as later commands read what earlier ones wrote."""
    folder = copied("command")
    for run in read_json(COMMAND / "exit-codes.json"):
        words = tuple(run["words"])
        if words in CHANGED:
            assert privet(*words, folder=folder).code == 2
        ran = privet(*words, *CHANGED.get(words, ()), folder=folder)
        assert ran.code == run["code"], (run["words"], ran)
