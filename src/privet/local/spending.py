"""Pay for work on randomised records: they have paid already, when people randomised them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from privet.accounting.cost import Cost
from privet.accounting.statement import PrivacyStatement
from privet.curator.base import AnyCurator
from privet.curator.spending import Spending, release_id, state_randomised


class RandomisedSpending(Spending):
    """What records paid when they were randomised.

    Whatever is computed from them states this cost and costs nothing more, so that each query is
    as good as if it were the only one.
    """

    def give_back(self) -> None:
        """Promise what the records have paid: nothing less was released."""

    def notice_rows(self, rows: float, deviation: float, *, at_least: bool = False) -> None:
        """Note nothing: how many records there are is public."""

    @classmethod
    @contextmanager
    def open(cls, curator: AnyCurator, paid: Cost) -> Iterator[RandomisedSpending]:
        """See the same records throughout some work. Nothing is reserved or charged."""
        with curator.snapshot():
            yield cls(curator, paid, left=paid.epsilon)

    @property
    def to_share(self) -> Fraction | None:
        return None

    def statement(
        self,
        notes: Iterable[str] = (),  # noqa: ARG002
        *,
        name: str = "",
        id: str | None = None,  # noqa: A002
    ) -> PrivacyStatement:
        curator = self.curator
        release = release_id(curator.bits) if id is None else id
        curator.claim(release)
        assert self.cost is not None
        reasons = [] if curator.private else [curator.reason]
        return state_randomised(
            curator.schema, self.cost, reasons, id=release, name=name, account=curator.account
        )
