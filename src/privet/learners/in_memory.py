"""Take a table as people pass it to ``fit``: with a schema, labels and perhaps a ledger.

What does not look right is refused with what was probably meant.
"""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Literal

from privet._validate import show, suggest
from privet.accounting.cost import Budget, Cost, Number
from privet.accounting.ledger import Ledger, SQLiteLedger
from privet.curator import Curator
from privet.domain import Schema
from privet.errors import ParameterError, RepeatedFitWarning, SchemaError, SchemaMismatch
from privet.learners.remembered import Before
from privet.tables.base import Table
from privet.tables.memory import MemoryTable
from privet.tables.open import open_table

#: So many fits of the same rows are each said; after that, those at powers of two.
EACH_IS_SAID = 5


def read_schema(owner: str, given: object) -> Schema | Literal["from-data"] | None:
    """Return the schema that a parameter names: itself, or the path of its file."""
    if isinstance(given, Schema) or given is None:
        return given
    if not isinstance(given, str | PathLike):
        raise SchemaError(
            f'{owner}: schema must be a Schema, the path of a schema file, "from-data" or None, '
            f"got {show(given)}"
        )
    if given == "from-data":
        return "from-data"
    try:
        return Schema.read(given)
    except SchemaError as error:
        meant = suggest(given, ["from-data"])
        raise SchemaError(f"{owner}: schema: {error}{f'; {meant}' if meant else ''}") from None


def open_rows(X: Any, y: Any) -> Table:  # noqa: N803
    """Return a table in memory, or the one that a path or an address names."""
    return open_table(X) if isinstance(X, str | PathLike) else MemoryTable(X, y)


def open_with_ledger(
    schema: Schema,
    X: Any,  # noqa: N803
    y: Any,
    ledger: Ledger | str | PathLike[str],
    budget: Budget | Number | None,
) -> Curator:
    """Return a curator of a table that charges a ledger of the owner: the only account in it, or a
    new one.
    """
    if isinstance(ledger, str | PathLike):
        ledger = SQLiteLedger(ledger)
    elif not hasattr(ledger, "datasets"):
        raise ParameterError(
            "ledger must be the path of a ledger file, or a ledger such as pv.SQLiteLedger(path), "
            f"got {show(ledger)}"
        )
    table, names = open_rows(X, y), ledger.datasets()
    if len(names) > 1:
        raise ParameterError(
            f"the ledger has accounts of {len(names)} tables ({', '.join(names[:5])}); name one "
            "with pv.Curator(table, schema, ledger=..., dataset=...), and use fit_from"
        )
    if not names and budget is None:
        raise ParameterError(
            "the ledger has no budget yet: say budget=... the first time, what all fits of these "
            "rows may cost together"
        )
    cap = budget if budget is None or isinstance(budget, Budget) else Budget(budget)
    dataset = names[0] if names else table.name
    return Curator(table, schema, cap, ledger=ledger, dataset=dataset, analyst="owner")


def promise_of(epsilon: Number, schema: Schema) -> float:
    """Return the epsilon that is promised for the declared neighbours."""
    promised = Cost.pure(epsilon).promised(schema).epsilon
    assert promised is not None
    return float(promised)


def note_spent(spent: Before) -> str:
    """Return what all fits of some rows cost together, for the notes of an estimator."""
    return (
        f"In this process, these rows were trained on {spent.fits} times, for epsilon "
        f"{spent.epsilon:.6g} in all."
    )


def warn_of_repetition(spent: Before, stacklevel: int) -> None:
    """Say what all fits of some rows cost together; of many fits, not each time."""
    if spent.fits > EACH_IS_SAID and spent.fits & (spent.fits - 1):
        return
    warnings.warn(
        f"these rows have now been trained on {spent.fits} times in this process: a row has paid "
        f"epsilon {spent.epsilon:.6g} in all. Each model states its own epsilon; who sees all of "
        "them may learn as much as their sum allows. To count across runs, and to stop at a "
        "budget: fit(X, y, ledger='people.ledger.sqlite', budget=4), or fit_from(curator)",
        RepeatedFitWarning,
        stacklevel=stacklevel,
    )


def require_labels(schema: Schema, X: Any) -> None:  # noqa: N803
    """Raise where no labels were given, and a table has all but the class column."""
    columns = list(getattr(X, "columns", [schema.target]))
    if schema.target not in columns and set(schema.find_columns(columns).values()) <= set(columns):
        raise SchemaMismatch(
            [
                f"the class column {schema.target!r} is not in the table, and no y was given; call "
                "fit(X, y)"
            ]
        )


def refuse_swapped(X: Any, y: Any) -> None:  # noqa: N803
    """Raise where labels came first, and the table second."""
    if getattr(X, "ndim", 2) == 1 and getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
        raise ParameterError("X has one dimension, and y two: were they swapped? Call fit(X, y)")


def refuse_sparse(X: Any) -> None:  # noqa: N803
    """Raise for a sparse matrix, which is what one-hot encoders make."""
    if all(hasattr(X, method) for method in ("tocsr", "toarray")):  # as SciPy has them
        raise ParameterError(
            "sparse input is not supported, and not needed: pass the columns as they are, with one "
            "attribute for each in the schema, and leave out an encoder such as OneHotEncoder"
        )


def explain_missing_schema(owner: str) -> str:
    """Return what a schema is, and how to get one."""
    return (
        f"{owner} needs a schema: the values, bounds and classes that are public about the table. "
        "Write one with pv.Schema(attributes=..., target=..., classes=...), draft one from a "
        "public sample with 'privet schema draft', or name its file with schema='path.json'. "
        'For public data, schema="from-data" reads it off the rows; the model is then marked as '
        "not private"
    )
