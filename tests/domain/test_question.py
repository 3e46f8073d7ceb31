"""Questions: their shapes, their limits, and what they say about themselves."""

from __future__ import annotations

import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import MAX_ENTRIES, Partition, Question
from privet.errors import QuestionError

SCHEMA = Schema(
    {"a": Categorical(["x", "y", "z"]), "n": Numeric(0, 1, bins=4)}, "class", ["no", "yes"]
)
WHOLE = Cells.everything(SCHEMA)
PARTS = WHOLE.refine({0: Split.multiway(SCHEMA, "a")})


def test_shapes_and_entries() -> None:
    assert Partition(PARTS).shape == (3, 2)
    assert Partition(PARTS, by="n").shape == (3, 4, 2)
    assert Question.of(PARTS).entries == 6
    assert Question.forest([WHOLE, PARTS]).entries == 2 + 6
    level = Question.level(PARTS, ["n", "a"])
    assert [partition.by for partition in level.partitions] == ["n", "a"]
    assert level.entries == 3 * 4 * 2 + 3 * 3 * 2


@pytest.mark.parametrize(
    "make", [lambda: Question(()), lambda: Question.forest([]), lambda: Question.level(WHOLE, [])]
)
def test_an_empty_question_is_refused(make: object) -> None:
    with pytest.raises(QuestionError, match="at least one partition"):
        make()


def test_an_unknown_attribute_is_refused() -> None:
    with pytest.raises(QuestionError, match="no attribute 'b'; there are a, n"):
        Partition(WHOLE, by="b")


def test_partitions_share_one_domain_whatever_else_is_declared() -> None:
    declared = Cells.everything(SCHEMA.declare(n_rows=5, neighbours="replace"))
    assert len(Question.forest([WHOLE, declared]).partitions) == 2
    other = Cells.everything(
        Schema({"n": SCHEMA.attributes["n"], "a": SCHEMA.attributes["a"]}, "class", ["no", "yes"])
    )
    with pytest.raises(QuestionError, match="share one schema"):
        Question.forest([WHOLE, other])


def test_the_largest_question_is_allowed_and_the_next_is_not() -> None:
    schema = Schema({"n": Numeric(0, 1, bins=1 << 15)}, "class", range(64))
    partition = Partition(Cells.everything(schema), by="n")
    assert Question((partition,) * 32).places == MAX_ENTRIES  # half of them for rows in no cell
    with pytest.raises(
        QuestionError, match=f"{MAX_ENTRIES} counts at most, .*; this one has {MAX_ENTRIES + 128}"
    ):
        Question((*(partition,) * 32, Partition(Cells.everything(schema))))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (Question.of(WHOLE), "class counts: 1 partition, 1 cell"),
        (Question.forest([WHOLE, PARTS]), "class counts: 2 partitions, 4 cells"),
        (Question.level(PARTS, ["a", "n"]), "class counts by a, n: 2 partitions, 6 cells"),
        (
            Question.level(WHOLE, ["a", "n", "a", "n", "a"]),
            "class counts by a, n, a, n, ...: 5 partitions, 5 cells",
        ),
    ],
)
def test_a_description_holds_public_facts_only(question: Question, said: str) -> None:
    assert question.describe() == said
