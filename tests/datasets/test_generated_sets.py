"""The computed sets are the published ones, and the same on every machine."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet.datasets import canonical_hash, generated, load

UCI = {
    "nursery": (
        "aed0caf1c5ff8dd26f3b7a92b293c2bda3f788e73381a2560c4c232af79cbf8c",
        {
            "not_recom": 4320,
            "priority": 4266,
            "spec_prior": 4044,
            "very_recom": 328,
            "recommend": 2,
        },
    ),
    "car": (
        "448dc2e0c8f481d6d96ff3b9fff793fc22539aadc11eea2d4ee3dd98941457eb",
        {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65},
    ),
    "tic_tac_toe": (
        "47485fcda08bcbf0aaa6e5a5ac48f8624fbe0e6af4b93c4536c1f6175890a99d",
        {"positive": 626, "negative": 332},
    ),
}
OWN = {
    "monks1": ("f953f622590e8909d5d1310c985b1c416847aaee835e655abb41e1b1d2592e98", 432),
    "monks2": ("a303baeb6387df3b429321dabd975d46f7cb18d94a8d708b2b876ec0c8024478", 432),
    "monks3": ("299b61eaf830cd070a5217f22e0b9aad48df44c88cbd0ce9dc9dfa17b78b38dd", 432),
    "synthetic1": ("023edf3f05fe23e8c074b8fdc8e1bb72b8c888d6ddb2283519a37e9f822c27e8", 16_000),
    "synthetic2": ("2e22c0fb5570f9246509ec43a82f9eae3efd9da34eb910b6ae2e0622426847f6", 14_000),
    "synthetic3": ("7ca618cc944264fa351d3b82f8e87fc5de92dc7c8e9e1a87bd1735966701a0b0", 14_000),
}
TREES = {
    "synthetic1": (generated.TREE_1, 10),
    "synthetic2": (generated.TREE_2, 6),
    "synthetic3": (generated.TREE_3, 7),
}


@pytest.mark.parametrize("name", UCI)
def test_the_canonical_hash_is_that_of_the_uci_file(name: str) -> None:
    dataset = load(name)
    assert canonical_hash(dataset.table, dataset.schema) == UCI[name][0]


@pytest.mark.parametrize("name", UCI)
def test_class_counts_are_the_published_ones(name: str) -> None:
    assert load(name).y.value_counts().to_dict() == UCI[name][1]


@pytest.mark.parametrize("name", UCI)
def test_row_by_row_the_same_as_the_uci_file(name: str, real_data: Path) -> None:
    """In the order of the file too."""
    file = pd.read_csv(real_data / f"{name}.csv", dtype=str, keep_default_na=False)
    assert canonical_hash(file, load(name).schema) == UCI[name][0]
    pd.testing.assert_frame_equal(load(name).table, file)


@pytest.mark.parametrize("name", OWN)
def test_own_sets_never_change(name: str) -> None:
    dataset = load(name)
    expected, rows = OWN[name]
    assert len(dataset.X) == len(dataset.y) == rows
    assert canonical_hash(dataset.table, dataset.schema) == expected


def test_a_nursery_label_follows_its_tables() -> None:
    best = ("usual", "proper", "complete", "1", "convenient", "convenient", "nonprob")
    assert generated.classify_application(*best, "recommended") == "recommend"
    assert generated.classify_application(*best, "priority") == "priority"
    assert generated.classify_application(*best, "not_recom") == "not_recom"
    assert (
        generated.classify_application(
            "great_pret",
            "very_crit",
            "foster",
            "more",
            "critical",
            "inconv",
            "problematic",
            "priority",
        )
        == "spec_prior"
    )


@pytest.mark.parametrize(
    ("board", "how"),
    [
        ("xxxoobbbb", "x"),
        ("xxbooobxx", None),  # x has moved on after o had won
        ("xxboooxbb", "o"),
        ("xoxxoooxx", "draw"),
        ("xxxooobbb", None),  # both have won
        ("xxxobbbbb", None),  # x has moved twice in a row
        ("xobbbbbbb", None),  # still going on
        ("xoxoxoxox", "x"),  # a full board that is won
    ],
)
def test_only_boards_on_which_a_game_can_end(board: str, how: str | None) -> None:
    assert generated.find_outcome(board) == how


@pytest.mark.parametrize(("name", "positive"), [("monks1", 216), ("monks2", 142), ("monks3", 228)])
def test_monks_have_the_published_number_of_positive_robots(name: str, positive: int) -> None:
    dataset = load(name)
    assert (dataset.y == "1").sum() == positive
    assert not dataset.X.duplicated().any()


def test_monks_rules_by_example() -> None:
    assert generated.satisfies_monks_1((2, 2, 1, 1, 4, 1))
    assert generated.satisfies_monks_1((1, 2, 1, 1, 1, 1))
    assert not generated.satisfies_monks_1((1, 2, 1, 1, 2, 1))
    assert generated.satisfies_monks_2((1, 1, 2, 2, 2, 2))
    assert not generated.satisfies_monks_2((1, 1, 1, 2, 2, 2))
    assert generated.satisfies_monks_3((1, 3, 1, 1, 3, 1))
    assert not generated.satisfies_monks_3((1, 3, 1, 2, 3, 1))
    assert not generated.satisfies_monks_3((1, 1, 1, 1, 4, 1))


@pytest.mark.parametrize("name", TREES)
def test_five_percent_of_the_synthetic_labels_are_flipped(name: str) -> None:
    tree, attributes = TREES[name]
    dataset = load(name)
    assert list(dataset.X) == [f"x{number}" for number in range(1, attributes + 1)]
    bits = dataset.X.astype(int).to_numpy().tolist()
    clean = [generated.classify_bits(tree, row) for row in bits]
    flipped = (dataset.y.astype(int) != clean).mean()
    # four standard deviations of a mean over 14 000 rows
    assert flipped == pytest.approx(0.05, abs=0.0075)
    # and no more often for one label than for the other
    of_ones = (dataset.y[[label == 1 for label in clean]] == "0").mean()
    assert of_ones == pytest.approx(0.05, abs=0.0105)


@pytest.mark.parametrize("name", TREES)
def test_synthetic_rows_are_uniform(name: str) -> None:
    bits = load(name).X.astype(int)
    assert bits.mean().to_numpy() == pytest.approx(0.5, abs=0.02)
    between = bits.corr().to_numpy() - np.eye(len(bits.columns))
    assert abs(between).max() < 0.04


@pytest.mark.parametrize("name", TREES)
def test_every_attribute_matters_and_the_classes_are_balanced(name: str) -> None:
    tree, attributes = TREES[name]
    cube = list(product((0, 1), repeat=attributes))
    labels = {bits: generated.classify_bits(tree, bits) for bits in cube}
    assert 0.4 <= sum(labels.values()) / len(cube) <= 0.6
    for position in range(attributes):
        other = {
            bits: (*bits[:position], 1 - bits[position], *bits[position + 1 :]) for bits in cube
        }
        assert any(labels[bits] != labels[other[bits]] for bits in cube)
