"""Export a model as one SQL statement that predicts inside a database, from raw columns.

The statement adds the predicted class and the probability of each class to every row of a table. It
reads values as the schema does: what is not listed, out of bounds or no number is treated as in
Python. There is nothing to bind in a file, so every name is quoted and every text is a literal,
escaped for its engine; a NUL, which no literal can hold, is refused.

Codes, nodes of trees, sums and probabilities are computed in steps, each a subquery of its own, so
that no expression stands in several places. Sums are added up in the order in which Python adds
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from privet._validate import check_name
from privet.domain import Attribute
from privet.domain.encode.encoding import DatePart, Encoding, SpelledNumber
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.model import Model
from privet.report.sql_dialects import DIALECTS, Dialect
from privet.tables.dialect import search_ranges
from privet.text import escape_invisible

#: Longest statement: engines take long to plan larger ones.
MAX_CHARACTERS = 20_000_000


def to_sql(model: Model, dialect: str = "duckdb", table: str = "people") -> str:
    """Return a statement that predicts the rows of a table.

    ``table`` is a name, with a schema before a point where there is one.
    """
    sql = DIALECTS[check_name("dialect", dialect, DIALECTS)]
    schema, classes = model.schema, range(model.schema.n_classes)
    values = [model.contributions(tree) for tree in model.trees]
    columns_read = [a.column or name for name, a in schema.attributes.items()]
    if taken := [name for name in columns_read if name.lower().startswith("privet_")]:
        raise ParameterError(
            f"SQL export: column {taken[0]!r} would be taken for a step of the statement, which "
            "are called privet_...; rename the column, or export to ONNX"
        )
    used = sorted({int(a) for tree in model.trees for a in tree.cells.attribute if a >= 0})
    attributes = list(schema.attributes.items())
    numbers, columns, moments = list[str](), list[str](), list[list[str]]()
    for a in used:
        name, attribute = attributes[a]
        column = f"t.{sql.name(attribute.column or name)}"
        encoding = _encoding(attribute)
        if encoding.listed is None:
            if isinstance(encoding.reads, DatePart):
                moments.append(sql.moment_steps(column, a))
                read = sql.as_part(column, f"privet_m{a}", encoding.reads)
            elif isinstance(encoding.reads, SpelledNumber):
                read = sql.as_spelled(column, encoding.reads)
            else:
                read = sql.as_number(column)
            numbers.append(f"{read} AS privet_v{a}")
        columns.append(f"{_code(sql, column, encoding, f'privet_v{a}')} AS privet_c{a}")
    nodes = [f"{_node(tree, 0)} AS privet_n{k}" for k, tree in enumerate(model.trees)]
    sums = [
        " + ".join(
            _value(sql, f"privet_n{k}", table_of_tree[:, j])
            for k, table_of_tree in enumerate(values)
        )
        + f" AS privet_s{j}"
        for j in classes
    ]
    weigh, shares = (_softmax if model.combine == "scores" else _normalise)(sql, classes)
    steps, source = list[tuple[str, list[str], str]](), _quote_table(sql, table)
    for k, of_dates in enumerate(zip(*moments, strict=True)):
        steps.append((f"privet_dated_{k}", ["t.*", *of_dates], f"{source} AS t"))
        source = f"privet_dated_{k}"
    steps += [
        ("privet_read", ["t.*", *numbers], f"{source} AS t"),
        ("privet_coded", ["t.*", *columns], "privet_read AS t"),
        ("privet_walked", ["*", *nodes], "privet_coded"),
        ("privet_summed", ["*", *sums], "privet_walked"),
        ("privet_weighed", ["*", *weigh], "privet_summed"),
        ("privet_shared", ["*", *shares], "privet_weighed"),
    ]
    worth = [f"privet_p{j}" for j in classes]
    if model.costs is not None:
        costs = [
            " + ".join(f"privet_p{i} * {sql.real(model.costs[i, j])}" for i in classes)
            for j in classes
        ]
        names = [f"-({cost}) AS privet_w{j}" for j, cost in enumerate(costs)]
        steps.append(("privet_decided", ["*", *names], "privet_shared"))
        worth = [f"privet_w{j}" for j in classes]
    labels = schema.label.labels
    answer = [
        f"{_first_largest(worth, [sql.text(label) for label in labels])} AS "
        f"{sql.name(f'predicted {schema.target}')}",
        *(f"privet_p{j} AS {sql.name(f'probability of {labels[j]}')}" for j in classes),
    ]
    written = ",\n".join(
        f"{name} AS {sql.materialized}(\n  SELECT {_lines(selected)}\n  FROM {source}\n)"
        for name, selected, source in steps
    )
    note = (
        f"-- {escape_invisible(model.privacy.describe())}\n"
        f"-- Predicts {escape_invisible(schema.target)!r} for {dialect}: the columns of the table, "
        "what steps in between\n-- are called (privet_...), and then the predicted class and the "
        "probability of each class. Name\n-- the columns that you need in place of the last *.\n"
    )
    statement = f"{note}WITH {written}\nSELECT *, {_lines(answer)}\nFROM {steps[-1][0]};\n"
    if len(statement) > MAX_CHARACTERS:
        raise ParameterError(
            f"SQL export: a statement may have {MAX_CHARACTERS} characters at most, this has "
            f"{len(statement)}; use fewer trees, or export to ONNX"
        )
    return statement


def _lines(items: Iterable[str]) -> str:
    return ",\n    ".join(items)


def _quote_table(sql: Dialect, table: str) -> str:
    return ".".join(sql.name(part) for part in table.split("."))


# -- from entries to codes ---------------------------------------------------------------------


def _encoding(attribute: Attribute) -> Encoding:
    """Return how text becomes codes, as which every entry can be read."""
    encoding = attribute.encoding("text")
    assert encoding is not None
    return encoding


def _code(sql: Dialect, column: str, encoding: Encoding, number: str) -> str:
    """Return the code of an entry, as the schema encodes it; ``number`` is what was read."""
    if encoding.listed is None:
        points = [sql.real(point) for point in encoding.ranges.points.tolist()]
        return (
            f"CASE WHEN {sql.is_missing(column)} THEN {encoding.missing} "
            f"WHEN {number} IS NULL THEN {encoding.unreadable} "
            f"ELSE {search_ranges(number, points, encoding.ranges.codes.tolist())} END"
        )
    text = sql.as_text(column)
    listed = _texts_by_code(encoding)
    places = [(text, listed)]
    if encoding.prefix is not None:  # a whole text goes before its first characters
        places.append((sql.cut(text, encoding.prefix), listed))
    found = " ".join(
        f"WHEN {place} IN ({', '.join(sql.text(one) for one in texts)}) THEN {code}"
        for place, by_code in places
        for code, texts in by_code.items()
    )
    return f"CASE WHEN {column} IS NULL THEN {encoding.missing} {found} ELSE {encoding.unknown} END"


def _texts_by_code(encoding: Encoding) -> dict[int, list[str]]:
    """Return the texts of each code: integers may be stored as 3 or as 3.0, booleans as 1 or 0."""
    assert encoding.listed is not None
    texts: dict[int, list[str]] = {}
    for text, code in encoding.listed.items():
        spelled = texts.setdefault(code, [])
        spelled.append(str(text))
        plain = str(text).removeprefix("-")
        other = f"{text}.0"
        if plain.isascii() and plain.isdigit() and other not in encoding.listed:
            spelled.append(other)
    return texts


# -- from codes to sums ------------------------------------------------------------------------


def _node(tree: Tree, node: int) -> str:
    """Return the number of the node that a row reaches: an unknown code stays where it is."""
    cells = tree.cells
    a = int(cells.attribute[node])
    if a < 0:
        return str(node)
    size, offset = tree.schema.sizes[a], int(cells.offset[node])
    branch = cells.branch[offset : offset + size].tolist()
    when = []
    for child in dict.fromkeys(branch):
        codes = [code for code in range(size) if branch[code] == child]
        when.append(f"WHEN {_any_of(f'privet_c{a}', codes)} THEN {_node(tree, child)}")
    return f"CASE {' '.join(when)} ELSE {node} END"


def _any_of(column: str, codes: Sequence[int]) -> str:
    """Return whether a column has one of these codes, by runs of neighbours."""
    runs = [
        [code for _, code in run] for _, run in groupby(enumerate(codes), lambda at: at[1] - at[0])
    ]
    parts = [
        f"{column} = {run[0]}" if len(run) == 1 else f"{column} BETWEEN {run[0]} AND {run[-1]}"
        for run in runs
    ]
    return " OR ".join(parts)


def _value(sql: Dialect, node: str, values: np.ndarray) -> str:
    """Return what a tree adds for one class, at the node that a row reaches."""
    nodes: dict[float, list[int]] = {}
    for number, value in enumerate(values.tolist()):
        nodes.setdefault(value, []).append(number)
    *others, (rest, _) = sorted(nodes.items(), key=lambda item: len(item[1]))
    if not others:
        return sql.real(rest)
    when = " ".join(
        f"WHEN {_any_of(node, numbers)} THEN {sql.real(value)}" for value, numbers in others
    )
    return f"CASE {when} ELSE {sql.real(rest)} END"


# -- from sums to probabilities ----------------------------------------------------------------


def _softmax(sql: Dialect, classes: range) -> tuple[list[str], list[str]]:
    """The largest is taken off first, so that nothing overflows."""
    largest = f"{sql.greatest}({', '.join(f'privet_s{j}' for j in classes)})"
    weigh = [f"exp(privet_s{j} - {largest}) AS privet_e{j}" for j in classes]
    total = " + ".join(f"privet_e{j}" for j in classes)
    return weigh, [f"privet_e{j} / ({total}) AS privet_p{j}" for j in classes]


def _normalise(sql: Dialect, classes: range) -> tuple[list[str], list[str]]:
    """Shares of what is above zero; where nothing is, every class is as likely as any other."""
    zero, even = sql.real(0.0), sql.real(1.0 / len(classes))
    weigh = [
        f"CASE WHEN privet_s{j} > {zero} THEN privet_s{j} ELSE {zero} END AS privet_e{j}"
        for j in classes
    ]
    total = " + ".join(f"privet_e{j}" for j in classes)
    return weigh, [
        f"CASE WHEN {total} > {zero} THEN privet_e{j} / ({total}) ELSE {even} END AS privet_p{j}"
        for j in classes
    ]


def _first_largest(worth: Sequence[str], answers: Sequence[str]) -> str:
    """Return the answer of the first of the largest values."""
    *first, last = answers
    when = []
    for j, answer in enumerate(first):
        later = " AND ".join(f"{worth[j]} >= {other}" for other in worth[j + 1 :])
        when.append(f"WHEN {later} THEN {answer}")
    return f"CASE {' '.join(when)} ELSE {last} END" if when else last
