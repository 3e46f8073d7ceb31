"""The randomizer: its exact law, what it costs, and that every record gives one report of one
form.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet.accounting.cost import Cost
from privet.domain import Categorical, Numeric, Schema
from privet.domain.encode.rows import encode
from privet.domain.encode.scalars import NO_VALUE
from privet.errors import ModelError, ParameterError, SchemaError
from privet.federation import draw_plan
from privet.local.leaf_randomizer import LeafRandomizer
from privet.local.randomizer import Randomizer, codes_of_record, replace_unknown
from privet.local.randomizer_file import read_randomizer, write_randomizer
from privet.mechanisms.randomness import SystemBits
from privet.mechanisms.response import (
    _truth_bits,
    _truth_threshold,
    randomized_response,
    response_probabilities,
)
from tests.conformance.check_mechanism import ALPHA, choice_fit
from tests.domain.strategies import TRICKY, attributes, schemas
from tests.local.small import SCHEMA, seeded, table
from tests.routes import route

PAIR = Schema(
    {"a": Categorical(["x", "y", "z"]), "b": Categorical(["u", "v"])}, "class", ["n", "p"]
)
RECORDS = [
    dict(zip(("a", "b", "class"), values, strict=True))
    for values in itertools.product("xyz", "uv", "np")
]
ODD = {"a": "never seen", "b": None, "class": "?"}


def exact_law(randomizer: Randomizer, record: dict) -> dict[tuple, float]:
    """The probability of every report of a record, by the definition alone."""
    codes, label = codes_of_record(PAIR, record)
    sizes, n_classes = PAIR.sizes, PAIR.n_classes
    truths = [
        [code] if code < size else range(size)
        for code, size in zip((*codes, label), (*sizes, n_classes), strict=True)
    ]
    chances: dict[tuple, float] = {}
    for truth in itertools.product(*truths):  # what is not known is drawn first
        weight = 1 / math.prod(map(len, truths))
        if randomizer.spread == "split":
            for report in itertools.product(*(range(size) for size in (*sizes, n_classes))):
                factors = [
                    response_probabilities(size, share)[int(said != true)]
                    for said, true, size, share in zip(
                        report, truth, (*sizes, n_classes), randomizer.shares, strict=True
                    )
                ]
                chances[report] = chances.get(report, 0.0) + weight * math.prod(factors)
            continue
        for drawn in randomizer.sets:
            p, q = response_probabilities(randomizer.points(drawn), randomizer.epsilon)
            for report in itertools.product(*(range(sizes[a]) for a in drawn), range(n_classes)):
                true = report == (*(truth[a] for a in drawn), truth[-1])
                key = (drawn, report)
                chances[key] = chances.get(key, 0.0) + weight * (p if true else q) / len(
                    randomizer.sets
                )
    return chances


def keys_of(randomizer: Randomizer, reports: pd.DataFrame) -> list[tuple]:
    words = [attribute.list_examples() for attribute in PAIR.attributes.values()]
    keys = []
    for *values, label in reports.itertuples(index=False, name=None):
        drawn = tuple(a for a, value in enumerate(values) if isinstance(value, str))
        said = (*(words[a].index(values[a]) for a in drawn), PAIR.classes.index(label))
        keys.append(said if randomizer.spread == "split" else (drawn, said))
    return keys


WAYS = [("split", 1), ("sample", 1), ("sample", 2)]


@pytest.mark.parametrize(("spread", "together"), WAYS)
@pytest.mark.parametrize("record", [RECORDS[4], ODD], ids=["known", "unknown"])
def test_reports_follow_the_law_and_another_epsilon_would_not(spread, together, record):
    randomizer = Randomizer(PAIR, F(3, 2), spread, together, bits=seeded(11))
    reports = randomizer.many(pd.DataFrame([record] * 20_000, dtype=object))
    keys = keys_of(randomizer, reports)
    law = exact_law(randomizer, record)
    observed = dict.fromkeys(law, 0)
    for key in keys:
        observed[key] += 1  # a report that cannot be is a KeyError
    assert sum(law.values()) == pytest.approx(1)
    assert choice_fit(list(observed.values()), list(law.values())) > ALPHA
    if record is not ODD:
        for wrong in (F(7, 10), F(13, 10)):
            other = exact_law(Randomizer(PAIR, F(3, 2) * wrong, spread, together), record)
            assert choice_fit(list(observed.values()), [other[key] for key in law]) < ALPHA


@pytest.mark.parametrize(("spread", "together"), WAYS)
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(4)], ids=float)
def test_no_report_tells_two_records_apart_by_more_than_epsilon(spread, together, epsilon):
    """By enumeration: every pair of records, known or not, and every report."""
    randomizer = Randomizer(PAIR, epsilon, spread, together)
    laws = [exact_law(randomizer, record) for record in (*RECORDS, ODD, {**RECORDS[0], "a": None})]
    worst = max(
        abs(math.log(one[key] / other[key]))
        for one, other in itertools.combinations(laws, 2)
        for key in one
    )
    assert worst <= float(epsilon) * (1 + 1e-9)
    assert worst > 0.99 * float(epsilon)  # and all of it is used


@settings(max_examples=30, deadline=None)
@given(
    st.fractions(F(1, 1000), 100, max_denominator=10**6),
    st.fractions(F(1, 100), F(99, 100), max_denominator=1000),
)
def test_shares_add_up_to_epsilon_exactly(epsilon, share):
    randomizer = Randomizer(SCHEMA, epsilon, "split", class_share=share)
    assert sum(randomizer.shares) == epsilon
    assert len(randomizer.shares) == 4
    assert min(randomizer.shares) > 0
    assert randomizer.cost == Cost.pure(epsilon)


def test_leaves_follow_the_law_and_another_epsilon_would_not():
    """One tree drawn uniformly, then (leaf, class) by one response over all pairs of that tree;
    ratios follow by the response's own.
    """
    plan = draw_plan(PAIR, 2, height=1, bits=seeded(8))
    randomizer = LeafRandomizer(plan, F(3, 2), bits=seeded(9))
    record = RECORDS[4]
    codes, label = codes_of_record(PAIR, record)
    reports = randomizer.many(pd.DataFrame([record] * 20_000))
    observed = reports.value_counts().to_dict()

    def law(epsilon: F) -> dict[tuple, float]:
        chances = {}
        for number, cells in enumerate(plan.forest):
            leaf = int(route(cells, [np.array([code]) for code in codes])[0])
            p, q = response_probabilities(len(cells) * 2, epsilon)
            for said in itertools.product(range(len(cells)), range(2)):
                chances[number + 1, said[0] + 1, PAIR.classes[said[1]]] = (
                    p if said == (leaf, label) else q
                ) / 2
        return chances

    true = law(F(3, 2))
    assert sum(true.values()) == pytest.approx(1)
    assert set(observed) <= set(true)
    counts = [observed.get(key, 0) for key in true]
    assert choice_fit(counts, list(true.values())) > ALPHA
    for wrong in (F(7, 10), F(13, 10)):
        assert choice_fit(counts, list(law(F(3, 2) * wrong).values())) < ALPHA
    assert set(randomizer.one(ODD)) == {"tree", "leaf", "class"}


def test_one_record_is_randomised_as_many_are():
    record = table(1).iloc[0].to_dict()
    for spread, together in WAYS:
        alone = [
            Randomizer(SCHEMA, 1, spread, together, bits=seeded(seed)).one(record)
            for seed in range(20)
        ]
        in_table = [
            Randomizer(SCHEMA, 1, spread, together, bits=seeded(seed))
            .many(table(1))
            .iloc[0]
            .to_dict()
            for seed in range(20)
        ]
        assert [[None if v != v else v for v in one.values()] for one in in_table] == [
            list(one.values()) for one in alone
        ]


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(attributes)
def test_reported_values_are_encoded_as_they_were(attribute):
    values = attribute.list_examples()
    assert len(values) == attribute.size
    schema = Schema({"v": attribute}, "target column", [0, 1])
    frame = pd.DataFrame({"v": pd.Series(values, dtype=object), "target column": [0] * len(values)})
    np.testing.assert_array_equal(encode(schema, frame).codes[0], np.arange(attribute.size))
    assert [
        codes_of_record(schema, {"v": value, "target column": 0})[0][0] for value in values
    ] == list(range(attribute.size))
    # nothing that a file would leave empty
    assert all(value is not None and value == value for value in values)


def test_a_label_for_missing_that_spells_a_number_is_not_reported_as_one():
    for label in ("5", "", "-1e3"):
        values = Numeric(0, 10, bins=2, missing=label).list_examples()
        assert values[-1] == "missing"
        assert codes_of_record(
            Schema({"v": Numeric(0, 10, bins=2, missing=label)}, "y", [0, 1]),
            {"v": values[-1], "y": 0},
        )[0] == [2]
    assert Numeric(0, 10, bins=2, missing="?").list_examples()[-1] == "?"


@pytest.mark.parametrize(("spread", "together"), WAYS)
def test_whatever_a_record_holds_there_is_one_report_of_one_form(spread, together):
    randomizer = Randomizer(SCHEMA, 1, spread, together)
    for odd in TRICKY:
        report = randomizer.one({"a": odd, "b": odd, "c": odd, "class": odd})
        assert list(report) == ["a", "b", "c", "class"]
        assert sum(report[name] is not None for name in "abc") == (
            3 if spread == "split" else together
        )
        assert report["class"] in SCHEMA.classes


def test_an_unknown_value_is_drawn_uniformly():
    filled = replace_unknown(seeded(3), np.full(30_000, 5), 5)
    assert choice_fit(np.bincount(filled, minlength=5), [0.2] * 5) > ALPHA
    np.testing.assert_array_equal(replace_unknown(seeded(3), np.arange(5), 5), np.arange(5))


def test_at_most_so_many_rows_of_a_person_are_reported_whatever_they_hold():
    schema = SCHEMA.declare(person="who", rows_per_person=2)
    rows = table(8).assign(who=["p", "q", "p", None, "p", "q", "q", "r"])
    randomizer = Randomizer(schema, 100, "split")  # so much that a report is the record
    kept = randomizer.many(rows)
    assert sorted(kept["a"]) == sorted(rows["a"].iloc[[0, 1, 2, 3, 5, 7]])
    assert "who" not in kept
    assert LeafRandomizer(draw_plan(schema, 2, height=1), 1, schema=schema).many(rows).shape == (
        6,
        3,
    )


@pytest.mark.parametrize(
    "nobody", [None, math.nan, NO_VALUE, ["no", "name"]], ids=["null", "nan", "no value", "a list"]
)
def test_whoever_has_no_usable_name_is_a_person_of_their_own(nobody):
    schema = SCHEMA.declare(person="who", rows_per_person=1)
    rows = table(5).assign(who=pd.Series([nobody, "p", nobody, "p", nobody], dtype=object))
    kept = Randomizer(schema, 100, "split").many(rows)
    assert sorted(kept["a"]) == sorted(rows["a"].iloc[[0, 1, 2, 4]])
    # counting goes on to leave them out
    assert not encode(schema, rows).known(schema)[[0, 2, 4]].any()


def test_large_domains_and_any_epsilon_are_sampled_exactly():
    for size, epsilon in [
        (2, F(1, 1000)),
        (3000, F(8)),
        (10**6, F("0.123456789012345678901234567890")),
        (5, F(100)),
    ]:
        p = response_probabilities(size, epsilon)[0]
        assert _truth_threshold(size, epsilon) / 2**64 == pytest.approx(p, rel=1e-12)
        assert abs((_truth_bits(size, epsilon, 640) >> 384) - _truth_bits(size, epsilon, 256)) <= 4
    reports, _ = randomized_response(SystemBits(), np.full(1000, 7), 3000, F(100))
    assert (reports == 7).all()
    assert randomized_response(SystemBits(), np.zeros(3, dtype=int), 1, F(1))[0].tolist() == [
        0,
        0,
        0,
    ]


class _Word:
    """Bits that repeat given words."""

    private = False

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int) -> np.ndarray:
        return np.array([self._words.pop(0) for _ in range(count)], dtype=np.uint64)


def test_a_word_that_equals_the_first_digits_is_decided_by_further_ones():
    first = _truth_threshold(5, F(1))
    more = (_truth_bits(5, F(1), 128) & ((1 << 64) - 1)) + 0
    truth = np.array([3])
    assert randomized_response(_Word(first, more - 1000), truth, 5, F(1))[0][0] == 3
    assert randomized_response(_Word(first, more + 1000, 0), truth, 5, F(1))[0][0] != 3


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=25)
@given(schemas(), st.fractions(F(1, 100), 50, max_denominator=1000), st.data())
def test_the_file_says_what_the_randomizer_does(tmp_path_factory, schema, epsilon, data):
    spread = data.draw(st.sampled_from(["split", "sample"]))
    together = data.draw(st.integers(1, len(schema.names))) if spread == "sample" else 1
    randomizer = Randomizer(schema, epsilon, spread, together)
    path = tmp_path_factory.mktemp("file") / "r.json"
    randomizer.write(path)
    again = Randomizer.read(path)
    facts = ("schema", "epsilon", "spread", "together", "class_share")
    assert [getattr(again, fact) for fact in facts] == [getattr(randomizer, fact) for fact in facts]


def test_the_file_of_leaves(tmp_path):
    randomizer = LeafRandomizer(
        draw_plan(SCHEMA, 3, height=2), "1/3", schema=SCHEMA.declare(rows_per_person=2)
    )
    write_randomizer(randomizer, tmp_path / "r.json")
    again = read_randomizer(tmp_path / "r.json")
    assert again.plan.fingerprint == randomizer.plan.fingerprint
    assert (again.epsilon, again.schema) == (F(1, 3), randomizer.schema)
    with pytest.raises(ModelError, match="leaves, not records"):
        Randomizer.read(tmp_path / "r.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"spread": "both"}, "spread must be one of"),
        ({"spread": "sample"}, "must have exactly"),
        ({"epsilon": 1}, "epsilon must be a fraction"),
        ({"epsilon": "1e9"}, "epsilon must be a fraction"),
        ({"epsilon": "0"}, "epsilon"),
        ({"class_share": "3/2"}, "class_share"),
        ({"more": 1}, "must have exactly"),
        ({"version": 2}, "version"),
        ({"privet": "model"}, "no Privet randomizer"),
    ],
)
def test_a_bad_file_is_refused_with_the_reason(tmp_path, change, message):
    import json

    from privet.local.randomizer_file import randomizer_to_bytes
    from privet.model.file import seal

    document = json.loads(randomizer_to_bytes(Randomizer(SCHEMA, 1, "split")))
    del document["checksum"]
    (tmp_path / "r.json").write_bytes(seal({**document, **change}))
    with pytest.raises(ModelError, match=message):
        read_randomizer(tmp_path / "r.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"epsilon": 101}, "epsilon of a record must lie between 1/1000 and 100"),
        ({"spread": "both"}, "spread must be 'split' or 'sample', got 'both'"),
        ({"together": 4}, "together must be at most the number of attributes"),
        ({"together": 0}, "together"),
        ({"spread": "split", "together": 2}, "together must be 1"),
        ({"class_share": 1}, "class_share"),
        ({"class_share": 0}, "class_share"),
        ({"schema": "nursery"}, "schema must be a Schema"),
    ],
)
def test_a_bad_parameter_is_named(arguments, message):
    with pytest.raises(Exception, match=message) as caught:
        Randomizer(**{"schema": SCHEMA, "epsilon": 1, **arguments})
    assert isinstance(caught.value, ParameterError) or "inf" in str(caught.value)


def test_a_record_must_have_all_columns():
    with pytest.raises(SchemaError, match="the record has no 'b'"):
        Randomizer(SCHEMA, 1).one({"a": "x", "c": 1, "class": "no"})
    wide = Schema({f"a{i}": Numeric(0, 1, bins=1000) for i in range(20)}, "class", ["n", "p"])
    with pytest.raises(ParameterError, match="joint values"):
        Randomizer(wide, 1, "sample", 6)
