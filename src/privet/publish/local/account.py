"""What randomised records are charged to a ledger, where there is one.

A report costs epsilon for a record *replaced*, and how many reports there are is told. So a
ledger's sum is right if its neighbours have as many reports: one row replaced by another costs
epsilon, and a person with up to m rows, replaced by one with as many, m epsilon.
"""

from __future__ import annotations

from privet.budget import Budget, Cost
from privet.curator.accounting import Accounting
from privet.errors import ParameterError
from privet.ledger import Ledger
from privet.publish.local.leaves import LeafRandomizer
from privet.publish.local.randomizer import Randomizer
from privet.schema import Schema

#: As it stands in a ledger.
OF_TABLE = "randomised records of a table"
OF_STREAM = "one randomised record"


def check_neighbours(schema: Schema) -> None:
    """Raise unless the neighbours of a table have as many rows as it has, which are as many
    reports.
    """
    if schema.neighbours != "replace":
        raise ParameterError(
            "neighbours must be 'replace' in the schema of a table that is randomised, got "
            f"{schema.neighbours!r}: there are as many reports as rows, so a row added or removed "
            "cannot be hidden. Declare it, before the first question is asked, in the schema that "
            "you give: privet schema declare SCHEMA --neighbours replace -o SCHEMA"
        )
    if schema.rows_per_person > 1 and schema.n_rows is None:
        raise ParameterError(
            "n_rows must be declared in the schema of a table that is randomised where a person "
            f"may have {schema.rows_per_person} rows: there are as many reports as rows, so a "
            "person with more rows than another cannot be hidden. Declare it: privet schema "
            "declare SCHEMA --rows N -o SCHEMA"
        )


def charge_table(account: Accounting, randomizer: Randomizer | LeafRandomizer) -> None:
    """Charge the reports of a whole table.

    Cost: pure epsilon for each row that a person may have. Neighbours: one row, or person, replaced
    by another with as many rows.
    """
    check_neighbours(account.schema)
    account.charge_promised(
        Cost.pure(randomizer.epsilon * account.schema.rows_per_person), OF_TABLE
    )


class StreamAccount(Accounting):
    """The account of one person whose records come one by one. Each is charged epsilon before its
    report leaves, so that all add up.
    """

    def __init__(
        self,
        randomizer: Randomizer | LeafRandomizer,
        budget: Budget | None,
        ledger: Ledger,
        dataset: str,
        analyst: str,
    ) -> None:
        self._schema, self._dataset = randomizer.schema, dataset
        self.ledger, self.analyst = ledger, analyst
        self._bits, self._account, self._cost = randomizer.bits, "", randomizer.cost
        self._open_account(budget)

    def charge(self) -> None:
        """Charge one record, durably, or raise :class:`~privet.errors.BudgetExceeded`."""
        self.charge_promised(self._cost, OF_STREAM)
