"""The walk of rows down trees: where a plain reference ends, in steps that no row decides."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Schema, routing_loops
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.domain.routing import BLOCK, Routes, find_cells
from privet.domain.tree import Tree
from privet.queries.base import check_query
from privet.queries.confusion import confusion_matrix
from privet.queries.gradients import Gradients
from privet.tables.counting import kernels, scoring
from privet.tables.counting.passes import Counting
from privet.tables.counting.scoring import Scoring
from tests.domain.domains import partitions, schemas
from tests.report.models import small_model, statement
from tests.routes import node_of, route

# -- where rows end --------------------------------------------------------------------------------


@st.composite
def forests_and_rows(draw):
    schema = draw(schemas())
    forest = draw(st.lists(partitions(schema), min_size=1, max_size=4))
    n_rows = draw(st.integers(0, 12))
    columns = []
    for size in schema.sizes:
        kind = draw(st.sampled_from([np.uint8, np.uint16, np.int64]))
        low = -2 if kind is np.int64 else 0
        codes = st.integers(low, size + 2) | st.just(np.iinfo(kind).max)  # also unknown ones
        column = draw(st.lists(codes, min_size=n_rows, max_size=n_rows))
        columns.append(np.array(column, dtype=kind))
    return forest, columns


@pytest.mark.parametrize("compiled", [False, True])
@given(forests_and_rows())
@settings(max_examples=150, deadline=None)
def test_rows_end_where_a_plain_reference_ends(compiled, forest_and_rows):
    forest, columns = forest_and_rows
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    for cells in forest:
        routes = Routes.through([cells])
        nodes = routes.find_nodes(routes.pack(columns), compiled=compiled)
        assert nodes.tolist() == [node_of(cells, row) for row in rows]
    # all trees at once: the values of their nodes are added one after the other, bit for bit
    draw = np.random.default_rng(len(rows))
    values = [draw.normal(size=(len(cells.attribute), 2)) for cells in forest]
    total, routes = np.full((len(rows), 2), 0.1), Routes.through(forest)
    expected = total.copy()
    routes.add_values(routes.pack(columns), np.concatenate(values), total, compiled=compiled)
    for cells, value in zip(forest, values, strict=True):
        for i, row in enumerate(rows):
            expected[i] += value[node_of(cells, row)]
    assert (total == expected).all()


SCHEMA = Schema(
    {f"a{i}": Categorical([str(v) for v in range(3)]) for i in range(3)}, "y", ["0", "1"]
)


def uneven() -> Cells:
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a1")})
    return cells.refine({1: Split.value(SCHEMA, "a0", code=2)}).refine(
        {2: Split.multiway(SCHEMA, "a2")}
    )


@pytest.mark.parametrize(
    "forest",
    [[Cells.everything(SCHEMA)], [uneven()], [uneven(), Cells.everything(SCHEMA), uneven()]],
)
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("cores", [1, 3])
def test_many_rows_on_any_number_of_cores(forest, kind, cores, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    draw, n = np.random.default_rng(0), (1 << 18) + BLOCK + 500
    codes = draw.integers(0, 3, (3, n)).astype(kind)
    values = [draw.normal(size=(len(cells.attribute), 2)) for cells in forest]
    routes = Routes.through(forest)
    total, expected = np.ones((n, 2)), np.ones((n, 2))
    routes.add_values(codes, np.concatenate(values), total, compiled=True)
    for cells, value in zip(forest, values, strict=True):
        expected += value[Routes.through([cells]).find_nodes(codes, compiled=False)]
    assert (total == expected).all()
    nodes = routes.find_nodes(codes, compiled=True)
    assert (nodes == routes.find_nodes(codes, compiled=False)).all()
    assert (forest[0].cell[nodes] == route(forest[0], codes)).all()


def test_a_loop_leaves_the_other_rows_alone():
    draw, n = np.random.default_rng(0), 2 * BLOCK + 500
    codes, routes = draw.integers(0, 3, (3, n)).astype(np.uint8), Routes.through([uneven()])
    values, total = np.ones((len(uneven().attribute), 2)), np.zeros((n, 2))
    routing_loops.add_values(codes, 100, n - 100, *routes.arrays, values, total)
    assert (total[100:-100] == 1).all()
    assert not total[:100].any()
    assert not total[-100:].any()


def test_a_narrow_column_of_a_wide_attribute_has_known_codes_only():
    schema = Schema({"a": Categorical([str(v) for v in range(300)])}, "y", ["0", "1"])
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "a")})
    narrow, wide = (np.array([0, 255], np.uint8), np.array([299, 300], np.uint16))
    assert find_cells(cells, [narrow]).tolist() == [0, 255]
    assert find_cells(cells, [wide]).tolist() == [299, -1]


def test_few_rows_do_without_compiled_loops():
    program = """
import sys
import numpy as np
from privet.domain.cells import Cells, Split
from privet.domain import Categorical, Schema
from privet.domain.tree import Tree
schema = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"])
cells = Cells.everything(schema).refine({0: Split.multiway(schema, "a")})
print(Tree(cells, np.zeros((3, 2))).reach([np.array([0, 1, 2] * 1000)])[:3].tolist())
sys.exit("numba" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout, result.returncode) == ("[1, 2, 0]\n", 0), result.stderr


# -- how long it takes them ------------------------------------------------------------------------

DEPTH, N_ROWS = 64, 20
LONG = Schema({"a": Categorical([str(v) for v in range(DEPTH + 1)])}, "y", ["0", "1", "2"])


def chain() -> Cells:
    """One test after the other: who has the last code passes all of them, others leave early."""
    cells = Cells.everything(LONG)
    for code in range(1, DEPTH + 1):
        cells = cells.refine({len(cells) - 1: Split.threshold(LONG, "a", code=code)})
    return cells


class Counted(np.ndarray):
    """An array that counts how many of its entries are looked up."""

    looked_up = 0

    def __getitem__(self, index):
        Counted.looked_up += np.size(index)
        return np.asarray(super().__getitem__(index))


@pytest.fixture
def counted(monkeypatch):
    """Count every step of every walk; compiled loops run as the Python that they are made from."""
    lay_out = Routes.through.__func__

    def through(cls, trees):
        routes = lay_out(cls, trees)
        return replace(routes, words=routes.words.view(Counted))

    monkeypatch.setattr(Routes, "through", classmethod(through))
    for module, name in (
        (routing_loops, "walk"),
        (routing_loops, "find_nodes"),
        (routing_loops, "add_values"),
        (kernels, "walk"),
        (kernels, "count_rows"),
        (scoring, "walk"),
        (scoring, "add_scores"),
    ):
        monkeypatch.setattr(module, name, getattr(module, name).py_func)


class Rows:
    """A table of encoded rows."""

    def __init__(self, codes):
        self.codes = codes
        self.classes = np.arange(len(codes[0])) % 3
        self.weights = np.ones(len(codes[0]), dtype=np.int64)

    def rows(self):
        yield self.codes, self.classes, self.weights


def tree() -> Tree:
    cells = chain()
    return Tree(cells, np.zeros((len(cells.attribute), 3)))


def model(combine):
    return small_model(LONG, trees=(tree(),), combine=combine, noise=0.0, privacy=statement(LONG))


def count(table: Rows) -> None:
    counting = Counting(Question.of(chain()))
    counting.add(table.codes, table.classes, table.weights)
    counting.tables()


WALKS = {
    "reach": (lambda table: tree().reach(list(table.codes)), 1),
    "predict": (lambda table: model("counts").probabilities(list(table.codes)), 1),
    "confusion": (lambda table: confusion_matrix(model("vote"), table.rows()), 1),
    "count": (count, 1),
    "weigh": (lambda table: Scoring(LONG, [tree()]).weights(table.codes, table.classes), 1),
    "gradients": (lambda table: check_query(Gradients(chain(), [tree()]), LONG).exact(table), 2),
}


@pytest.mark.parametrize("many", [0, 10**12], ids=["compiled", "numpy"])
@pytest.mark.parametrize("name", WALKS)
def test_no_row_makes_a_walk_longer(counted, monkeypatch, name, many):
    """Whoever could see how long a walk took would learn whether anybody is in the deepest cell."""
    monkeypatch.setattr("privet.domain.routing.MANY", many)
    walk, n_walks = WALKS[name]
    steps = []
    for deepest in (0, 1, N_ROWS):
        codes = np.zeros((1, N_ROWS), dtype=np.uint8)
        codes[:, :deepest] = DEPTH
        Counted.looked_up = 0
        walk(Rows(codes))
        steps.append(Counted.looked_up)
    assert steps == [n_walks * N_ROWS * DEPTH] * 3


@pytest.mark.parametrize("many", [0, 10**12], ids=["compiled", "numpy"])
def test_unknown_codes_take_as_many_steps(counted, monkeypatch, many):
    monkeypatch.setattr("privet.domain.routing.MANY", many)
    Counted.looked_up = 0
    assert tree().reach([np.full(N_ROWS, DEPTH + 1)]).tolist() == [0] * N_ROWS
    assert Counted.looked_up == N_ROWS * DEPTH
