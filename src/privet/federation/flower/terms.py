"""The terms of a round: what the server offers, in the words that are sent to every party."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from privet.budget import parse_epsilon
from privet.checks import check_integer
from privet.errors import ParameterError
from privet.federation.flower.encoding import MAX_PARTIES


@dataclass(frozen=True)
class Terms:
    """How much noise there is, and who may be trusted to add it.

    Args:
        epsilon: what the sum costs every party, for one row added or removed.
        honest: how many honest contributions make up all of the noise; each adds one share of so
            many.
        colluding: how many contributions are allowed for whose noise somebody may know. At least
            one: every party knows its own, and can take it off the published sum. With fewer than
            ``honest + colluding`` contributions nothing is unmasked.
        rows_per_person: how many rows one person may have in a table, for whom the model is to
            promise.
    """

    epsilon: Fraction
    honest: int
    colluding: int
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        check_integer("honest", self.honest, 1, MAX_PARTIES)
        check_integer("colluding", self.colluding, 1, MAX_PARTIES)
        check_integer("rows_per_person", self.rows_per_person, 1, 10**9)
        check_integer("honest + colluding", self.contributions, 2, MAX_PARTIES)

    @property
    def contributions(self) -> int:
        """The fewest that may be in the sum, and the threshold of SecAgg+: the keys of fewer
        parties open nothing.
        """
        return self.honest + self.colluding

    def to_config(self) -> dict[str, str | int]:
        counts = {
            "honest": self.honest,
            "colluding": self.colluding,
            "rows_per_person": self.rows_per_person,
        }
        return {"epsilon": str(self.epsilon), **counts}

    @classmethod
    def from_config(cls, config: Mapping[str, object]) -> Terms:
        """From the configuration of a Flower run or round."""
        epsilon = require_key(config, "epsilon")
        if isinstance(epsilon, bool) or not isinstance(epsilon, str | int | float):
            raise ParameterError(f"epsilon must be a number, got {epsilon!r}")
        counts = (
            require_key(config, "honest"),
            require_key(config, "colluding"),
            config.get("rows_per_person", 1),
        )
        return cls(parse_epsilon("epsilon", epsilon), *counts)  # type: ignore[arg-type]


def require_key(config: Mapping[str, object], key: str) -> object:
    """A value that a configuration must have."""
    if key not in config or config[key] == "":
        raise ParameterError(f"the configuration needs {key!r}")
    return config[key]
