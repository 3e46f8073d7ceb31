"""Examples of every registered query, and a small source of rows that tells who touches it when.

A new query needs one entry in ``EXAMPLES``; everything in ``check_query.py`` is then checked of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from privet._types import Tables, WeightedRows
from privet.accounting.cost import Cost
from privet.accounting.statement import Charge, PrivacyStatement
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.model import Model
from privet.queries import (
    ChooseModel,
    ChoosePartition,
    ChooseSplits,
    Confusion,
    Count,
    CountBy,
    CountValues,
    DrawTree,
    FindQuantile,
    FindQuantiles,
    Gradients,
    Query,
    RowScore,
    Scores,
    ShareCounts,
    Size,
    Sums,
    queries,
)

Make = Callable[[Schema], Query[Any]]
#: The codes of a row, its class last.
Row = tuple[int, ...]


def schema_of(names: Sequence[str], colours: Sequence[str], classes: Sequence[str]) -> Schema:
    first, second, third = names
    attributes = {
        first: Categorical(colours),
        second: Numeric(0, 80, bins=4, missing="unknown"),
        third: Categorical(["no", "yes"]),
    }
    return Schema(attributes, "ill", classes, n_rows=40)


COLOURS, CLASSES = ["red", "green", "blue"], ["no", "maybe", "yes"]
NAMES = ["colour", "age", "smokes"]
SCHEMA = schema_of(NAMES, COLOURS, CLASSES)
TWO_CLASSES = schema_of(NAMES, COLOURS, ["no", "yes"])
#: Other attributes; and the same ones with another domain.
RENAMED = schema_of(["hue", "years", "drinks"], COLOURS, CLASSES)
RESIZED = schema_of(NAMES, [*COLOURS, "grey"], ["no", "maybe", "yes", "never"])


def seeded(seed: int = 3) -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(seed)


# -- what is asked -----------------------------------------------------------------------------


def _first(schema: Schema) -> Cells:
    """A cell for each value of the first attribute."""
    return Cells.everything(schema).refine({0: Split.multiway(schema, schema.names[0])})


def _some(schema: Schema) -> Cells:
    """Two cells that do not cover the domain."""
    return Cells.of(schema, list(_first(schema))[:2])


def _splits(schema: Schema) -> list[Split]:
    first, second, third = schema.names
    return [
        Split.multiway(schema, first),
        Split.multiway(schema, third),
        Split.threshold(schema, second, code=2),
    ]


def _tree(schema: Schema, scale: float = 4.0) -> Tree:
    """Class scores by the first attribute: rows of one class have next to no weight left."""
    cells = _first(schema)
    scores = np.zeros((len(cells.attribute), schema.n_classes))
    for node in range(1, len(scores)):
        scores[node, node % schema.n_classes] = scale
    return Tree(cells, scores)


def _model(schema: Schema, *trees: Tree) -> Model:
    charge = Charge("leaf counts", Cost.pure("1/2"))
    privacy = PrivacyStatement((charge,), "add-remove", 1, person=False, private=True, id="ab" * 16)
    return Model("random-trees", schema, trees, "counts", privacy, {"n_trees": len(trees)}, 2.5)


def _always(schema: Schema, label: int) -> Tree:
    counts = np.ones((1, schema.n_classes))
    counts[0, label] = 9
    return Tree(Cells.everything(schema), counts)


def _score(schema: Schema, by: str | None = None) -> RowScore:
    shape = (schema.n_classes,)
    if by is not None:
        shape = (schema.sizes[schema.index(by)], *shape)
    return RowScore(schema, 3 - 4 * np.arange(int(np.prod(shape))).reshape(shape), by)


def _two_partitions(schema: Schema) -> Question:
    return Question((Partition(_first(schema)), Partition(_some(schema), by=schema.names[2])))


def _far(schema: Schema) -> tuple[Question, list[np.ndarray]]:
    """One partition that holds more than is expected of it, and one that holds less."""
    question = _two_partitions(schema)
    low, high = (np.zeros(part.shape, dtype=np.int64) for part in question.partitions)
    return question, [low, high + 1000]


#: Examples of each query, by its name in the registry.
EXAMPLES: dict[str, dict[str, Make]] = {
    "count": {
        "all rows": lambda schema: Count([{}]),
        "two partitions": lambda schema: Count(_two_partitions(schema)),
    },
    "count-by": {
        "all rows": lambda schema: CountBy(),
        "two attributes": lambda schema: CountBy([schema.names[2], schema.names[0]]),
        "a condition": lambda schema: CountBy(
            schema.names[0], {schema.names[0]: ["red", "blue", "red"], schema.names[2]: "yes"}
        ),
    },
    "count-values": {"of a list": lambda schema: CountValues(schema.names[0])},
    "size": {"rows": lambda schema: Size()},
    "sums": {
        "by class": lambda schema: Sums(_first(schema), _score(schema)),
        "by value": lambda schema: Sums(_some(schema), _score(schema, schema.names[1])),
    },
    "choose": {
        "gini": lambda schema: ChooseSplits([{}], _splits(schema)),
        "lists of their own": lambda schema: ChooseSplits(
            _some(schema), [_splits(schema), _splits(schema)[1:]], "max", "exponential"
        ),
        "information gain": lambda schema: ChooseSplits(
            Cells.everything(schema), _splits(schema), "info_gain"
        ),
    },
    "choose-partition": {
        "exponential": lambda schema: ChoosePartition(*_far(schema)),
        "handicaps": lambda schema: ChoosePartition(*_far(schema), [3, -4], "permute-and-flip"),
    },
    "quantile": {
        "median": lambda schema: FindQuantile(schema.names[1]),
        "high": lambda schema: FindQuantile(schema.names[1], 0.9, "exponential"),
        "lowest": lambda schema: FindQuantile(schema.names[1], 0),
    },
    "quantiles": {
        "eight parts": lambda schema: FindQuantiles(schema.names[1]),
        "two parts": lambda schema: FindQuantiles(schema.names[1], 1),
    },
    "confusion": {
        "one tree": lambda schema: Confusion(_model(schema, _tree(schema))),
        "two trees": lambda schema: Confusion(_model(schema, _tree(schema), _always(schema, 1))),
    },
    "scores": {
        "one tree": lambda schema: Scores(
            _model(schema, _tree(schema)), [[0.5, 0.9]] * schema.n_classes
        ),
        "edges of their own": lambda schema: Scores(
            _model(schema, _tree(schema), _always(schema, 1)),
            [[0.4 + 0.1 * k] * (k > 0) for k in range(schema.n_classes)],
        ),
    },
    "choose-model": {
        "three": lambda schema: ChooseModel(
            [
                _model(schema, tree)
                for tree in (_tree(schema), _always(schema, 0), _always(schema, 1))
            ]
        )
    },
    "draw-tree": {
        "depth 1": lambda schema: DrawTree(TreeSpace(schema, 1)),
        "weighed rows": lambda schema: DrawTree(
            TreeSpace(schema, 2, _splits(schema), _splits(schema)[:2], 0.4, 0.7), [_tree(schema)]
        ),
    },
    "gradients": {
        "no trees": lambda schema: Gradients([{}]),
        "released trees": lambda schema: Gradients(_some(schema), [_tree(schema), _tree(schema)]),
        "clipped evenly": lambda schema: Gradients(_some(schema), [_tree(schema)], "even"),
    },
    "share": {"of three": lambda schema: ShareCounts(_two_partitions(schema), 3)},
}

#: (name, example) of everything that is registered and has an example.
ASKED = [(name, example) for name in queries() for example in EXAMPLES.get(name, {})]
FOR_ANALYSTS = [(name, example) for name, example in ASKED if queries()[name].for_analysts]


# -- whom it is asked of -----------------------------------------------------------------------

#: Rows of all classes and values.
ROWS: list[Row] = [(i % 3, i % 5, i // 2 % 2, i // 3 % 3) for i in range(37)]


class Touched(Exception):
    """A row was touched that must not be."""


class Watched:
    """Exact counts of a few encoded rows, in plain Python. ``look`` runs whenever a row is about to
    be touched, and may raise.
    """

    def __init__(
        self,
        schema: Schema,
        rows: Sequence[Row] = ROWS,
        times: Sequence[int] | None = None,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._rows = [row for row in rows if row[-1] < schema.n_classes]
        self._times, self._schema, self.look = times, schema, look
        #: What was asked for, in order, with its public size.
        self.calls: list[tuple[str, int]] = []

    def _touch(self, what: str, size: int) -> None:
        self.calls.append((what, size))
        self.look()

    def rows(self) -> Iterator[WeightedRows]:
        self._touch("rows", 0)
        return self._blocks()

    def _blocks(self) -> Iterator[WeightedRows]:
        """In two blocks, and then nothing: it may fail between them."""
        columns = np.array(self._rows, dtype=np.uint8).reshape(-1, len(self._schema.names) + 1).T
        times = np.array([] if self._times is None else self._times, dtype=np.int64)
        half = len(self._rows) // 2
        for block in (slice(half), slice(half, None)):
            codes, classes = np.ascontiguousarray(columns[:-1, block]), columns[-1, block]
            yield codes, np.ascontiguousarray(classes), times[block]
            self.look()

    def count(self, question: Question) -> Tables:
        self._touch("count", question.entries)
        names = self._schema.names
        tables = [np.zeros(partition.shape, dtype=np.int64) for partition in question.partitions]
        for number, row in enumerate(self._rows):
            weight = 1 if self._times is None else self._times[number]
            for table, partition in zip(tables, question.partitions, strict=True):
                cell = _cell_of(partition.cells, row)
                by = () if partition.by is None else (row[names.index(partition.by)],)
                if cell >= 0:
                    table[(cell, *by, row[-1])] += weight
        return tables

    def parts(self, n_parts: int, key: bytes) -> list[Watched]:
        raise Touched

    def snapshot(self):
        return nullcontext()


def _cell_of(cells: Cells, row: Row) -> int:
    node = 0
    while cells.attribute[node] >= 0:
        node = cells.branch[cells.offset[node] + row[cells.attribute[node]]]
    return int(cells.cell[node])


# -- what only looks like it -------------------------------------------------------------------

#: What a query is made of, and nobody may replace by a class of their own.
PARTS = (
    Cells,
    Question,
    Partition,
    Split,
    Tree,
    Model,
    TreeSpace,
    RowScore,
    PrivacyStatement,
    Schema,
)


@dataclass(frozen=True)
class Sly:
    """A part whose class was replaced, and the query with it."""

    what: str
    query: Query[Any]


def sly_parts(query: Query[Any]) -> Iterator[Sly]:
    """The query with one of its parts replaced by an equal one of a subclass, each kind of part in
    each place once.
    """
    for path, part in _parts(query, ()):
        where = ".".join(str(step) for step in path)
        yield Sly(f"{type(part).__name__} at {where}", _replaced(query, path, disguised(part)))


def disguised(thing: Any) -> Any:
    """The same thing as an instance of a subclass."""
    kind = type(thing)
    other = object.__new__(type(f"Sly{kind.__name__}", (kind,), {}))
    for name, value in vars(thing).items():
        object.__setattr__(other, name, value)
    return other


def _parts(thing: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(thing, PARTS):
        yield path, thing
    if isinstance(thing, list | tuple):
        # one of each class is enough
        first = {type(item): number for number, item in reversed(list(enumerate(thing)))}
        for number in first.values():
            yield from _parts(thing[number], (*path, number))
    elif isinstance(thing, (*PARTS, Query)):
        for one in fields(thing):
            yield from _parts(getattr(thing, one.name), (*path, one.name))


def _replaced(thing: Any, path: tuple[Any, ...], part: Any) -> Any:
    if not path:
        return part
    step, *rest = path
    if isinstance(step, int):
        listed = list(thing)
        listed[step] = _replaced(thing[step], tuple(rest), part)
        return type(thing)(listed)
    other = object.__new__(type(thing))
    for name, value in vars(thing).items():
        object.__setattr__(other, name, value)
    object.__setattr__(other, step, _replaced(getattr(thing, step), tuple(rest), part))
    return other
