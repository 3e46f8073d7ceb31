"""Export a model to other formats. This is the one place that knows which there are.

To add one, write a function that takes a model and ``whole``, and list it in :data:`FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import overload

from privet._atomic import save_file
from privet._validate import check_name, suggest
from privet.errors import ParameterError
from privet.model import Model, model_of
from privet.report.model_parts import Parts
from privet.report.onnx import Inputs, to_onnx
from privet.report.sql import to_sql
from privet.report.text import tree_dot, tree_text
from privet.text import escape_invisible


@dataclass(frozen=True)
class Format:
    """A format: the ending of its files, and how a model is written in it."""

    ending: str
    write: Callable[[Model, Options], str | bytes]


@dataclass(frozen=True)
class Options:
    """What can be said about an export; each format takes what concerns it."""

    whole: bool = False
    dialect: str = "duckdb"
    table: str = "people"
    inputs: Inputs = "raw"


def _write_text(model: Model, options: Options) -> str:
    whole = options.whole
    scores = model.combine == "scores"
    texts = [
        f"# {title}\n{tree_text(tree, scores=scores, whole=whole)}"
        for tree, title in Parts.of(model).titles()
    ]
    return f"# {_promise(model)}\n" + "\n".join(texts)


def _write_dot(model: Model, options: Options) -> str:
    tree, _ = Parts.of(model).titles()[0]
    scores, promise = model.combine == "scores", _promise(model)
    return f"// {promise}\n{tree_dot(tree, scores=scores, whole=options.whole, caption=promise)}"


def _write_sql(model: Model, options: Options) -> str:
    return to_sql(model, options.dialect, options.table)


def _write_onnx(model: Model, options: Options) -> bytes:
    written: bytes = to_onnx(model, options.inputs).SerializeToString()
    return written


def _promise(model: Model) -> str:
    """Return the guarantee, which goes wherever the model goes."""
    return escape_invisible(model.privacy.describe())


FORMATS = {
    "text": Format(".txt", _write_text),
    "dot": Format(".dot", _write_dot),
    "onnx": Format(".onnx", _write_onnx),
    "sql": Format(".sql", _write_sql),
}


@overload
def export(
    model: object,
    path: str | PathLike[str],
    *,
    format: str | None = None,
    whole: bool = False,
    dialect: str = "duckdb",
    table: str = "people",
    inputs: Inputs = "raw",
) -> None: ...


@overload
def export(
    model: object,
    path: None = None,
    *,
    format: str,
    whole: bool = False,
    dialect: str = "duckdb",
    table: str = "people",
    inputs: Inputs = "raw",
) -> str | bytes: ...


def export(
    model: object,
    path: str | PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002
    whole: bool = False,
    dialect: str = "duckdb",
    table: str = "people",
    inputs: Inputs = "raw",
) -> str | bytes | None:
    """Export a model as text, as a Graphviz graph, as ONNX or as SQL.

    Every format states the model's guarantee. Nothing is read but the released model.

    Parameters
    ----------
    model : a trained classifier, or a Model
        What to export.
    path : path, optional
        The file to write. Its ending says the format: ``.txt``, ``.dot``, ``.onnx`` or ``.sql``.
        Left out, the export is returned instead.
    format : {"text", "dot", "onnx", "sql"}, optional
        The format, where no path says it. ``"text"`` has all trees as indented lines, ``"dot"``
        the first tree for Graphviz, and ``"onnx"`` a graph to label and probabilities
        (needs ``pip install 'privet[onnx]'``); ``"sql"`` is a statement that predicts inside a
        database, from the table as it is.
    whole : bool, default False
        Whether to write all branches of a drawn tree, also those that say the same.
    dialect : {"duckdb", "postgres", "spark", "sqlite"}, default "duckdb"
        Of SQL: for which engine.
    table : str, default "people"
        Of SQL: the table to predict, with its schema before a point where it has one.
    inputs : {"raw", "codes"}, default "raw"
        Of ONNX: whether the graph reads one input of text or doubles for each attribute, and says
        the text of the class; or a matrix of codes, as ``schema.encode`` gives it, and says the
        number of the class.

    Returns
    -------
    str, bytes or None
        The export where no path is given: text, or the bytes of an ONNX file.

    Raises
    ------
    ParameterError
        If the ending or the format is unknown, or the model is not trained.

    Examples
    --------
    >>> import privet as pv
    >>> nursery = pv.datasets.load("nursery")
    >>> tree = pv.GreedyTreeClassifier(epsilon=1, schema=nursery.schema, max_depth=1)
    >>> print(pv.export(tree.fit(nursery.table), format="text"))
    # 1-differentially private with one row added or removed
    # tree 1 of 1
    |--- ...
    """
    named = FORMATS[_format_name(path, format)]
    released = model_of(model, "export")
    content = named.write(released, Options(whole, dialect, table, inputs))
    if path is None:
        return content
    save_file(path, content)
    return None


def _format_name(path: str | PathLike[str] | None, given: str | None) -> str:
    """Return the name of the format that is meant."""
    if given is not None:
        return check_name("format", given, FORMATS)
    if path is None:
        raise ParameterError(f"give a path to write to, or a format: {', '.join(FORMATS)}")
    ending = Path(path).suffix.lower()
    for name, kind in FORMATS.items():
        if kind.ending == ending:
            return name
    *first, last = [kind.ending for kind in FORMATS.values()]
    advice = suggest(ending, [*first, last])
    raise ParameterError(
        f"the file must end in {', '.join(first)} or {last}, got {Path(path).name!r}"
        + (f"; {advice}" if advice else "")
    )
