"""State the terms of a round: what the server offers, and the trust model in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from privet._validate import check_integer
from privet.accounting.cost import parse_epsilon
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
        """Read the terms from the configuration of a Flower run or round."""
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
    """Return a value that a configuration must have, or raise."""
    if key not in config or config[key] == "":
        raise ParameterError(f"the configuration needs {key!r}")
    return config[key]


def read_timeout(config: Mapping[str, object], default: float) -> float:
    """Return how many seconds a server waits for its parties, or raise."""
    timeout = config.get("timeout", default)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < 1e6:
        raise ParameterError(f"timeout must be a number of seconds, got {timeout!r}")
    return float(timeout)


# The trust model in words, for the privacy statement of a model that came out of a secure sum.


def most_colluding(terms: Terms, contributions: int) -> int:
    """Return how many parties may collude with the server.

    Enough honest noise must be left, and their keys must not open a mask.
    """
    return min(contributions - terms.honest, terms.contributions - 1)


_PEOPLE = {
    "disjoint": (
        "Nobody is in the tables of two parties, as the parties assert: a person changes one "
        "contribution."
    ),
    "may-overlap": "Somebody may be in the tables of all contributors, so the cost is added up over them.",  # noqa: E501
}


def describe_assumption(terms: Terms, contributions: int, people: str) -> str:
    """Describe in half a sentence what the promise rests on."""
    apart = "nobody is in the tables of two parties, " if people == "disjoint" else ""
    return (
        f"{apart}at least {terms.honest} of {contributions} contributions are honest and the "
        "server follows the protocol"
    )


def describe_trust(terms: Terms, parties: int, contributions: int, people: str) -> tuple[str, ...]:
    """Describe what the promise rests on, for a round with so many parties and contributions."""
    return (
        f"The counts of {contributions} of {parties} parties were added up by Flower's SecAgg+: "
        "the server saw the sum, and no part of it. It is assumed to be honest but curious: it "
        "follows the protocol, and may compute what it likes from what it sees.",
        f"The reconstruction threshold is {terms.contributions}: with fewer contributions nothing "
        f"is unmasked, so {parties - terms.contributions} of the {parties} parties may drop out.",
        f"Each contribution holds one of {terms.honest} shares of discrete Laplace noise: the "
        f"noise of any {terms.honest} honest parties is that of one curator, and the promise "
        f"rests on it alone. So {most_colluding(terms, contributions)} of the parties may "
        "collude, with the server or with one another; whoever contributed counts as one, for it "
        "knows its own noise.",
        "Colluding parties can subtract their own counts and their own noise from the sum, and no "
        "more; the noise that is left is still that of one curator.",
        f"If fewer than {terms.honest} contributions are honest, only a part of that noise is "
        "left, a difference of negative binomial variables, and this epsilon is not promised. "
        "Neither is it if the server breaks the protocol, for example by inventing parties.",
        _PEOPLE[people],
    )
