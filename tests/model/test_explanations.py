"""What is said about a whole model is what the model says: compared with enumeration."""

from __future__ import annotations

import re
from itertools import combinations, product
from math import factorial

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.repeats import explain_no_repeats, repeat_fits
from privet.model.explanations.boxes import Boxes, Scale
from privet.model.explanations.effects import (
    average_scores,
    divide_scores,
    find_effects,
    find_interactions,
)
from privet.model.explanations.people import People
from privet.model.explanations.values import (
    choose_shown,
    group_values,
    join_alike,
    label_values,
    name_class,
    write_numbers,
)
from privet.model.population import Population
from tests.report.models import SCHEMA, small_model, small_tree, statement
from tests.report.scored import drawn_tree, scored_model, term

POINTS = np.array(list(product(*map(range, SCHEMA.sizes))))


def random_model(seed: int, schema=SCHEMA):
    rng = np.random.default_rng(seed)
    deep = [drawn_tree(rng, schema, depth=3) for _ in range(3)]
    scores = rng.normal(size=(schema.attributes["age"].size, schema.n_classes))
    start = Tree(Cells.everything(schema), rng.normal(size=(1, schema.n_classes)), "constant")
    people = Population({name: rng.dirichlet(np.ones(size)) for name, size in sizes(schema)}, 0.01)
    trees = (*deep, term(schema, "age", scores), start)
    return scored_model(schema, trees=trees, population=people)


def sizes(schema):
    return zip(schema.names, schema.sizes, strict=True)


def say(model, points) -> np.ndarray:
    """The numbers of an explanation, as the model itself says them."""
    codes = [np.asarray(column) for column in np.asarray(points).T]
    total = model._sum_trees(codes)
    if model.combine != "scores":
        return total / len(model.trees)
    return total - total.mean(axis=1, keepdims=True)


def synthetic(count: int = 30) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    columns = {
        name: np.array(attribute.list_examples(), dtype=object)[rng.integers(0, size, count)]
        for (name, attribute), size in zip(SCHEMA.attributes.items(), SCHEMA.sizes, strict=True)
    }
    return pd.DataFrame({**columns, "colour": columns["form"] == "foster"}).assign(
        colour=lambda frame: np.where(frame["colour"], "red", "blue")
    )


def mixed(people: People) -> tuple[np.ndarray, np.ndarray]:
    """Points of the domain and how likely each is among these people."""
    if people.codes is not None:
        return np.array(people.codes).T, np.full(len(people.codes[0]), 1 / len(people.codes[0]))
    weights = np.ones(len(POINTS))
    for place, shares in enumerate(people.shares):
        weights *= shares[POINTS[:, place]]
    return POINTS, weights


def expect(model, people, known: dict[int, int]) -> np.ndarray:
    """The mean of what the model says where some attributes are known: by enumeration."""
    points, weights = mixed(people)
    points = points.copy()
    for place, code in known.items():
        points[:, place] = code
    return weights @ say(model, points)


@pytest.fixture(params=["released", "uniform", "synthetic"])
def people(request) -> People:
    model = random_model(3)
    if request.param == "synthetic":
        return People.of(model, synthetic())
    return People.of(model if request.param == "released" else scored_model())


def test_effects_are_what_the_model_says_when_everybody_has_a_value(people):
    model = random_model(3)
    boxes = Boxes.of(model)
    average = expect(model, people, {})
    np.testing.assert_allclose(average_scores(boxes, people), average, atol=1e-12)
    for place, effects in enumerate(find_effects(boxes, people)):
        for code in range(SCHEMA.sizes[place]):
            said = expect(model, people, {place: code}) - average
            np.testing.assert_allclose(effects[code], said, atol=1e-12)


def test_interactions_are_what_two_attributes_say_beyond_each(people):
    model = random_model(4)
    boxes, average = Boxes.of(model), expect(model, people, {})
    found = find_interactions(boxes, people)
    for one, other in combinations(range(len(SCHEMA.names)), 2):
        table = found.get((one, other), np.zeros((SCHEMA.sizes[one], SCHEMA.sizes[other], 3)))
        for a, b in product(range(SCHEMA.sizes[one]), range(SCHEMA.sizes[other])):
            both = expect(model, people, {one: a, other: b}) + average
            alone = expect(model, people, {one: a}) + expect(model, people, {other: b})
            np.testing.assert_allclose(table[a, b], both - alone, atol=1e-12)


def shapley(model, people, row: list[int]) -> np.ndarray:
    """By the definition: over all coalitions."""
    n = len(row)
    parts = np.zeros((n, 3))
    for place in range(n):
        others = [other for other in range(n) if other != place]
        for size in range(n):
            weight = factorial(size) * factorial(n - 1 - size) / factorial(n)
            for coalition in combinations(others, size):
                known = {other: row[other] for other in coalition}
                with_it = expect(model, people, {**known, place: row[place]})
                parts[place] += weight * (with_it - expect(model, people, known))
    return parts


@pytest.mark.parametrize("seed", [1, 2])
def test_parts_of_a_row_are_its_shapley_values(people, seed):
    model, rng = random_model(seed), np.random.default_rng(seed)
    for _ in range(3):
        row = [int(rng.integers(0, size + 1)) for size in SCHEMA.sizes]  # the last: unknown
        codes = tuple(np.array([code]) for code in row)
        parts = divide_scores(Boxes.of(model), people, codes)[0]
        np.testing.assert_allclose(parts, shapley(model, people, row), atol=1e-12)


def test_the_parts_and_the_average_add_up_to_the_score():
    model, rows = random_model(7), synthetic(20)
    said = model.explain(rows, people=synthetic(50))
    codes = pv.ReleasedClassifier(model)._codes(rows)
    for number, row in enumerate(said.rows):
        point = [[int(column[number]) for column in codes]]
        np.testing.assert_allclose(row.score, say(model, point)[0], atol=1e-12)
        assert row.decision == int(model.decide(row.probabilities[None])[0])


@pytest.mark.parametrize("combine", ["probabilities", "vote"])
def test_models_of_counts_are_explained_by_shares(combine):
    model = small_model(combine=combine)
    said = model.explain(synthetic(5))
    codes = np.array(pv.ReleasedClassifier(model)._codes(synthetic(5))).T
    np.testing.assert_allclose([row.score for row in said.rows], say(model, codes), atol=1e-12)
    assert said.unit == "probability"
    assert said.people.source == "uniform"


def test_one_tree_of_counts_is_explained_and_several_are_refused():
    one = small_model(trees=(small_tree(),))
    total = [row.score.sum() for row in one.explain(synthetic(4)).rows]
    np.testing.assert_allclose(total, 1)
    with pytest.raises(ParameterError, match="combine='probabilities'"):
        small_model().explain()


def test_two_classes_have_one_number_and_it_is_the_log_odds():
    schema = SCHEMA.number_classes(2)
    model = random_model(1, schema)
    said = model.explain(synthetic(6))
    assert said.unit == "log-odds of 1"
    for row in said.rows:
        odds = np.log(row.probabilities[1] / row.probabilities[0])
        np.testing.assert_allclose(row.score, [odds])


def test_the_sample_of_independent_people_has_their_shares():
    people = People.of(random_model(2))
    for column, shares in zip(people.sample, people.shares, strict=True):
        counted = np.bincount(column, minlength=len(shares)) / len(column)
        assert np.abs(counted - shares).max() < 0.02


# -- noise -----------------------------------------------------------------------------------------


def with_term(values) -> pv.Model:
    return scored_model(trees=(term(SCHEMA, "age", np.outer(values, [1, 0, -1])),))


def test_an_effect_that_repeats_do_not_say_again_is_not_sure():
    said = with_term([2.0, 0.0, -2.0, 0.4]).explain(
        repeats=[with_term([1.9, 0.1, -2.1, 0.0]), with_term([2.1, -0.1, -1.9, 0.0])]
    )
    age = said.effects["age"]
    assert age.sure[:, 0].tolist() == [True, False, True, False]
    assert {one.name: one.sure for one in said.importances} == {
        "age": True,
        "form": False,
        "income": False,
        "colour": False,
    }
    page = said.to_html()
    assert "not distinguishable from noise" in page
    assert "uniform population" in page


def test_without_repeats_nothing_is_said_to_be_sure():
    said = with_term([2.0, 0.0, -2.0, 0.4]).explain()
    assert said.effects["age"].sure is None
    assert "The noise was not measured" in said.to_html()


@pytest.fixture(scope="module")
def strong():
    """A class that one attribute decides, and one that says nothing."""
    rng = np.random.default_rng(1)
    attributes = {
        "tells": pv.Categorical(["a", "b"]),
        "silent": pv.Categorical(["c", "d"]),
        "more": pv.Numeric(0, 100, bins=20),
    }
    schema = pv.Schema(attributes, target="class", classes=["no", "yes"]).declare(n_rows=3000)
    table = pd.DataFrame({"tells": rng.choice(["a", "b"], 3000), "silent": "c"})
    table["more"] = rng.integers(0, 100, 3000)
    flipped = rng.random(3000) < 0.1
    table["class"] = np.where((table["tells"] == "a") ^ flipped, "yes", "no")
    return schema, table


def test_explaining_reads_nothing_and_charges_nothing(strong, monkeypatch):
    schema, table = strong
    curator = pv.Curator(table, schema, pv.Budget(2))
    fitted = pv.PrivetClassifier(epsilon=1).fit_from(curator)
    before = curator.left
    opened = []
    ask = pv.Curator.ask
    monkeypatch.setattr(
        pv.Curator, "ask", lambda self, *a, **k: opened.append(self.account) or ask(self, *a, **k)
    )
    plain = fitted.explain(table.head(3), repeats=0)
    plain.to_html()
    assert opened == []
    said = fitted.explain(table.head(3), repeats=3)
    assert opened  # by curators of synthetic rows, and by no other
    assert curator.account not in opened
    assert curator.left == before
    assert said.importances[0].name == "tells"
    assert said.effects["tells"].sure.all()
    assert not said.effects["silent"].sure.any()


def test_repeats_have_the_epsilon_of_the_fit_and_rows_of_nobody(strong):
    schema, table = strong
    curator = pv.Curator(table, schema, pv.Budget(2))
    model = pv.PrivetClassifier(epsilon="1/2").fit_from(curator).model_
    (again,) = repeat_fits(model, People.of(model), 1)
    assert again.privacy.charged.epsilon == model.privacy.charged.epsilon
    assert again.schema.fingerprint == model.schema.fingerprint
    assert set(again.settings["rows"].values()) == {3000}
    assert again.privacy.account != model.privacy.account


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        (pv.PrivetClassifier, {"delta": 1e-5}),
        (pv.PrivetClassifier, {"class_weight": {"yes": 2}}),
        (pv.PrivetClassifier, {"class_weight": "balanced"}),
        (pv.RandomTreesClassifier, {"n_trees": 2}),
        (pv.ForestClassifier, {"n_trees": 2}),
        (pv.GreedyTreeClassifier, {"max_depth": 2}),
        (pv.NoisyID3Classifier, {}),
        (pv.AdditiveClassifier, {}),
        (pv.GibbsTreeClassifier, {"max_depth": 1}),
        (pv.GibbsBoostClassifier, {"max_depth": 1}),
    ],
)
def test_fits_of_all_learners_can_be_repeated(strong, learner, settings):
    schema, table = strong
    mine = schema.declare(rows_per_person=2)
    model = learner(1, schema=mine, **settings).fit(table).model_
    (again,) = repeat_fits(model, People.of(model), 1)
    for cost in ("epsilon", "rho"):
        one, other = (getattr(each.privacy.charged, cost) for each in (model, again))
        assert (one is None) == (other is None)
        assert one is None or float(one) == pytest.approx(float(other), rel=0.02)


def test_a_fit_that_cannot_be_repeated_says_why():
    exact = small_model(privacy=statement(private=False, reason="epsilon is infinite"))
    assert "no noise was added" in explain_no_repeats(exact)
    assert "no learner is called 'gibbs'" in explain_no_repeats(scored_model())


# -- words -----------------------------------------------------------------------------------------


def test_bins_are_labelled_as_people_write_numbers():
    money = pv.Numeric(edges=[0, 0.778291, 2.16232, 1234.4, 2512.9, 99999])
    assert label_values(money, [(0,), (1,), (2,), (3,), (4,)]) == [
        "below 0.778",
        "0.778 to 2.16",
        "2.16 to 1 230",
        "1 230 to 2 510",
        "2 510 and more",
    ]
    years = pv.Numeric(20, 60, bins=4, missing="not told")
    assert label_values(years, [(0,), (1, 2), (3,), (4,)]) == [
        "up to 29",
        "30 to 49",
        "50 and more",
        "not told",
    ]


def test_numbers_get_as_many_digits_as_tell_them_apart():
    assert write_numbers([100_000.0, 100_001.0]) == ["100 000", "100 001"]
    assert write_numbers([-1500.0, 0.25]) == ["-1 500", "0.25"]
    assert write_numbers([]) == []


def test_neighbouring_bins_with_like_effects_stand_together():
    attribute = pv.Numeric(0, 100, bins=50)
    effects = np.where(np.arange(50) < 17, -1.0, 1.0)[:, None]
    groups = group_values(attribute, effects, np.full(50, 0.02))
    assert len(groups) == 12
    assert [code for group in groups for code in group] == list(range(50))
    assert any(group[0] == 17 for group in groups)


def test_a_notebook_says_that_noise_was_not_measured():
    shown = random_model(1)._repr_html_()
    assert "The noise was not measured: some of these effects may be nothing but noise." in shown
    assert "<summary>How to read this</summary>" in shown


def test_names_of_columns_are_escaped():
    schema = pv.Schema({"<b>": pv.Categorical(["<i>", "x"])}, target="t", classes=["<u>", "z"])
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "<b>")})
    tree = Tree(cells, np.array([[0, 0], [1, 0], [0, 1.0]]), "term")
    page = scored_model(schema, trees=(tree,)).explain({"<b>": ["<i>"]}).to_html()
    assert "&lt;i&gt;" in page
    assert "<i>x" not in page.replace("<i>not dist", "")
    assert "&lt;u&gt;" in page


def test_an_explanation_is_saved_as_a_page(tmp_path):
    said = random_model(1).explain(synthetic(2))
    said.save(tmp_path / "why.html")
    assert "Why row 2 is" in (tmp_path / "why.html").read_text()
    with pytest.raises(ParameterError, match=r"saved as \.html"):
        said.save(tmp_path / "why.pdf")
    assert len(said.to_frame()) == sum(SCHEMA.sizes) * 3


def test_a_scale_measures_what_moves():
    scale = Scale((0, 1, 2), log=True)
    assert scale.measure(np.array([[1.0, -1, 0], [0, 0, 0]])).tolist() == [2, 0]
    assert Scale((1,), log=True).measure(np.array([[-3.0]])).tolist() == [3]
    assert Scale((0, 1, 2), log=False).measure(np.array([[0.25, -0.5, 0.25]])).tolist() == [0.5]


# -- what somebody else may misread ----------------------------------------------------------------


def test_a_page_says_what_it_follows_from_beside_the_model():
    model, rows = random_model(1), synthetic(2)
    assert "from the model alone, and cost no privacy" in model.explain().to_html()
    page = model.explain(rows).to_html()
    assert "cost no privacy" not in page
    assert "the rows that are explained, which this guarantee does not protect" in page
    assert "Show this to those only who may see these rows" in page
    for said in (model.explain(people=rows), model.explain(rows, people=rows)):
        assert "cost no privacy" not in said.to_html()
        assert "the averages give away facts about them" in said._repr_html_()
        assert (
            "the averages give away facts about them" in pv.card(model, explanation=said).to_text()
        )


def test_a_row_that_costs_decide_says_so():
    model, rows = random_model(1), synthetic(8)
    plain = model.explain(rows)
    assert "mistakes cost more" not in plain.to_html()
    classes = model.schema.classes
    costs = {(true, other): 1 for true in classes for other in classes if true != other}
    least = int(plain.rows[0].probabilities.argmin())
    costs |= {(classes[least], other): 1e6 for other in classes if other != classes[least]}
    said = model.with_costs(costs).explain(rows)
    assert said.rows[0].decision == least
    assert "because some mistakes cost more than others" in " ".join(said.to_html().split())


def test_what_makes_no_difference_is_named_once():
    """Ten lines of nothing would hide the one that says something."""
    said = with_term([2.0, 0.0, -2.0, 0.4]).explain(synthetic(1))
    assert said.silent == ("form", "income", "colour")
    page = said.to_html()
    assert "form, income, colour make no difference to this model." in page
    assert ">age</th>" in page
    assert ">form</th>" not in page
    assert "form = " not in page
    assert random_model(1).explain().silent == ()


def test_a_value_is_folded_only_with_others():
    weight = np.array([3.0, 1.0, 2.0, 0.5])
    assert choose_shown(weight, None, 3) == ([0, 1, 2, 3], [])
    assert choose_shown(weight, None, 2) == ([0, 2], [1, 3])
    sure = np.array([[False], [True], [False], [True]])
    assert choose_shown(weight, sure, 2) == ([1, 3], [0, 2])


def test_values_that_a_map_says_the_same_about_stand_together():
    numbers = np.array([[1.0, 2], [1, 2.004], [0, 0], [1, 2]])
    values, alone = pv.Categorical(["a", "b", "c", "d"]), [(0,), (1,), (2,), (3,)]
    assert join_alike(values, numbers, alone, 0.005) == [(0, 1, 3), (2,)]
    assert label_values(values, [(0, 1, 3), (2,)]) == ["a, b, d", "c"]
    years = pv.Numeric(0, 30, bins=3, missing="not told")
    # neither with bins that are no neighbours, nor with what is missing
    assert join_alike(years, numbers, alone, 0.005) == [(0, 1), (2,), (3,)]
    alike = np.zeros((4, 2))
    assert join_alike(years, alike, alone, 0.005) == [(0, 1, 2), (3,)]


def test_a_bar_has_the_colour_of_the_class_that_it_speaks_for():
    """As in the pictures: the first of two classes to the left, the second to the right."""
    schema = SCHEMA.number_classes(2)
    page = random_model(1, schema).explain().to_html()
    bars = re.findall(r'title="([+-])[^"]*"><s[^>]*></s><b class="(\w+)"', page)
    looks = {("-", "c0"), ("+", "c1"), ("+", "size")}  # sizes speak for no class
    assert set(bars) == looks
    columns = random_model(1).explain().to_html()
    assert set(re.findall(r'<b class="(\w+)"', columns)) == {"c0", "c1", "c2", "size"}


def test_a_label_that_is_no_word_is_quoted_in_sentences():
    assert [name_class(label) for label in ("yes", "+", "-", ">50K")] == [
        "yes",
        "'+'",
        "'-'",
        ">50K",
    ]


def test_only_the_first_rows_are_unfolded():
    page = random_model(1).explain(synthetic(5)).to_html()
    assert "<h2>Why row 3 is" in page
    assert "<summary><b>Why row 4 is" in page


def test_long_values_that_begin_alike_are_told_apart():
    values = [f"{'very ' * 12}{end}" for end in ("long", "short")]
    labels = label_values(pv.Categorical(values), [(0,), (1,)])
    assert len(set(labels)) == 2
    assert max(map(len, labels)) <= 32
    inside = [f"{'a' * 40}{middle}{'b' * 40}" for middle in "xy"]
    assert len(set(label_values(pv.Categorical(inside), [(0,), (1,)]))) == 2


def test_the_probability_of_grouped_bins_is_that_of_all_of_them():
    """Not that of the commonest: 51 people of one bin would hide 49 of another."""
    schema = pv.Schema({"n": pv.Numeric(0, 100, bins=50)}, target="t", classes=["a", "b"])
    scores = np.zeros((50, 2))
    scores[:, 1] = np.where(np.arange(50) % 2, 3.0, -3.0)
    model = scored_model(schema, trees=(term(schema, "n", scores),))
    effect = model.explain().effects["n"]
    chance = 1 / (1 + np.exp(-scores[:, 1]))
    for group, found in zip(effect.groups, effect.probabilities[:, 1], strict=True):
        assert found == pytest.approx(chance[list(group)].mean(), abs=0.02)


def test_rows_of_many_classes_end_with_their_sums():
    said = random_model(1).explain(synthetic(1))
    page, (row,) = said.to_html(), said.rows
    for label, numbers in (
        ("on average", row.average),
        ("the bars", row.parts.sum(axis=0)),
        ("in all", row.score),
    ):
        cells = "".join(f"<td class='track'>{number:+.2f}</td>" for number in numbers)
        assert f"{label}</th>{cells}" in page


def test_noisy_shares_of_people_are_said_to_be_noisy():
    model = random_model(1)
    assert "Shares of people are noisy, too, by up to about 2.0 %" in model.explain().to_html()
    assert "are noisy, too" not in model.explain(people=synthetic()).to_html()
    assert "are noisy, too" not in scored_model().explain().to_html()


def test_nothing_is_said_about_how_many_people_have_a_value_where_nobody_was_counted():
    assert ">people</th>" in random_model(1).explain().to_html()
    assert ">people</th>" not in with_term([2.0, 0, -2, 0]).explain().to_html()


def test_fewer_people_stand_for_all_where_leaves_are_many(monkeypatch):
    model, table = random_model(1), synthetic(300)
    whole = model.explain(people=table)
    assert len(whole.people.sample[0]) == 300
    monkeypatch.setattr("privet.model.explanations.people._MOST_WORK", 1e3)
    fewer = model.explain(synthetic(2), people=table)
    assert len(fewer.people.sample[0]) == 40
    assert "synthetic rows (40 of them)" in fewer.to_html()
    codes = pv.ReleasedClassifier(model)._codes(synthetic(2))
    for number, row in enumerate(fewer.rows):  # the average is over the same people
        point = [[int(column[number]) for column in codes]]
        np.testing.assert_allclose(row.score, say(model, point)[0], atol=1e-12)
