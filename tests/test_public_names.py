"""The public surface: what it is, and that importing it is light."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import privet

NAMES = [
    "AdditiveClassifier",
    "Boolean",
    "Budget",
    "Categorical",
    "Cell",
    "Cells",
    "Condition",
    "Cost",
    "Curator",
    "Date",
    "FewRowsWarning",
    "ForestClassifier",
    "GibbsBoostClassifier",
    "GibbsTreeClassifier",
    "GreedyTreeClassifier",
    "MemoryLedger",
    "Model",
    "NoiseWarning",
    "NoisyID3Classifier",
    "Numeric",
    "Ordinal",
    "Owner",
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
    "Split",
    "TreeSpace",
    "audit",
    "card",
    "connect",
    "datasets",
    "draft_schema",
    "epsilon",
    "errors",
    "explain",
    "export",
    "federation",
    "load",
    "open_table",
    "plots",
    "presets",
    "publish",
    "save",
    "split_table",
    "sql",
    "testing",
    "tune",
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
    home = {"explain": "epsilon"}.get(name, name)  # its name in 0.1
    assert getattr(getattr(privet, name), "__name__", home).rpartition(".")[2] == home


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'privet' has no attribute 'Forrest'"):
        _ = privet.Forrest


@pytest.mark.parametrize("name", ["SeededBits", "unlock_test_seeds"])
def test_names_of_0_1_that_moved_work_and_say_where_they_are(name: str) -> None:
    with pytest.warns(DeprecationWarning, match=rf"privet\.{name} is privet\.testing\.{name} now"):
        moved = getattr(privet, name)
    assert moved is getattr(privet.testing, name)
    assert name not in privet.__all__
    assert name not in dir(privet)


def test_importing_is_light() -> None:
    done = python(LIGHT)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_module_can_be_imported() -> None:
    done = python(ALL_MODULES)
    assert done.returncode == 0, done.stderr
    assert {
        "privet.cli.app",
        "privet.domain.encode.rows",
        "privet.tables.duckdb.table",
        "privet.queries.count",
    } <= set(done.stdout.split())


#: Modules that need an extra, by what they begin with. All others work without any.
EXTRAS = (
    "privet.domain.encode.arrow_columns",
    "privet.domain.encode.polars_columns",
    "privet.federation.flower.client",
    "privet.federation.flower.relay_client",
    "privet.federation.flower.relay_server",
    "privet.federation.flower.server",
    "privet.outsource.server.app",
    "privet.outsource.server.handlers",
    "privet.outsource.server.page",
    "privet.outsource.server.requests",
    "privet.service.admission",
    "privet.service.app",
    "privet.service.drain",
    "privet.service.forward",
    "privet.service.handlers",
    "privet.service.http",
    "privet.service.metrics",
    "privet.service.oidc.provider",
    "privet.service.operations",
    "privet.service.owner.api",
    "privet.service.owner.report",
    "privet.service.page",
    "privet.service.page.analyst",
    "privet.service.page.forms",
    "privet.service.page.listing",
    "privet.service.page.manage",
    "privet.service.page.owner",
    "privet.service.page.provider",
    "privet.service.page.site",
    "privet.service.problems",
)

BARE = """
import importlib, json, pkgutil, sys
missing = {"fastapi", "starlette", "pydantic", "httpx2", "jinja2", "uvicorn", "flwr", "polars", "pyarrow",
           "matplotlib", "cryptography", "joserfc", "prometheus_client", "psycopg", "psycopg_pool", "pyspark", "onnx", "onnxruntime"}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
failed = {}
for module in pkgutil.walk_packages(importlib.import_module("privet").__path__, "privet.", lambda name: None):
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        failed[module.name] = str(error)
print(json.dumps(failed))
"""  # noqa: E501


def test_only_modules_of_extras_need_extras() -> None:
    done = python(BARE)
    assert done.returncode == 0, done.stderr
    failed = json.loads(done.stdout)
    assert {name: why for name, why in failed.items() if not name.startswith(EXTRAS)} == {}
    assert len(failed) > 5  # whatever is missing was missed
