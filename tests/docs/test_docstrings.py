"""Every public name is documented as numpydoc has it, with an example that runs."""

from __future__ import annotations

import doctest
import inspect
import re
import types
from pathlib import Path
from typing import Any

import pytest

import privet as pv

LEARNER = ("fit", "fit_from", "predict", "predict_proba", "score_from")
#: The methods that a user calls first.
METHODS = {
    "Cell": ("describe", "where"),
    "Cells": ("everything", "of", "refine"),
    "Cost": ("concentrated", "promised", "pure"),
    "Curator": (
        *("ask", "choose", "confusion", "count", "draw_tree", "left", "median", "preview"),
        *("quantile", "size", "spent", "sums"),
    ),
    "Model": ("importances",),
    "PrivetClassifier": LEARNER,
    "RowScore": ("of",),
    "Schema": ("declare", "from_json", "index", "read", "to_json", "write"),
    "Split": ("groups", "multiway", "threshold", "value"),
}
DOCUMENTED = [
    *pv.__all__,
    *(f"{owner}.{name}" for owner, names in METHODS.items() for name in names),
    *(f"presets.{name}" for name in pv.presets.__all__),
    *(f"sql.{name}" for name in pv.sql.__all__),
    *(f"testing.{name}" for name in pv.testing.__all__),
]
FLAGS = doctest.ELLIPSIS


def find(path: str) -> Any:
    """Return what a dotted path within the package leads to; a property stays one."""
    found: Any = pv
    for part in path.split("."):
        found = getattr(found, part)
    return found


def document_of(path: str) -> str:
    return inspect.getdoc(find(path)) or ""


@pytest.mark.parametrize("path", DOCUMENTED)
def test_the_example_of_a_public_name_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = document_of(path)
    assert re.search(r"^Examples\n-{8}$", document, re.MULTILINE), f"{path} has no example"
    test = doctest.DocTestParser().get_doctest(document, {}, path, path, 0)
    assert test.examples
    assert not any(doctest.SKIP in example.options for example in test.examples)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.mark.parametrize("path", DOCUMENTED)
def test_sections_are_those_of_numpydoc(path):
    document = document_of(path)
    assert not re.search(r"^(Args|Arguments|Yields|Returns|Raises|Example):$", document, re.M)
    titles = re.findall(r"^([A-Z]\w+(?: \w+)?)\n-+$", document, re.MULTILINE)
    order = ["Parameters", "Returns", "Raises", "Notes", "Examples"]
    assert titles == [title for title in order if title in titles]


def parameters_of(path: str) -> set[str]:
    """Return the parameters of a function, of a method or of a class."""
    found = find(path)
    if isinstance(found, types.ModuleType | property):
        return set()
    if isinstance(found, type) and issubclass(found, Exception):
        return set()
    return {name.lstrip("*") for name in inspect.signature(found).parameters if name != "self"}


@pytest.mark.parametrize("path", DOCUMENTED)
def test_every_parameter_is_described_and_no_other(path):
    (section,) = re.findall(
        r"^Parameters\n-{10}\n(.*?)(?=^\w+\n-+$|\Z)", document_of(path), re.M | re.S
    ) or [""]
    lines = [line for line in section.splitlines() if re.match(r"[\w*]", line)]
    named = {name.strip().lstrip("*") for line in lines for name in line.split(" : ")[0].split(",")}
    assert named == parameters_of(path)


@pytest.mark.parametrize("name", pv.__all__)
def test_the_reference_names_everything_that_is_public(name):
    page = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
    assert f"`pv.{name}`" in page.read_text(encoding="utf-8")


def test_a_wrong_example_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(pv, "wrong", types.SimpleNamespace(), raising=False)
    pv.wrong.__doc__ = "Do it.\n\nExamples\n--------\n>>> 1 + 1\n3"
    monkeypatch.setattr(inspect, "getdoc", lambda found: found.__doc__)
    with pytest.raises(AssertionError, match="Expected:"):
        test_the_example_of_a_public_name_runs("wrong", tmp_path, monkeypatch)
