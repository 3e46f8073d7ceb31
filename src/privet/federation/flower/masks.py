"""Masks that are as secret as the keys they come from.

SecAgg+ hides every vector behind masks that a pseudo-random generator expands from secret 256-bit
seeds. Flower 1.41 folds a seed to 32 bits first (28 for the masks of pairs) and expands it with the
Mersenne Twister: a server that is curious enough to try them all strips the masks off again, within
minutes where only one is left. So both sides expand the **whole** seed here, with SHAKE-256 of the
standard library. The protocol is Flower's own, stage by stage and message by message; only the
generator is replaced where it is used.
"""

from __future__ import annotations

import hashlib
from importlib import import_module
from math import prod

import numpy as np
import numpy.typing as npt

from privet.errors import MissingDependency


def expand(
    seed: bytes, num_range: int, dimensions_list: list[tuple[int, ...]]
) -> list[npt.NDArray[np.int64]]:
    """Arrays of these shapes with uniform entries below ``num_range``, a power of two: the bits of
    SHAKE-256 of the seed.
    """
    if num_range & (num_range - 1) or not 2 <= num_range <= 1 << 62:
        raise ValueError(f"num_range must be a power of two up to 2**62, got {num_range!r}")
    sizes = [prod(shape) for shape in dimensions_list]
    words = np.frombuffer(hashlib.shake_256(seed).digest(8 * sum(sizes)), dtype="<u8")
    entries = (words & np.uint64(num_range - 1)).astype(np.int64)
    parts = np.split(entries, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, dimensions_list, strict=True)]


def install() -> None:
    """Make Flower's client and server of SecAgg+ in this process expand whole seeds. Both sides
    must.
    """
    for name in (
        "flwr.client.mod.secure_aggregation.secaggplus_mod",
        "flwr.server.workflow.secure_aggregation.secaggplus_workflow",
    ):
        try:
            module = import_module(name)
        except ImportError:
            raise MissingDependency("flwr", "flower", "secure aggregation") from None
        # another version: better no sum than one that is not secret
        if not hasattr(module, "pseudo_rand_gen"):
            raise MissingDependency("flwr>=1.41,<1.42", "flower", "secure aggregation")
        module.pseudo_rand_gen = expand  # type: ignore[attr-defined]
