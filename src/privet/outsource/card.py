"""Write the card of an outsourced tree: what it is, who sees what, and what it does not promise."""

from __future__ import annotations

from typing import Any

from privet.outsource.anatomy import STATEMENT, Anatomy
from privet.outsource.client.replies import TreeDetails, TreeSummary
from privet.text import escape_invisible


def outsourced_card(about: dict[str, Any], tree: TreeSummary, details: TreeDetails) -> str:
    """Write the card as Markdown.

    It holds what the server knows anyway, and no row.
    """
    anatomy: Anatomy = about["anatomy"]
    names = ", ".join(f"`{_escape_backticks(name)}`" for name in anatomy.identifying.names)
    changed = (
        f"{tree.changed} rows were added or removed since."
        if tree.changed
        else "No row was added or removed since."
    )
    lines = [
        f"# A tree for `{_escape_backticks(anatomy.schema.target)}` on an outsourced table",
        "",
        "**Not differentially private.** " + STATEMENT,
        "",
        "## The table",
        f"- {about['rows']} rows in {about['groups']} random groups; no value of "
        f"`{_escape_backticks(anatomy.sensitive)}` has more than one "
        f"{_format_fraction(anatomy.l)} of the entries of any group (l = {anatomy.l}).",
        (
            f"- Identifying attributes, which the server sees person by person: {names}, and the "
            f"class `{_escape_backticks(anatomy.schema.target)}`."
        ),
        f"- {about['pending']} rows wait for a group, sealed as a whole.",
        "",
        "## The tree",
        f"- Base tree `{tree.id[:8]}`, grown {tree.made[:19].replace('T', ' ')} UTC by the server "
        f"from the identifying attributes alone: {tree.splits} splits by gain ratio, leaf size "
        f"{tree.leaf_size}, reduced-error pruning on a random {anatomy.pruning:.0%} of rows.",
        f"- {tree.leaves} leaves, the largest of {tree.largest} rows; {len(details.refined)} are "
        f"refined by sub-trees that only holders of the key can read. {changed}",
        "- A client holds at most the rows of one leaf, with their candidates, in memory.",
        "",
        "## Who sees what",
        "- The server sees both tables but not which sensitive value is whose; what identifies the "
        "rows to be predicted; which leaves they "
        "reach and when; who asks; and which rows are added or deleted when.",
        (
            "- Holders of the key and a token see everything. Sub-trees are exact: they are not to "
            "be shown to anybody else."
        ),
        "- The sensitive value of a row to be predicted does not leave the client.",
        "",
        "## What it does not promise",
        "- That nobody learns a person's sensitive value: correlation with identifying attributes "
        "can tell it (measure with "
        "`privet outsource attack`), and so can background knowledge about the others of a group.",
        (
            "- That the server answers with all rows: what it changes is found out, what it leaves "
            "out is not."
        ),
        "",
    ]
    return "\n".join(lines)


def _escape_backticks(name: str) -> str:
    return escape_invisible(name).replace("`", "'")


def _format_fraction(number: int) -> str:
    return {2: "half", 3: "third", 4: "quarter"}.get(number, f"{number}-th")
