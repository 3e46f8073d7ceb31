"""Privet: decision trees on tables about people, with a proof of what they give away.

One trust boundary, the curator, answers questions about disjoint cells of a table's public domain:

    schema -> query (cells, epsilon) -> curator -> charge -> exact counts -> noise -> answer

An owner describes what is public (``Schema``), opens the rows where they are (``open_table``) and
puts a ``Curator`` with a ``Budget`` in front of them. Whoever stands outside holds a curator and a
budget, never rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet import audit as audit
    from privet import datasets as datasets
    from privet import explain as explain
    from privet import federation as federation
    from privet import publish as publish
    from privet.budget import Budget as Budget
    from privet.budget import Cost as Cost
    from privet.cells import Cell as Cell
    from privet.cells import Cells as Cells
    from privet.cells import Condition as Condition
    from privet.cells import Split as Split
    from privet.counts.open import open_table as open_table
    from privet.curator import Curator as Curator
    from privet.errors import NoiseWarning as NoiseWarning
    from privet.errors import PrivacyWarning as PrivacyWarning
    from privet.errors import PrivetError as PrivetError
    from privet.learners import AdditiveClassifier as AdditiveClassifier
    from privet.learners import ForestClassifier as ForestClassifier
    from privet.learners import GibbsBoostClassifier as GibbsBoostClassifier
    from privet.learners import GibbsTreeClassifier as GibbsTreeClassifier
    from privet.learners import GreedyTreeClassifier as GreedyTreeClassifier
    from privet.learners import NoisyID3Classifier as NoisyID3Classifier
    from privet.learners import PrivetClassifier as PrivetClassifier
    from privet.learners import RandomTreesClassifier as RandomTreesClassifier
    from privet.learners import tune as tune
    from privet.learners.released import ReleasedClassifier as ReleasedClassifier
    from privet.ledger import MemoryLedger as MemoryLedger
    from privet.ledger import SQLiteLedger as SQLiteLedger
    from privet.mechanisms.randomness import SeededBits as SeededBits
    from privet.mechanisms.randomness import unlock_test_seeds as unlock_test_seeds
    from privet.queries import RowScore as RowScore
    from privet.question import Partition as Partition
    from privet.question import Question as Question
    from privet.release.saving import load as load
    from privet.release.saving import save as save
    from privet.remote.connect import connect as connect
    from privet.schema import Categorical as Categorical
    from privet.schema import Numeric as Numeric
    from privet.schema import Schema as Schema
    from privet.space import TreeSpace as TreeSpace

__version__ = "0.1.0"

# Where each public name lives; it is imported when it is first used, so that `import privet` is
# quick.
_HOMES = {
    "AdditiveClassifier": "privet.learners",
    "Budget": "privet.budget",
    "Categorical": "privet.schema",
    "Cell": "privet.cells",
    "Cells": "privet.cells",
    "Condition": "privet.cells",
    "Cost": "privet.budget",
    "Curator": "privet.curator",
    "ForestClassifier": "privet.learners",
    "GibbsBoostClassifier": "privet.learners",
    "GibbsTreeClassifier": "privet.learners",
    "GreedyTreeClassifier": "privet.learners",
    "MemoryLedger": "privet.ledger",
    "NoiseWarning": "privet.errors",
    "NoisyID3Classifier": "privet.learners",
    "Numeric": "privet.schema",
    "Partition": "privet.question",
    "PrivacyWarning": "privet.errors",
    "PrivetError": "privet.errors",
    "PrivetClassifier": "privet.learners",
    "Question": "privet.question",
    "RandomTreesClassifier": "privet.learners",
    "ReleasedClassifier": "privet.learners.released",
    "RowScore": "privet.queries",
    "SQLiteLedger": "privet.ledger",
    "Schema": "privet.schema",
    "SeededBits": "privet.mechanisms.randomness",
    "Split": "privet.cells",
    "TreeSpace": "privet.space",
    "connect": "privet.remote.connect",
    "load": "privet.release.saving",
    "open_table": "privet.counts.open",
    "save": "privet.release.saving",
    "tune": "privet.learners",
    "unlock_test_seeds": "privet.mechanisms.randomness",
}

# Rooms that are public as they are.
_ROOMS = ("audit", "datasets", "explain", "federation", "publish")

__all__ = [  # noqa: PLE0604 - the keys are strings
    *_HOMES,
    *_ROOMS,
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"privet.{name}")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'privet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
