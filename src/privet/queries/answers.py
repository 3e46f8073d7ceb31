"""Carry the answers to queries: noisy numbers, chosen splits, a drawn tree, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from privet._notebook import MAX_ROWS, html_box, one_line
from privet._types import Floats, Json
from privet.accounting.cost import Cost, parse_fraction
from privet.accounting.ledger import Entry
from privet.accounting.ledger.journal import cost_from, cost_to, entry_from, entry_to
from privet.domain.attributes import Attribute
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.queries.frames import Axes, distinct_names, frame_of, number_axes
from privet.queries.json_parts import cells_to, split_to

if TYPE_CHECKING:
    import pandas as pd

    from privet.queries.base import Query

NoiseKind = Literal["discrete-laplace", "discrete-gaussian", "randomized-response", "none"]


@dataclass(frozen=True)
class Answer:
    """What every answer carries.

    ``cost`` is for the declared neighbours, as the ledger has it, and ``row_cost`` for one row
    added or removed; ``entry`` is the ledger's entry (None: not charged). ``asked`` is the query,
    whose labels :meth:`to_frame` uses.
    """

    cost: Cost
    row_cost: Cost
    private: bool
    entry: Entry | None
    asked: Query[Any] | None = field(default=None, kw_only=True, repr=False, compare=False)

    @property
    def terms(self) -> Json:
        """The fields that every answer has, for a more specific one."""
        names = ("cost", "row_cost", "private", "entry", "asked")
        return {name: getattr(self, name) for name in names}

    def to_frame(self) -> pd.DataFrame:
        """Return the answer as a pandas DataFrame, in the labels of the schema."""
        import pandas as pd

        return pd.DataFrame([{**self._facts(), **_amounts(self.row_cost)}])

    def _facts(self) -> dict[str, Any]:
        """Return what the answer says, for one line and for a row of a frame."""
        return {}

    def __repr__(self) -> str:
        facts = [f"{name} {_short(value)}" for name, value in self._facts().items()]
        promise = "" if self.private else "NOT PRIVATE"
        return one_line(type(self).__name__, *facts, str(self.row_cost), promise)

    def _repr_html_(self) -> str:
        about = {"question": self.asked.spell_out()} if self.asked is not None else {}
        frame = self.to_frame()
        rows = frame.head(MAX_ROWS + 1).astype(object).to_numpy().tolist()
        rows += [()] * max(len(frame) - len(rows), 0)  # only their number is shown
        return html_box(
            type(self).__name__,
            {**about, "cost for one row": str(self.row_cost)},
            headers=[str(name) for name in frame.columns],
            rows=rows,
            alarm=not self.private,
        )

    def to_json(self) -> Json:
        """Return the answer as it is sent and recorded."""
        return {
            "cost": cost_to(self.cost),
            "row_cost": cost_to(self.row_cost),
            "private": self.private,
            "entry": None if self.entry is None else entry_to(self.entry),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Answer:
        """Return what every answer carries, read again."""
        entry = None if data["entry"] is None else entry_from(data["entry"])
        return Answer(
            cost_from(data["cost"]), cost_from(data["row_cost"]), data["private"] is True, entry
        )


@dataclass(frozen=True, eq=False, repr=False)
class Numbers(Answer):
    """Noisy tables, one per partition. ``spread`` is the Laplace scale or the Gaussian variance.

    Most mechanisms give every number the same noise. Where it differs from number to number (as in
    estimates from randomised records, which need not be integers), ``own_deviations`` holds the
    standard deviation of each number. ``node_deviations`` then holds, for each partition that is
    not split further, the standard deviation of the class counts of every node of its structure (a
    root mean square over the classes): errors of the leaves of one tree may be correlated, so it
    does not follow from theirs.
    """

    tables: tuple[npt.NDArray[np.int64], ...]
    noise: NoiseKind
    spread: Fraction
    own_deviations: tuple[Floats, ...] | None = field(default=None, kw_only=True)
    node_deviations: tuple[Floats | None, ...] = field(default=(), kw_only=True)

    @property
    def deviations(self) -> tuple[Floats, ...]:
        """The standard deviation of each number's noise, in tables of the same shapes."""
        if self.own_deviations is not None:
            return self.own_deviations
        return tuple(np.full(table.shape, self.deviation) for table in self.tables)

    @property
    def deviation(self) -> float:
        """The standard deviation of each number's noise; where it differs from number to number,
        the root mean square.
        """
        if self.own_deviations is not None:
            squares = np.concatenate([table.reshape(-1) ** 2 for table in self.own_deviations])
            return math.sqrt(float(squares.mean())) if len(squares) else 0.0
        if self.noise == "discrete-laplace":
            # The variance is 2 p / (1 - p)**2 with p = exp(-1/scale).
            p = math.exp(-1 / float(self.spread))
            return math.sqrt(2 * p) / -math.expm1(-1 / float(self.spread))
        return math.sqrt(float(self.spread))

    def to_frame(self) -> pd.DataFrame:
        """Return one line per number, as a pandas DataFrame.

        Columns are what the number is about (cell, attribute, class) in labels, the noisy number,
        and the standard deviation of its noise. Where several partitions were asked about, the
        first column says which one a line belongs to; the first is 0.
        """
        import pandas as pd

        measured = getattr(self.asked, "measured", "noisy number")
        frames = [
            frame_of(axes, {measured: table, "deviation": deviations})
            for axes, table, deviations in zip(
                self._axes(), self.tables, self.deviations, strict=True
            )
        ]
        if len(frames) == 1:
            return frames[0]
        for number, frame in enumerate(frames):
            frame.insert(0, _new_name("partition", frame.columns), number)
        return pd.concat(frames, ignore_index=True)

    def _axes(self) -> Sequence[Axes]:
        """Return what each axis of each table is."""
        axes = getattr(self.asked, "axes", None)
        return axes() if axes is not None else [number_axes(table.shape) for table in self.tables]

    def _facts(self) -> dict[str, Any]:
        size = sum(table.size for table in self.tables)
        noise = {} if self.noise == "none" else {"noise": self.noise, "deviation": self.deviation}
        return {"size": size, **noise}

    def to_json(self) -> Json:
        tables = [
            {"shape": list(table.shape), "numbers": table.reshape(-1).tolist()}
            for table in self.tables
        ]
        noise: Json = {"noise": self.noise, "spread": str(self.spread), "deviation": self.deviation}
        if self.own_deviations is not None:
            noise["deviations"] = [table.reshape(-1).tolist() for table in self.own_deviations]
        return {**super().to_json(), "tables": tables, **noise}


@dataclass(frozen=True, eq=False, repr=False)
class Share(Answer):
    """Tables with one share of the noise that ``parties`` honest parties make together, to leave
    inside secure aggregation only.

    ``cost`` is for the sum of at least so many shares; a share alone promises nothing, so
    ``private`` is False and the numbers are not printed. ``spread`` is the Laplace scale of the
    sum's noise.
    """

    tables: tuple[npt.NDArray[np.int64], ...] = field(repr=False)
    parties: int
    spread: Fraction

    def _facts(self) -> dict[str, Any]:
        return {"parties": self.parties}  # the numbers stay inside secure aggregation


@dataclass(frozen=True, eq=False, repr=False)
class ChosenSplits(Answer):
    """The chosen split of each cell. ``declined`` holds the cells, by number, that are better left
    whole: no split of theirs is above the noise.
    """

    splits: tuple[Split, ...]
    declined: frozenset[int] = field(default=frozenset(), kw_only=True)

    def to_frame(self) -> pd.DataFrame:
        """Return one line per cell, as a pandas DataFrame: its split, and whether it was
        declined.

        ``children`` lists the values that go to each child.
        """
        import pandas as pd

        cell_labels = getattr(self.asked, "cell_labels", None)
        labels = map(str, range(len(self.splits))) if cell_labels is None else cell_labels()
        schema = getattr(self.asked, "schema", None)
        columns = ["cell", "attribute", "children", "declined"]
        rows = [
            (label, split.attribute, split.describe(schema), number in self.declined)
            for number, (label, split) in enumerate(zip(labels, self.splits, strict=True))
        ]
        return pd.DataFrame(rows, columns=columns)

    def _facts(self) -> dict[str, Any]:
        names = dict.fromkeys(split.attribute for split in self.splits)
        return {"splits": len(self.splits), "by": ", ".join(names)}

    def to_json(self) -> Json:
        declined = {"declined": sorted(self.declined)} if self.declined else {}
        splits = [split_to(split) for split in self.splits]
        return {**super().to_json(), "splits": splits, **declined}


@dataclass(frozen=True, eq=False, repr=False)
class ChosenIndex(Answer):
    """The number of what was chosen; the first has 0."""

    index: int

    def _facts(self) -> dict[str, Any]:
        chosen = "" if self.asked is None else self.asked.name_choice(self.index)
        return {"index": self.index, **({"chosen": chosen} if chosen else {})}

    def to_json(self) -> Json:
        return {**super().to_json(), "index": self.index}


@dataclass(frozen=True, eq=False, repr=False)
class Quantile(ChosenIndex):
    """The bin that was chosen for the ``q``-quantile of an attribute, from ``low`` to ``high`` in
    the units of the schema: days from 1970-01-01 for a date. ``label`` is the bin in words.
    """

    attribute: str
    q: Fraction
    low: float
    high: float
    label: str

    @classmethod
    def of(
        cls, answer: Answer, index: int, attribute: str, q: Fraction, domain: Attribute
    ) -> Quantile:
        """Return the answer for a chosen bin of an ordered attribute, with its edges."""
        low, high = domain.cuts[index : index + 2]
        return cls(
            **answer.terms,
            index=index,
            attribute=attribute,
            q=q,
            low=low,
            high=high,
            label=domain.labels[index],
        )

    @property
    def middle(self) -> float:
        """The middle of the bin: one number to go on with."""
        return self.low / 2 + self.high / 2

    def _facts(self) -> dict[str, Any]:
        edges = {"low": self.low, "high": self.high, "middle": self.middle}
        return {"attribute": self.attribute, "q": self.q, "bin": self.label, **edges}

    def to_json(self) -> Json:
        edges = {"low": self.low, "high": self.high}
        return {**super().to_json(), "attribute": self.attribute, "q": str(self.q), **edges}


@dataclass(frozen=True, eq=False, repr=False)
class Quantiles(Answer):
    """The cuts that about divide the values of an attribute into equal parts, in order.

    ``codes`` are the codes of the bins that begin there, ``edges`` the same in the units of the
    schema: days from 1970-01-01 for a date.
    """

    attribute: str
    codes: tuple[int, ...]
    edges: tuple[float, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one line per cut, as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame({"code": list(self.codes), "edge": list(self.edges)})

    def _facts(self) -> dict[str, Any]:
        edges = ", ".join(f"{edge:.6g}" for edge in self.edges)
        return {"attribute": self.attribute, "edges": edges}

    def to_json(self) -> Json:
        facts = {"attribute": self.attribute, "codes": list(self.codes), "edges": list(self.edges)}
        return {**super().to_json(), **facts}


@dataclass(frozen=True, eq=False, repr=False)
class Drawn(Answer):
    """A drawn tree: its structure, and the class (by number) of each node."""

    cells: Cells
    labels: npt.NDArray[np.int64]

    def tree(self, strength: float = 1.0) -> Tree:
        """Return a tree of scores: each node has this much for its class, and nothing for the
        others.
        """
        scores = strength * np.eye(self.cells.schema.n_classes)[self.labels]
        return Tree(self.cells, scores, "drawn")

    def to_frame(self) -> pd.DataFrame:
        """Return one line per leaf, as a pandas DataFrame: its path, and the class that it says."""
        import pandas as pd

        schema, leaves = self.cells.schema, np.flatnonzero(self.cells.cell >= 0)
        classes = schema.label.labels
        columns = ["cell", _new_name(schema.target, ["cell"])]
        rows = [
            (self.cells.listed[self.cells.cell[leaf]].describe(schema), classes[self.labels[leaf]])
            for leaf in leaves.tolist()
        ]
        return pd.DataFrame(rows, columns=columns)

    def _facts(self) -> dict[str, Any]:
        return {"leaves": self.cells.n_cells, "depth": int(self.cells.depths.max())}

    def to_json(self) -> Json:
        tree = {"cells": cells_to(self.cells), "labels": self.labels.tolist()}
        return {**super().to_json(), **tree}


@dataclass(frozen=True)
class Preview:
    """What a plan would cost, what is left, and whether it fits. Nothing was charged."""

    cost: Cost
    left: Fraction
    fits: bool

    def to_frame(self) -> pd.DataFrame:
        """Return the preview as a pandas DataFrame of one line."""
        import pandas as pd

        return pd.DataFrame([{**_amounts(self.cost), "left": float(self.left), "fits": self.fits}])

    def __repr__(self) -> str:
        fits = "fits" if self.fits else "does not fit"
        return one_line("Preview", str(self.cost), f"left {float(self.left):.6g}", fits)

    def _repr_html_(self) -> str:
        facts = {"cost": str(self.cost), "left": self.left, "fits": "yes" if self.fits else "no"}
        return html_box("Preview: nothing was charged", facts, alarm=not self.fits)

    def to_json(self) -> Json:
        """Return the preview as it is sent."""
        return {"cost": cost_to(self.cost), "left": str(self.left), "fits": self.fits}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Preview:
        """Return the preview that was sent."""
        return cls(cost_from(data["cost"]), parse_fraction(data["left"]), bool(data["fits"]))


def _amounts(cost: Cost) -> dict[str, float | None]:
    """Return a cost as two columns."""
    return {
        "epsilon": None if cost.epsilon is None else float(cost.epsilon),
        "rho": float(cost.rho),
    }


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _new_name(name: str, taken: Iterable[object]) -> str:
    """Return a name for a column that is not taken."""
    return distinct_names([*map(str, taken), name])[-1]
