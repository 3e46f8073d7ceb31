"""Checks of parameters that several rooms share."""

from __future__ import annotations

import numpy as np

from privet.errors import ParameterError


def checked_whole(name: str, value: object, low: int, high: int | None = None) -> None:
    """Raise unless the parameter is a whole number of at least ``low``, and at most ``high``."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | np.integer)
        or value < low
        or (high is not None and value > high)
    ):
        most = "" if high is None else f" and at most {high}"
        raise ParameterError(
            f"{name} must be a whole number of at least {low}{most}, got {value!r}"
        )
