"""Whatever the table and the seed, what is saved of a model has neither its exact counts nor the
seed in it.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import privet as pv
from privet.cli.options import learner_named
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.report import Parts, card_html, tree_dot, tree_text
from tests.released.canaries import COUNTS, EPSILON, SCHEMA, SEED, Canaries, canaries, people
from tests.released.chains import SETTINGS
from tests.released.looking import found_in

#: Distinct numbers, not near one another, of three digits or four.
TABLES = st.lists(st.integers(307, 2999), min_size=len(COUNTS), max_size=len(COUNTS), unique=True)


def _released(name, table, seed, path) -> bytes:
    """All that can be made of a model."""
    learner = learner_named(name, EPSILON, list(SETTINGS[name])).set_params(
        schema=SCHEMA, random_state=seed
    )
    with unlock_test_seeds():
        learner.fit(table)
    pv.save(learner, path)
    model = learner.model_
    texts = [card_html(model)]
    for tree, _ in Parts.of(model).titles():
        texts += [
            tree_text(tree, scores=model.combine == "scores"),
            tree_dot(tree, scores=model.combine == "scores"),
        ]
    return path.read_bytes() + "\n".join(texts).encode()


@pytest.mark.parametrize("name", SETTINGS)
@settings(max_examples=3, phases=[Phase.generate])  # a smaller table is no clearer
@given(numbers=TABLES, seed=st.integers(0, 1 << 40).map(lambda more: SEED + (more << 8)))
def test_no_count_and_no_seed_is_saved(name, numbers, seed, tmp_path_factory):
    counts = dict(zip(COUNTS, numbers, strict=True))
    known, path = canaries(counts), tmp_path_factory.mktemp("models") / "m.json"
    first, second, empty = (
        found_in(
            _released(name, people(rows), number, path),
            Canaries(known.numbers, known.shares, known.texts, number),
        )
        for rows, number in (
            (counts, seed),
            (counts, seed + 1),
            (dict.fromkeys(COUNTS, 0), seed + 2),
        )
    )
    # what is said of an empty table, too, is no count of this one
    assert first & second - empty == set()
    assert not {*known.texts, "seed"} & (first | second)


def test_a_seeded_curator_keeps_its_seed(tmp_path):
    """In answers, statements and charges, too."""
    with unlock_test_seeds():
        curator = pv.Curator(people(), SCHEMA, pv.Budget(1), bits=SeededBits(SEED))
    answer = curator.count(pv.Cells.everything(SCHEMA), epsilon="1/1000")
    model = pv.RandomTreesClassifier("1/1000", n_trees=2, height=1).fit_from(curator)
    told = [
        repr(answer),
        repr(curator.ledger.entries()),
        repr(model.model_),
        repr(model.privacy_),
        repr(curator),
        str(vars(answer)),
    ]
    assert "seed" not in found_in("\n".join(told).encode(), canaries())
