"""Every error that Privet raises on purpose.

::

    PrivetError
    ├── ParameterError        a parameter has a value that is not allowed (also a ValueError)
    ├── SchemaError           a schema or schema file is wrong (also a ValueError)
    │   └── SchemaMismatch    a table does not fit its schema; carries the problems, never values
    ├── QuestionError         a question cannot be asked: unknown attribute, too large
    │   └── OverlapError      two cells of one partition overlap; carries both
    ├── PrivacyError          it would break the promise: epsilon = inf, a locked test seed
    ├── BudgetExceeded        a charge does not fit; carries asked, left and whose cap it was
    ├── LedgerError           a ledger cannot be opened or does not know the account
    │   ├── KeyReused         a request carries the key of another request
    │   ├── AnswerArchived    the answer of a charge is in an archive of the owner's
    │   ├── ReservationClosed there is no such open reservation (any more)
    │   └── TooManyReservations   an analyst may not open another one yet
    ├── AccessError           a curator does not know this token, or grants it nothing
    ├── Unavailable           a curator cannot be reached; says whether the charge stands
    ├── TableError            a table cannot be opened or read
    ├── OutsourceError        an outsourced table, its key or its server is not what it should be
    │   ├── SealError         what is sealed cannot be opened: one message, whatever the reason
    │   ├── NotThere          a server has no such tree, leaf or sealed object
    │   └── Conflict          somebody else was faster; nothing was changed
    ├── ModelError            a model file cannot be read or written (also a ValueError)
    ├── DatasetError          a data set is unknown, unavailable or not the expected one
    └── MissingDependency     an optional dependency is not installed (also an ImportError)

Messages name the parameter, what is allowed and what came. They never hold a value or an exact
count of a private table.

Examples
--------
>>> import privet as pv
>>> car = pv.datasets.load("car")
>>> curator = pv.Curator(car.table, car.schema, pv.Budget(1), dataset="car")
>>> try:
...     curator.size(epsilon=2)
... except pv.errors.BudgetExceeded as error:
...     print(error.left)
1
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


class PrivacyWarning(UserWarning):
    """Something is allowed, but gives away more than any ledger knows.

    Examples
    --------
    >>> import warnings
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     score = model.score(car.X, car.y)  # exact: fine for public rows only
    >>> caught[0].category is pv.PrivacyWarning
    True
    """


class RepeatedFitWarning(PrivacyWarning):
    """The same rows were trained on before in this process, so that what was spent on them adds up.

    Examples
    --------
    >>> import warnings
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     for _ in range(2):
    ...         model = pv.GreedyTreeClassifier(1, schema=car.schema).fit(car.X, car.y)
    >>> caught[-1].category is pv.errors.RepeatedFitWarning
    True
    """


class AbsentWarning(UserWarning):
    """A model of several tables answers without some attributes, which may be a slip in a column's
    name.
    """


class DraftWarning(UserWarning):
    """Columns were left out of a drafted schema, each for a reason."""


class PartyWarning(UserWarning):
    """A party of a relay cannot be reached any more, and the others go on without it."""


class DriftWarning(UserWarning):
    """New rows contradict a model, whose scores count less in the updated one, or not at all."""


class NoiseWarning(UserWarning):
    """A model is mostly noise, and there is a better way to spend epsilon.

    Examples
    --------
    >>> import warnings
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> forest = pv.RandomTreesClassifier(0.01, car.schema, people="disjoint", random_state=2)
    >>> with pv.testing.unlock_test_seeds(), warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     for rows in (car.table[::4], car.table[1::4], car.table[2::4], car.table[3::4]):
    ...         forest = forest.partial_fit(rows)
    >>> caught[-1].category is pv.NoiseWarning
    True
    """


class FewRowsWarning(NoiseWarning):
    """There are too few rows for this epsilon to learn anything from.

    Examples
    --------
    >>> import warnings
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = pv.PrivetClassifier("0.001", car.schema.declare(n_rows=1728)).fit(car.table)
    >>> caught[0].category is pv.FewRowsWarning
    True
    """


class ConstantWarning(NoiseWarning):
    """A model says the same class of every row, though its probabilities differ."""


class PrivetError(Exception):
    """Root of every error raised on purpose.

    Examples
    --------
    >>> import privet as pv
    >>> try:
    ...     pv.Budget(-1)
    ... except pv.PrivetError as error:
    ...     print(error)
    epsilon must be a finite number zero or more, got -1
    """


class ParameterError(PrivetError, ValueError):
    """A parameter has a value that is not allowed."""


class SchemaError(PrivetError, ValueError):
    """A schema, or a schema file, is wrong."""


class SchemaMismatch(SchemaError):
    """A table does not fit its schema.

    For the owner's eyes: that it is raised depends on the table.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "the table does not fit its schema:\n"
            + "\n".join(f"  - {problem}" for problem in problems)
        )


class QuestionError(PrivetError, ValueError):
    """A question that cannot be asked."""


class OverlapError(QuestionError):
    """Two cells of one partition share a part of the domain, so that parallel composition would not
    hold.

    ``first`` and ``second`` are the cells; the message has them in ``words``, if those are given.
    """

    def __init__(self, first: object, second: object, words: tuple[str, str] | None = None) -> None:
        self.first, self.second = first, second
        one, other = words or (first, second)
        super().__init__(
            f"cells of one partition must be disjoint, but [{one}] and [{other}] overlap; take "
            "what they share out of one of them"
        )


class PrivacyError(PrivetError):
    """Refused, because answering would break the privacy promise."""


class BudgetExceeded(PrivetError):
    """A charge does not fit into what is left.

    ``asked`` and ``left`` are exact, in ``unit`` ("epsilon" or "rho"); ``account`` says whose cap
    it was. Where the analyst's own cap has no room either, ``own`` is its account and what is left
    of it, and the message names it first. ``note`` says how ``asked`` comes from the price of the
    question, where the two differ.
    """

    def __init__(
        self,
        asked: Fraction,
        left: Fraction,
        unit: str,
        account: str,
        *,
        own: tuple[str, Fraction] | None = None,
        note: str = "",
    ) -> None:
        self.asked, self.left, self.unit, self.account = asked, left, unit, account
        self.own, self.note = own, note
        wanted = _format_amount(asked)

        def describe_left(amount: Fraction) -> str:
            there = _format_amount(amount)
            return f"left {unit} {f'a little less than {there}' if there == wanted else there}"

        first, there = (account, left) if own is None else own
        message = (
            f"the budget of {first} does not allow this: asked {unit} {wanted}, "
            f"{describe_left(there)}"
        )
        if own is not None:
            message += f"; nor does the budget of {account}: {describe_left(left)}"
        super().__init__(f"{message}. {note}" if note else message)


class LedgerError(PrivetError):
    """A ledger cannot be opened, or does not know the account."""


class KeyReused(LedgerError):
    """A request carries the idempotency key of another request. Nothing was charged for it."""


class AnswerArchived(LedgerError):
    """A request was charged and answered, and its answer is in an archive by now.

    Nothing is charged again, and no other answer is drawn for the charge. ``archive`` names the
    file, and ``digest`` is the SHA-256 of the answer.
    """

    def __init__(self, message: str, archive: str = "", digest: str = "") -> None:
        self.archive, self.digest = archive, digest
        super().__init__(message)


class ReservationClosed(LedgerError):
    """The analyst has no such open reservation: it was closed or has expired, or there never was
    one on this data set. Nothing was charged.
    """


class TooManyReservations(LedgerError):
    """An analyst has as many open reservations as are allowed. Nothing was reserved."""


class AccessError(PrivetError):
    """A curator does not know this token, or it has expired, was revoked, or is not granted the
    data set.
    """


class Unavailable(PrivetError):
    """A curator or its database cannot be reached, or is too busy.

    The message says whether a charge stands.
    """


class SnapshotEnded(Unavailable):
    """A snapshot at a curator has ended; what it saw is gone, and another one can be begun."""


class TableError(PrivetError):
    """A table cannot be opened or read."""


class OutsourceError(PrivetError):
    """An outsourced table, its key file or its server is not what it should be."""


class SealError(OutsourceError):
    """What is sealed cannot be opened: another key, another place, or changed since.

    It says no more, so that nobody can probe.
    """

    def __init__(self) -> None:
        super().__init__(
            "what the server holds cannot be opened with this key, or is not what was sealed"
        )


class NotThere(OutsourceError):
    """There is no such tree, leaf or sealed object."""


class Conflict(OutsourceError):
    """Somebody else was faster. Nothing was changed."""


class ModelError(PrivetError, ValueError):
    """A model file, or the file of a plan, cannot be written, read or trusted.

    Carries the path and a short reason.
    """

    def __init__(self, path: str | PathLike[str], reason: str, kind: str = "model") -> None:
        self.path, self.reason = fspath(path), reason
        super().__init__(f"{kind} file {self.path}: {reason}")


class DatasetError(PrivetError):
    """A data set is unknown, unavailable, or not the one that was expected."""


class MissingDependency(PrivetError, ImportError):
    """An optional dependency is not installed."""

    def __init__(
        self, package: str, extra: str = "", purpose: str = "this", *, requirement: str = ""
    ) -> None:
        wanted = requirement or f"privet[{extra}]"
        super().__init__(f"{purpose} needs the package {package!r}: pip install '{wanted}'")


def _format_amount(value: Fraction) -> str:
    """Return a short decimal, followed by the exact fraction where the decimal is not exact."""
    short = f"{float(value):.6g}"
    in_full = value.denominator < 10**9 and value != type(value)(short)
    return f"{short} (exactly {value})" if in_full else short
