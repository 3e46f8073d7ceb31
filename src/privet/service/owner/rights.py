"""Set caps, grant and revoke, and free what is set aside."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction

from privet.accounting.cost import Budget
from privet.accounting.ledger.base import check_cap
from privet.errors import ParameterError, ReservationClosed
from privet.service.accounts import Grant
from privet.service.owner.desk import Desk, Outcome, parse_end


def grant(
    desk: Desk,
    analyst: str,
    dataset: str,
    budget: Budget | None = None,
    until: str | None = None,
    why: str = "",
) -> Outcome:
    """Let an analyst ask about a data set, up to a budget of their own in all.

    Granting again changes what is given, and leaves the rest: the budget, or the end.

    Args:
        desk, why: who grants it, and the reason.
        analyst, dataset: who may ask about what.
        budget: what they may spend in all; None leaves the one that they have.
        until: a date, an ISO time, a span such as ``"30d"``, or ``"never"``; None leaves the end
            that the grant has.
    """
    state = desk.state
    desk.check_analyst(analyst)
    registered = desk.dataset(dataset)
    before = _find_grant(desk, analyst, dataset)
    ends = _parse_end(until, before)
    cap = state.ledger.cap(dataset, analyst)
    if budget is None and cap is None:
        raise ParameterError(
            f"say how much {analyst!r} may spend on {dataset!r} in all, such as epsilon 1"
        )
    warnings = []
    if budget is not None:
        check_cap(state.ledger.cap(dataset), dataset, budget, analyst)
        warnings += _warn_of_spent(desk, dataset, budget, analyst)
    if before is not None and before.over and until is None:
        warnings.append(f"the grant ended on {before.expires[:16]} UTC; give it another end")
    end = "" if ends is None else f", until {ends.isoformat(timespec='minutes')}"
    kind = "grant" if before is None else "grant changed"
    what = f"{analyst!r} may spend {budget or cap} on {dataset!r}{end}"
    told = "; ".join([what, *warnings])
    facts = {"budget": str(budget or cap), "until": "" if ends is None else ends.isoformat()}
    with desk.changing(kind, told, dataset, analyst, why, **facts) as event:
        if budget is not None:
            # the cap first: a grant without one would be bound by the data set's only
            state.ledger.set_cap(dataset, budget, analyst)
        state.accounts.grant(analyst, dataset, ends)
        functions = state.functions
        if functions is not None and registered.paused is None:
            functions.allow(dataset, analyst, ends)
    return Outcome(what, event.number, warnings=tuple(warnings))


def revoke(desk: Desk, analyst: str, dataset: str | None = None, why: str = "") -> Outcome:
    """Take back a grant, or all grants of an analyst and their token. Acts at once."""
    state = desk.state
    desk.check_analyst(analyst)
    names = [
        held.dataset
        for held in state.accounts.grants(analyst)
        if dataset is None or held.dataset == dataset
    ]
    if dataset is not None and not names:
        raise ParameterError(f"analyst {analyst!r} has no grant on data set {dataset!r}")
    listed = ", ".join(map(repr, names)) if names else "nothing was granted"
    what = f"{analyst!r} may no longer ask ({listed})" + (
        "" if dataset else "; the token has ended"
    )
    with desk.changing("revoke", what, dataset or "", analyst, why, datasets=names) as event:
        state.accounts.revoke(analyst, dataset)
        functions = state.functions
        for name in names if functions is not None else ():
            assert functions is not None
            functions.forbid(name, analyst)
    return Outcome(what, event.number)


def change_cap(
    desk: Desk, dataset: str, budget: Budget, analyst: str | None = None, why: str = ""
) -> Outcome:
    """Raise or lower the cap of a data set, or of one analyst on it.

    A cap may be lower than what was spent: then nothing more can be spent, and the outcome says so.
    What was spent is never undone.
    """
    ledger = desk.state.ledger
    shared = ledger.cap(dataset)
    if shared is None:
        known = ", ".join(map(repr, ledger.datasets())) or "none yet"
        raise ParameterError(f"no data set {dataset!r} has a cap; there are {known}")
    if analyst is not None:
        desk.check_analyst(analyst)
    check_cap(shared, dataset, budget, analyst)
    before = shared if analyst is None else ledger.cap(dataset, analyst)
    whose = f"{dataset!r}" if analyst is None else f"{analyst!r} on {dataset!r}"
    was = "there was none" if before is None else f"it was {before}"
    what = f"the cap of {whose} is {budget}; {was}"
    warnings = _warn_of_spent(desk, dataset, budget, analyst)
    told = "; ".join([what, *warnings])
    facts = {"budget": str(budget), "before": str(before or "")}
    with desk.changing("cap", told, dataset, analyst or "", why, **facts) as event:
        ledger.set_cap(dataset, budget, analyst)
    return Outcome(what, event.number, warnings=tuple(warnings))


def cancel_reservation(desk: Desk, analyst: str, key: str, why: str = "") -> Outcome:
    """Free what an analyst has set aside for a fit. What was charged stays charged."""
    from privet.service.amounts import format_down

    ledger = desk.state.ledger
    there = ledger.reservation(analyst, key)
    if there is None or not there.is_open:
        raise ReservationClosed(f"analyst {analyst!r} has no open reservation {key!r}")
    what = f"cancelled {there.what!r}: {there.unit} {format_down(there.left)} can be spent again"
    with desk.changing(
        "reservation cancelled", what, there.dataset, analyst, why, key=key
    ) as event:
        ledger.close_reservation(analyst, key, why="cancelled")
    return Outcome(what, event.number)


def _find_grant(desk: Desk, analyst: str, dataset: str) -> Grant | None:
    for held in desk.state.accounts.grants(analyst):
        if held.dataset == dataset:
            return held
    return None


def _parse_end(until: str | None, before: Grant | None) -> datetime | None:
    if until is None:
        return datetime.fromisoformat(before.expires) if before and before.expires else None
    return parse_end(until)


def _warn_of_spent(desk: Desk, dataset: str, budget: Budget, analyst: str | None) -> list[str]:
    """Say what a cap means for whoever has spent more than that, or nearly so."""
    from privet.service.amounts import format_up

    ledger = desk.state.ledger
    committed = ledger.committed(dataset, analyst)
    spent = ledger.spent(dataset, analyst).amount(budget.unit) or Fraction(0)
    if spent >= budget.amount > 0 or (spent > 0 and budget.amount == 0):
        return [
            f"{budget.unit} {format_up(spent)} is spent already, so nothing more can be spent, "
            "also not from what is set aside"
        ]
    if committed > budget.amount:
        return [
            f"{budget.unit} {format_up(committed)} is spent or set aside for fits already: they "
            "can spend up to the new cap, and nothing new can begin"
        ]
    return []
