"""Trees as text and as Graphviz graphs."""

from __future__ import annotations

import re

import numpy as np
import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.report import tree_dot, tree_text
from privet.report.labels import count_text, leaves_below
from privet.text import escape_invisible, shorten
from tests.report.models import SCHEMA, random_codes, random_model, small_tree
from tests.report.scored import drawn_tree, scored_model, small_drawn

TEXT = """\
|--- form = complete
|   |--- age < 40
|   |   |--- counts: [40, 7, 1] class: no
|   |--- age >= 40
|   |   |--- counts: [5.50, 61, 0] class: yes
|--- form = incomplete
|   |--- counts: [12, 11, 10] class: no
|--- form = foster
|   |--- income < 10
|   |   |--- counts: [0.10, 3, -2] class: yes
|   |--- income >= 10
|   |   |--- counts: [-4, 30, 1] class: yes
|   |--- income = not told
|   |   |--- counts: [2, 2, 2] class: no
"""


def test_a_tree_as_text():
    assert tree_text(small_tree()) == TEXT


def test_text_without_counts_is_laid_out_as_scikit_learn_does_it():
    tree = pytest.importorskip("sklearn.tree")
    schema = Schema({"x": Numeric(0, 4, bins=4), "z": Numeric(0, 4, bins=4)}, "class", ["a", "b"])
    x = np.array([[0.0, 0], [0, 3], [3, 0], [3, 3]] * 2)
    theirs = tree.export_text(
        tree.DecisionTreeClassifier(random_state=0).fit(x, list("abba") * 2),
        feature_names=["x", "z"],
    )
    first = re.findall(r"[xz]", theirs)
    cells = Cells.everything(schema).refine({0: Split.threshold(schema, first[0], code=2)})
    cells = cells.refine(
        {0: Split.threshold(schema, first[1], code=2), 1: Split.threshold(schema, first[1], code=2)}
    )
    ours = tree_text(
        Tree.from_leaves(cells, np.array([[1, 0], [0, 1], [0, 1], [1, 0]])), show_counts=False
    )
    # Apart from how a threshold is written, line by line the same.
    plain = [re.sub(r"(<=|>=|<|>) +[0-9.]+", "?", text) for text in (theirs, ours)]
    assert plain[0] == plain[1]


def test_text_can_be_cut():
    assert tree_text(small_tree(), max_depth=1).splitlines() == [
        "|--- form = complete",
        "|   |--- truncated branch of depth 1",
        "|--- form = incomplete",
        "|   |--- counts: [12, 11, 10] class: no",
        "|--- form = foster",
        "|   |--- truncated branch of depth 1",
    ]
    assert tree_text(small_tree(), max_depth=0) == "|--- truncated branch of depth 2\n"


def test_a_drawn_tree_says_classes_and_is_collapsed():
    assert tree_text(small_drawn(), scores=True) == (
        """\
|--- form = complete
|   |--- colour != blue -> wait
|   |--- colour = blue -> no
|--- form in {incomplete, foster} -> yes
"""
    )
    assert tree_text(small_drawn(), scores=True, max_depth=1).splitlines() == [
        "|--- form = complete",
        "|   |--- truncated branch of depth 1",
        "|--- form in {incomplete, foster} -> yes",
    ]


def test_a_drawn_tree_as_a_whole():
    assert tree_text(small_drawn(), scores=True, whole=True) == (
        """\
|--- form = complete
|   |--- colour != blue -> wait
|   |--- colour = blue -> no
|--- form = incomplete -> yes
|--- form = foster
|   |--- age < 40 -> yes
|   |--- age >= 40 -> yes
"""
    )


def test_terms_and_constants_show_their_scores():
    _, by_age, constant = scored_model().trees
    assert (
        tree_text(by_age, scores=True).splitlines()[0]
        == "|--- age < 30: no +0.50, yes -0.25, wait -0.25"
    )
    assert tree_text(constant, scores=True) == "|--- every row: no +0.20, yes -0.10, wait -0.10\n"


@pytest.mark.parametrize("seed", range(10))
def test_no_score_is_shown_as_a_count(seed):
    tree = drawn_tree(np.random.default_rng(seed), SCHEMA, depth=3)
    for whole in (True, False):
        for text in (
            tree_text(tree, scores=True, whole=whole),
            tree_dot(tree, scores=True, whole=whole),
        ):
            assert "count" not in text
            assert "0.7" not in text


def test_a_single_leaf():
    assert (
        tree_text(Tree(Cells.everything(SCHEMA), np.array([[1.0, 2, 0]])))
        == "|--- counts: [1, 2, 0] class: yes\n"
    )


def test_a_tree_deeper_than_the_stack():
    schema = Schema({"a": Categorical(["x"])}, "class", ["n", "y"])
    depth = 5000
    attribute = np.array([0] * depth + [-1])
    cells = Cells(
        schema,
        attribute,
        np.append(np.arange(depth), 0),
        np.arange(1, depth + 1),
        np.array([-1] * depth + [0]),
        1,
    )
    tree = Tree.from_leaves(cells, np.array([[1, 0]]))
    assert tree_text(tree).count("\n") == depth + 1
    assert tree_dot(tree).count("->") == depth


@pytest.mark.parametrize("seed", range(10))
def test_the_text_leads_every_row_to_its_leaf(seed):
    """Walk the text as a reader would, and land on the counts that the tree gives."""
    model = random_model(seed)
    tree, schema = model.trees[0], model.schema
    codes = [
        np.minimum(column, size - 1)
        for column, size in zip(random_codes(seed, schema, 30), schema.sizes, strict=True)
    ]
    lines = [
        (line.index("|---") // 4, line.split("|--- ", 1)[1])
        for line in tree_text(tree).splitlines()
    ]
    for row in range(30):
        fits = {}
        for name, attribute, column in zip(
            schema.names, schema.attributes.values(), codes, strict=True
        ):
            for own, among in subsets(tree, schema.index(name)):
                fits[name, attribute.describe_branch(own, among=among)] = column[row] in own
        depth, found = 0, None
        for level, text in lines:
            if level == depth and text.startswith("counts"):
                found = text
                break
            if level == depth and fits[tuple(text.split(" ", 1))]:
                depth += 1
        reached = tree.counts[tree.reach([column[row : row + 1] for column in codes])[0]]
        assert found is not None
        assert (
            found.split("]")[0]
            == f"counts: [{', '.join(count_text(count) for count in reached.tolist())}"
        )


def subsets(tree: Tree, position: int) -> list[tuple[tuple[int, ...], list[int]]]:
    """The codes of each branch on an attribute, and those of all branches beside it."""
    found = []
    for node in np.flatnonzero(tree.cells.attribute == position).tolist():
        children = [codes for _, codes in tree.children(node, possible_only=True)]
        found += [(codes, sorted(sum(children, ()))) for codes in children]
    return found


# -- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ((0,), "< 10"),
        ((0, 1), "< 20"),
        ((1, 2), "in [10, 30)"),
        ((3,), ">= 30"),
        ((0, 2), "< 10 or in [20, 30)"),
        ((0, 1, 2, 3), "is any number"),
        ((4,), "= none"),
        ((3, 4), ">= 30 or = none"),
    ],
)
def test_branches_of_numbers(codes, text):
    assert Numeric(0, 40, bins=4, missing="none").describe_branch(codes) == text


def test_branches_of_values_and_their_limits():
    colours = Categorical(["red", "green", "blue", "a\nb"])
    assert colours.describe_branch((0, 2)) == "in {red, blue}"
    assert colours.describe_branch((0, 1, 2), limit=2) == "in {red, green, … (1 more)}"
    assert colours.describe_branch((0, 1), limit=2) == "in {red, green}"
    assert colours.describe_branch((3,)) == "= a\\nb"
    assert colours.describe_branch((1,), length=3) == "= gr…"


def test_the_one_value_that_does_not_take_a_branch_is_named():
    letters = Categorical(list("abcde"))
    assert letters.describe_branch((0, 1, 3), among=(0, 1, 2, 3)) == "!= c"
    assert letters.describe_branch((0, 1, 3), among=range(5)) == "in {a, b, d}"  # two do not
    assert (
        letters.describe_branch((0, 1), among=(0, 1, 2)) == "in {a, b}"
    )  # no longer than the other
    assert Numeric(0, 40, bins=4).describe_branch((0, 2, 3), among=range(4)) == "< 10 or >= 20"


def test_nothing_invisible_gets_through():
    assert escape_invisible("a\nb\u202e\x1b[31m\ud800é🌳") == "a\\nb\\u202e\\x1b[31m\\ud800é🌳"
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (3.0, "3"),
        (-2.0, "-2"),
        (0.1, "0.10"),
        (284.99999999999994, "285"),
        (-0.001, "0"),
        (1e9 + 0.25, "1e+09"),
        (1e20, "1e+20"),
    ],
)
def test_counts_as_text(count, text):
    assert count_text(count) == text


def test_leaves_below():
    assert leaves_below(small_tree()).tolist() == [6, 2, 1, 3, 1, 1, 1, 1, 1]


# -- Graphviz --------------------------------------------------------------------------------------

STRING = r'"((?:[^"\\]|\\.)*)"'


def test_dot_has_every_node_and_branch():
    tree = small_tree()
    dot = tree_dot(tree)
    assert dot.startswith("digraph tree {")
    assert dot.endswith("}\n")
    edges = {
        (int(a), int(b)): label
        for a, b, label in re.findall(rf"^  (\d+) -> (\d+) \[label={STRING}\];$", dot, re.MULTILINE)
    }
    assert edges == {
        (0, 1): "= complete",
        (0, 2): "= incomplete",
        (0, 3): "= foster",
        (1, 4): "< 40",
        (1, 5): ">= 40",
        (3, 6): "< 10",
        (3, 7): ">= 10",
        (3, 8): "= not told",
    }
    nodes = {
        int(node): label
        for node, label in re.findall(rf"^  (\d+) \[label={STRING}", dot, re.MULTILINE)
    }
    assert nodes[0] == "form\\ncounts: 55.60, 114, 12"
    assert nodes[5] == "class: yes\\ncounts: 5.50, 61, 0"
    assert len(nodes) == tree.n_nodes


def test_dot_of_a_drawn_tree_is_collapsed_with_the_promise_beneath():
    dot = tree_dot(small_drawn(), scores=True, caption='1-differentially "private"')
    assert dot.count("->") == 4
    assert tree_dot(small_drawn(), scores=True, whole=True).count("->") == 7
    assert '  label="1-differentially \\"private\\""; labelloc="b"' in dot
    assert '[label="in {incomplete, foster}"]' in dot
    assert '[label="class: yes", fillcolor="/pastel19/2"]' in dot
    assert '"age < 30' not in dot
    assert r'[label="no +0.50\nyes -0.25\nwait -0.25", fillcolor="#e8e8e8"]' in tree_dot(
        scored_model().trees[1], scores=True
    )


def test_dot_labels_cannot_leave_their_quotes():
    evil = 'x"]; evil [label="\\'
    schema = Schema({evil: Categorical([evil, "\\N\n", "plain"])}, "t", [evil, "b"])
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, evil)})
    dot = tree_dot(Tree.from_leaves(cells, np.ones((3, 2))))
    for line in dot.splitlines()[3:-1]:
        assert re.fullmatch(
            rf'  \d+( -> \d+)? \[label={STRING}(, fillcolor="#e8e8e8")?\];', line
        ), line
    assert '"= \\\\N\\\\n"' in dot
    assert '"= x\\"]; evil [label=\\"\\\\"' in dot
