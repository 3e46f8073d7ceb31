"""Checks of parameters that several rooms share."""

from __future__ import annotations

import numpy as np

from privet.errors import ParameterError


def checked_whole(name: str, value: object, low: int) -> None:
    """Raise unless the parameter is a whole number of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ParameterError(f"{name} must be a whole number of at least {low}, got {value!r}")
