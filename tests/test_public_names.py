"""The public surface: what it is, and that importing it is light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import privet

NAMES = [
    "AdditiveClassifier",
    "Budget",
    "Categorical",
    "Cell",
    "Cells",
    "Condition",
    "Cost",
    "Curator",
    "ForestClassifier",
    "GibbsBoostClassifier",
    "GibbsTreeClassifier",
    "GreedyTreeClassifier",
    "MemoryLedger",
    "NoiseWarning",
    "NoisyID3Classifier",
    "Numeric",
    "Partition",
    "PrivacyWarning",
    "PrivetClassifier",
    "PrivetError",
    "Question",
    "RandomTreesClassifier",
    "ReleasedClassifier",
    "RowScore",
    "SQLiteLedger",
    "Schema",
    "SeededBits",
    "Split",
    "TreeSpace",
    "audit",
    "connect",
    "datasets",
    "explain",
    "federation",
    "load",
    "open_table",
    "publish",
    "save",
    "tune",
    "unlock_test_seeds",
]

LIGHT = """
import sys, privet
heavy = {"numba", "pandas", "duckdb", "opendp", "rich", "typer", "numpy", "polars", "pyarrow", "sklearn", "matplotlib", "onnx", "httpx2"}
sys.exit(" ".join(sorted(heavy & set(sys.modules))) or 0)
"""  # noqa: E501

ALL_MODULES = """
import importlib, pkgutil, warnings, privet
warnings.simplefilter("error")
modules = [module.name for module in pkgutil.walk_packages(privet.__path__, "privet.", onerror=lambda name: 1 / 0)]
for name in modules:
    importlib.import_module(name)
print("\\n".join(modules))
"""  # noqa: E501


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Run this in a fresh process."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_public_names_are_these() -> None:
    assert sorted(privet.__all__) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(privet, name) is getattr(privet, name)
    assert name in dir(privet)
    assert getattr(getattr(privet, name), "__name__", name).rpartition(".")[2] == name


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'privet' has no attribute 'Forrest'"):
        _ = privet.Forrest


def test_importing_is_light() -> None:
    done = python(LIGHT)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_module_can_be_imported() -> None:
    done = python(ALL_MODULES)
    assert done.returncode == 0, done.stderr
    assert {
        "privet.cells",
        "privet.cli.app",
        "privet.schema.encode",
        "privet.counts.duckdb",
    } <= set(done.stdout.split())
