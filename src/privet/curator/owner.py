"""Do what only the owner of a table may do: hand out curators, set budgets, join a federation.

An analyst is handed a :class:`~privet.curator.Curator`, which asks and pays. All that lifts a
budget, or that promises nothing by itself, is on another object, so that it cannot be handed over
by accident. Both are objects of one process: Python code that wants to can read its memory, which
is why analysts whom you do not trust get a service instead.
"""

from __future__ import annotations

import copy

from privet._validate import check_integer
from privet.accounting.cost import Budget, Number
from privet.accounting.ledger import Ledger, Reservation
from privet.accounting.ledger.base import check_name
from privet.curator.account import ledger_of
from privet.curator.curator import Curator, table_of
from privet.curator.table_check import TableCheck, check_table
from privet.domain import Schema
from privet.errors import ParameterError
from privet.mechanisms.randomness import Bits
from privet.mechanisms.shares import MAX_SHARES
from privet.queries import Share, ShareCounts, check_query
from privet.queries.count import Asked


class Owner:
    """Stands for the owner of a table, in the process that reads it.

    Parameters
    ----------
    table
        What :func:`~privet.open_table` takes or returns.
    schema
        What is public about the table.
    budget
        The cap of the data set, if the ledger does not have one yet.
    ledger
        Where charges are recorded; by default one that lives as long as the process.
    dataset
        The name of the account that is charged; by default the table's.
    public, strict, bits
        As :class:`~privet.curator.Curator` has them.

    Examples
    --------
    >>> import privet as pv
    >>> schema = pv.Schema({"a": pv.Categorical(["0", "1"])}, "c", ["x", "y"])
    >>> owner = pv.Owner({"a": ["0"], "c": ["x"]}, schema, pv.Budget(2))
    >>> ada = owner.curator("ada", pv.Budget(1))  # what Ada gets
    >>> ada.left
    Fraction(1, 1)
    """

    def __init__(
        self,
        table: object,
        schema: Schema,
        budget: Budget | None = None,
        *,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        public: bool = False,
        strict: bool = False,
        bits: Bits | None = None,
    ) -> None:
        self._curator = Curator(
            table,
            schema,
            budget,
            ledger=ledger,
            dataset=dataset,
            analyst="owner",
            public=public,
            strict=strict,
            bits=bits,
        )

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self._curator.schema

    @property
    def dataset(self) -> str:
        """The name of the account."""
        return self._curator.dataset

    @property
    def ledger(self) -> Ledger:
        """The ledger itself, caps and all: whoever has it can lift a budget."""
        return ledger_of(self._curator)

    @property
    def private(self) -> bool:
        """Whether what is counted here is private; :attr:`reason` says why where it is not."""
        return self._curator.private

    @property
    def reason(self) -> str:
        """Why answers are not private; empty where they are."""
        return self._curator.reason

    def curator(self, analyst: str = "analyst", budget: Budget | None = None) -> Curator:
        """Return a curator to hand to an analyst.

        Args:
            analyst: whose account is charged.
            budget: their own cap; by default what it was, or the data set's alone.
        """
        check_name("analyst", analyst or "")  # nobody is no analyst
        if budget is not None:
            self.set_budget(budget, analyst)
        handed = copy.copy(self._curator)
        handed._analyst = analyst
        return handed

    def check(self) -> TableCheck:
        """Look at how the table fits its schema: which columns have entries that are dropped or
        clipped, and how many.

        Exact, free, and for you alone: never hand it to an analyst. Nothing of it is in a model, a
        card or a ledger. If you change the schema because of it, the schema depends on the rows.

        Returns
        -------
        TableCheck
            What was found; ``print`` it where nobody else looks.

        Examples
        --------
        >>> import privet as pv
        >>> schema = pv.Schema({"a": pv.Categorical(["0", "1"])}, "c", ["x", "y"])
        >>> owner = pv.Owner({"a": ["0", "2"], "c": ["x", "y"]}, schema, pv.Budget(2))
        >>> check = owner.check()
        >>> check.fits
        False
        >>> print(check)
          - 1 of 2 rows fit the schema and are counted
          - column 'a' holds values that the schema does not list; ...: 1 of 2 rows, not counted
        """
        return check_table(table_of(self._curator), self.schema)

    def set_budget(self, budget: Budget, analyst: str | None = None) -> None:
        """Set the cap of the data set, or of one analyst on it."""
        self.ledger.set_cap(self.dataset, budget, analyst)

    def cancel(self, analyst: str, key: str) -> Reservation:
        """End a reservation of an analyst; what is left of it can be spent by others."""
        return self.ledger.close_reservation(analyst, key, why="cancelled")

    def share(self, question: Asked, epsilon: Number, *, parties: int, honest: int) -> Share:
        """Return class counts with one party's share of the noise of a count.

        To leave this process inside secure aggregation only: alone a share promises nothing, the
        sum of at least ``honest`` of them does. Charged in full, to the account ``federation``.

        Args:
            question: what is counted.
            epsilon: what the sum costs, for one row added or removed.
            parties: how many contributions the sum has at least, 2 or more.
            honest: how many of them are honest; each adds one of so many shares of the noise. Fewer
                than ``parties``: whoever contributed knows their own noise. The noise of one share
                must have a standard deviation of at least
                :data:`~privet.mechanisms.shares.LEAST_DEVIATION`.
        """
        check_integer("parties", parties, 2, MAX_SHARES)
        check_integer("honest", honest, 1, MAX_SHARES)
        if honest >= parties:
            raise ParameterError(
                f"honest must be less than parties ({parties}), got {honest}: every party knows "
                "its own noise, and can take it off the sum"
            )
        party = self.curator("federation")
        asked = check_query(ShareCounts(question, honest), self.schema)
        return party._answer(asked, epsilon)
