"""Show a model in the terminal: its trees, what their leaves say, and the guarantee under them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privet.domain.tree import Tree
from privet.model import Model
from privet.report.labels import (
    attribute_at,
    class_labels,
    collapse_tree,
    count_text,
    leaves_below,
    list_branches,
    score_texts,
)
from privet.report.model_parts import Parts, join_amounts, says_classes, vote
from privet.text import escape_invisible

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text
    from rich.tree import Tree as RichTree

_COLOURS = ("cyan", "yellow", "magenta", "green", "blue", "red")


def model_view(
    model: Model,
    *,
    max_depth: int | None = None,
    max_trees: int = 1,
    max_values: int = 6,
    whole: bool = False,
) -> Group:
    """Return what ``privet show`` prints.

    Parameters
    ----------
    model
        What to show.
    max_depth
        How many tests deep.
    max_trees
        How many trees; the others are counted.
    max_values
        How many values of a branch are listed.
    whole
        Show trees of scores with all their branches; otherwise those that say the same are
        shown as one.
    """
    from rich.console import Group
    from rich.text import Text

    parts = Parts.of(model)
    titled = parts.titles()
    trees = [
        _make_tree_view(model, tree, title, max_depth, max_values, whole=whole)
        for tree, title in titled[:max_trees]
    ]
    more = (
        [Text(f"… and {_describe_hidden(parts, len(trees))}", style="dim")]
        if len(titled) > len(trees)
        else []
    )
    return Group(
        _make_view_title(model),
        *trees,
        *more,
        Text(""),
        _describe_values(model, parts, whole=whole),
        _format_promise(model),
    )


def _make_tree_view(
    model: Model, tree: Tree, title: str, max_depth: int | None, max_values: int, *, whole: bool
) -> RichTree:
    from rich.text import Text
    from rich.tree import Tree as RichTree

    if model.combine == "scores" and not whole:
        tree = collapse_tree(tree)
    below = leaves_below(tree)
    root = RichTree(Text(title, style="bold"), guide_style="dim")
    stack: list[tuple[int, int, RichTree]] = [(0, 0, root)]
    while stack:
        node, depth, branch = stack.pop()
        if tree.cells.attribute[node] < 0:
            leaf = _format_leaf(model, tree, node)
            if node:
                assert isinstance(branch.label, Text)
                branch.label = Text.assemble(branch.label, "  ", leaf)
            else:
                branch.add(leaf)
        elif max_depth is not None and depth >= max_depth:
            branch.add(Text(f"… {below[node]} leaves", style="dim"))
        else:
            name, _ = attribute_at(tree.schema, int(tree.cells.attribute[node]))
            parts = list_branches(tree, node, limit=max_values)
            stack += [
                (child, depth + 1, branch.add(Text(f"{name} {condition}")))
                for child, condition in parts
            ]
    return root


def _describe_hidden(parts: Parts, shown: int) -> str:
    """What is not shown."""
    kinds = (
        (len(parts.trees), "tree", "trees"),
        (len(parts.terms), "table of scores", "tables of scores"),
        (len(parts.constants), "score of every row", "scores of every row"),
    )
    said = []
    for count, one, several in kinds:
        hidden, shown = max(0, count - shown), max(0, shown - count)
        more = "more " if hidden < count else ""
        said += [f"{hidden} {more}{one if hidden == 1 else several}"] if hidden else []
    return ", ".join(said)


def _format_leaf(model: Model, tree: Tree, node: int) -> Text:
    """The majority class, its count and how far off that may be; then the other classes."""
    from rich.text import Text

    classes, counts = class_labels(model.schema), tree.counts[node].tolist()
    if model.combine == "scores" and not says_classes(tree):
        return Text(", ".join(score_texts(tree, node)))
    order = sorted(range(len(counts)), key=lambda label: -counts[label])
    first = order[0]
    says = (f"→ {classes[first]}", f"bold {_COLOURS[first % len(_COLOURS)]}")
    if model.combine == "scores":
        return Text.assemble(says)
    within = f" ± {2 * model.noise:.3g}" if model.noise else ""
    others = ", ".join(f"{classes[label]} {count_text(counts[label])}" for label in order[1:4])
    left_out = f", … ({len(order) - 4} more)" if len(order) > 4 else ""
    return Text.assemble(
        says,
        f"  {count_text(counts[first])}{within}",
        (f"  ({others}{left_out})", "dim"),
    )


def _make_view_title(model: Model) -> Text:
    from rich.text import Text

    about = (
        f"  predicts {escape_invisible(model.schema.target)} from "
        f"{len(model.schema.attributes)} attributes"
    )
    return Text.assemble((escape_invisible(model.learner), "bold"), about)


def _describe_values(model: Model, parts: Parts, *, whole: bool) -> Text:
    """What the numbers are, or why there are none."""
    from rich.text import Text

    if model.combine != "scores":
        noisy = (
            f"Counts are noisy: each is right to within about {2 * model.noise:.3g}, 19 times in "
            "20."
        )
        return Text(noisy if model.noise else "The counts carry no noise.", style="dim")
    amounts = [amount for tree in parts.trees if (amount := vote(tree)) is not None]
    drawn = amounts and len(amounts) == len(parts.trees)
    labelled = bool(parts.trees) and all(says_classes(tree) for tree in parts.trees)
    said = [
        "A leaf says a class, and holds no count."
        if labelled
        else "The numbers are scores, not counts."
    ]
    if len(model.trees) > 1:
        adds = (f"A tree adds {join_amounts(amounts)} to the score of its class. ") if drawn else ""
        said.append(
            f"{adds}Scores are added up: the higher the sum, the likelier the class (softmax)."
        )
    said += [] if whole else ["Branches that say the same are shown as one."]
    return Text(" ".join(said), style="dim")


def _format_promise(model: Model) -> Text:
    from rich.text import Text

    return Text(
        escape_invisible(model.privacy.describe()),
        style="bold" if model.privacy.private else "bold red",
    )
