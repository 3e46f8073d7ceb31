"""What recorded queries are recognised by is declared, and never changes: a fit that an earlier
version began goes on with this one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction

import numpy as np
import pytest

from privet.accounting.cost import Cost
from privet.accounting.statement import Charge, PrivacyStatement
from privet.curator.recorded import Identified, digest_of, facts_of
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.model import Model
from privet.model.leaf_vectors import Batch, Evidence
from privet.queries import Confusion, RowScore, check_query, queries
from tests.conformance.asked import ASKED, EXAMPLES, SCHEMA

#: The first half of the digest of each example, at epsilon 1/2. Those of queries that 0.1 had are
#: what 0.1 wrote into ledgers.
DIGESTS = {
    "choose": {
        "gini": "5d3acff0839bc715cf6634271392f09a",
        "lists of their own": "50c3599573ee28574664b8068f0e6148",
        "information gain": "a589646c359ce3e99ef4129493d53644",
    },
    "choose-model": {
        "three": "8e4c6f55c09a4b568ba5bb0ca1641a95",
    },
    "choose-partition": {
        "exponential": "c91dab049870fe301d78cbd8a25dde05",
        "handicaps": "9ca0be016c327a1e2596be16fb234467",
    },
    "confusion": {
        "one tree": "6fd00de73f8f8632ebb30746b7830159",
        "two trees": "6631fefde57a6dbd328a44e664fb4a96",
    },
    "count": {
        "all rows": "9d65a8a8b0d3a346544f096dad76f714",
        "two partitions": "f624d0abc5db9531214f191d684883de",
    },
    "count-by": {
        "all rows": "7f0b098495effd7eb8b99b2ea06e525e",
        "two attributes": "cc511910b1e3d53019cd715c8f460cba",
        "a condition": "eff0775fbc4cbdb0edd8675235849b86",
    },
    "draw-tree": {
        "depth 1": "232612c7cef297a0479e50624e74f074",
        "weighed rows": "92c1a8d5ce9f14f6e7c17886933df50b",
    },
    "gradients": {
        "no trees": "a2d5c60b796910364918b4a5ce1fda78",
        "released trees": "b8a9cb0dbd8e63b8d1ff0a8193c6ac99",
        "clipped evenly": "1efba1976e0403ca0748ac351470d478",
    },
    "count-values": {
        "of a list": "075be00149c64cbff611fd3973470ac0",
    },
    "quantile": {
        "median": "974b88ae8d51c22872bfa08167726239",
        "high": "a5e4d7b46d0c6915e59695c6356e077b",
        "lowest": "f34d8ab988693433dcdb37a54ba73a7b",
    },
    "quantiles": {
        "eight parts": "68d6577abfc635314cc4fa5974b36f0f",
        "two parts": "7a3af0b323c121c2a1ab220b09e8bc5d",
    },
    "scores": {
        "one tree": "335a98c26ae6bc5a67d4bf3aee6ec856",
        "edges of their own": "61b2f9234008a32455423676fa932002",
    },
    "share": {
        "of three": "0d5d0a8e9ae9dabcfbd5e7dd1cfedbd0",
    },
    "size": {
        "rows": "eee9bd2df1fc87b545b34089c376921c",
    },
    "sums": {
        "by class": "76b49cb3a0778dead834962a3bb46b4c",
        "by value": "a14e96694ad067921a8d5b058989398b",
    },
}

#: Everything that a query is made of.
PARTS = [
    Batch,
    Cells,
    Charge,
    Cost,
    Evidence,
    Model,
    Partition,
    PrivacyStatement,
    Question,
    RowScore,
    Split,
    Tree,
    TreeSpace,
]


def digest(query, epsilon="1/2", rho=None):
    return digest_of((["who"], facts_of(check_query(query, SCHEMA), epsilon, rho)))[:32]


def test_every_query_is_recognised_by_what_was_written_down():
    found = {name: {} for name in queries()}
    for name, example in ASKED:
        found[name][example] = digest(EXAMPLES[name][example](SCHEMA))
    assert found == DIGESTS


def full_model():
    """A model that uses all that a model can hold."""
    model = EXAMPLES["confusion"]["one tree"](SCHEMA).model
    statements = [
        PrivacyStatement(
            (Charge("leaf counts", Cost.concentrated("1/8")),),
            "add-remove",
            2,
            person=True,
            private=True,
            delta=Fraction(1, 10**6),
            notes=("a note",),
            id=letter * 32,
            name="north",
            account="cd" * 16,
            assumes="nobody cheats",
        )
        for letter in "ab"
    ]
    batch = Batch((np.arange(9).reshape(3, 3),), 1.5)
    return replace(
        model,
        privacy=PrivacyStatement.together(statements, "may-overlap"),
        evidence=Evidence((batch, batch), 0.5, "equal", (1.0, 0.25), 0.5),
    )


def test_a_model_is_recognised_by_all_that_it_holds():
    assert digest(Confusion(full_model())) == "4c87cad52c91964bdb1ad7d3f041d55c"


#: How a tree is shown changes no answer: rows are scored by its cells and counts.
LEFT_OUT = {Tree: {"kind"}, Model: {"population"}}


class Noted:
    """Notes which of its attributes are read."""

    def __init__(self):
        self.read = []

    def __getattr__(self, name):
        self.read.append(name)
        return name


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__)
def test_a_part_declares_every_field(part):
    """A new field is either a fact that tells queries apart, or says nothing new: then it is named
    here as one that is left out.
    """
    noted = Noted()
    _, *facts = part.identity(noted)
    assert facts == noted.read
    assert set(facts) == {field.name for field in fields(part)} - LEFT_OUT.get(part, set())


@pytest.mark.parametrize("name", queries())
def test_a_query_declares_every_field_and_its_price(name):
    kind, noted = queries()[name], Noted()
    facts = kind.identify(noted, "the epsilon", "the rho")
    price = {"the epsilon", "the rho"} if kind.in_rho else {"the epsilon"}
    assert set(facts) - {"the rho"} == {*noted.read, *price} - {"the rho"}
    assert set(noted.read) == {field.name for field in fields(kind)}
    assert price <= set(facts)


def test_parts_of_queries_are_all_listed(monkeypatch):
    """Whatever feeds a digest is a listed part, so that the tests above see it."""
    seen = set()
    for part in PARTS:

        def noted(self, part=part, original=part.identity):
            seen.add(part)
            return original(self)

        monkeypatch.setattr(part, "identity", noted)
    for name, example in ASKED:
        digest(EXAMPLES[name][example](SCHEMA))
    digest(Confusion(full_model()))
    assert seen == set(PARTS)


def test_a_class_that_declares_nothing_is_refused():
    @dataclass(frozen=True)
    class Stranger:
        size: int

    assert not isinstance(Stranger(1), Identified)
    with pytest.raises(AssertionError, match="Stranger"):
        digest_of([Stranger(1)])


def test_a_renamed_class_with_renamed_fields_has_the_same_digest():
    @dataclass(frozen=True)
    class Cut:
        where: str
        children: tuple[int, ...]

        def identity(self):
            return ("Split", self.where, self.children)

    assert digest_of([Cut("age", (0, 1))]) == digest_of([Split("age", (0, 1))])
    assert digest_of([Cut("age", (1, 0))]) != digest_of([Split("age", (0, 1))])
