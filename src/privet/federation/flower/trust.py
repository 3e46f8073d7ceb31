"""The trust model in words, for the privacy statement of a model that came out of a secure sum."""

from __future__ import annotations

from privet.federation.flower.terms import Terms


def most_colluding(terms: Terms, contributions: int) -> int:
    """How many parties may collude with the server: enough honest noise must be left, and their
    keys must not open a mask.
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
    """What the promise rests on, in half a sentence."""
    apart = "nobody is in the tables of two parties, " if people == "disjoint" else ""
    return (
        f"{apart}at least {terms.honest} of {contributions} contributions are honest and the "
        "server follows the protocol"
    )


def describe_trust(terms: Terms, parties: int, contributions: int, people: str) -> tuple[str, ...]:
    """What the promise rests on, for a round of so many parties of whom so many contributed."""
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
