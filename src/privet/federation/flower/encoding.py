"""Pass integers exactly through Flower's SecAgg+, under masks as secret as their keys.

SecAgg+ is made for floating-point weights. A Flower client multiplies its vector by
``num_examples/max_weight``, clips it to +-``clipping_range``, moves and scales it to 0 ...
``quantization_range``, rounds at random, and masks it modulo ``modulus_range``. The server unmasks
the sum and gives back the mean. With

- ``num_examples = max_weight = 1``: the weight is exactly 1, and the mean is the sum divided by the
  number of contributions;
- ``quantization_range = 2 clipping_range``, a power of two: the step is 1, so that an integer
  within the range is moved to an integer, and an integer is not rounded;
- parties x ``quantization_range`` below the modulus 2**32: the sum does not wrap around; and
  ``quantization_range`` up to 2**30, for the quantised vector has 32-bit integers;

every integer from -limit to limit passes exactly, limit = ``clipping_range``: all of this happens
in float64 below 2**53.

**Masks.** SecAgg+ hides every vector behind masks that a pseudo-random generator expands from
secret 256-bit seeds. Flower 1.41 folds a seed to 32 bits first (28 for the masks of pairs) and
expands it with the Mersenne Twister: a server that is curious enough to try them all strips the
masks off again, within minutes where only one is left. So both sides expand the **whole** seed
here, with SHAKE-256 of the standard library. The protocol is Flower's own, stage by stage and
message by message; only the generator is replaced where it is used.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import prod

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer
from privet.errors import MissingDependency, ParameterError

MODULUS = 1 << 32
WEIGHT = 1
MAX_PARTIES = 100  # everybody shares keys with everybody, which takes minutes for so many
_MAX_LIMIT = 1 << 29
_CHANCE_BITS = 40  # noise is cut off with probability below 2**-40


@dataclass(frozen=True)
class Encoding:
    """The public range of each party's numbers: -``limit`` to ``limit``.

    There are at most ``parties`` parties.
    """

    parties: int

    def __post_init__(self) -> None:
        check_integer("parties", self.parties, 2, MAX_PARTIES)

    @property
    def limit(self) -> int:
        """The largest power of two that leaves room for the sum of all parties."""
        return min(_MAX_LIMIT, 1 << ((MODULUS - 1) // (2 * self.parties)).bit_length() - 1)

    @property
    def rows(self) -> int:
        """Counts up to this are not cut off (but for noise of probability below 2**-40)."""
        return self.limit // 2

    def check_noise(self, scale: Fraction, entries: int) -> None:
        """Raise for noise that would not fit.

        This is public: it depends on the query only.

        A share X - Y is beyond m only if X or Y is, and each is at most geometric: 2 exp(-m/scale)
        for each of the entries.
        """
        if entries and self.rows / scale < math.log(2 * entries) + _CHANCE_BITS * math.log(2):
            raise ParameterError(
                f"epsilon must be larger or trees fewer: noise of scale {float(scale):g} on "
                f"{entries} numbers does not fit into "
                f"the secure sum of {self.parties} parties, which holds numbers up to {self.limit}"
            )

    def clip(self, values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Clip numbers to the range.

        The numbers are noisy already, so nothing more is told.
        """
        return np.clip(values, -self.limit, self.limit)

    def encode(self, values: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the vector that a Flower client returns."""
        if values.size and (values.min() < -self.limit or values.max() > self.limit):
            # and not which number was not
            raise ParameterError(f"numbers for the secure sum must be within +-{self.limit}")
        return values.astype(np.float64)

    def decode(self, means: npt.NDArray[np.float64], contributions: int) -> npt.NDArray[np.int64]:
        """Return the sum of the contributions, from their mean."""
        if not 1 <= contributions <= self.parties:
            raise ParameterError(
                f"contributions must be from 1 to {self.parties}, got {contributions!r}"
            )
        scaled = means * contributions
        sums = np.rint(scaled)
        if not (
            np.isfinite(scaled).all()
            and (np.abs(scaled - sums) < 1e-3).all()
            and (np.abs(sums) <= contributions * self.limit).all()
        ):
            raise ParameterError(
                "what came out of the secure sum is no sum of integers: the parties did not "
                "all follow the protocol"
            )
        return sums.astype(np.int64)


def flatten_tables(tables: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Flatten all tables into one vector."""
    return np.concatenate([table.reshape(-1) for table in tables])


# Masks from whole seeds, in place of Flower's generator.


def expand(
    seed: bytes, num_range: int, dimensions_list: list[tuple[int, ...]]
) -> list[npt.NDArray[np.int64]]:
    """Expand a seed into arrays of these shapes with uniform entries below ``num_range``.

    ``num_range`` is a power of two. The entries are the bits of SHAKE-256 of the seed.
    """
    if num_range & (num_range - 1) or not 2 <= num_range <= 1 << 62:
        raise ValueError(f"num_range must be a power of two up to 2**62, got {num_range!r}")
    sizes = [prod(shape) for shape in dimensions_list]
    words = np.frombuffer(hashlib.shake_256(seed).digest(8 * sum(sizes)), dtype="<u8")
    entries = (words & np.uint64(num_range - 1)).astype(np.int64)
    parts = np.split(entries, np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, dimensions_list, strict=True)]


def install() -> None:
    """Make Flower's SecAgg+ in this process expand whole seeds.

    This is for its client and its server: both sides must.
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
