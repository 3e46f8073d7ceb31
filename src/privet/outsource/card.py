"""Write the card of an outsourced tree: what it is, who sees what, and what it does not promise."""

from __future__ import annotations

from typing import Any

from privet.outsource.anatomy import STATEMENT, Anatomy
from privet.outsource.client.replies import TreeDetails, TreeSummary
from privet.report.blocks import (
    Banner,
    Bullets,
    CardBlock,
    Heading,
    render_html_page,
    render_markdown,
)


def outsourced_card(
    about: dict[str, Any], tree: TreeSummary, details: TreeDetails, *, html: bool = False
) -> str:
    """Write the card as Markdown, or as a page.

    It holds what the server knows anyway, and no row.
    """
    write = render_html_page if html else render_markdown
    target = about["anatomy"].schema.target
    return write(f"A tree for {target} on an outsourced table", _card_blocks(about, tree, details))


def _card_blocks(about: dict[str, Any], tree: TreeSummary, details: TreeDetails) -> list[CardBlock]:
    anatomy: Anatomy = about["anatomy"]
    names = ", ".join(anatomy.identifying.names)
    changed = (
        f"{tree.changed} rows were added or removed since."
        if tree.changed
        else "No row was added or removed since."
    )
    return [
        Banner(f"Not differentially private. {STATEMENT}", alarm=True),
        Heading("The table"),
        Bullets(
            (
                f"{about['rows']} rows in {about['groups']} random groups; no value of "
                f"{anatomy.sensitive} has more than one {_format_fraction(anatomy.l)} of the "
                f"entries of any group (l = {anatomy.l}).",
                f"Identifying attributes, which the server sees person by person: {names}, and the "
                f"class {anatomy.schema.target}.",
                f"{about['pending']} rows wait for a group, sealed as a whole.",
            )
        ),
        Heading("The tree"),
        Bullets(
            (
                f"Base tree {tree.id[:8]}, grown {tree.made[:19].replace('T', ' ')} UTC by the "
                f"server from the identifying attributes alone: {tree.splits} splits by gain "
                f"ratio, leaf size {tree.leaf_size}, reduced-error pruning on a random "
                f"{anatomy.pruning:.0%} of rows.",
                f"{tree.leaves} leaves, the largest of {tree.largest} rows; "
                f"{len(details.refined)} are refined by sub-trees that only holders of the key "
                f"can read. {changed}",
                "A client holds at most the rows of one leaf, with their candidates, in memory.",
            )
        ),
        Heading("Who sees what"),
        Bullets(
            (
                "The server sees both tables but not which sensitive value is whose; what "
                "identifies the rows to be predicted; which leaves they reach and when; who asks; "
                "and which rows are added or deleted when.",
                "Holders of the key and a token see everything. Sub-trees are exact: they are not "
                "to be shown to anybody else.",
                "The sensitive value of a row to be predicted does not leave the client.",
            )
        ),
        Heading("What it does not promise"),
        Bullets(
            (
                "That nobody learns a person's sensitive value: correlation with identifying "
                "attributes can tell it (measure with 'privet outsource attack'), and so can "
                "background knowledge about the others of a group.",
                "That the server answers with all rows: what it changes is found out, what it "
                "leaves out is not.",
            )
        ),
    ]


def _format_fraction(number: int) -> str:
    return {2: "half", 3: "third", 4: "quarter"}.get(number, f"{number}-th")
