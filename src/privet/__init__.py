"""Privet: decision trees on tables about people, with a proof of what they give away.

One trust boundary, the curator, answers questions about disjoint cells of a table's public domain:

    schema -> query (cells, epsilon) -> curator -> charge -> exact counts -> noise -> answer

An owner describes what is public (``Schema``), opens the rows where they are (``open_table``) and
puts a ``Curator`` with a ``Budget`` in front of them. Whoever stands outside holds a curator and a
budget, never rows; what only the owner may do is on ``Owner``.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet import audit as audit
    from privet import datasets as datasets
    from privet import epsilon as epsilon
    from privet import errors as errors
    from privet import federation as federation
    from privet import presets as presets
    from privet import publish as publish
    from privet import sql as sql
    from privet import testing as testing
    from privet.accounting.cost import Budget as Budget
    from privet.accounting.cost import Cost as Cost
    from privet.accounting.ledger import MemoryLedger as MemoryLedger
    from privet.accounting.ledger import SQLiteLedger as SQLiteLedger
    from privet.client.curator import connect as connect
    from privet.curator import Curator as Curator
    from privet.curator import Owner as Owner
    from privet.describe import draft_schema as draft_schema
    from privet.domain import Boolean as Boolean
    from privet.domain import Categorical as Categorical
    from privet.domain import Date as Date
    from privet.domain import Numeric as Numeric
    from privet.domain import Ordinal as Ordinal
    from privet.domain import Schema as Schema
    from privet.domain.cells import Cell as Cell
    from privet.domain.cells import Cells as Cells
    from privet.domain.cells import Condition as Condition
    from privet.domain.cells import Split as Split
    from privet.domain.questions import Partition as Partition
    from privet.domain.questions import Question as Question
    from privet.domain.space import TreeSpace as TreeSpace
    from privet.errors import FewRowsWarning as FewRowsWarning
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
    from privet.learners.released import load as load
    from privet.learners.released import save as save
    from privet.model import Model as Model
    from privet.queries import RowScore as RowScore
    from privet.report import plots as plots
    from privet.report.card import card as card
    from privet.report.export import export as export
    from privet.tables.held_out import split_table as split_table
    from privet.tables.open import open_table as open_table

__version__ = "0.1.0"

# Where each public name lives. It is imported when it is first used, so that `import privet` is
# quick.
_HOMES = {
    "AdditiveClassifier": "privet.learners",
    "Boolean": "privet.domain",
    "Budget": "privet.accounting.cost",
    "Categorical": "privet.domain",
    "Cell": "privet.domain.cells",
    "Cells": "privet.domain.cells",
    "Condition": "privet.domain.cells",
    "Cost": "privet.accounting.cost",
    "Curator": "privet.curator",
    "Date": "privet.domain",
    "FewRowsWarning": "privet.errors",
    "ForestClassifier": "privet.learners",
    "GibbsBoostClassifier": "privet.learners",
    "GibbsTreeClassifier": "privet.learners",
    "GreedyTreeClassifier": "privet.learners",
    "MemoryLedger": "privet.accounting.ledger",
    "Model": "privet.model",
    "NoiseWarning": "privet.errors",
    "NoisyID3Classifier": "privet.learners",
    "Numeric": "privet.domain",
    "Ordinal": "privet.domain",
    "Owner": "privet.curator",
    "Partition": "privet.domain.questions",
    "PrivacyWarning": "privet.errors",
    "PrivetError": "privet.errors",
    "PrivetClassifier": "privet.learners",
    "Question": "privet.domain.questions",
    "RandomTreesClassifier": "privet.learners",
    "ReleasedClassifier": "privet.learners.released",
    "RowScore": "privet.queries",
    "SQLiteLedger": "privet.accounting.ledger",
    "Schema": "privet.domain",
    "Split": "privet.domain.cells",
    "TreeSpace": "privet.domain.space",
    "card": "privet.report.card",
    "connect": "privet.client.curator",
    "draft_schema": "privet.describe",
    "export": "privet.report.export",
    "load": "privet.learners.released",
    "open_table": "privet.tables.open",
    "save": "privet.learners.released",
    "split_table": "privet.tables.held_out",
    "tune": "privet.learners",
}

# Modules that are public as they are; ``epsilon`` was ``explain`` in 0.1.
_MODULES = {
    "audit": "privet.audit",
    "datasets": "privet.datasets",
    "epsilon": "privet.epsilon",
    "errors": "privet.errors",
    "explain": "privet.epsilon",
    "federation": "privet.federation",
    "plots": "privet.report.plots",
    "presets": "privet.presets",
    "publish": "privet.publish",
    "sql": "privet.sql",
    "testing": "privet.testing",
}

# Names that were here in 0.1. They work, say where they are now, and are listed nowhere.
_MOVED = {
    "SeededBits": "privet.testing",
    "unlock_test_seeds": "privet.testing",
}

__all__ = [  # noqa: PLE0604 - the keys are strings
    *_HOMES,
    *_MODULES,
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MOVED:
        now = f"{_MOVED[name]}.{name}"
        warnings.warn(
            f"privet.{name} is {now} now; the old name will go", DeprecationWarning, stacklevel=2
        )
        return getattr(import_module(_MOVED[name]), name)
    raise AttributeError(f"module 'privet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
