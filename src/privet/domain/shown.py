"""Show a schema and its attributes to people: in one line, and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privet._notebook import count_of, html_box, one_line

if TYPE_CHECKING:
    from privet.domain.attributes import Attribute
    from privet.domain.schema import Schema

#: Of more values, only the first ones and the last are shown.
MAX_VALUES = 8


def describe_values(attribute: Attribute) -> str:
    """Return the values of an attribute in one line; of many, the first and the last."""
    labels = attribute.labels
    if len(labels) <= MAX_VALUES:
        return ", ".join(labels)
    return f"{', '.join(labels[:3])}, ..., {labels[-1]}"


def schema_line(schema: Schema) -> str:
    """Return a schema in one line."""
    names = [*schema.names[:3], "..."] if len(schema.names) > 3 else list(schema.names)
    return one_line(
        "Schema",
        f"{count_of(len(schema.names), 'attribute')} ({', '.join(names)})",
        f"target {schema.target!r} with {schema.n_classes} classes",
        "" if schema.n_rows is None else f"{count_of(schema.n_rows, 'row')}",
        "read off the data" if schema.from_data else "",
    )


def schema_html(schema: Schema) -> str:
    """Return a schema for a notebook: its attributes in their order, and what else is public."""
    facts: dict[str, object] = {
        "target": f"{schema.target}: {describe_values(schema.label)}",
        "neighbours": f"one person of at most {count_of(schema.rows_per_person, 'row')}, "
        f"{_NEIGHBOURS[schema.neighbours]}",
    }
    if schema.person is not None:
        facts["person"] = f"column {schema.person}"
    if schema.n_rows is not None:
        facts["rows"] = f"{schema.n_rows} (public)"
    if schema.from_data:
        facts["not private"] = "the domain was read off the rows"
    rows = [
        (name, attribute.describe()[0], attribute.size, describe_values(attribute))
        for name, attribute in schema.attributes.items()
    ]
    title = f"Schema of {count_of(len(rows), 'attribute')}"
    headers = ("attribute", "kind", "size", "values")
    return html_box(title, facts, headers=headers, rows=rows, alarm=schema.from_data)


_NEIGHBOURS = {"add-remove": "added or removed", "replace": "replaced by another"}
