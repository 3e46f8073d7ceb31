"""What is charged, checked and computed is one and the same thing, whatever lies about itself.

An object that answers otherwise when it is looked at again is either refused, and nothing is
charged, or taken for what it was at the first look.
"""

from __future__ import annotations

import copy
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger
from privet.domain import Boolean, Categorical, Date, Numeric, Ordinal, Schema
from privet.domain.attributes import TYPES
from privet.domain.cells import Cells
from privet.errors import ParameterError, PrivetError, QuestionError
from privet.queries import ChoosePartition, Count, FindQuantile, RowScore, Sums, check_query
from privet.queries.plain import copy_query
from tests.conformance.asked import ASKED, CLASSES, EXAMPLES, SCHEMA, Watched, seeded
from tests.conformance.check_query import OwnCurator
from tests.conformance.liars import (
    Impostor,
    LyingDecimal,
    LyingFloat,
    LyingFraction,
    LyingInteger,
    LyingList,
    LyingNumPyFloat,
    LyingText,
    lie_about,
    list_arrays,
    list_liars,
    open_arrays,
    poison_caches,
    replace_at,
    walk,
)

EPSILON = Fraction(1, 3)


class Tampering(MemoryLedger):
    """Lets somebody act between the charge and the first row."""

    def __init__(self, act):
        super().__init__()
        self._act = act

    def charge(self, *facts, **more):
        entry = super().charge(*facts, **more)
        self._act()
        return entry


def ask(query, epsilon=EPSILON, act=lambda: None, key="", **price):
    """Return the answer and the entry of the ledger, or the refusal."""
    ledger = Tampering(act)
    curator = OwnCurator.over(
        Watched(SCHEMA),
        SCHEMA,
        Budget(1000),
        ledger=ledger,
        dataset="people",
        analyst="ada",
        bits=seeded(),
    )
    try:
        if key:
            answer = curator.ask_once(key, query, epsilon, **price)
        else:
            answer = curator.ask(query, epsilon, **price)
    except PrivetError as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        assert not ledger.entries(), f"charged and refused: {refusal}"
        return refusal
    (entry,) = ledger.entries()
    said = entry.cost, entry.what, entry.asked
    document = answer.to_json()
    document.pop("entry", None)
    return document, said, answer.asked.to_json()


@pytest.mark.parametrize(("name", "example"), ASKED)
def test_a_liar_is_refused_or_taken_at_its_first_word(name, example):
    make, wrong, taken = EXAMPLES[name][example], [], 0
    honest = ask(make(SCHEMA))
    assert not isinstance(honest, PrivetError)
    for liar in list_liars(make(SCHEMA)):
        try:
            outcome = ask(liar.query)
        except Exception as error:  # noqa: BLE001
            wrong.append(f"{liar.what}: {type(error).__name__}: {error}")
            continue
        if isinstance(outcome, PrivetError):
            continue
        taken += 1
        if outcome != honest:
            wrong.append(f"{liar.what}: something else was charged, asked or answered")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("name", "example"), ASKED)
def test_nobody_else_holds_what_was_checked(name, example):
    query = EXAMPLES[name][example](SCHEMA)
    honest = ask(EXAMPLES[name][example](SCHEMA))
    arrays = open_arrays(query)

    def tamper():
        for array in arrays:
            array += 1

    assert ask(query, act=tamper) == honest


@pytest.mark.parametrize(("name", "example"), ASKED)
def test_what_was_tampered_with_is_proved_anew(name, example):
    """Each array in turn holds other numbers: it is refused, or is what it would be if it were
    made of these numbers.
    """
    make = EXAMPLES[name][example]
    for number in range(len(list_arrays(make(SCHEMA)))):
        for change in (1, -1, 1000):
            query = make(SCHEMA)
            open_arrays(query)[number][...] += np.int32(change)
            twin = copy.deepcopy(query)
            outcome, again = ask(query), ask(twin)
            if isinstance(outcome, PrivetError):
                assert type(again) is type(outcome)
            else:
                assert outcome == again


@pytest.mark.parametrize(("name", "example"), ASKED)
def test_what_an_object_remembers_is_not_looked_at(name, example):
    query = EXAMPLES[name][example](SCHEMA)
    assert poison_caches(query) > 0
    assert ask(query) == ask(EXAMPLES[name][example](SCHEMA))


def test_a_tampered_score_has_the_noise_of_its_size():
    score = RowScore.of(SCHEMA, {"yes": 1})
    score.table.setflags(write=True)
    score.table[...] = 1000
    document, *_ = ask(Sums([{}], score), 1)
    assert document["spread"] == "1000"


def test_arrays_are_copied_before_they_are_checked():
    expected = [np.zeros((1, 3), dtype=np.int64)]
    mine = check_query(ChoosePartition([{}], expected), SCHEMA)
    assert not np.shares_memory(mine.expected[0], expected[0])
    cells = Cells.everything(SCHEMA)
    mine = copy_query(Count(cells), SCHEMA)
    assert mine.question is not cells
    assert not np.shares_memory(mine.question.cell, cells.cell)
    table = np.zeros(3, dtype=np.int64)
    assert not np.shares_memory(copy_query(Count(table), SCHEMA).question, table)


def test_cells_that_overlap_after_all_are_refused():
    cells = Cells.of(SCHEMA, [{"colour": "red"}, {"colour": "blue"}])
    cells.branch.setflags(write=True)
    cells.branch[...] = 0  # back to the root: a walk would never end
    with pytest.raises(QuestionError, match="forward"):
        raise ask(Count(cells))


@pytest.mark.parametrize("n_cells", [2.5, "3", -1, None, True])
def test_the_number_of_cells_is_an_integer(n_cells):
    with pytest.raises(QuestionError, match="n_cells must be an integer"):
        Cells(SCHEMA, np.array([-1]), np.array([0]), np.array([]), np.array([-1]), n_cells)


# -- what is paid ----------------------------------------------------------------------------------

AMOUNTS = [
    LyingText("1/3"),
    LyingFraction(1, 3),
    LyingDecimal("0.25"),
    LyingFloat(0.25),
    LyingNumPyFloat(0.25),
    LyingInteger(1),
    Impostor(Fraction(1, 3)),
    Impostor("1/3"),
    Impostor(Decimal("0.25")),
    Impostor(0.25),
]


AMOUNT_NAMES = [f"{type(amount).__name__}{n}" for n, amount in enumerate(AMOUNTS)]
AMOUNT_NAMES += ["forged fraction"]


def forged_fraction():
    forged = Fraction(1, 3)
    forged._numerator = LyingInteger(1)
    return forged


@pytest.mark.parametrize("key", ["", "once"])
@pytest.mark.parametrize("amount", [*AMOUNTS, forged_fraction()], ids=AMOUNT_NAMES)
def test_the_noise_is_that_of_the_charge(amount, key):
    for price in ({"epsilon": amount}, {"epsilon": None, "rho": amount}):
        outcome = ask(Count([{}]), key=key, **price)
        if isinstance(outcome, PrivetError):
            continue
        document, (cost, *_), _ = outcome
        if price["epsilon"] is None:
            assert Fraction(document["spread"]) == 1 / (2 * cost.rho)
        else:
            assert Fraction(document["spread"]) == 1 / cost.epsilon
        for number in (cost.epsilon or cost.rho, cost.rho):
            assert type(number.numerator) is type(number.denominator) is int


def test_an_amount_is_what_it_holds():
    held = [Cost.pure(amount).epsilon for amount in (LyingDecimal("0.25"), LyingFloat(0.25))]
    assert held == [Fraction(1, 4), Fraction(1, 4)]
    assert Cost.pure(LyingText("1/3")).epsilon == Fraction(1, 3)


@pytest.mark.parametrize("amount", AMOUNTS, ids=lambda amount: type(amount).__name__)
def test_a_share_is_what_it_is_said_to_be(amount):
    outcome = ask(FindQuantile("age", amount))
    if not isinstance(outcome, PrivetError):
        document, (_, what, _), asked = outcome
        assert document["q"] == asked["q"]
        assert f"q {float(Fraction(document['q'])):.6g}," in what


def test_a_key_pays_for_one_price():
    """A charge whose answer was lost is answered for the price that was charged, and no other."""

    class Cheap(float):
        __repr__ = lambda self: "0.001"  # noqa: E731

    class Lost(Exception):
        pass

    def lose():
        if ledger.entries()[0].number not in answered:
            answered.add(ledger.entries()[0].number)
            raise Lost

    answered: set[int] = set()
    ledger = MemoryLedger()
    source = Watched(SCHEMA, look=lose)
    curator = OwnCurator.over(
        source, SCHEMA, Budget(1), ledger=ledger, dataset="people", analyst="ada", bits=seeded()
    )
    with pytest.raises(PrivetError):
        curator.ask_once("key", Count([{}]), 0.001)
    with pytest.raises(PrivetError):
        curator.ask_once("key", Count([{}]), Cheap(1000.0))
    assert ledger.entries()[0].cost.epsilon == Fraction("0.001")


def test_what_cannot_be_read_is_refused():
    class Raising(list):
        def __iter__(self):
            raise ZeroDivisionError

    with pytest.raises(ParameterError):
        raise ask(Count(Raising([{}])))
    endless: list = []
    endless.append(endless)
    with pytest.raises(ParameterError):
        raise ask(Count(endless))


# -- what an owner declares ------------------------------------------------------------------------

DECLARED = {
    "colour": Categorical(["red", 3, 2.5, True], other="other", missing="none", on_unknown="drop"),
    "age": Numeric(0, 80, bins=4, spacing="log", missing="none", on_unknown="clip", column="a"),
    "cut": Numeric(edges=[0.0, 1.5, 4.0]),
    "day": Date(0, 99, part="age", at="2024-12-31", bins=5, missing="none", column="born"),
    "smokes": Boolean(missing="none", on_unknown="drop", column="s"),
    "grade": Ordinal(["low", "high", "top"], missing="none", column="g"),
}


def test_all_types_of_columns_are_lied_about():
    assert {type(attribute) for attribute in DECLARED.values()} == set(TYPES.values())


@pytest.mark.parametrize("name", DECLARED)
def test_a_schema_holds_plain_values(name):
    """Whatever an attribute or a schema was made of, its file says what it held."""
    honest = DECLARED[name]
    facts = {key: fact for key, fact in honest.to_json().items() if key != "type"}
    for path, value in walk(facts, ()):
        for what, twin in lie_about(value) if path else ():
            try:
                attribute = type(honest)(**replace_at(facts, path, twin))
                schema = Schema({LyingText(name): attribute}, LyingText("ill"), CLASSES)
            except PrivetError:
                continue
            told = schema.to_json()
            assert told["attributes"] == {name: honest.to_json()}, f"{what} at {path}"
            kinds = {type(value) for _, value in walk(told, ())}
            assert kinds <= {dict, list, str, int, float, bool}, f"{what} at {path}"


FACTS = {
    "n_rows": LyingInteger(40),
    "person": LyingText("who"),
    "rows_per_person": LyingInteger(3),
    "neighbours": LyingText("replace"),
    "from_data": np.True_,
}


@pytest.mark.parametrize("fact", FACTS)
def test_a_schema_declares_plain_facts(fact):
    schema = Schema(DECLARED, "ill", LyingList(CLASSES), **{fact: FACTS[fact]})
    assert type(getattr(schema, fact)) in (int, str, bool)
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.classes == tuple(CLASSES)


def test_an_attribute_that_was_changed_is_made_anew():
    attribute = Numeric(0, 80, bins=4)
    assert attribute.labels
    vars(attribute)["labels"] = ("one", "two")
    assert len(Schema({"age": attribute}, "ill", CLASSES).attributes["age"].labels) == 4
