"""Write a tree as text: indented in scikit-learn's style, or as a Graphviz graph."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.domain.tree import Tree
from privet.report.labels import (
    attribute_at,
    class_labels,
    collapse_tree,
    count_text,
    list_branches,
    score_texts,
)
from privet.report.model_parts import says_classes
from privet.text import escape_invisible


def tree_text(
    tree: Tree,
    *,
    max_depth: int | None = None,
    max_values: int | None = None,
    show_counts: bool = True,
    scores: bool = False,
    whole: bool = False,
) -> str:
    """Write the tree as indented lines, like scikit-learn's ``export_text``.

    Values are the schema's own.

    Parameters
    ----------
    tree
        What to show.
    max_depth
        How many tests deep; what is below is named but not shown.
    max_values
        How many values of a branch are listed.
    show_counts
        Whether a leaf shows its (noisy) class counts beside its class.
    scores
        Whether the tree is of a model that adds up scores. A leaf then ends its branch with
        the class that it says, ``-> yes``, or with its scores, and branches that say the same
        are shown as one.
    whole
        Show a tree of scores with all its branches.
    """
    if scores and not whole:
        tree = collapse_tree(tree)
    classes, heights, drawn = (
        class_labels(tree.schema),
        _compute_heights(tree),
        scores and says_classes(tree),
    )
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:  # not a recursion: a tree may be deeper than Python's stack
        node, depth, line = stack.pop()
        leaf = tree.cells.attribute[node] < 0
        if line and not (leaf and scores):
            lines.append(line)
        indent = "|   " * depth + "|--- "
        if leaf and scores:
            says = (
                f" -> {classes[int(tree.counts[node].argmax())]}"
                if drawn
                else f": {', '.join(score_texts(tree, node))}"
            )
            lines.append((line or "|--- every row") + says)
        elif leaf:
            counts = f"counts: [{_format_counts(tree, node)}] " if show_counts else ""
            lines.append(f"{indent}{counts}class: {classes[int(tree.counts[node].argmax())]}")
        elif max_depth is not None and depth >= max_depth:
            lines.append(f"{indent}truncated branch of depth {heights[node]}")
        else:
            name, _ = attribute_at(tree.schema, int(tree.cells.attribute[node]))
            parts = list_branches(tree, node, limit=max_values)
            stack += [
                (child, depth + 1, f"{indent}{name} {condition}")
                for child, condition in reversed(parts)
            ]
    return "\n".join(lines) + "\n"


def tree_dot(
    tree: Tree,
    *,
    max_values: int | None = 6,
    scores: bool = False,
    whole: bool = False,
    caption: str = "",
) -> str:
    """Write the tree in Graphviz's DOT language: ``dot -Tsvg`` draws it.

    Parameters
    ----------
    tree
        What to draw.
    max_values
        How many values of a branch are listed.
    scores
        Whether the tree is of a model that adds up scores; leaves then show their class or
        scores, and no counts.
    whole
        Draw a tree of scores with all its branches, also where these say the same.
    caption
        Stands below; the guarantee belongs here.
    """
    if scores and not whole:
        tree = collapse_tree(tree)
    classes, drawn = class_labels(tree.schema), scores and says_classes(tree)
    lines = [
        "digraph tree {",
        '  node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];',
    ]
    lines.append('  edge [fontname="Helvetica"];')
    if caption:
        lines.append(
            f'  label={_quote_dot(escape_invisible(caption))}; labelloc="b"; fontname="Helvetica";'
        )
    for node in range(tree.n_nodes):
        position, label = int(tree.cells.attribute[node]), int(tree.counts[node].argmax())
        counts = [] if scores else [f"counts: {_format_counts(tree, node)}"]
        if position < 0:
            said = score_texts(tree, node) if scores and not drawn else [f"class: {classes[label]}"]
            colour = f"/pastel19/{label % 9 + 1}" if drawn else "#e8e8e8"
            lines.append(f'  {node} [label={_quote_dot(*said, *counts)}, fillcolor="{colour}"];')
            continue
        lines.append(
            f"  {node} [label={_quote_dot(attribute_at(tree.schema, position)[0], *counts)}];"
        )
        for child, condition in list_branches(tree, node, limit=max_values):
            lines.append(f"  {node} -> {child} [label={_quote_dot(condition)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _format_counts(tree: Tree, node: int) -> str:
    return ", ".join(count_text(count) for count in tree.counts[node].tolist())


def _quote_dot(*lines: str) -> str:
    """A DOT string. A backslash starts an escape such as \\N there, so it is doubled."""
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'


def _compute_heights(tree: Tree) -> npt.NDArray[np.int64]:
    """How many tests there are on the longest way down from each node."""
    heights = np.zeros(tree.n_nodes, dtype=np.int64)
    parents = tree.cells.parents
    for node in range(tree.n_nodes - 1, 0, -1):
        heights[parents[node]] = max(heights[parents[node]], heights[node] + 1)
    return heights
