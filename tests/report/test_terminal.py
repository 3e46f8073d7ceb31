"""What ``privet show`` prints."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.report import model_view
from tests.report.models import open_model, small_model, statement
from tests.report.scored import scored_model, small_drawn


def printed(view, **options) -> str:
    out = io.StringIO()
    Console(file=out, width=120, **options).print(view)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_a_model():
    assert printed(model_view(small_model(), max_trees=2)) == (
        """\
random-trees  predicts advice from 4 attributes
tree 1 of 2
├── form = complete
│   ├── age < 40  → no  40 ± 5.66  (yes 7, wait 1)
│   └── age >= 40  → yes  61 ± 5.66  (no 5.50, wait 0)
├── form = incomplete  → no  12 ± 5.66  (yes 11, wait 10)
└── form = foster
    ├── income < 10  → yes  3 ± 5.66  (no 0.10, wait -2)
    ├── income >= 10  → yes  30 ± 5.66  (wait 1, no -4)
    └── income = not told  → no  2 ± 5.66  (yes 2, wait 2)
tree 2 of 2
└── → yes  20 ± 5.66  (no 10, wait 3)

Counts are noisy: each is right to within about 5.66, 19 times in 20.
0.833334-differentially private with one row added or removed"""
    )


def test_a_drawn_tree():
    assert printed(model_view(scored_model(trees=(small_drawn(),)))) == (
        """\
gibbs  predicts advice from 4 attributes
tree 1 of 1
├── form = complete
│   ├── colour != blue  → wait
│   └── colour = blue  → no
└── form in {incomplete, foster}  → yes

A leaf says a class, and holds no count. Branches that say the same are shown as one.
0.833334-differentially private with one row added or removed"""
    )


def test_a_drawn_tree_as_a_whole():
    text = printed(model_view(scored_model(trees=(small_drawn(),)), whole=True))
    assert "└── form = foster\n    ├── age < 40  → yes\n    └── age >= 40  → yes" in text
    assert "shown as one" not in text


def test_trees_with_terms_and_a_constant():
    first = printed(model_view(scored_model()))
    assert "… and 1 table of scores, 1 score of every row" in first
    assert "A tree adds 0.7 to the score of its class. Scores are added up" in " ".join(
        first.split()
    )
    everything = printed(model_view(scored_model(), max_trees=3))
    assert "score by age\n├── age < 30  no +0.50, yes -0.25, wait -0.25" in everything
    assert "score of every row\n└── no +0.20, yes -0.10, wait -0.10" in everything
    assert "… and" not in everything
    assert "±" not in everything
    three = scored_model(trees=(small_drawn(),) * 3 + scored_model().trees[1:2] * 2)
    assert "… and 1 more tree, 2 tables of scores" in printed(model_view(three, max_trees=2))
    assert "The numbers are scores, not counts." in printed(
        model_view(scored_model(trees=scored_model().trees[1:]))
    )


def test_what_is_left_out_is_counted():
    text = printed(model_view(small_model(), max_depth=1))
    assert "… 2 leaves" in text
    assert "… 3 leaves" in text
    assert "… and 1 more tree" in text
    assert "age" not in text


def test_a_model_without_a_promise_says_so():
    text = printed(model_view(open_model()))
    assert "NOT PRIVATE: epsilon is infinite" in text
    assert "±" not in text
    assert "carry no noise" in text


def test_colour_goes_with_text_and_labels_are_no_markup():
    schema = Schema(
        {"[bold]a": Categorical(["[red]x[/red]", "\x1b[2J"])}, "t", ["[link=http://x]no", "yes"]
    )
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "[bold]a")})
    model = small_model(
        schema,
        trees=(Tree.from_leaves(cells, np.array([[9, 1], [1, 9]])),),
        privacy=statement(schema),
    )
    plain = printed(model_view(model))
    assert "[bold]a = [red]x[/red]  → [link=http://x]no" in plain
    assert "[bold]a = \\x1b[2J  → yes" in plain
    coloured = printed(model_view(model), force_terminal=True, color_system="standard")
    assert "\x1b[1;36m→ [link=http://x]no" in coloured
    assert "\x1b[1;33m→ yes" in coloured
    assert "\x1b[2J" not in coloured
