"""Every answer becomes a labelled data frame."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.local.collecting import local_curator
from privet.local.randomizer import Randomizer
from privet.queries import Answer, CountBy, Numbers, Share

SCHEMA = pv.Schema(
    {
        "colour": pv.Categorical(["red", "green"]),
        "cell": pv.Categorical(["a", "b", "c"]),  # as a column of frames is called
        "age": pv.Numeric(0, 30, bins=3),
    },
    "ill",
    ["no", "yes"],
)
TABLE = pd.DataFrame(
    {
        "colour": ["red"] * 6 + ["green"] * 4,
        "cell": ["a", "b"] * 5,
        "age": [5.0] * 3 + [15.0] * 7,
        "ill": ["no"] * 5 + ["yes"] * 5,
    }
)
SURE = 1000


@pytest.fixture
def curator():
    return pv.Curator(TABLE, SCHEMA, pv.Budget(100 * SURE))


def test_counts_by_attributes(curator):
    frame = curator.count(by="colour", where={"cell": ["a"]}, epsilon=SURE).to_frame()
    assert frame.columns.tolist() == ["colour", "ill", "noisy count", "deviation"]
    assert frame[["colour", "ill", "noisy count"]].to_numpy().tolist() == [
        ["red", "no", 3],
        ["red", "yes", 0],
        ["green", "no", 0],
        ["green", "yes", 2],
    ]
    assert frame["deviation"].between(0, 0.1).all()


def test_to_frame_and_to_pandas_agree(curator):
    answer = curator.count(by=["colour", "age"], epsilon=1)
    frame = answer.to_frame().set_index(list(answer.names))
    pd.testing.assert_series_equal(frame["noisy count"], answer.to_pandas())


def test_counts_of_cells_have_their_paths(curator):
    answer = curator.count([{"colour": "green"}, {"colour": "red", "cell": ["a", "c"]}], SURE)
    frame = answer.to_frame()
    assert frame["cell"].unique().tolist() == ["colour = green", "colour = red and cell = a | c"]
    assert frame["noisy count"].tolist() == answer.tables[0].reshape(-1).tolist() == [0, 4, 3, 0]


def test_several_partitions_say_which(curator):
    everyone = Cells.everything(SCHEMA)
    question = Question((Partition(everyone), Partition(everyone, by="cell")))
    frame = curator.count(question, SURE).to_frame()
    assert frame["partition"].tolist() == [0] * 2 + [1] * 6
    assert frame["cell (2)"].dropna().tolist() == ["a", "a", "b", "b", "c", "c"]
    assert frame["noisy count"].sum() == 20


def test_a_cell_of_several_leaves_is_not_called_by_one_path(curator):
    halves = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "cell")})
    joined = Cells(SCHEMA, halves.attribute, halves.offset, halves.branch, [-1, 0, 1, 0], 2)
    frame = curator.count(joined, SURE).to_frame()
    assert frame["cell"].unique().tolist() == ["cell 0", "cell = b"]


def test_sums_sizes_and_matrices(curator):
    cells = [{"colour": "red"}, {"colour": "green"}]
    sums = curator.sums(cells, {"yes": 3}, SURE).to_frame()
    assert sums[["cell", "noisy sum"]].to_numpy().tolist() == [
        ["colour = red", 3],
        ["colour = green", 12],
    ]
    assert curator.size(SURE).to_frame()["noisy count"].tolist() == [10]
    model = pv.GreedyTreeClassifier(epsilon=SURE).fit_from(curator)
    evaluation = model.score_from(curator, SURE)
    tidy = evaluation.answer.to_frame()
    assert tidy.columns.tolist()[:3] == ["ill", "predicted ill", "bin of its probability"]
    tidy = tidy.groupby(["ill", "predicted ill"], as_index=False)["noisy count"].sum()
    wide = evaluation.to_frame()
    assert (wide.index.name, wide.columns.name) == ("true", "predicted")
    for (true, predicted), count in wide.stack().items():
        line = tidy[(tidy["ill"] == true) & (tidy["predicted ill"] == predicted)]
        assert line["noisy count"].tolist() == [count]


def test_derivatives(curator):
    everyone = Cells.everything(SCHEMA)
    tree = Tree(everyone, np.zeros((1, 2)), "scores")
    frame = curator.gradients(everyone, [tree], SURE).to_frame()
    assert frame["derivative"].tolist() == ["first", "second"]
    assert frame["ill"].tolist() == ["yes", "yes"]


def test_choices(curator):
    splits = [Split.multiway(SCHEMA, "colour"), Split.value(SCHEMA, "cell", "c")]
    frame = curator.choose([{"colour": "red"}], splits[1:], "gini", SURE).to_frame()
    assert frame.to_numpy().tolist() == [["colour = red", "cell", "a | b / c", False]]
    question = Question.level(Cells.everything(SCHEMA), ["colour", "age"])
    expected = [np.zeros(part.shape, dtype=int) for part in question.partitions]
    chosen = curator.choose_partition(question, expected, SURE, handicaps=[0, 50]).to_frame()
    assert chosen[["index", "chosen"]].to_numpy().tolist() == [[0, "all rows by colour"]]
    assert chosen["epsilon"].tolist() == [SURE]
    middle = curator.median("age", SURE).to_frame()
    assert middle[["attribute", "low", "high"]].to_numpy().tolist() == [["age", 10.0, 20.0]]


def test_a_drawn_tree_has_a_line_per_leaf(curator):
    space = TreeSpace(SCHEMA, 1, last=[Split.multiway(SCHEMA, "colour")], split=0.999)
    answer = curator.draw_tree(space, SURE)
    frame = answer.to_frame()
    assert frame.columns.tolist() == ["cell", "ill"]
    assert len(frame) == len(answer.tree().leaves)
    assert dict(frame.to_numpy())["colour = green"] == "yes"


def test_a_preview(curator):
    preview = curator.preview([pv.Cost.pure(1)])
    frame = preview.to_frame()
    assert frame[["epsilon", "left", "fits"]].to_numpy().tolist() == [[1.0, 100.0 * SURE, True]]


def test_a_share_shows_no_number():
    cost = pv.Cost.pure(1)
    share = Share(cost, cost, False, None, tables=(np.array([[123456]]),), parties=3, spread=1)
    assert share.to_frame()["parties"].tolist() == [3]
    for shown in (share.to_frame().to_csv(), repr(share), share._repr_html_()):
        assert "123456" not in shown


def test_without_its_query_an_answer_has_numbers_for_labels():
    cost = pv.Cost.pure(1)
    table = np.array([[1, 2], [3, 4]])
    answer = Numbers(cost, cost, True, None, tables=(table,), noise="discrete-laplace", spread=1)
    frame = answer.to_frame()
    assert frame["axis 1"].tolist() == ["0", "1", "0", "1"]
    assert frame["noisy number"].tolist() == [1, 2, 3, 4]
    assert Answer(cost, cost, True, None).to_frame()["epsilon"].tolist() == [1.0]


def test_randomised_records_have_labels_and_deviations_too():
    randomizer = Randomizer(SCHEMA, 5)
    records = randomizer.many(pd.concat([TABLE] * 20))
    frame = local_curator(records, randomizer).count([{"colour": "red"}]).to_frame()
    assert frame["cell"].unique().tolist() == ["colour = red"]
    assert (frame["deviation"] > 0).all()


def test_replayed_answers_have_labels(curator):
    asked = CountBy("colour")
    first, again = (curator.ask_once("key", asked, 1) for _ in range(2))
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())
