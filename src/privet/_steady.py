"""Compute exp and log in the same steps whatever the argument, for loops compiled by Numba.

The functions of the C library take other paths for 0, for 1, for small and for large arguments. A
state that nobody is in leads to such arguments all the time, so a clock would tell. These have no
branch and no table. Both are off by less than 4 units in the last place, which
docs/concepts/gibbs.md assumes and tests/mechanisms/test_gibbs_slack.py measures.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

#: exp(-708) is the smallest power that is a normal double; denormal ones take longer to work with.
MOST = 708.0
_LOG2_E = 1.4426950408889634
#: log 2 in two parts; products of the first with integers up to 2**11 are exact.
_LOG_2, _LOG_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_SHIFT = 3.0 * 2.0**51
_ROOT_2 = 1.4142135623730951
_MANTISSA, _ONE, _BIAS = (1 << 52) - 1, 1023 << 52, 1023

inlined = njit(nogil=True, error_model="numpy", forceinline=True, no_cfunc_wrapper=True)


@inlined  # type: ignore[untyped-decorator]
def exp(x: float) -> Any:
    """Return exp(x); beyond 708 either way, what it is there.

    x = k log 2 + r with \\|r\\| <= log(2)/2, and a Taylor polynomial whose error is below 2**-56.
    """
    x = min(max(x, -MOST), MOST)
    shifted = x * _LOG2_E + _SHIFT  # the sum is rounded to an integer, which its last bits hold
    k = shifted - _SHIFT
    r = (x - k * _LOG_2) - k * _LOG_2_REST
    # in pairs: a processor works on several at once
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + (0.5 + r * (1 / 6)) * r2
    middle = (1 / 24 + r * (1 / 120)) + (1 / 720 + r * (1 / 5040)) * r2
    high = (1 / 40320 + r * (1 / 362880)) + (1 / 3628800 + r * (1 / 39916800)) * r2
    last = 1 / 479001600 + r * (1 / 6227020800)
    p = (low + middle * r4) + (high + last * r4) * (r4 * r4)
    return p * np.int64((np.float64(shifted).view(np.int64) + _BIAS) << 52).view(np.float64)


@inlined  # type: ignore[untyped-decorator]
def log(x: float) -> Any:
    """Return log(x) of a normal double above zero.

    x = 2**k (1 + f) with \\|f\\| < 0.42. With s = f/(2 + f), log(1 + f) = f - s (f - R), where R is
    the series of 2 atanh(s)/s - 2 (as in fdlibm), cut off where it is below 2**-56.
    """
    bits = np.float64(x).view(np.int64)
    k = (bits >> 52) - _BIAS
    m = np.int64((bits & _MANTISSA) | _ONE).view(np.float64)
    large = m > _ROOT_2
    k = k + 1 if large else k
    m = 0.5 * m if large else m
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    low = (2 / 3 + z * (2 / 5)) + (2 / 7 + z * (2 / 9)) * z2
    high = (2 / 11 + z * (2 / 13)) + (2 / 15 + z * (2 / 17)) * z2
    last = (2 / 19 + z * (2 / 21)) + (2 / 23) * z2
    p = low + (high + last * z4) * z4
    return k * _LOG_2 - ((s * (f - p * z) - k * _LOG_2_REST) - f)
