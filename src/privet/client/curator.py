"""Ask a curator over HTTP, just as you would ask one in this process.

:func:`connect` turns an address into a :class:`RemoteCurator`. What would be refused in process is
refused before it is sent, in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from privet._types import Json
from privet._validate import check_integer
from privet.accounting.cost import Cost, Number, Unit
from privet.accounting.ledger.base import check_name
from privet.client.address import find_token
from privet.client.elsewhere import AccountElsewhere, plan_to
from privet.client.session import Charged, Session, parse_division, understood
from privet.client.transport import Link
from privet.errors import AccessError, ParameterError, PrivacyError, QuestionError
from privet.queries import Answer, Preview, Price, Query, check_query
from privet.queries.base import read_answer
from privet.text import escape_invisible

if TYPE_CHECKING:
    from privet.client.sql.curator import SQLCurator

# From an address to a curator.


def connect(
    url: str,
    token: str | Callable[[], str] | None = None,
    dataset: str | None = None,
    *,
    timeout: float = 300.0,
    retry_for: float = 30.0,
    ca: str | PathLike[str] | None = None,
    insecure: bool = False,
) -> RemoteCurator | SQLCurator:
    """Connect to a curator over HTTP, or to one in a PostgreSQL database.

    Learners train through it, models are evaluated with it, and it never shows a row. SQL answers
    fewer queries: see :class:`~privet.client.sql.curator.SQLCurator`.

    Parameters
    ----------
    url
        Where it is, such as ``"https://curator.example"``; plain ``http://`` is for this
        machine. ``"postgresql://ada@db.example/clinic"`` is a database with Privet's SQL
        functions, in which you have a login; the options for HTTP do not count there.
    token
        As the owner gave it; by default that of the environment variable PRIVET_TOKEN. A function
        that returns it is called again when the curator does not know the token any more, as it
        may have been replaced in the middle of a fit.
    dataset
        What to ask about; by default the one data set that the token is granted.
    timeout
        Seconds to wait for an answer to begin, and then for it to end. After twice as many, an
        exchange is ended in any case, however slowly the server sends.
    retry_for
        Seconds after a first failure in which a question is sent again; it is charged
        once.
    ca
        A file with the certificates to trust, in place of the usual ones.
    insecure
        Allow plain HTTP to another machine, where anybody in between can read the answers
        and use the token.

    Returns
    -------
    RemoteCurator or SQLCurator
        A curator: ask it, or train through it with ``fit_from``.

    Raises
    ------
    Unavailable
        If nobody answers there.
    AccessError
        If the curator does not know the token.

    Examples
    --------
    >>> import privet as pv
    >>> try:
    ...     curator = pv.connect("http://127.0.0.1:9", "privet_token", "nursery", retry_for=0)
    ... except pv.errors.Unavailable:
    ...     print("nobody serves a curator there")
    nobody serves a curator there
    """
    check_name("dataset", dataset)
    if url.startswith(("postgresql://", "postgres://")):
        if token is not None:
            raise ParameterError(
                "token is for a curator over HTTP; a database knows you by your login"
            )
        from privet.client.sql.curator import connect_to_database

        return connect_to_database(url, dataset)
    link = Link(
        url,
        token if callable(token) else find_token(token),
        timeout=timeout,
        retry_for=retry_for,
        ca=ca,
        insecure=insecure,
    )
    try:
        return RemoteCurator(
            Session(link, _find_only_dataset(link) if dataset is None else dataset)
        )
    except BaseException:
        link.close()
        raise


def _find_only_dataset(link: Link) -> str:
    reply = link.get("/datasets")
    with understood("list of data sets"):
        names = [str(entry["name"]) for entry in reply["datasets"]]
    if not names:
        raise AccessError(f"{link} grants this token no data set")
    if len(names) > 1:
        raise ParameterError(
            "dataset must be one of those that the token is granted: "
            f"{', '.join(map(escape_invisible, names))}"
        )
    return names[0]


# What a remote curator and the groups of its people share.

A = TypeVar("A", bound=Answer)


class RemoteAsking(AccountElsewhere):
    """Everything that can be asked about a data set, or about a group of its people."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session

    def ask(
        self, query: Query[A], epsilon: Number | None = None, *, rho: Number | None = None
    ) -> A:
        return self.ask_once("", query, epsilon, rho=rho)

    def ask_once(
        self,
        key: str,
        query: Query[A],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> A:
        asked = check_query(query, self.schema)
        if not asked.for_analysts:
            raise ParameterError(f"{asked.name} is asked in the owner's own process only")
        price = Price.of(epsilon, rho)
        cost = asked.kind.cost(price)
        body = {**price.to_json(), **asked.to_json(), **self._about()}

        def read(told: Mapping[str, Any]) -> A:
            return read_answer(asked, told, cost)

        return self._session.ask(asked.name, body, read, key)

    def preview(self, plan: Iterable[Cost]) -> Preview:
        reply = self._session.preview({"plan": [plan_to(cost) for cost in plan], **self._about()})
        with understood("preview"):
            return Preview.from_json(reply)

    def _about(self) -> Json:
        """Which rows a query is about, where these are not all rows of the moment."""
        about = {} if not self._reservation else {"reservation": self._reservation}
        if self._session.snapshot_id is not None:
            about["snapshot"] = self._session.snapshot_id
        return about


class RemoteCurator(RemoteAsking):
    """Ask a curator's service about one data set, within an analyst's budget.

    This is what :func:`~privet.connect` gives.

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
        """What you can still spend, for the declared neighbours.

        It is in the unit of the data set's cap; within a reservation, it is what is left of that.
        Asks the curator each time.
        """
        return self.preview([]).left if self._reservation else self._session.left

    @property
    def spent(self) -> Cost:
        """What this analyst has spent on the data set, for the declared neighbours.

        Asks the curator each time.
        """
        return self._session.spent

    @property
    def receipts(self) -> list[str]:
        """The receipts of the answers that came over this connection, oldest first."""
        return list(self._session.receipts)

    def history(self) -> list[Charged]:
        """Return this analyst's charges with their receipts, oldest first."""
        return list(self._session.history())

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> list[RemotePart]:
        """Divide the people into disjoint random parts, with a curator of each.

        Each has a budget of ``epsilon`` of its own, charged here once.

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


# One of the groups that the people of a remote curator were divided into.


class RemotePart(RemoteAsking):
    """A curator of some of the people, with a budget that was paid for when they were divided.

    It ends with its snapshot.
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
        """The unit of the budget: people are divided for an epsilon."""
        return "epsilon"

    @property
    def left(self) -> Fraction:
        """What is left of the part's own budget. Asks the curator each time."""
        return self.preview([]).left

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> NoReturn:  # noqa: ARG002
        """Raise: people cannot be divided again over HTTP."""
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
        """Check that the cost fits, and return the part itself.

        The budget of a part is its own: nobody else spends from it.
        """
        self.require([cost])
        return self

    def close_reservation(self, why: str = "done") -> None:
        """Do nothing: there are no reservations."""
