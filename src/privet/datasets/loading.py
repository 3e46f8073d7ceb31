"""Load a data set by its name: its table and its public schema."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from privet.datasets.canonical import MISSING, CellTexts
from privet.datasets.catalog import Fetched, find
from privet.datasets.fetching import raw_cells
from privet.domain import Schema
from privet.errors import DatasetError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Dataset:
    """A public data set.

    Categories are text and numbers are floats. A missing category is ``?``, a missing number is
    NaN.

    Parameters
    ----------
    name
        Its name in the catalogue.
    X
        The attributes, in schema order.
    y
        The class of each row, named as the schema's target.
    schema
        Its public schema. The number of rows is not declared; do that with
        ``schema.declare(n_rows=...)``.
    """

    name: str
    X: pd.DataFrame = field(repr=False)
    y: pd.Series[str] = field(repr=False)
    schema: Schema = field(repr=False)

    @property
    def table(self) -> pd.DataFrame:
        """The attributes, and the class as the last column."""
        return self.X.assign(**{self.schema.target: self.y})


def load(name: str, *, target: str | None = None) -> Dataset:
    """Load a data set: computed, read from ``PRIVET_DATA`` or the cache, or fetched.

    Parameters
    ----------
    name
        One of :func:`~privet.datasets.names`.
    target
        For ``drug_consumption`` only: the drug whose use is the class, ``"amphet"`` by
        default.
    """
    entry = find(name)
    targets = entry.targets if isinstance(entry, Fetched) else ()
    if target is not None and target not in targets:
        allowed = (
            f"one of {', '.join(targets)}"
            if targets
            else "left out, because this set has one class column"
        )
        raise DatasetError(f"load: target of {name!r} must be {allowed}; got {target!r}")
    schema = entry.schema()
    if target is not None:
        schema = replace(schema, target=target)
    if isinstance(entry, Fetched):
        cells = raw_cells(name, entry.columns(), entry.archive, entry.sha256)
        if entry.derive is not None:
            cells = entry.derive(cells, schema.target)
    else:
        columns = zip(*entry.generate(), strict=True)
        cells = {
            column: list(texts)
            for column, texts in zip((*schema.names, schema.target), columns, strict=True)
        }
    return _make_dataset(name, cells, schema)


def _make_dataset(name: str, cells: CellTexts, schema: Schema) -> Dataset:
    import pandas as pd

    data: dict[str, list[str] | list[float]] = {}
    for attribute, domain in schema.attributes.items():
        texts = cells[attribute]
        data[attribute] = (
            [float("nan" if text == MISSING else text) for text in texts]
            if domain.holds_numbers
            else texts
        )
    return Dataset(
        name, pd.DataFrame(data), pd.Series(cells[schema.target], name=schema.target), schema
    )
