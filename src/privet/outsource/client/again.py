"""Beginning again where somebody else was faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from privet.errors import Conflict

_STEP_TRIES = 20
_T = TypeVar("_T")


def retry_step(step: Callable[[], _T]) -> _T:
    """Do a step that reads the table and depends on what it read, from its beginning where the
    table changed in between.
    """
    for _ in range(_STEP_TRIES):
        try:
            return step()
        except Conflict:
            continue
    raise Conflict("others keep changing the table; try again later")
