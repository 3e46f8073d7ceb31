"""People are divided into groups: each is in one, and nobody's place depends on who else is
there.
"""

from __future__ import annotations

import pytest

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.tables import memory
from privet.tables.memory import MemoryTable
from tests.exact.enumeration import law_of

SCHEMA = Schema({"a": Categorical(["x", "y", "z"])}, "class", ["n", "p"])
ROWS = [("x", "n"), ("y", "n"), ("z", "n")]
PARTS = 2


class Stream:
    """In place of the hash of a secret key: every number of it is open, and all groups are equally
    likely.
    """

    def __init__(self, paths):
        self._paths, self._drawn = paths, []

    def shake_256(self, key):
        return self

    def digest(self, size):
        assert size % 4 == 0
        while len(self._drawn) < size // 4:  # the same stream for every group
            self._drawn.append(self._paths.choose([1] * PARTS))
        return b"".join(number.to_bytes(4, "little") for number in self._drawn[: size // 4])


def law_of_division(table, schema=SCHEMA, people=None):
    """The law of how many rows of each kind are in each group."""
    columns = {"a": [row[0] for row in table], "class": [row[1] for row in table]}
    if people is not None:
        columns["who"] = people

    def divided(bits):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(memory, "hashlib", Stream(bits.paths))
            parts = MemoryTable(columns).source(schema).parts(PARTS, b"key")
            question = Question.level(Cells.everything(schema), ["a"])
            return tuple(tuple(part.count(question)[0][0].sum(axis=1).tolist()) for part in parts)

    return law_of(divided)


@pytest.mark.parametrize("place", range(3))
def test_the_others_are_divided_as_if_a_row_were_not_there(place):
    """A third row, of a kind of its own, comes before, between or after two others. Taken out
    again, it leaves their law exactly.
    """
    without = law_of_division(ROWS[:2])
    table = [*ROWS[:2]]
    table.insert(place, ROWS[2])
    found: dict = {}
    for parts, chance in law_of_division(table).low.items():
        assert sum(part[2] for part in parts) == 1  # it is in one group
        others = tuple((*part[:2], 0) for part in parts)
        found[others] = found.get(others, 0) + chance
    assert found == without.low
    assert without.rest == 0
    assert len(found) == PARTS**2


def test_every_row_is_in_one_part():
    for parts in law_of_division(ROWS).low:
        assert [sum(kind) for kind in zip(*parts, strict=True)] == [1, 1, 1]


def test_all_rows_of_a_person_are_in_one_part():
    schema = SCHEMA.declare(person="who", rows_per_person=2)
    law = law_of_division(ROWS, schema, ["ada", "bob", "ada"])
    assert all(parts[0][0] == parts[0][2] for parts in law.low)
    assert len(law.low) == PARTS**2
