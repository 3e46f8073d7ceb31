"""A model for the terminal: its trees, their noisy counts, and the promise under them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privet.model import Model
from privet.release.labels import class_labels, condition_text, count_text, leaves_below, visible
from privet.tree import Tree

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text
    from rich.tree import Tree as RichTree

_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "red")


def model_view(model: Model, *, max_depth: int | None = None, max_trees: int = 1, max_values: int = 6) -> Group:
    """What ``privet show`` prints.

    Args:
        model: what to show.
        max_depth: how many tests deep.
        max_trees: how many trees; the others are counted.
        max_values: how many values of a branch are listed.
    """
    from rich.console import Group
    from rich.text import Text

    shown = model.trees[:max_trees]
    titles = [f"tree {number} of {len(model.trees)}" for number in range(1, len(shown) + 1)]
    trees = [_view(model, tree, title, max_depth, max_values) for tree, title in zip(shown, titles, strict=True)]
    hidden = len(model.trees) - len(shown)
    more = [Text(f"… and {hidden} more tree{'s' if hidden > 1 else ''}", style="dim")] if hidden else []
    return Group(_title(model), *trees, *more, Text(""), _noise(model), _promise(model))


def _view(model: Model, tree: Tree, title: str, max_depth: int | None, max_values: int) -> RichTree:
    from rich.text import Text
    from rich.tree import Tree as RichTree

    below = leaves_below(tree)
    root = RichTree(Text(title, style="bold"), guide_style="dim")
    stack: list[tuple[int, int, RichTree]] = [(0, 0, root)]
    while stack:
        node, depth, branch = stack.pop()
        children = tree.children(node, possible_only=True)
        if not children:
            leaf = _leaf(model, tree, node)
            if node:
                assert isinstance(branch.label, Text)
                branch.label = Text.assemble(branch.label, "  ", leaf)
            else:
                branch.add(leaf)
        elif max_depth is not None and depth >= max_depth:
            branch.add(Text(f"… {below[node]} leaves", style="dim"))
        else:
            position = int(tree.cells.attribute[node])
            parts = [(child, condition_text(tree.schema, position, codes, limit=max_values)) for child, codes in children]
            stack += [(child, depth + 1, branch.add(Text(condition))) for child, condition in parts]
    return root


def _leaf(model: Model, tree: Tree, node: int) -> Text:
    """The majority class, its count and how far off that may be; then the other classes."""
    from rich.text import Text

    classes, counts = class_labels(model.schema), tree.counts[node].tolist()
    order = sorted(range(len(counts)), key=lambda label: -counts[label])
    first = order[0]
    within = f" ± {2 * model.noise:.3g}" if model.noise else ""
    others = ", ".join(f"{classes[label]} {count_text(counts[label])}" for label in order[1:4])
    left_out = f", … ({len(order) - 4} more)" if len(order) > 4 else ""
    return Text.assemble(
        (f"→ {classes[first]}", f"bold {_COLOURS[first % len(_COLOURS)]}"),
        f"  {count_text(counts[first])}{within}",
        (f"  ({others}{left_out})", "dim"),
    )


def _title(model: Model) -> Text:
    from rich.text import Text

    about = f"  predicts {visible(model.schema.target)} from {len(model.schema.attributes)} attributes"
    return Text.assemble((visible(model.learner), "bold"), about)


def _noise(model: Model) -> Text:
    from rich.text import Text

    if not model.noise:
        return Text("The counts carry no noise.", style="dim")
    return Text(f"Counts are noisy: each is right to within about {2 * model.noise:.3g}, 19 times in 20.", style="dim")


def _promise(model: Model) -> Text:
    from rich.text import Text

    return Text(visible(model.privacy.describe()), style="bold" if model.privacy.private else "bold red")
