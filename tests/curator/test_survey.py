"""What a table holds, found with noise: within its epsilon, and right where rows suffice."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.ledger import MemoryLedger
from privet.curator.survey import (
    ALPHABET,
    BETA,
    DEPTH,
    GRID,
    Surveyor,
    find_runs,
    list_candidates,
    threshold,
    widen_bounds,
)
from privet.describe import draft_schema
from privet.domain import Categorical, Numeric, Schema
from privet.errors import BudgetExceeded, ParameterError, SchemaError
from privet.report.card import card_markdown
from privet.tables.open import open_table

ROWS = 3000


def people(rows: int = ROWS) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    jobs = ["admin.", "blue-collar", "technician"]
    return pd.DataFrame(
        {
            "customer": np.arange(rows) // 2,
            "job": rng.choice(jobs, rows, p=[0.5, 0.3, 0.2]),
            "balance": rng.lognormal(6, 1, rows).round(2),
            "agreed": rng.choice(["yes", "no"], rows),
        }
    )


def draft(table: Any, epsilon: Any, ledger: MemoryLedger, **more: Any) -> Any:
    told = {"exclude": ["customer"], "budget": pv.Budget(1000), "ledger": ledger, **more}
    return draft_schema(table, "agreed", epsilon=epsilon, **told)


def test_bounds_values_and_classes_are_found() -> None:
    table, ledger = people(), MemoryLedger()
    schema = draft(table, 20, ledger).schema
    assert set(schema.classes) == {"yes", "no"}
    job, balance = schema.attributes["job"], schema.attributes["balance"]
    assert isinstance(job, Categorical)
    assert {label[:DEPTH] for label in job.labels} >= {"admin.", "blue-col", "technici"}
    assert set(job.labels) == {"admin.", "blue-col", "technici", "other", "missing"}
    assert isinstance(balance, Numeric)
    assert balance.auto
    inside = table["balance"].between(balance.low, balance.high).mean()
    assert inside > 0.85
    assert balance.high < 100 * table["balance"].quantile(0.9)
    assert {balance.low, balance.high} <= set(GRID)
    fitted = pv.GreedyTreeClassifier(5, max_depth=1).fit_from(
        pv.Curator(table, schema, ledger=ledger)
    )
    assert fitted.model_.privacy.promised.epsilon == 5
    # a value that is cut is found by its beginning
    counted = pv.Curator(table, schema, pv.Budget(100)).count(by="job", epsilon=50).tables[0]
    cut = counted.sum(axis=-1)[list(job.labels).index("blue-col")]
    assert abs(cut - (table["job"] == "blue-collar").sum()) < 5


def test_flags_and_numbers_with_few_values_get_near_bounds() -> None:
    rng = np.random.default_rng(2)
    table = people().assign(
        flag=rng.integers(0, 2, ROWS), grade=rng.integers(1, 5, ROWS), wide=rng.normal(0, 900, ROWS)
    )
    schema = draft(table[["flag", "grade", "wide", "agreed"]], 4, MemoryLedger(), exclude=[]).schema
    for name, most in (("flag", 10), ("grade", 50), ("wide", 50_000)):
        attribute = schema.attributes[name]
        assert isinstance(attribute, Numeric)
        assert -most <= attribute.low <= table[name].quantile(0.1)
        assert table[name].quantile(0.9) <= attribute.high <= most
    assert schema.attributes["flag"].low == 0
    codes = schema.encode(pd.DataFrame({"flag": [0, 1], "grade": [1, 4], "wide": [-9, 9]}))
    assert (codes[0] != codes[1]).all()


def test_runs_that_hold_more_than_noise_tell_the_bounds() -> None:
    """Scale 10: a run of w cells needs about 126 rows and 15 w more."""
    zero, cells = GRID.index(0.0), len(GRID) - 1
    counts = [0] * cells
    assert find_runs(counts, 10) is None
    counts[zero], counts[zero + 41] = 150, 150  # a flag: 0 and 1 are far apart on the grid
    assert find_runs(counts, 10) == (0.0, 1.25)
    counts[zero + 41] = 130
    assert find_runs(counts, 10) == (0.0, GRID[zero + 1])
    wide = [0] * cells
    wide[zero - 10 : zero + 10] = [22] * 20  # each cell is next to nothing
    assert find_runs(wide, 10) == (GRID[zero - 10], GRID[zero + 10])
    wide[zero - 10 : zero + 10] = [20] * 20
    assert find_runs(wide, 10) is None


def test_noise_alone_hardly_ever_tells_bounds() -> None:
    draws, scale = 1000, 10.0
    rng = np.random.default_rng(6)
    alpha = np.exp(-1 / scale)
    size = (draws, len(GRID) - 1)
    noise = rng.geometric(1 - alpha, size) - rng.geometric(1 - alpha, size)
    assert sum(find_runs(line, scale) is not None for line in noise.tolist()) <= 4 * BETA * draws
    larger = sum(find_runs(line, scale / 2) is not None for line in noise[:100].tolist())
    assert larger > 20  # noise of twice the scale would


def test_numbers_in_few_rows_get_near_bounds() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 90, ROWS),
            "income": rng.lognormal(10.5, 0.6, ROWS).round(),
            "agreed": rng.choice(["yes", "no"], ROWS),
        }
    )
    told = draft(table, Fraction(2 * 150, ROWS), MemoryLedger(), classes=["no", "yes"], exclude=[])
    for name, most in (("age", 600), ("income", 2_000_000)):
        attribute = told.schema.attributes[name]
        assert attribute.low <= table[name].quantile(0.05)
        assert table[name].quantile(0.95) <= attribute.high <= most


def test_all_of_a_survey_is_within_its_epsilon() -> None:
    ledger = MemoryLedger()
    schema = draft(people(), "3/2", ledger).schema
    spent = sum((entry.cost.epsilon or Fraction(0)) for entry in ledger.entries())
    assert Fraction(0) < spent <= Fraction(3, 2)
    assert schema.paid is not None
    assert schema.paid["epsilon"] == "3/2"
    assert len({entry.reservation for entry in ledger.entries()}) == 1
    book = MemoryLedger()
    draft(people(), 20, book)
    spent = [entry.cost.epsilon or Fraction(0) for entry in book.entries() if "job" in repr(entry)]
    assert len(spent) > 4  # the dictionary, and every level of the tree
    assert sum(spent) <= Fraction(20, 4)  # two columns, and the classes, which have two shares
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize(
    ("facts", "times"),
    [
        ({"rows_per_person": 2, "person": "customer", "exclude": []}, 2),
        ({"neighbours": "replace"}, 2),
    ],
)
def test_people_with_several_rows_and_replaced_people_cost_more(facts: dict, times: int) -> None:
    ledger = MemoryLedger()
    schema = draft(people(), 3, ledger, classes=["no", "yes"], **facts).schema
    assert schema.paid is not None
    assert schema.paid["epsilon"] == str(3 * times)
    spent = sum((entry.cost.epsilon or Fraction(0)) for entry in ledger.entries())
    assert 3 < spent <= 3 * times


def test_nothing_is_read_unless_it_can_be_paid() -> None:
    ledger = MemoryLedger()
    with pytest.raises(BudgetExceeded):
        draft(people(), 2, ledger, budget=pv.Budget(1))
    assert ledger.entries() == []


def test_too_little_epsilon_says_how_many_rows_a_value_needs() -> None:
    with pytest.raises(ParameterError, match=r"needs about [0-9]+ rows at this .*--classes"):
        draft(people(), "0.001", MemoryLedger())
    with pytest.raises(SchemaError) as raised:
        draft(people(), "0.01", MemoryLedger(), classes=["no", "yes"])
    assert "'job': no value of it is frequent enough" in str(raised.value)
    assert "found in so few rows (about 12000 would do at this epsilon)" in str(raised.value)


def test_a_model_says_what_its_schema_cost() -> None:
    table, ledger = people(), MemoryLedger()
    schema = draft(table, "1/2", ledger, classes=["no", "yes"]).schema
    model = pv.RandomTreesClassifier(2).fit_from(pv.Curator(table, schema, ledger=ledger)).model_
    said = card_markdown(model)
    assert "that cost epsilon 0.5 beside" in said
    assert "Both together cost epsilon 2.5" in said
    plain = Schema(schema.attributes, schema.target, schema.classes)
    other = pv.RandomTreesClassifier(2, plain).fit(table).model_
    assert "beside" not in card_markdown(other)


def test_a_csv_file_tells_what_it_holds(tmp_path: Any) -> None:
    table = people().assign(day=["2020-01-02", "2021-05-06", "2022-07-08"] * (ROWS // 3))
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")
    schema = draft(str(tmp_path / "t.csv"), 30, MemoryLedger()).schema
    kinds = {name: attribute.type for name, attribute in schema.attributes.items()}
    assert kinds == {"job": "categorical", "balance": "numeric", "day": "date"}


def test_words_of_a_public_dictionary_are_found_first() -> None:
    told = draft(people(), 12, MemoryLedger(), dictionary=["blue-collar", "admin.", "pilot"])
    labels = told.schema.attributes["job"].labels
    assert {"blue-collar", "admin."} <= set(labels)
    assert "pilot" not in labels


def test_values_that_nobody_has_are_hardly_ever_listed() -> None:
    """With noise alone, a candidate passes its threshold with probability beta in all."""
    epsilon, candidates = Fraction(1, 10), 5000
    bound = threshold(epsilon, candidates)
    alpha = np.exp(-float(epsilon))
    passing = alpha ** (np.floor(bound) + 1) / (1 + alpha)  # of discrete Laplace
    assert BETA / 3 < candidates * passing <= BETA


def test_candidates_continue_prefixes_or_end_there() -> None:
    first = list_candidates([""], 2, first=True)
    assert len(first) == len(set(first)) == len(ALPHABET) + len(ALPHABET) ** 2
    assert "" not in first
    later = list_candidates(["ab", "cd"], 1, first=False)
    assert len(later) == 2 * (1 + len(ALPHABET))
    assert {"ab", "abz", "cd"} <= set(later)


@pytest.mark.parametrize(
    ("ends", "bounds"),
    [((0.0, 1.25), (0.0, 2.5)), ((-1e-3, 1.25), (0.0, 3.2)), ((-8.0, 8.0), (-25.0, 25.0))],
)
def test_bounds_are_well_outside_of_the_ends(ends: tuple, bounds: tuple) -> None:
    assert widen_bounds(*ends) == bounds


@pytest.mark.parametrize("make", [dict, lambda: {"dictionary": ()}])
def test_a_survey_asks_about_the_target_beside_another_column(make: Callable[[], dict]) -> None:
    table = open_table(people()[["job", "agreed"]])
    surveyor = Surveyor(
        table, "agreed", MemoryLedger(), "t", "owner", {}, budget=pv.Budget(100), **make()
    )
    assert set(surveyor.survey([], (), 50).classes) == {"yes", "no"}
