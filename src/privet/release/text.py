"""A tree as text: indented in scikit-learn's style, and as a Graphviz graph."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from privet.release.labels import attribute_at, branch_text, class_labels, condition_text, count_text
from privet.tree import Tree


def tree_text(tree: Tree, *, max_depth: int | None = None, max_values: int | None = None, show_counts: bool = True) -> str:
    """The tree as indented lines, like scikit-learn's ``export_text``, in the schema's own values.

    Args:
        tree: what to show.
        max_depth: how many tests deep; what is below is named but not shown.
        max_values: how many values of a branch are listed.
        show_counts: whether a leaf shows its (noisy) class counts beside its class.
    """
    classes, heights = class_labels(tree.schema), _heights(tree)
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:  # not a recursion: a tree may be deeper than Python's stack
        node, depth, line = stack.pop()
        if line:
            lines.append(line)
        indent = "|   " * depth + "|--- "
        children = tree.children(node, possible_only=True)
        if not children:
            counts = f"counts: [{_counts(tree, node)}] " if show_counts else ""
            lines.append(f"{indent}{counts}class: {classes[int(tree.counts[node].argmax())]}")
        elif max_depth is not None and depth >= max_depth:
            lines.append(f"{indent}truncated branch of depth {heights[node]}")
        else:
            position = int(tree.cells.attribute[node])
            for child, codes in reversed(children):
                condition = condition_text(tree.schema, position, codes, limit=max_values)
                stack.append((child, depth + 1, indent + condition))
    return "\n".join(lines) + "\n"


def tree_dot(tree: Tree, *, max_values: int | None = 6) -> str:
    """The tree in Graphviz's DOT language: ``dot -Tsvg`` draws it."""
    classes = class_labels(tree.schema)
    lines = ["digraph tree {", '  node [shape=box, style="rounded,filled", fillcolor="white", fontname="Helvetica"];']
    lines.append('  edge [fontname="Helvetica"];')
    for node in range(tree.n_nodes):
        position = int(tree.cells.attribute[node])
        counts = f"counts: {_counts(tree, node)}"
        if position < 0:
            label = _quoted(f"class: {classes[int(tree.counts[node].argmax())]}", counts)
            lines.append(f'  {node} [label={label}, fillcolor="#e8e8e8"];')
            continue
        name, attribute = attribute_at(tree.schema, position)
        lines.append(f"  {node} [label={_quoted(name, counts)}];")
        for child, codes in tree.children(node, possible_only=True):
            lines.append(f"  {node} -> {child} [label={_quoted(branch_text(attribute, codes, limit=max_values))}];")
    return "\n".join([*lines, "}"]) + "\n"


def _counts(tree: Tree, node: int) -> str:
    return ", ".join(count_text(count) for count in tree.counts[node].tolist())


def _quoted(*lines: str) -> str:
    """A DOT string. A backslash starts an escape such as \\N there, so it is doubled."""
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'


def _heights(tree: Tree) -> npt.NDArray[np.int64]:
    """How many tests there are on the longest way down from each node."""
    heights = np.zeros(tree.n_nodes, dtype=np.int64)
    parents = tree.cells.parents
    for node in range(tree.n_nodes - 1, 0, -1):
        heights[parents[node]] = max(heights[parents[node]], heights[node] + 1)
    return heights
