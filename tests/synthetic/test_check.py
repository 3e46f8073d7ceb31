"""How near synthetic rows are to held-out ones: what it costs, what it finds, and how it is
told.
"""

from __future__ import annotations

import math
from fractions import Fraction as F
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.encode.rows import encode
from privet.errors import BudgetExceeded, ParameterError, PrivetError
from privet.local.collecting import local_curator
from privet.local.randomizer import Randomizer
from privet.synthetic.check import MOST_PANELS, SYNTHETIC, Marginal, check_synthetic, draw_check
from privet.synthetic.files import render_check_report
from tests.curator.spied import Spy
from tests.synthetic.small import SCHEMA, curator, seeded, table

ROWS = table(1000, seed=1)
TRUE = table(4000, seed=2)


@pytest.fixture(scope="module")
def learner():
    return pv.GreedyTreeClassifier(math.inf, schema=SCHEMA.declare(n_rows=len(ROWS))).fit(ROWS)


@pytest.fixture(scope="module")
def model(learner):
    return learner.model_


@pytest.fixture(scope="module")
def found(model):
    return check_synthetic(ROWS, curator(TRUE, budget=Budget(1000)), 1000, against={"other": model})


class TestAccounting:
    @pytest.mark.parametrize(
        ("facts", "factor"), [({}, 1), ({"neighbours": "replace", "rows_per_person": 3}, 6)]
    )
    def test_epsilon_is_charged_exactly(self, facts, factor, model):
        asked = curator(TRUE, SCHEMA.declare(**facts), Budget(F(7, 10) * factor))
        made = check_synthetic(ROWS, asked, "0.7", against={"one": model, "two": model})
        assert asked.left == 0
        assert made.row_cost.epsilon == F(7, 10)
        assert made.cost.epsilon == F(7, 10) * factor
        assert made.private
        charged = [entry.cost.epsilon / factor for entry in asked.ledger.entries()]
        assert charged == [F(7, 20), *[F(7, 60)] * 3]

    def test_a_budget_in_rho_will_do(self):
        asked = curator(TRUE, budget=Budget(rho=1))
        check_synthetic(ROWS, asked, 1)
        assert asked.spent.epsilon == 1
        assert asked.left > 0

    def test_records_that_people_randomised_cannot_tell(self):
        noisy = Randomizer(SCHEMA, 2)
        with pytest.raises(ParameterError, match="evaluate on other rows"):
            check_synthetic(ROWS, local_curator(noisy.many(TRUE), noisy), 1)


OTHER = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"])
REFUSED = {
    "too much": ({"epsilon": "1.01"}, BudgetExceeded, "1"),
    "infinite": ({"epsilon": math.inf}, PrivetError, "epsilon"),
    "nothing": ({"epsilon": 0}, ParameterError, "epsilon"),
    "no rows": ({"rows": ROWS.head(0)}, PrivetError, "hold no row"),
    "no row that fits": ({"rows": ROWS.assign(c="maybe")}, PrivetError, "hold no row"),
    "a column less": ({"rows": ROWS.drop(columns="b")}, PrivetError, "b"),
    "no classes": ({"rows": ROWS.drop(columns="c")}, PrivetError, "c"),
    "a name that is taken": ({"against": {SYNTHETIC: "model"}}, ParameterError, SYNTHETIC),
    "a model of another schema": (
        {"against": {"m": "other"}},
        ParameterError,
        "'m'.*another schema",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_before_anything_is_charged_or_read(case, monkeypatch, model):
    changes, error, named = REFUSED[case]
    ledger = MemoryLedger()
    spy = Spy(ledger, TRUE)
    spy.fail = AssertionError("a row was read")
    monkeypatch.setattr("privet.curator.curator.open_table", lambda _: spy)
    asked = Curator("anything", SCHEMA, Budget(1), ledger=ledger)
    monkeypatch.undo()
    options = {"rows": ROWS, "epsilon": 1, **changes}
    if "against" in changes:
        rows = pd.DataFrame({"a": ["x", "y"], "c": ["no", "yes"]})
        other = pv.GreedyTreeClassifier(math.inf, schema=OTHER.declare(n_rows=2)).fit(rows).model_
        options["against"] = {
            name: other if which == "other" else model for name, which in changes["against"].items()
        }
    with pytest.raises(error, match=named):
        check_synthetic(options.pop("rows"), asked, **options)
    assert spy.entries_seen == ledger.entries() == []


class TestShares:
    def test_the_true_distance_is_found_at_a_large_epsilon(self, found):
        for one in found.marginals:
            attribute = SCHEMA.attributes[one.name]
            tables = []
            for frame in (ROWS, TRUE):
                codes = pv.Schema({one.name: attribute}, "c", ["no", "yes"])
                encoded = encode(codes, frame)
                counts = np.zeros((attribute.size, 2))
                np.add.at(counts, (encoded.codes[0], encoded.classes), 1)
                tables.append(counts / len(frame))
            assert one.synthetic == pytest.approx(tables[0])
            assert one.distance == pytest.approx(np.abs(tables[0] - tables[1]).sum() / 2, abs=1e-3)
            assert one.floor < 1e-2

    def test_equal_tables_show_the_floor(self, monkeypatch):
        """Counts of many values average out: the mean distance is told from that of noise 30%
        off.
        """
        schema = Schema(
            {"a": Numeric(0, 400, bins=400), "b": Numeric(0, 400, bins=400)}, "c", ["no", "yes"]
        )
        rng = np.random.default_rng(0)
        n_rows = 20_000
        frame = pd.DataFrame(
            {
                "a": rng.integers(0, 400, n_rows),
                "b": rng.integers(0, 400, n_rows),
                "c": rng.choice(["no", "yes"], n_rows),
            }
        )
        # a fast one
        monkeypatch.setattr("privet.synthetic.check.PrivetClassifier", pv.RandomTreesClassifier)
        made = check_synthetic(frame, curator(frame, schema, Budget(1), bits=seeded(3)), 1)
        ratio = np.mean([one.distance / one.floor for one in made.marginals])
        # 1600 sizes of Laplace noise, of mean and deviation 1: their mean has 1/40, and six of
        # these are less than 30%.
        assert abs(ratio - 1) < 6 / 40
        assert not made.private

    def test_the_floor_is_the_mean_size_of_the_noise(self):
        assert Marginal(
            "a", np.zeros((3, 2)), np.zeros((3, 2)), math.sqrt(2)
        ).floor == pytest.approx(3)
        assert Marginal(
            "a", np.full((2, 2), 0.25), np.array([[0.5, 0], [0.25, 0.25]]), 0.0
        ).distance == pytest.approx(0.25)

    def test_the_most_frequent_class(self, found):
        assert found.most_frequent == pytest.approx(
            TRUE["c"].value_counts(normalize=True).max(), abs=1e-3
        )


class TestModels:
    def test_are_as_right_as_they_are(self, found, learner):
        assert list(found.models) == [SYNTHETIC, "other"]
        assert found.models["other"].accuracy == pytest.approx(
            (learner.predict(TRUE) == TRUE["c"]).mean(), abs=2e-3
        )

    def test_what_is_trained_on_the_rows_learns_from_them(self, found):
        assert found.models[SYNTHETIC].accuracy > 0.6
        upside_down = ROWS.assign(c=np.where(ROWS["c"] == "yes", "no", "yes"))
        wrong = check_synthetic(upside_down, curator(TRUE, budget=Budget(1000)), 1000)
        assert wrong.models[SYNTHETIC].accuracy < 0.45


HOSTILE = '<img src=x onerror="alert(1)"> | *b* $\\frac$ [x](http://x) `c` '


@pytest.fixture(scope="module")
def hostile():
    schema = Schema(
        {HOSTILE: Categorical([HOSTILE, "$", "new\nline"]), "_$b^$": Numeric(0, 1, bins=30)},
        HOSTILE + "c",
        ["<no>", "$yes"],
    )
    rng = np.random.default_rng(0)
    columns = {HOSTILE: rng.choice([HOSTILE, "$", "new\nline"], 200), "_$b^$": rng.random(200)}
    frame = pd.DataFrame({**columns, HOSTILE + "c": rng.choice(["<no>", "$yes"], 200)})
    other = pv.GreedyTreeClassifier(math.inf, schema=schema.declare(n_rows=200)).fit(frame).model_
    return check_synthetic(frame, curator(frame, schema, Budget(1)), 1, against={HOSTILE: other})


class TestReport:
    def test_html_is_escaped(self, hostile):
        page = render_check_report(hostile, html=True)
        assert "<img" not in page
        assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in page
        assert "This report cost the held-out rows epsilon = 1" in page

    def test_markdown_is_escaped(self, hostile):
        text = render_check_report(hostile)
        assert "<img" not in text
        assert "[x](" not in text
        lines = [line for line in text.splitlines() if "img" in line and line.startswith("|")]
        assert len(lines) == 2  # a model and an attribute
        assert all(line.replace("\\|", "").count("|") == 4 for line in lines)

    def test_what_is_not_private_says_so(self):
        made = check_synthetic(ROWS, curator(TRUE, bits=seeded()), 1)
        assert "WARNING: This report is not private." in render_check_report(made)

    def test_nothing_is_farther_than_all_rows(self):
        """At a tiny epsilon the noisy total may be anything."""
        made = check_synthetic(ROWS, curator(TRUE.head(3)), F(1, 1000))
        assert all(0 <= one.distance <= 1 for one in made.marginals)


class TestPicture:
    def test_draws_hostile_names(self, hostile, tmp_path):
        from privet.report.plots import save_figure

        figure = draw_check(hostile)
        save_figure(figure, tmp_path / "p.svg")
        save_figure(figure, tmp_path / "p.png", dpi=40)
        assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<?xml")
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        assert titles[1] == "_$b^$"

    def test_the_farthest_are_drawn(self):
        schema = Schema(
            {f"a{i}": Categorical(["x", "y"]) for i in range(MOST_PANELS + 3)}, "c", ["no", "yes"]
        )
        even = np.full((2, 2), 0.25)
        far = [
            Marginal(
                f"a{i}", even, even + (0.2 if i >= 3 else 0.0) * np.array([[1, 1], [-1, -1]]), 0.01
            )
            for i in range(MOST_PANELS + 3)
        ]
        figure = draw_check(SimpleNamespace(schema=schema, marginals=tuple(far), cost=Cost.pure(1)))
        shown = [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]
        assert shown == [f"a{i}" for i in range(3, MOST_PANELS + 3)]
