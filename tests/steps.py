"""Count the steps of a piece of work, so that a test can say that two worlds take the same ones.

A step is a line of the package that is run. Compiled loops are counted in plain Python.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

import privet

_PACKAGE = str(Path(privet.__file__).parent)


def use_plain_loops(monkeypatch: pytest.MonkeyPatch, *modules: ModuleType) -> None:
    """Replace the compiled loops of these modules, wherever they were imported, by plain Python."""
    plain = {
        id(loop): loop.py_func
        for module in modules
        for loop in vars(module).values()
        if hasattr(loop, "py_func")
    }
    for name, module in list(sys.modules.items()):
        if name.startswith("privet."):
            for attribute, value in list(vars(module).items()):
                if id(value) in plain:
                    monkeypatch.setattr(module, attribute, plain[id(value)])


def count_steps(work: Callable[[], object], within: str = "") -> Counter[tuple[str, int]]:
    """Return how often each line of the package ran, by file and number.

    ``within`` names the files that count, by a part of their path; by default all of the package.
    """
    steps: Counter[tuple[str, int]] = Counter()

    def look(frame: FrameType, event: str, _: Any) -> Any:
        path = frame.f_code.co_filename
        if not path.startswith(_PACKAGE) or within not in path:
            return None
        if event == "line":
            steps[path[len(_PACKAGE) :], frame.f_lineno] += 1
        return look

    before = sys.gettrace(), threading.gettrace()
    threading.settrace(look)
    sys.settrace(look)
    try:
        work()
    finally:
        sys.settrace(before[0])
        threading.settrace(before[1])  # type: ignore[arg-type]
    return steps
