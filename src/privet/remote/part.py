"""RemotePart: one of the groups that the people of a remote curator were divided into."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn, Self

from privet.budget import Cost, Number, Unit
from privet.errors import QuestionError
from privet.remote.asking import RemoteAsking
from privet.remote.session import Session
from privet.typed import Json


class RemotePart(RemoteAsking):
    """A curator of some of the people, with a budget that was paid for when they were divided. Ends
    with its snapshot.
    """

    def __init__(
        self, session: Session, snapshot: str, division: int, number: int, n_parts: int
    ) -> None:
        super().__init__(session)
        self._snapshot, self._division, self._number, self._n_parts = (
            snapshot,
            division,
            number,
            n_parts,
        )

    def __repr__(self) -> str:
        return f"RemotePart({self.dataset!r} at {self._session.link.url})"

    @property
    def dataset(self) -> str:
        """The name of the data set, and which part of it."""
        return f"{self._session.dataset} (part {self._number + 1} of {self._n_parts})"

    @property
    def unit(self) -> Unit:
        """People are divided for an epsilon."""
        return "epsilon"

    @property
    def left(self) -> Fraction:
        """What is left of the part's own budget. Asks the curator each time."""
        return self.preview([]).left

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> NoReturn:  # noqa: ARG002
        """Not over HTTP."""
        raise QuestionError(
            "a part of the people cannot be divided again over HTTP; divide them into more parts "
            "at once"
        )

    def _about(self) -> Json:
        if self._session.snapshot_id != self._snapshot:
            raise QuestionError(
                "the snapshot in which the people were divided has ended, and its parts with it"
            )
        return {
            "snapshot": self._snapshot,
            "part": {"division": self._division, "number": self._number},
        }

    def reserve(self, cost: Cost, what: str, key: str = "") -> Self:  # noqa: ARG002
        """The budget of a part is its own: nobody else spends from it."""
        self.require([cost])
        return self

    def close_reservation(self, why: str = "done") -> None:
        """There is none."""
