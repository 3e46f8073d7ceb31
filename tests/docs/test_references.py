"""References from docstrings and comments to other parts of the package lead somewhere."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r":(?:mod|func|class|data|meth|attr):`~?(privet[\w.]*)`")
#: What the oracle of tests reads too.
SOURCES = [*sorted((ROOT / "src").rglob("*.py")), *sorted((ROOT / "tests").rglob("*.py"))]


def leads_somewhere(path: str) -> bool:
    """Whether a dotted path is a module, or a name within one."""
    parts = path.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            fields = getattr(found, "__dataclass_fields__", {})
            if not hasattr(found, part) and part not in fields:
                return False
            found = getattr(found, part, None)
        return True
    return False


@pytest.mark.parametrize(
    "path",
    sorted({path for file in SOURCES for path in REFERENCE.findall(file.read_text("utf-8"))}),
)
def test_a_reference_leads_somewhere(path):
    assert leads_somewhere(path)


def test_a_wrong_reference_is_noticed():
    assert leads_somewhere("privet.domain.cells.Cells.refine")
    assert not leads_somewhere("privet.domain.cells.Cells.refined")
    assert not leads_somewhere("privet.cells")
