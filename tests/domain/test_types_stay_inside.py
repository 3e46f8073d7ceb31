"""Only the domain knows the types of columns: everything else asks the attribute.

Otherwise a new type would work in some places, and fail in others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import privet
from privet.domain.attributes import TYPES
from privet.domain.attributes.binned import Binned
from privet.domain.attributes.listed import Listed

SOURCE = Path(privet.__file__).parent
NAMES = {kind.__name__ for kind in (*TYPES.values(), Binned, Listed)}
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if SOURCE / "domain" not in path.parents]


def named_in(tree: ast.AST) -> set[str]:
    """The types of columns that an expression names."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return names & NAMES


def find_type_tests(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line of each test of a column's type, and the type."""
    for node in ast.walk(tree):
        tested: list[ast.AST] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("isinstance", "issubclass"):
                tested = list(node.args[1:])
        elif isinstance(node, ast.Compare):  # type(x) is Numeric, {Numeric} == kinds
            tested = [node.left, *node.comparators]
            tested = [part for part in tested if not isinstance(part, ast.Call)]
        elif isinstance(node, ast.MatchClass):
            tested = [node.cls]
        for part in tested:
            for name in sorted(named_in(part)):
                yield node.lineno, name  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_outside_the_domain_tests_a_type(path: Path) -> None:
    found = list(find_type_tests(ast.parse(path.read_text(encoding="utf-8"))))
    assert not found, f"ask the attribute instead, as privet.domain.attributes.base says: {found}"


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(x, Numeric)",
        "isinstance(x, (str, pv.Categorical))",
        "isinstance(x, Date | Boolean)",
        "issubclass(kind, Binned)",
        "type(x) is Numeric",
        "kinds == {Listed}",
        "match x:\n    case Date():\n        pass",
    ],
)
def test_every_way_to_test_a_type_is_found(code: str) -> None:
    assert list(find_type_tests(ast.parse(code)))


@pytest.mark.parametrize(
    "code", ["x = Numeric(0, 1)", "isinstance(x, Attribute)", "x == Numeric(0, 1)"]
)
def test_making_an_attribute_is_no_test(code: str) -> None:
    assert not list(find_type_tests(ast.parse(code)))
