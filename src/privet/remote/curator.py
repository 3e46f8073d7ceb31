"""RemoteCurator: a curator behind HTTP, which is asked as one in this process is."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn, Self

from privet.budget import Cost, Number
from privet.checks import check_integer
from privet.errors import PrivacyError, QuestionError
from privet.queries import Price
from privet.remote.asking import RemoteAsking
from privet.remote.part import RemotePart
from privet.remote.replies import Charged, parse_division


class RemoteCurator(RemoteAsking):
    """What :func:`~privet.connect` gives: asks a curator's service about one data set, within an
    analyst's budget.

    Every learner trains through it. A question is charged once, however often it must be sent;
    where it got no answer at all (:class:`~privet.errors.Unavailable`), asking the same again is
    not charged again.
    """

    def __repr__(self) -> str:
        return f"RemoteCurator({self.dataset!r} at {self._session.link.url})"

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            "a remote curator holds a token, so it cannot be copied or pickled; connect again "
            "instead"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._session.link.close()

    @property
    def left(self) -> Fraction:
        """What can still be spent, in the unit of the data set's cap and for the declared
        neighbours: within a reservation, what is left of it. Asks the curator each time.
        """
        return self.preview([]).left if self._reservation else self._session.left

    @property
    def spent(self) -> Cost:
        """What this analyst has spent on the data set, for the declared neighbours. Asks the
        curator each time.
        """
        return self._session.spent

    @property
    def receipts(self) -> list[str]:
        """The receipts of the answers that came over this connection, oldest first."""
        return list(self._session.receipts)

    def history(self) -> list[Charged]:
        """This analyst's charges with their receipts, oldest first."""
        return list(self._session.history())

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> list[RemotePart]:
        """Curators of disjoint random parts of the people, each with a budget of ``epsilon`` of its
        own, charged here once.

        The parts last as long as the snapshot does in which they were made, so there must be one.
        """
        n_parts = check_integer("n_parts", n_parts, 1, 10_000)
        price = Price.of(epsilon).to_json()
        snapshot = self._session.snapshot_id
        if snapshot is None:
            raise QuestionError(
                "people are divided within a snapshot: call split_people inside 'with "
                "curator.snapshot():'"
            )
        division = self._session.ask(
            "divide",
            {**price, "n_parts": n_parts, **self._about()},
            lambda told: parse_division(told, n_parts),
            key,
        )
        return [
            RemotePart(self._session, snapshot, division, number, n_parts)
            for number in range(n_parts)
        ]
