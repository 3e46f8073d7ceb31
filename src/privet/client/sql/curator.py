"""A curator over the SQL functions, for an analyst who may call them and do nothing else."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NoReturn, Self, TypeVar

from privet.accounting.cost import Cost, Number, compose_sequentially, explain_factor
from privet.client.elsewhere import AccountElsewhere
from privet.client.session import Charged
from privet.client.sql.session import Database, SQLSession
from privet.client.sql.walks import MEASURED, choice_arguments, lay_out
from privet.curator.account import preview_cost
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, QuestionError
from privet.queries import Answer, ChooseSplits, FindQuantile, Preview, Price, Query, check_query
from privet.queries.release_kinds import LEAST_EPSILON, Measures, Noisy

A = TypeVar("A", bound=Answer)

#: Learners whose queries are all answered in SQL.
LEARNERS = ("random-trees", "noisy-id3", "greedy-tree", "additive")
_INSTEAD = (
    f"over SQL, train one of {', '.join(LEARNERS)}, or ask the curator's service, which answers all"
)
_ARRAY, _INTEGER = "integer[]", "integer"
_TYPES = {
    **dict.fromkeys(("total", "steps", "start", "n_cells"), _INTEGER),
    **dict.fromkeys(("starts", "bases", "widths", "looks", "strides", "weights"), _ARRAY),
    **dict.fromkeys(("tests", "firsts", "cells", "branches", "attributes"), _ARRAY),
    **dict.fromkeys(("split_tables", "children", "offered_cells", "offered_splits"), _ARRAY),
}


def connect_to_database(url: str, dataset: str | None = None) -> SQLCurator:
    """Connect to the functions in a database, with the login of the URL."""
    database = Database(url)
    try:
        return SQLCurator(SQLSession(database, dataset))
    except BaseException:
        database.close()
        raise


class SQLCurator(AccountElsewhere):
    """Ask the SQL functions of a PostgreSQL database about one data set.

    This is what :func:`~privet.connect` gives for ``postgresql://``. The login needs EXECUTE on the
    functions, and has no other right. Counts, sums, choices of splits by ``max`` or ``gini`` and
    quantiles are answered, for epsilon; each is about the rows of the moment, as there are no
    snapshots. Other queries are refused before anything is charged.
    """

    def __init__(self, session: SQLSession) -> None:
        super().__init__(session)
        self._session = session

    def __repr__(self) -> str:
        return f"SQLCurator({self.dataset!r} at {self._session.link.url})"

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            "a curator in a database holds a login, so it cannot be copied or pickled; connect "
            "again instead"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._session.link.close()

    # -- the account -------------------------------------------------------------------------------

    @property
    def left(self) -> Fraction:
        """What you can still spend, for the declared neighbours; within a reservation, what is left
        of that. Asks the database each time.
        """
        if not self._reservation:
            return self._session.left
        there = self._session.reservation(self._reservation)
        if there.get("state") != "open":
            return Fraction(0)
        return max(Fraction(there["reserved"]) - Fraction(there["charged"]), Fraction(0))

    @property
    def spent(self) -> Cost:
        """What this analyst has spent on the data set. Asks the database each time."""
        return self._session.spent

    @property
    def receipts(self) -> list[str]:
        """The receipts of the answers that came over this connection, oldest first."""
        return list(self._session.receipts)

    def history(self) -> list[Charged]:
        """Return this analyst's charges, oldest first."""
        return list(self._session.history())

    def preview(self, plan: Iterable[Cost]) -> Preview:
        cost = compose_sequentially(plan).promised(self.schema)
        return preview_cost(self.left, self.unit, cost)

    # -- asking ------------------------------------------------------------------------------------

    def check_learner(self, name: str) -> None:
        if name not in LEARNERS:
            raise QuestionError(
                f"{name!r} asks what SQL does not answer, such as whole trees or derivatives; "
                f"{_INSTEAD}. Nothing is charged"
            )

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
        asked: Query[Any] = check_query(query, self.schema)
        if not asked.for_analysts:
            raise ParameterError(f"{asked.name} is asked in the owner's own process only")
        price = Price.of(epsilon, rho)
        cost = asked.kind.cost(price)
        price.check_least(LEAST_EPSILON)
        if price.unit == "rho":
            raise QuestionError(
                "SQL has Laplace noise only, which is paid in epsilon; give epsilon (and a learner "
                "no delta), or ask the curator's service"
            )
        terms = {
            "epsilon": str(price.amount),
            # asked again after a lost connection, it is the same request
            "key": key or f"sql-{secrets.token_hex(16)}",
            "reservation": self._reservation,
        }
        try:
            released = self._release(asked, price, terms)
        except BudgetExceeded as error:
            note = explain_factor(self.schema, error.asked, error.unit)
            raise BudgetExceeded(
                error.asked, error.left, error.unit, error.account, note=note
            ) from None
        promised = cost.promised(self.schema)
        answer: A = asked.answer(released, Answer(promised, cost, True, None, asked=asked))
        return answer

    def _release(self, query: Query[Any], price: Price, terms: dict[str, str]) -> Any:
        """Return what the functions released, in the form that the query's own kind gives it."""
        if isinstance(query, MEASURED):
            measured = lay_out(query)
            kind = query.kind
            assert isinstance(kind, Measures)
            assert kind.sensitivity == measured.sensitivity
            numbers = self._session.ask("ask_walks", {**terms, **measured.to_arguments()}, _TYPES)
            tables = measured.tables(numbers) if measured.tables else [numbers]
            shaped = tuple(
                table.reshape(shape) for table, shape in zip(tables, kind.shapes, strict=True)
            )
            return Noisy(shaped, "discrete-laplace", kind.spread(price))
        if isinstance(query, ChooseSplits | FindQuantile) and query.mechanism == "permute-and-flip":
            if isinstance(query, FindQuantile):
                given = {"attribute": query.attribute, "share": str(query.q)}
                chosen = self._session.ask("choose_quantile", {**terms, **given}, _TYPES)
                return chosen.tolist()
            if query.criterion in ("max", "gini"):
                arguments = {**terms, **choice_arguments(query)}
                return self._session.ask("choose", arguments, _TYPES).tolist()
            raise QuestionError(f"SQL scores splits by max or gini; {_INSTEAD}")
        raise QuestionError(
            f"SQL does not answer {query.name!r}"
            + (" by the exponential mechanism" if hasattr(query, "mechanism") else "")
            + f"; {_INSTEAD}"
        )

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> NoReturn:  # noqa: ARG002
        """Raise: people are not divided in SQL."""
        raise QuestionError(
            "people cannot be divided over SQL, as there are no snapshots; ask the curator's "
            "service for it"
        )
