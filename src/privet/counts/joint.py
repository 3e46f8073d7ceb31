"""Joint codes: the codes of a few attributes as one small number, computed once per row for
whatever looks something up by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt


class JointCodes:
    """Attributes in groups of few joint codes. Within a group the first attribute counts by
    ones.
    """

    def __init__(self, attributes: Iterable[int], sizes: Sequence[int], most_codes: int) -> None:
        self._sizes = sizes
        self.groups: list[list[int]] = []
        self.n_codes: list[int] = []
        # large ones first: the small ones fill the gaps
        for a in sorted(attributes, key=lambda a: (-sizes[a], a)):
            g = next(
                (g for g, n in enumerate(self.n_codes) if n * sizes[a] <= most_codes),
                len(self.groups),
            )
            if g == len(self.groups):
                self.groups.append([])
                self.n_codes.append(1)
            self.groups[g].append(a)
            self.n_codes[g] *= sizes[a]

    @property
    def arrays(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
        """For the compiled loops: where each group starts, its attributes, and by how much each of
        them counts.
        """
        return (
            starts([len(group) for group in self.groups]),
            np.array([a for group in self.groups for a in group], dtype=np.int64),
            np.array(
                [self._step(group, place) for group in self.groups for place in range(len(group))],
                dtype=np.uint32,
            ),
        )

    def codes(self, g: int) -> dict[int, npt.NDArray[np.int64]]:
        """For each attribute of a group: its code in every joint code."""
        joint = np.arange(self.n_codes[g])
        return {
            a: joint // self._step(self.groups[g], place) % self._sizes[a]
            for place, a in enumerate(self.groups[g])
        }

    def _step(self, group: list[int], place: int) -> int:
        return math.prod(self._sizes[a] for a in group[:place])


def starts(lengths: Sequence[int]) -> npt.NDArray[np.int64]:
    """Where things of these lengths start, and where the last one ends."""
    return np.array([0, *np.cumsum(lengths, dtype=np.int64)], dtype=np.int64)
