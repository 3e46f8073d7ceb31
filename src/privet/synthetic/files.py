"""Write a synthetic table to a file, with its privacy statement and a card beside it.

Parquet files hold the statement in their metadata; CSV files have only the card.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from privet.accounting.statement import format_rounded_up
from privet.domain import Schema, text_of
from privet.errors import ParameterError, TableError
from privet.report.blocks import (
    Banner,
    Bullets,
    CardBlock,
    Grid,
    Heading,
    Paragraph,
    render_html_page,
    render_markdown,
)
from privet.report.wording import explain_promise, list_charges
from privet.synthetic.check import Check
from privet.synthetic.synthesize import SyntheticTable
from privet.tables.csv_lines import check_lines
from privet.tables.dialect import quote_identifier

SUFFIXES = (".parquet", ".csv")


def card_path(path: Path) -> Path:
    """Return the path of the card of a table."""
    return path.with_name(path.name + ".card.md")


def check_suffix(path: Path) -> None:
    """Raise unless the file name has the suffix of a kind that can be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"a synthetic table is written to a .parquet or .csv file, got {path.name}"
        )


def check_file(path: Path, schema: Schema) -> None:
    """Raise unless rows of this schema can be written there and read again."""
    check_suffix(path)
    names = [*schema.names, schema.target]
    if len({name.lower() for name in names}) < len(names):
        raise ParameterError(
            "a file cannot hold columns whose names differ in upper and lower case only; rename "
            "one in the schema"
        )
    if path.suffix.lower() == ".csv":
        check_lines(schema)


def write_table(table: SyntheticTable, path: Path) -> None:
    """Write the table and its card, atomically."""
    check_file(path, table.schema)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    beside = card_path(path)
    card = beside.with_name(f".{beside.name}.{secrets.token_hex(8)}.part")
    try:
        card.write_text(render_table_card(table), encoding="utf-8")
        _copy(table, partial, path.suffix.lower()[1:])
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        card.replace(beside)  # first: a table never lies there without its card
        try:
            partial.replace(path)
        except OSError:
            beside.unlink()
            raise
    except OSError as error:
        raise TableError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        for left in (partial, card):
            with suppress(OSError):
                left.unlink()


def _copy(table: SyntheticTable, path: Path, kind: str) -> None:
    import duckdb
    from pandas import isna
    from pandas.api.types import is_numeric_dtype

    frame = table.frame.copy(deep=False)
    texts = [name for name, dtype in frame.dtypes.items() if not is_numeric_dtype(dtype)]
    for name in texts:
        # values of several kinds have one type in a file
        frame[name] = [None if isna(value) else text_of(value) for value in frame[name]]
    if kind == "csv":  # in quotes an empty text is not null
        names = ", ".join(map(quote_identifier, texts))
        options = f"FORMAT csv, HEADER{f', FORCE_QUOTE ({names})' if texts else ''}"
    else:
        said = json.dumps(
            {
                "synthetic": True,
                "promise": table.privacy.describe(),
                "privacy": table.privacy.to_json(),
            }
        )
        options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{privet: {_literal(said)}}}"
    with duckdb.connect() as connection:
        connection.register("synthetic", frame)
        try:
            # COPY takes no parameters: path and text are literals, with quotes doubled.
            connection.execute(f"COPY synthetic TO {_literal(str(path))} ({options})")
        except duckdb.Error as error:
            raise OSError(str(error)) from None


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# The card, and the report of a check: blocks for Markdown and HTML.

_TITLE, _REPORT = "Privacy card: synthetic table", "Check of a synthetic table"
#: A list of pairs stops here.
MAX_LISTED = 100


def render_table_card(table: SyntheticTable, *, html: bool = False) -> str:
    """Write the card of a synthetic table, for a data-protection officer."""
    write = render_html_page if html else render_markdown
    return write(f"{_TITLE} for {table.schema.target}", _card_blocks(table))


def render_check_report(check: Check, *, html: bool = False) -> str:
    """Report how near a synthetic table is to the held-out rows, and what the comparison cost."""
    write = render_html_page if html else render_markdown
    return write(f"{_REPORT} for {check.schema.target}", _report_blocks(check))


def _card_blocks(table: SyntheticTable) -> list[CardBlock]:
    privacy = table.privacy
    if privacy.private:
        banner = Banner(f"Guarantee: this table is {privacy.describe()}.", alarm=False)
    else:
        banner = Banner(f"This table is not private: {privacy.reason}.", alarm=True)
    return [
        banner,
        Paragraph(
            f"{len(table.frame):,} rows of {len(table.schema.names)} attributes and "
            f"{table.schema.target}. No row is a person: all "
            "were drawn from a model that was fitted to noisy counts."
        ),
        *(
            [
                *explain_promise(privacy, "table", public_size=table.schema.n_rows is not None),
                *list_charges(privacy),
            ]
            if privacy.private
            else []
        ),
        Heading("What the rows are good for"),
        Paragraph(
            "Each attribute follows the class as it does in the real table, up to noise, and the "
            "pairs below follow each other within a class. Values too rare for the noise were "
            "measured in groups. The counts of single values had noise with a standard deviation "
            f"of {table.deviation:.3g} rows."
        ),
        Heading("Pairs of attributes that were measured together"),
        _list_pairs(table),
        Heading("What may not be read off this table"),
        Bullets(tuple(explain_limits(table))),
        Heading("What is not promised"),
        Bullets(
            (
                (
                    "A synthetic row may look like somebody: by chance, or because many people are "
                    "alike. That tells nothing more about them."
                ),
                (
                    "What is true of a whole group is meant to be found, and is true of its "
                    "members whether or not they are in the table."
                ),
                (
                    "Means, tests and intervals computed from the rows do not know of the noise: "
                    "they look surer than they are."
                ),
            )
        ),
    ]


def _list_pairs(table: SyntheticTable) -> CardBlock:
    if not table.pairs:
        return Paragraph("None: there were too few rows for the noise.")
    parts = table.cells or [None] * len(table.pairs)
    pairs = [
        f"{a} with {b}" + (f", in {cells[0]} by {cells[1]} parts" if cells else "")
        for (a, b), cells in zip(table.pairs, parts, strict=True)
    ]
    more = [f"and {len(pairs) - MAX_LISTED} more"] if len(pairs) > MAX_LISTED else []
    return Bullets(tuple(pairs[:MAX_LISTED] + more))


def explain_limits(table: SyntheticTable) -> list[str]:
    """Say in words what a reader of the table must not conclude from it."""
    names, pairs = table.schema.names, table.pairs
    possible = len(names) * (len(names) - 1) // 2
    limits = []
    if unmeasured := possible - len(pairs):
        limits.append(
            f"How two attributes follow each other that are not a pair above: {unmeasured} of "
            f"{possible} pairs were not measured. If the rows show that they do, it is because of "
            "the class or of a chain of measured pairs; if the rows show that they do not, they "
            "may in truth."
        )
    measured = {name for pair in pairs for name in pair}
    if alone := [name for name in names if name not in measured]:
        listed = ", ".join(alone[:MAX_LISTED]) + (", ..." if len(alone) > MAX_LISTED else "")
        limits.append(f"How these go with any other attribute, but for the class: {listed}.")
    if len(names) > 2:
        limits.append(
            "What is true of three attributes together, such as that one is the product of two "
            "others."
        )
    if any(attribute.ordered for attribute in table.schema.attributes.values()):
        limits.append(
            "Details finer than the parts of a pair: there, numbers follow each other along a "
            "smooth curve whatever the real ones do. Single numbers are spread evenly over a bin, "
            "so that round ones are no more frequent than others."
        )
    limits.append(
        "Rare values: what fewer rows have than the noise moves may be missing or made up."
    )
    if table.schema.impossible:
        limits.append(
            "What the schema says to be impossible is in no row. That is from the schema, and no "
            "evidence about the real table."
        )
    return limits


def _report_blocks(check: Check) -> list[CardBlock]:
    spent = format_rounded_up(float(check.cost.epsilon or 0))
    if check.private:
        banner = Banner(
            (
                f"This report cost the held-out rows epsilon = {spent}, in addition to what the "
                "synthetic table cost."
            ),
            alarm=False,
        )
    else:
        banner = Banner("This report is not private.", alarm=True)
    lines = []
    for name, one in check.models.items():
        low, high = one.interval()
        lines.append((name, f"{one.accuracy:.3f}", f"{low:.3f} to {high:.3f}"))
    lines.append(("most frequent class", f"{check.most_frequent:.3f}", ""))
    return [
        banner,
        Heading("Right on held-out rows"),
        Grid(
            ("classifier", "right", "95% interval (sampling and noise)"),
            tuple(lines),
            numeric=(1, 2),
        ),
        Heading("Shares of values by class"),
        Paragraph(
            "The distance is the share of rows that would have to change for the held-out table to "
            "have the shares of the synthetic one. The noise of this check alone shows about the "
            "distance in the last column, even between equal tables."
        ),
        Grid(
            ("attribute", "distance", "noise alone, about"),
            tuple(
                (one.name, f"{one.distance:.3f}", f"{min(one.floor, 1.0):.3f}")
                for one in check.marginals
            ),
            numeric=(1, 2),
        ),
    ]
