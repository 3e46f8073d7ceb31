"""The card of a synthetic table, and the report of its check: blocks for Markdown and HTML."""

from __future__ import annotations

from privet.privacy import format_rounded_up
from privet.publish.synthetic.check import Check
from privet.publish.synthetic.synthesize import SyntheticTable
from privet.release.blocks import (
    Banner,
    Bullets,
    CardBlock,
    Grid,
    Heading,
    Paragraph,
    render_html_page,
    render_markdown,
)
from privet.release.reading import explain_promise, list_charges

_TITLE, _REPORT = "Privacy card: synthetic table", "Check of a synthetic table"
#: A list of pairs stops here.
MAX_LISTED = 100


def render_table_card(table: SyntheticTable, *, html: bool = False) -> str:
    """What an officer wants to know about a synthetic table."""
    write = render_html_page if html else render_markdown
    return write(f"{_TITLE} for {table.schema.target}", _card_blocks(table))


def render_check_report(check: Check, *, html: bool = False) -> str:
    """How near a synthetic table is to the held-out rows, and what it cost to see that."""
    write = render_html_page if html else render_markdown
    return write(f"{_REPORT} for {check.schema.target}", _report_blocks(check))


def _card_blocks(table: SyntheticTable) -> list[CardBlock]:
    privacy = table.privacy
    if privacy.private:
        banner = Banner(f"Guarantee: this table is {privacy.describe()}.", alarm=False)
    else:
        banner = Banner(f"This table is not private: {privacy.reason}.", alarm=True)
    pairs = [f"{a} with {b}" for a, b in table.pairs]
    more = [f"and {len(pairs) - MAX_LISTED} more"] if len(pairs) > MAX_LISTED else []
    measured: CardBlock = (
        Bullets(tuple(pairs[:MAX_LISTED] + more))
        if pairs
        else Paragraph("None: there were too few rows for the noise.")
    )
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
            "Each attribute follows the class as it does in the real table, up to noise. Two "
            "attributes follow each other, within a class, only along the pairs below; what else "
            "is true of three attributes together is lost. Values too rare for the noise were "
            "measured in groups. The counts of single values had noise with a standard deviation "
            f"of {table.deviation:.3g} rows."
        ),
        Heading("Pairs of attributes that were measured together"),
        measured,
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
            ("classifier", "right", "for the noise, 19 times in 20"), tuple(lines), numeric=(1, 2)
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
