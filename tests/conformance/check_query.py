"""What every query must do. A new query is one more entry in ``asked.py``.

The checks are plain functions of a :class:`Case`: a query, and the curator and record keeper that
answer it. Tests put wrong ones there, to show that the checks can fail.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction as F
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import Ledger, MemoryLedger, SQLiteLedger
from privet.accounting.ledger.base import KeyedLedger
from privet.client.session import understood
from privet.curator import Curator, recorded
from privet.curator.account import charging
from privet.curator.recorded import Recorded
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.domain import Schema
from privet.errors import (
    BudgetExceeded,
    KeyReused,
    ParameterError,
    PrivacyError,
    QuestionError,
    TableError,
    Unavailable,
)
from privet.local.collecting import local_curator
from privet.local.randomizer import Randomizer
from privet.queries import Answer, Load, Price, Query, check_query, queries
from privet.queries.base import MAX_WORDS, question_in_words, read_answer
from privet.queries.json_parts import Amount
from privet.queries.release_kinds import (
    AnyKind,
    Divides,
    Draws,
    Measures,
    Selects,
    SharesNoise,
    score_cuts,
)
from privet.queries.shapes import Field, ShapeError
from privet.service import requests
from privet.tables.counting.scoring import UNIT
from tests.conformance.asked import (
    RENAMED,
    RESIZED,
    ROWS,
    SCHEMA,
    TWO_CLASSES,
    Make,
    Row,
    Touched,
    Watched,
    disguised,
    seeded,
    sly_parts,
)
from tests.conformance.check_mechanism import (
    ALPHA,
    choice_fit,
    exponential_law,
    fit,
    flip_law,
    gaussian_law,
    laplace_law,
)

EPSILON, RHO = F(1, 3), F(1, 50)
#: Neighbours that a schema can declare, and what they multiply epsilon by.
NEIGHBOURS = [
    ({}, 1),
    ({"rows_per_person": 3}, 3),
    ({"neighbours": "replace"}, 2),
    ({"rows_per_person": 3, "neighbours": "replace"}, 6),
]
#: What an engine may say about a failure: it quotes a row.
WORDS = "Ada Lovelace, 36, broken leg"

Told = dict[str, Any]


class OwnCurator(Curator):
    """Answers what only an owner may ask, too, as :class:`~privet.curator.Owner` lets it."""

    def ask(self, query, epsilon=None, *, rho=None):
        return self._answer(check_query(query, self.schema), epsilon, rho)


@dataclass(frozen=True)
class Case:
    """A query, and who answers it."""

    make: Make
    curator: type[Curator] = Curator
    answered: Callable[[KeyedLedger, Callable[[], bytes]], Recorded | None] = (
        recorded.answer_and_record
    )
    replayed: Callable[[KeyedLedger], Recorded | None] = recorded.replay_answer

    def query(self, schema: Schema = SCHEMA) -> Query[Any]:
        """The query, checked and plain."""
        return check_query(self.make(schema), schema)

    def over(
        self,
        source: Watched,
        schema: Schema = SCHEMA,
        budget: Budget | None = None,
        ledger: Ledger | None = None,
        bits: Any = None,
    ) -> Curator:
        """A curator of a few rows."""
        kind = self.curator
        if not self.query(schema).for_analysts:
            kind = OwnCurator if kind is Curator else type("Own", (kind, OwnCurator), {})
        return kind.over(
            source,
            schema,
            budget or Budget(1000),
            ledger=ledger or MemoryLedger(),
            dataset="people",
            analyst="ada",
            bits=bits,
        )


def list_checks(case: Case, folder: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Named checks."""
    yield "is charged before rows are touched", lambda: charged_first(case, folder)
    yield "refuses without touching rows", lambda: refuses_untouched(case)
    yield "tells nothing when an engine fails", lambda: failure_tells_nothing(case)
    yield "is answered once for a charge", lambda: answered_once(case)
    yield "survives its JSON", lambda: survives_json(case)
    yield "takes no other answer", lambda: takes_no_other_answer(case)
    yield "is replayed when work is resumed", lambda: replayed_on_resume(case, folder)
    yield "states its sensitivity", lambda: states_sensitivity(case)
    yield "has noise of the stated scale", lambda: noise_as_stated(case)
    yield "works alike whatever the rows", lambda: work_is_public(case)
    yield "describes itself in public words", lambda: described(case)
    yield "is answered or refused by randomised records", lambda: from_randomised_records(case)


def prices(query: Query[Any]) -> list[dict[str, F]]:
    """The ways to pay for a query."""
    return [{"epsilon": EPSILON}, *([{"rho": RHO}] if query.in_rho else [])]


# -- money comes first -------------------------------------------------------------------------


def charged_first(case: Case, folder: Path) -> None:
    """One charge of the stated cost, which another process would find, before any row is read."""
    for number, (declared, factor) in enumerate(NEIGHBOURS):
        schema = SCHEMA.declare(**declared)
        for price in prices(case.query(schema)):
            path = folder / f"{number}-{next(iter(price))}.sqlite"
            budget = Budget(1000) if "epsilon" in price else Budget(rho=1000)
            with closing(SQLiteLedger(path)) as ledger, closing(SQLiteLedger(path)) as another:
                seen: list[int] = []
                source = Watched(
                    schema, look=lambda seen=seen, book=another: seen.append(len(book.entries()))
                )
                answer = case.over(source, schema, budget, ledger).ask(case.make(schema), **price)
                assert seen, "no row was ever read"
                assert 0 not in seen, "rows were touched before the charge"
                assert len(ledger.entries()) == 1, "there is more than one charge"
                (entry,) = ledger.entries()
            stated = case.query(schema).kind.cost(Price.of(**price))
            assert answer.row_cost == stated
            assert entry.cost == _times(stated, factor), "the charge is not the stated cost"
            assert answer.cost == entry.cost
            assert answer.entry == entry
            # independently of what the kind says
            if "epsilon" in price:
                assert entry.cost.epsilon == EPSILON * factor
                levels = getattr(case.query(schema).kind, "levels", 1)
                assert entry.cost.rho in (
                    (EPSILON * factor) ** 2 / 2,
                    (EPSILON * factor) ** 2 / 8 / levels,
                )
            else:
                assert (entry.cost.epsilon, entry.cost.rho) == (None, RHO * factor**2)


def _times(cost: Cost, factor: int) -> Cost:
    return Cost(None if cost.epsilon is None else cost.epsilon * factor, cost.rho * factor**2)


def refuses_untouched(case: Case) -> None:
    """Whatever may not be asked is refused before a charge and before any row is read."""
    for what, query, price, error in refusals(case):
        ledger = MemoryLedger()
        source = Watched(SCHEMA)
        budget = Budget("1/10") if what.startswith("over budget") else Budget(1000)
        curator = case.over(source, SCHEMA, budget, ledger)
        _expect(error, lambda c=curator, q=query, p=price: c.ask(q, **p), what)
        assert source.calls == [], f"{what}: rows were touched"
        assert ledger.entries() == [], f"{what}: it was charged"


def _expect(
    error: type[Exception] | tuple[type[Exception], ...], call: Callable[[], Any], what: str
) -> Exception:
    try:
        call()
    except error as raised:
        return raised
    except Exception as other:
        raise AssertionError(f"{what}: raised {type(other).__name__}: {other}") from other
    raise AssertionError(f"{what}: was not refused")


def refusals(case: Case) -> Iterator[tuple[str, Any, dict[str, Any], Any]]:
    """What may not be asked, at which price, and the errors that say so."""
    query = case.query()
    enough = {"epsilon": EPSILON}
    yield "over budget", query, {"epsilon": 1}, BudgetExceeded
    infinities = (math.inf, "inf", Decimal("Infinity"), np.float64("inf"))
    for epsilon in infinities:
        refused = (ParameterError, PrivacyError)
        yield f"epsilon {epsilon!r}", query, {"epsilon": epsilon}, refused
    for amount in (0, -1, F(-1, 3), math.nan, "much", "", True, False, "1/0", [1], 1j, b"1"):
        yield f"epsilon {amount!r}", query, {"epsilon": amount}, ParameterError
        yield f"rho {amount!r}", query, {"rho": amount}, ParameterError
    yield "neither epsilon nor rho", query, {}, ParameterError
    yield "both epsilon and rho", query, {"epsilon": 1, "rho": 1}, ParameterError
    # a pure budget, or a query that has no price in rho
    error = PrivacyError if query.in_rho else ParameterError
    yield "rho", query, {"rho": RHO}, error
    for schema in (RENAMED, RESIZED):
        # what is the same question about any schema may be asked
        if case.query(schema).to_json() != query.to_json():
            yield "another schema", case.make(schema), enough, (QuestionError, ParameterError)
    yield "a subclass of the query", disguised(query), enough, ParameterError
    for thing in (None, query.name, type(query), query.to_json(), object()):
        yield f"a {type(thing).__name__}", thing, enough, ParameterError
    for sly in sly_parts(query):
        yield sly.what, sly.query, enough, (ParameterError, QuestionError)


# -- nothing is lost, and nothing is told ------------------------------------------------------


class _Failing:
    """Fails at the n-th touch."""

    def __init__(self, at: int) -> None:
        self.touches, self.at = 0, at

    def __call__(self) -> None:
        self.touches += 1
        if self.touches == self.at:
            raise RuntimeError(WORDS)


def failure_tells_nothing(case: Case) -> None:
    """An engine that fails, at once or while rows are read, is not quoted; the charge stands."""
    for at in _touches(case):
        ledger = MemoryLedger()
        curator = case.over(Watched(SCHEMA, look=_Failing(at)), ledger=ledger)
        ask = lambda c=curator: c.ask(case.make(SCHEMA), EPSILON)  # noqa: E731
        error: BaseException | None = _expect(TableError, ask, f"failure at touch {at}")
        while error is not None:
            assert WORDS not in f"{error!r} {error}", "what the engine said was passed on"
            error = error.__cause__ or error.__context__
        assert len(ledger.entries()) == 1, "the charge does not stand"


def _touches(case: Case) -> range:
    """The moments at which rows are touched."""
    counting = _Failing(0)
    Case(case.make).over(Watched(SCHEMA, look=counting)).ask(case.make(SCHEMA), EPSILON)
    return range(1, counting.touches + 1)


def answered_once(case: Case) -> None:
    """Asked again under its key, a query is answered for the charge that stands, and only one
    answer ever leaves for it.
    """
    query = case.query()
    ledger, failing = MemoryLedger(), _Failing(1)
    curator = case.over(Watched(SCHEMA, look=failing), ledger=ledger)
    attempts = 0

    def keyed(request: str = "the request") -> KeyedLedger:
        return KeyedLedger(ledger, "ada", "the key", request)

    def ask(meanwhile: Callable[[], None] = lambda: None) -> bytes:
        """What leaves. No two answers that are worked out are the same."""
        view = keyed()

        def work() -> bytes:
            nonlocal attempts
            attempts += 1
            own = attempts
            answer = charging(curator, view).ask(query, EPSILON)
            meanwhile()
            return json.dumps({"attempt": own, **answer.to_json()}).encode()

        kept = case.replayed(view) or case.answered(view, work)
        assert kept is not None
        assert kept.entry == ledger.entries()[0]
        return kept.answer

    _expect(TableError, ask, "an engine that fails")
    assert len(ledger.entries()) == 1
    assert case.replayed(keyed()) is None, "there is nothing to give again yet"
    left: list[bytes] = []
    # while one is being worked out, another is asked for and leaves first
    left.append(ask(meanwhile=lambda: left.append(ask())))
    left += [ask(), ask()]
    assert len(left) == 4
    assert len(set(left)) == 1, "two answers left for one charge"
    assert ledger.answer(ledger.entries()[0].number) == left[0], "what left is not what is kept"
    assert attempts == 3, "a recorded answer was worked out again"
    assert len(ledger.entries()) == 1, "it was charged twice"
    _expect(KeyReused, lambda: case.replayed(keyed("another request")), "another request's key")


# -- JSON --------------------------------------------------------------------------------------


def travelled(told: Any) -> Any:
    """As the other side sees it."""
    return json.loads(json.dumps(told, ensure_ascii=False, allow_nan=False).encode())


def check_body(query: Query[Any], body: Told) -> None:
    """As a service does; what it does not offer has a shape all the same."""
    if query.for_analysts:
        requests.check_body(query.name, body)
    else:
        type(query).shape({"epsilon": Field(Amount(), required=True)}).check(body, "body")


def survives_json(case: Case) -> None:
    """A query and its answers are the same after they were sent."""
    for schema in (SCHEMA, TWO_CLASSES):
        query = case.query(schema)
        for price in prices(query):
            body = travelled({**Price.of(**price).to_json(), **query.to_json()})
            check_body(query, body)
            back = check_query(type(query).from_json(schema, body), schema)
            assert type(back) is type(query)
            assert back.to_json() == query.to_json()
            assert (back.describe(), back.kind, back.load) == (
                query.describe(),
                _like(back.kind, query.kind),
                query.load,
            )
            _same_exact(query, back, schema)
            if query.for_analysts:
                answer = case.over(
                    Watched(schema), schema, Budget(rho=1000) if "rho" in price else None
                ).ask(query, **price)
                told = travelled(answer.to_json())
                read = read_answer(query, told, query.kind.cost(Price.of(**price)))
                assert type(read) is type(answer)
                assert travelled(read.to_json()) == told
                assert Answer(**read.terms) == Answer(
                    **answer.terms
                )  # which query it was is not compared
    body = {"epsilon": "1", **case.query().to_json()}
    _expect(ShapeError, lambda: check_body(query, {**body, "rows": []}), "a field too many")
    for name, field in type(query).fields.items():
        without = {key: value for key, value in body.items() if key != name}
        if field.required:
            _expect(ShapeError, lambda b=without: check_body(query, b), f"{name} left out")
            _expect(ShapeError, lambda b={**body, name: 7.5}: check_body(query, b), f"{name} 7.5")


def _like(mine: AnyKind, theirs: AnyKind) -> AnyKind:
    """The kind of another query to compare with: spaces are compared by what they say, as their
    bodies were.
    """
    return replace(theirs, space=mine.space) if isinstance(theirs, Draws) else theirs


def _same_exact(query: Query[Any], back: Query[Any], schema: Schema) -> None:
    one, other = (numbers_of(each, Watched(schema)) for each in (query, back))
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def takes_no_other_answer(case: Case) -> None:
    """A reply that is not an answer to this query at this price is not taken."""
    query = case.query()
    if not query.for_analysts:
        _expect(NotImplementedError, lambda: query.read_answer({}, None), "a written share")
        return
    price = Price.of(EPSILON)
    answer = case.over(Watched(SCHEMA)).ask(query, EPSILON)
    told = travelled(answer.to_json())
    cost = query.kind.cost(price)
    read = lambda reply: read_answer(query, reply, cost)  # noqa: E731
    assert read(told)
    spoiled = list(spoil(told, query))
    assert len(spoiled) >= 10
    for what, reply in spoiled:
        with_words = lambda r=reply: _understood(lambda: read(r))  # noqa: E731
        _expect(Unavailable, with_words, f"a reply with {what}")


def _understood(read: Callable[[], Any]) -> Any:
    with understood("answer"):
        return read()


#: What a reply may leave out: it follows from the rest.
IMPLIED = {"deviation", "low", "high", "edges"}


def spoil(told: Told, query: Query[Any]) -> Iterator[tuple[str, Any]]:
    """Replies that are no answer to a query, from one that is."""
    for reply in (None, [], "yes", 7, {}, [told]):
        yield f"{type(reply).__name__} in place of an object", reply
    for name in told:
        if name not in IMPLIED and not (name == "splits" and not told["splits"]):
            yield f"no {name}", {key: value for key, value in told.items() if key != name}
    for name in ("cost", "row_cost"):
        for cost in ({"epsilon": "1/6", "rho": "1/72"}, {"epsilon": None, "rho": "1/18"}, 1, None):
            yield f"{name} {cost}", {**told, name: cost}
        yield f"half a {name}", {**told, name: {**told[name], "rho": "1/1000"}}
    yield "an entry that is none", {**told, "entry": {"number": 1}}
    if "tables" in told:
        yield from _spoiled_tables(told)
    if "index" in told:
        assert isinstance(query.kind, Selects)
        (offered,) = query.kind.offered
        for index in (offered, -1, True, 0.0, "0", None, [0], 1 << 70):
            yield f"index {index!r}", {**told, "index": index}
    if "codes" in told:
        assert isinstance(query.kind, Divides)
        bins, most = query.kind.bins, 2**query.kind.levels
        for codes in ([0], [bins], [2, 1], [1, 1], [True], ["1"], [1.0], None, 1, [*range(most)]):
            yield f"codes {codes!r}", {**told, "codes": codes}
    for name, other in (("attribute", "colour"), ("q", "1/3"), ("q", 0.5)):
        if name in told:
            yield f"{name} {other!r}", {**told, name: other}
    if told.get("splits"):
        yield from _spoiled_splits(told)
    if "cells" in told:
        yield from _spoiled_tree(told)


def _spoiled_tables(told: Told) -> Iterator[tuple[str, Told]]:
    tables = told["tables"]
    first, numbers, shape = tables[0], tables[0]["numbers"], tables[0]["shape"]
    with_first = lambda **changes: {**told, "tables": [{**first, **changes}, *tables[1:]]}  # noqa: E731
    yield "a table less", {**told, "tables": tables[1:]}
    yield "a table more", {**told, "tables": [*tables, first]}
    yield "a number less", with_first(numbers=numbers[1:])
    yield "other shape", with_first(shape=[*shape, 1])
    yield "other size", with_first(numbers=numbers * 2, shape=[2 * shape[0], *shape[1:]])
    for number in (0.0, 1.5, True, "1", None, 1 << 63, [1]):
        yield f"number {number!r}", with_first(numbers=[number, *numbers[1:]])
    for noise in ("none", "randomized-response", "some", None, []):
        yield f"noise {noise!r}", {**told, "noise": noise}
    for spread in ("0", "-1", 1, 0.5, None, "much"):
        yield f"spread {spread!r}", {**told, "spread": spread}


def _spoiled_splits(told: Told) -> Iterator[tuple[str, Told]]:
    splits = told["splits"]
    first = splits[0]
    with_first = lambda split: {**told, "splits": [split, *splits[1:]]}  # noqa: E731
    branch = list(range(2)) + [1] * (len(first["branch"]) - 2)
    never = {"attribute": "age", "branch": [0, 1, 2, 3, 4]}
    yield "a choice less", {**told, "splits": splits[1:]}
    yield "a choice more", {**told, "splits": [*splits, first]}
    yield "a split that was not offered", with_first(never)
    yield "a split of nothing", with_first({"attribute": "wealth", "branch": branch})
    for kind in (float, bool, str):
        yield (
            f"branches of {kind.__name__}",
            with_first({**first, "branch": [kind(child) for child in first["branch"]]}),
        )
    yield "no split", with_first(None)


def _spoiled_tree(told: Told) -> Iterator[tuple[str, Told]]:
    labels, cells = told["labels"], told["cells"]
    for label in (3, -1, 0.5, 1.0, True, "1", None, 1 << 70):
        yield f"label {label!r}", {**told, "labels": [label, *labels[1:]]}
    yield "a label less", {**told, "labels": labels[1:]}
    yield "a label more", {**told, "labels": [*labels, 0]}
    for name in ("attribute", "branch", "cell"):
        if cells[name]:
            yield f"half a {name}", {**told, "cells": {**cells, name: cells[name][1:]}}
            yield (
                f"{name} of floats",
                {
                    **told,
                    "cells": {**cells, name: [number + 0.25 for number in cells[name]]},
                },
            )
    yield (
        "a test of nothing",
        {
            **told,
            "cells": {**cells, "attribute": [7, *cells["attribute"][1:]]},
        },
    )
    # nobody offered it: three tests of one attribute, one below the other
    deep = {"attribute": [0, 2, 1, 0], "branch": [], "cell": [-1, -1, -1, -1], "n_cells": 0}
    below, attribute = 4, [0, 2, 1, 0]
    for node, size in zip(range(4), (3, 2, 5, 3), strict=True):
        others = list(range(below, below + size - (node < 3)))
        below += len(others)
        deep["branch"] += ([node + 1] if node < 3 else []) + others
    deep["attribute"] = attribute + [-1] * (below - 4)
    deep["cell"] = [-1] * 4 + list(range(below - 4))
    deep["n_cells"] = below - 4
    yield "a tree that is deeper than asked", {**told, "cells": deep, "labels": [0] * below}


# -- another way, the same answer --------------------------------------------------------------


def without_entry(told: Mapping[str, Any]) -> Told:
    """An answer, whoever charged for it and when."""
    return {**travelled(told), "entry": None}


def replayed_on_resume(case: Case, folder: Path) -> None:
    """Interrupted work that goes on gets the recorded answer, without another charge or look."""
    query = case.query()
    ledger = MemoryLedger()
    source = Watched(SCHEMA)

    def resumed(seed: int) -> tuple[Curator, ResumableCurator]:
        curator = case.over(source, ledger=ledger, bits=seeded(seed))
        return curator, ResumableCurator(
            curator, Unfinished.begin(folder / "work", curator, "work")
        )

    _, first = resumed(3)
    if not query.for_analysts:
        _expect(ParameterError, lambda: first.ask(query, EPSILON), "a share that is recorded")
        assert (source.calls, ledger.entries()) == ([], [])
        return
    local = case.over(Watched(SCHEMA), bits=seeded(3)).ask(query, EPSILON)
    answer = first.ask(query, EPSILON)
    assert without_entry(answer.to_json()) == without_entry(local.to_json())
    (entry,) = ledger.entries()
    assert ledger.answer(entry.number) is not None, "the answer was not recorded"

    def untouchable() -> None:
        raise Touched

    source.look = untouchable
    _, second = resumed(4)
    again = second.ask(case.make(SCHEMA), EPSILON)
    assert travelled(again.to_json()) == travelled(answer.to_json())
    assert ledger.entries() == [entry], "it was charged twice"
    # under the same key, but at another price: the work is not the same
    _, third = resumed(5)
    _expect(ParameterError, lambda: third.ask(query, EPSILON / 2), "another price")
    assert ledger.entries() == [entry]


# -- the statement is what the mechanism does --------------------------------------------------


def numbers_of(query: Query[Any], source: Watched) -> list[np.ndarray]:
    """The exact numbers of a query, as arrays."""
    exact, kind = query.exact(source), query.kind
    if isinstance(kind, Draws):
        return [exact.flat[low:high] for low, high in _pairs(exact.base)]
    return [np.asarray(table, dtype=object) for table in exact]


def _pairs(base: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(base[:-1].tolist(), base[1:].tolist(), strict=True))


def numbers_changed(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> list[np.ndarray]:
    """How much each number changes."""
    return [new - old for old, new in zip(before, after, strict=True)]


def check_move(kind: AnyKind, before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> None:
    """One row more changes the exact numbers by no more than the kind states."""
    changes = numbers_changed(before, after)
    if isinstance(kind, Measures):
        assert tuple(table.shape for table in before) == kind.shapes
        for change, bound in zip(changes, kind.bounds, strict=True):
            assert np.abs(change).sum() <= bound, "a table moves by more than its bound"
        squares = sum(int((change.astype(object) ** 2).sum()) for change in changes)
        assert squares <= kind.squared_sensitivity, "tables move by more than stated in L2"
    elif isinstance(kind, SharesNoise):
        moved = sum(int(np.abs(change).sum()) for change in changes)
        assert moved <= kind.sensitivity, "the tables move by more than the sensitivity"
    elif isinstance(kind, Selects):
        assert tuple(len(scores) for scores in before) == kind.offered
        # a row is in one cell: all cells together pay once
        apart = sum(int(change.max() - change.min()) for change in changes)
        assert apart <= kind.score_range, "scores move apart by more than the range"
    elif isinstance(kind, Divides):
        (counts,), (more,), (change,) = before, after, changes
        assert len(counts) == kind.bins
        assert np.abs(change).sum() <= 1, "a row is in two bins"
        for low, high in combinations(range(kind.bins + 1), 2):
            parts = (score_cuts(table[low:high].tolist()) for table in (counts, more))
            moved = [new - old for old, new in zip(*parts, strict=True)] or [0]
            assert max(moved) - min(moved) <= kind.score_range, "cuts part by more than stated"
    elif isinstance(kind, Draws):
        check_weights(changes, UNIT)
    else:
        raise AssertionError(f"say in check_query.py what {type(kind).__name__} promises")


def check_weights(changes: Sequence[np.ndarray], unit: float) -> None:
    """A row weighs between 0 and 1, the same in every table, in one entry of each."""
    weights = {int(change.sum()) for change in changes}
    assert len(weights) == 1, "a row weighs differently in two tables"
    for change in changes:
        assert (change >= 0).all(), "a row takes something away"
        assert np.count_nonzero(change) <= 1, "a row is in two entries of one table"
        assert change.sum() <= unit, "a row weighs more than 1"


def neighbours(schema: Schema) -> st.SearchStrategy[tuple[list[Row], list[int], Row]]:
    """A small table, how often each of its rows is there, and one row more."""
    row = st.tuples(*(st.integers(0, size - 1) for size in (*schema.sizes, schema.n_classes)))
    often = st.sampled_from([1, 2, 3, 7, 40])
    counted = st.lists(st.tuples(row, often), max_size=3)
    return st.tuples(counted, row).map(
        lambda drawn: ([one for one, _ in drawn[0]], [n for _, n in drawn[0]], drawn[1])
    )


Moves = Callable[[AnyKind, Sequence[np.ndarray], Sequence[np.ndarray]], None]


def states_sensitivity(case: Case, check: Moves = check_move, examples: int = 60) -> None:
    """On all small tables that can be thought of, one row moves the exact numbers by no more than
    was stated: neighbours that differ by one row removed are the same, backwards.
    """
    for schema in (SCHEMA, TWO_CLASSES):
        _on_neighbours(case.query(schema), schema, check, examples)


def _on_neighbours(query: Query[Any], schema: Schema, check: Moves, examples: int) -> None:
    kind = query.kind

    # That there is a failure is enough: the smallest one is not looked for.
    @settings(max_examples=examples, database=None, phases=[Phase.generate], derandomize=True)
    @given(neighbours(schema))
    def search(drawn: tuple[list[Row], list[int], Row]) -> None:
        rows, times, one_more = drawn
        before = numbers_of(query, Watched(schema, rows, times))
        after = numbers_of(query, Watched(schema, [*rows, one_more], [*times, 1]))
        check(kind, before, after)

    search()


def noise_as_stated(case: Case) -> None:
    """What is added, or how a choice falls, follows the law that the stated numbers give."""
    query = case.query()
    kind, bits = query.kind, seeded(11)
    zeros = [np.zeros(20_000, dtype=np.int64)]
    # at prices that make noise of a handy size: scale 5, variance 25
    if isinstance(kind, Measures):
        noisy = kind.release(zeros, Price(F(sum(kind.bounds), 5)), bits)
        assert fit(noisy.tables[0], laplace_law(5)) > ALPHA
        assert noisy.spread == 5
        squares = kind.squared or sum(bound * bound for bound in kind.bounds)
        noisy = kind.release(zeros, Price(F(squares, 50), "rho"), bits)
        assert fit(noisy.tables[0], gaussian_law(25)) > ALPHA
        assert noisy.spread == 25
    elif isinstance(kind, SharesNoise):
        price = Price(F(kind.sensitivity, 5))
        total = sum(kind.release(zeros, price, bits).tables[0] for _ in range(kind.parties))
        assert fit(total, laplace_law(5)) > ALPHA
    elif isinstance(kind, Selects):
        scores = [0, -kind.score_range, -5 * kind.score_range]
        drawn = [kind.release([scores], Price(EPSILON), bits)[0] for _ in range(3000)]
        law_of = flip_law if kind.mechanism == "permute-and-flip" else exponential_law
        chances = law_of(scores, float(EPSILON), kind.score_range)
        assert choice_fit(np.bincount(drawn, minlength=3), chances) > ALPHA
    elif isinstance(kind, Divides):
        counts = [3, 0, 2, 4, 1]
        two = replace(kind, bins=len(counts), levels=2)
        drawn = [tuple(two.release([counts], Price(F(2)), bits)) for _ in range(3000)]
        law = law_of_cuts(counts, 2, 1.0, two.score_range)
        assert set(drawn) <= set(law)
        assert choice_fit([drawn.count(cuts) for cuts in law], list(law.values())) > ALPHA
    else:
        assert isinstance(kind, Draws)  # its law is proved over all trees in tests/exact


def law_of_cuts(
    counts: Sequence[int], levels: int, epsilon: float, score_range: int
) -> dict[tuple[int, ...], float]:
    """The probability of each set of cuts, by the definition: epsilon for each level."""
    law = {(0, len(counts)): 1.0}
    for _ in range(levels):
        after: dict[tuple[int, ...], float] = {}
        for edges, chance in law.items():
            ways = [(edges, chance)]
            for low, high in pairwise(edges):
                cuts = range(low + 1, high)
                scores = [-abs(sum(counts[low:c]) - sum(counts[c:high])) for c in cuts]
                chances = exponential_law(scores, epsilon, score_range) if scores else []
                ways = [
                    (tuple(sorted((*cut, c))), before * one)
                    for cut, before in ways
                    for c, one in zip(cuts, chances, strict=True)
                ] or ways
            for cut, one in ways:
                after[cut] = after.get(cut, 0.0) + one
        law = after
    return {edges[1:-1]: chance for edges, chance in law.items()}


# -- what can be seen from outside -------------------------------------------------------------


def work_is_public(case: Case) -> None:
    """The same is read of an empty table and of a full one, and it is known before."""
    query = case.query()
    assert isinstance(query.load, Load)
    assert all(getattr(query.load, one.name) >= 0 for one in fields(Load))
    asked = []
    for rows in ([], ROWS, ROWS[:1] * 50):
        source = Watched(SCHEMA, rows)
        case.over(source).ask(query, EPSILON)
        asked.append(source.calls)
    assert asked[0] == asked[1] == asked[2], "what is read depends on the rows"
    assert asked[0]


def described(case: Case) -> None:
    """One line, the same whatever the rows, and it is what the ledger says."""
    query = case.query()
    told = query.describe()
    assert told
    assert told.isprintable()
    assert len(told) < 300
    words = question_in_words(check_query(query, SCHEMA))
    assert words == "" or words.isprintable()
    assert len(words) <= MAX_WORDS
    for rows in ([], ROWS):
        ledger = MemoryLedger()
        case.over(Watched(SCHEMA, rows), ledger=ledger).ask(query, EPSILON)
        assert [(entry.what, entry.asked) for entry in ledger.entries()] == [(told, words)]
        ledger = MemoryLedger()
        case.over(Watched(SCHEMA, rows), ledger=ledger, bits=seeded()).ask(query, EPSILON)
        (entry,) = ledger.entries()
        assert entry.what.startswith("NOT PRIVATE")
        assert entry.what.endswith(told)
        assert entry.asked == words


def from_randomised_records(case: Case) -> None:
    """Randomised records answer for nothing, or say what else there is to do."""
    table = {
        name: [attribute.labels[row[number]] if number != 1 else 20.0 * row[1] for row in ROWS]
        for number, (name, attribute) in enumerate(SCHEMA.attributes.items())
    }
    table["ill"] = [SCHEMA.classes[row[-1]] for row in ROWS]
    randomizer = Randomizer(SCHEMA, 8, "split")
    curator = local_curator(randomizer.many(table), randomizer)
    try:
        answer = curator.ask(case.make(curator.schema), EPSILON)
    except ParameterError as refused:
        told = str(refused)
        assert "randomised records" in told
        assert "learn from such records" in told or "evaluate on other rows" in told
    else:
        assert (answer.entry, answer.cost.epsilon, answer.cost.rho) == (None, 0, 0)


def offered_to_analysts() -> set[str]:
    """The names of the queries that a service offers."""
    return {name for name, query in queries().items() if query.for_analysts}
