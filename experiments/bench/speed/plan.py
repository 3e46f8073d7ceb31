"""What is measured: the contestants on one table, the same over rows, attributes and trees, and
predictions.
"""

from __future__ import annotations

from dataclasses import dataclass

from experiments.bench.speed import learners
from experiments.bench.speed.contestants import BINARY, CONTESTANTS, MULTIWAY
from experiments.bench.speed.one import WARM
from experiments.bench.speed.results import Task
from experiments.bench.speed.rows import ATTRIBUTES

ROWS, TREES = 1_000_000, 10
FIT = (
    ("frame", MULTIWAY),
    ("frame", BINARY),
    ("text", MULTIWAY),
    ("parquet", MULTIWAY),
    ("parquet", BINARY),
    ("duckdb", MULTIWAY),
    ("duckdb", BINARY),
    ("kernel", MULTIWAY),
    ("kernel", BINARY),
    ("greedy", MULTIWAY),
    ("gibbs", MULTIWAY),
    ("diffprivlib", BINARY),
    ("forest", BINARY),
    ("extra", BINARY),
    ("sql", BINARY),
    ("sql-parquet", BINARY),
    ("sql", MULTIWAY),
)
PREDICT = (
    ("predict-frame", MULTIWAY),
    ("predict-frame", BINARY),
    ("predict-array", MULTIWAY),
    ("predict-codes", MULTIWAY),
    ("predict-codes", BINARY),
    ("predict-forest", BINARY),
    ("predict-diffprivlib", BINARY),
)
#: Those whose growth is drawn; the first two are all that a quick run looks at.
GROWING = (
    ("kernel", MULTIWAY),
    ("frame", MULTIWAY),
    ("kernel", BINARY),
    ("frame", BINARY),
    ("diffprivlib", BINARY),
    ("forest", BINARY),
    ("sql", BINARY),
)
#: These are not run on more rows than the comparison has.
SMALL_ONLY = {"diffprivlib", "forest"}
#: scikit-learn's forest is not grown larger: a hundred trees take it a minute.
FEW_TREES = 30
WIDTHS, FORESTS = (4, 8, 16, 32, 64, 128), (1, 3, 10, 30, 100)


@dataclass(frozen=True)
class Plan:
    """The tasks for a comparison of so many rows. All other sizes follow: ten times as many at
    most, a fifth where attributes grow.
    """

    rows: int = ROWS
    quick: bool = False
    with_peers: bool = True

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows over which growth is drawn."""
        factors = (0.1, 1.0) if self.quick else (0.01, 0.1, 1, 3, 10)
        return tuple(int(self.rows * factor) for factor in factors)

    @property
    def widths(self) -> tuple[int, ...]:
        return (4, 16) if self.quick else WIDTHS

    @property
    def wide_rows(self) -> int:
        return self.rows // 5

    def learners(self) -> list[Task]:
        """Whole learners beside each other, over rows."""
        sizes = [size for size in self.sizes if size != 3 * self.rows]
        return learners.tasks(self.rows, sizes, peers=self.with_peers)

    def comparison(self) -> list[Task]:
        """Fits and predictions on one table; done twice, in turn, so that what else the machine
        does falls on all of them.
        """
        chosen = FIT[:-1] if self.quick else FIT  # the last is slow on few rows too
        fits = [
            Task("fit", name, shape, self.rows, ATTRIBUTES, TREES)
            for name, shape in chosen
            if self._runs(name)
        ]
        return fits + [
            Task("predict", name, shape, self.rows, ATTRIBUTES, TREES)
            for name, shape in PREDICT
            if self._runs(name)
        ]

    def growth(self) -> list[Task]:
        """The same fits over rows, attributes and trees; the largest first, so that its memory is
        not that of another.
        """
        chosen = [pair for pair in (GROWING[:2] if self.quick else GROWING) if self._runs(pair[0])]
        over_rows = [
            Task("rows", name, shape, rows, ATTRIBUTES, TREES)
            for name, shape in ([*chosen] if self.quick else [*chosen, ("parquet", BINARY)])
            for rows in reversed(self.sizes)
            if rows <= self.rows or name not in SMALL_ONLY
        ]
        over_attributes = [
            Task("attributes", name, shape, self.wide_rows, width, TREES)
            for name, shape in chosen
            for width in self.widths[::-1]
        ]
        forests = (1, 10) if self.quick else FORESTS
        over_trees = [
            Task("trees", name, shape, self.rows, ATTRIBUTES, trees)
            for name, shape in chosen
            for trees in reversed(forests)
            if trees <= FEW_TREES or name != "forest"
        ]
        return over_rows + over_attributes + over_trees

    def files(self, task: Task) -> set[tuple[str, int, int]]:
        """The files that a task reads, with their rows and attributes: the one before the clock
        starts is smaller.
        """
        kind = {
            "parquet": "parquet",
            "sql": "parquet",
            "sql-parquet": "parquet",
            "duckdb": "database",
        }.get(task.contestant)
        return (
            {(kind, rows, task.attributes) for rows in (task.rows, min(task.rows, WARM))}
            if kind
            else set()
        )

    def _runs(self, name: str) -> bool:
        return self.with_peers or not CONTESTANTS[name].peers
