"""Look whether the service can answer: for balancers, and for whoever is on call.

Three things are looked at: whether the ledger can be written, whether it still has the last line
that its witness has seen, and whether the tables can be reached. What is found is kept for a few
seconds, so that strangers who ask often cause no work; a check that does not come back in time has
failed, and is not begun again until it has.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from privet.errors import LedgerError, PrivetError
from privet.service.accounts import RegisteredDataset
from privet.service.state import ServiceState

#: Seconds for which a finding is kept, and that a check may take.
KEPT, PATIENCE = 3.0, 5.0


@dataclass(frozen=True)
class Verification:
    """What the last verification of ledger and audit log found; empty where they are whole."""

    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    found: Sequence[str] = ()
    #: What is wrong with the audit log: no reason to answer nobody, but to look into.
    audit_log: Sequence[str] = ()
    by_hand: bool = False


class Health:
    """What was found last, and how to look again.

    Args:
        state: what the curator keeps.
        reach: opens the table of a data set, or raises.
    """

    def __init__(self, state: ServiceState, reach: Callable[[RegisteredDataset], object]) -> None:
        self._state, self._reach = state, reach
        self._threads = ThreadPoolExecutor(8, thread_name_prefix="health")
        self._running: dict[str, Future[object]] = {}
        self._turn = asyncio.Lock()
        self._looked_at = -KEPT
        #: Whether each check passed when it was looked at last.
        self.checks: Mapping[str, bool] = {}
        #: Whether the table of each data set could be reached then.
        self.tables: Mapping[str, bool] = {}
        #: The last verification; a ledger that is not whole is not served to begin with.
        self.verified = Verification(audit_log=state.verify_audit_log())

    @property
    def ready(self) -> bool:
        """Whether every check passed, as far as they were made."""
        return bool(self.checks) and all(self.checks.values())

    async def look(self) -> Mapping[str, bool]:
        """Return whether each check passes; what was found a moment ago is not looked at again."""
        async with self._turn:
            if time.monotonic() - self._looked_at >= KEPT:
                await self._look()
                self._looked_at = time.monotonic()
        return self.checks

    async def _look(self) -> None:
        ledger, witness, tables = await asyncio.gather(
            self._passes("ledger", self._state.ledger.check_writable),
            self._passes("witness", self._check_witness),
            self._look_at_tables(),
        )
        # One table that cannot be reached is no reason to answer about none of the others.
        self.checks = {
            "ledger": ledger,
            "witness": witness and not self.verified.found,
            "tables": any(tables.values()) or not tables,
        }
        self.tables = tables

    async def _look_at_tables(self) -> dict[str, bool]:
        try:
            datasets = await asyncio.to_thread(self._state.accounts.datasets)
        except PrivetError:
            return {"": False}
        passed = await asyncio.gather(
            *(
                self._passes(f"table {dataset.id}", partial(self._reach, dataset))
                for dataset in datasets
            )
        )
        return {dataset.name: found for dataset, found in zip(datasets, passed, strict=True)}

    async def _passes(self, name: str, check: Callable[[], object]) -> bool:
        before = self._running.get(name)
        if before is not None and not before.done():  # it did not come back the last time
            return False
        self._running[name] = running = self._threads.submit(check)
        try:
            async with asyncio.timeout(PATIENCE):
                await asyncio.shield(asyncio.wrap_future(running))
        except (PrivetError, TimeoutError):
            return False
        return True

    def _check_witness(self) -> None:
        """Raise where a witness has seen what the ledger does not have, or can see no more."""
        self._state.check_witnesses()
        ledger = self._state.ledger
        for witness in self._state.witnesses:
            seen = witness.seen()
            if seen is None:
                continue
            line = ledger.line(seen.number) if seen.ledger == ledger.identity else None
            if line is None or line.hash != seen.hash:
                raise LedgerError("the ledger is behind its witness")

    def verify(self, *, by_hand: bool = False) -> Verification:
        """Verify the whole ledger and the audit log now."""
        found, audit_log = self._state.verify(), self._state.verify_audit_log()
        self.verified = Verification(found=found, audit_log=audit_log, by_hand=by_hand)
        self._looked_at = -KEPT
        return self.verified

    async def verify_every(self, seconds: float) -> None:
        """Verify the ledger again and again; what cannot be verified fails the checks."""
        while seconds > 0:
            await asyncio.sleep(seconds)
            with suppress(PrivetError):  # a ledger that cannot be read fails its own check
                await asyncio.to_thread(self.verify)

    def close(self) -> None:
        """Look at nothing any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
