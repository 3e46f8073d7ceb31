"""Add and remove analysts, owners and auditors, and give them new tokens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from privet.errors import ParameterError
from privet.service.accounts import FIRST_OWNER
from privet.service.audit_log.events import Role
from privet.service.owner.desk import Desk, Outcome, parse_end

_SHOWN_ONCE = "their token is shown this once"


def add_analyst(
    desk: Desk, name: str, *, same_person: bool = False, until: str = "never", why: str = ""
) -> Outcome:
    """Register an analyst, whose token is good ``until`` a time.

    ``same_person`` says that somebody of this name who was removed comes back, rather than another
    person, who would read what the first one asked.
    """
    ends = parse_end(until)
    accounts, ledger = desk.state.accounts, desk.state.ledger
    if name not in accounts.analysts() and not same_person and ledger.entries(analyst=name):
        raise ParameterError(
            f"an analyst {name!r} was here before, and their charges stay: add another person "
            "under another name, or say that it is the same person (--same-person, same_person)"
        )
    what = f"analyst {name!r} added{_say_end('with a token', ends)}"
    accounts.check_new_analyst(name)
    with desk.changing("analyst added", what, analyst=name, why=why) as event:
        token = accounts.add_analyst(name, ends)
    return Outcome(f"{what}; {_SHOWN_ONCE}", event.number, token)


def replace_token(
    desk: Desk,
    name: str,
    why: str = "",
    overlap: timedelta = timedelta(0),
    until: str = "never",
) -> Outcome:
    """Give an analyst another token, which is good ``until`` a time.

    The one before ends at once, or after ``overlap``, so that their fits can go on; with an end of
    its own, not later than that.
    """
    ends = parse_end(until)
    desk.check_analyst(name)
    last = (datetime.now(UTC) + overlap).isoformat(timespec="minutes") if overlap else ""
    before = f"is valid until {last}" if overlap else "has ended"
    what = f"new token for analyst {name!r}{_say_end('good', ends)}; the one before {before}"
    with desk.changing("token replaced", what, analyst=name, why=why, until=last) as event:
        token = desk.state.accounts.new_token(name, overlap, ends)
    warnings = (
        (f"the token before is valid until {last}; without --overlap it ends at once",)
        if overlap
        else ()
    )
    return Outcome(f"{what}; {_SHOWN_ONCE}", event.number, token, warnings)


def remove_analyst(desk: Desk, name: str, why: str = "") -> Outcome:
    """Remove an analyst with their token and grants. What they spent stays."""
    desk.check_analyst(name)
    state = desk.state
    names = [grant.dataset for grant in state.accounts.grants(name)]
    what = f"analyst {name!r} removed; what they spent stays in the ledger"
    with desk.changing("analyst removed", what, analyst=name, why=why, datasets=names) as event:
        state.accounts.remove_analyst(name)
        functions = state.functions
        for one in names if functions is not None else ():
            assert functions is not None
            functions.forbid(one, name)
    return Outcome(what, event.number)


def give_role(desk: Desk, name: str, role: str, why: str = "") -> Outcome:
    """Let a login of the ledger's PostgreSQL server ask from SQL as an analyst."""
    desk.check_analyst(name)
    functions = desk.state.require_functions()
    what = f"the role {role!r} asks as {name!r}"
    with desk.changing("database role", what, analyst=name, why=why, login=role) as event:
        functions.grant_role(role, name)
    return Outcome(what, event.number)


def add_staff(desk: Desk, name: str, role: Role, why: str = "", until: str = "never") -> Outcome:
    """Register another owner, or an auditor, who reads everything and changes nothing."""
    ends = parse_end(until)
    accounts = desk.state.accounts
    accounts.check_new_staff(name, role)
    what = f"{role} {name!r} added{_say_end('with a token', ends)}"
    with desk.changing("role given", what, why=why, name=name, role=role) as event:
        token = accounts.add_staff(name, role, ends)
    return Outcome(f"{what}; {_SHOWN_ONCE}", event.number, token)


def replace_staff_token(desk: Desk, name: str, why: str = "", until: str = "never") -> Outcome:
    """Give an owner or auditor another token; the one before ends at once."""
    ends = parse_end(until)
    person = desk.state.accounts.check_staff(name)
    what = f"new token for {person.role} {name!r}{_say_end('good', ends)}; the one before has ended"
    with desk.changing("token replaced", what, why=why, name=name) as event:
        token = desk.state.accounts.new_staff_token(name, ends)
    return Outcome(f"{what}; {_SHOWN_ONCE}", event.number, token)


def remove_staff(desk: Desk, name: str, why: str = "") -> Outcome:
    """Remove an owner or auditor with their token."""
    person = desk.state.accounts.check_staff(name)
    if person == FIRST_OWNER:
        raise ParameterError(
            "the first owner stays, so that there is always one; replace their token instead"
        )
    what = f"{person.role} {name!r} removed"
    with desk.changing("role taken", what, why=why, name=name, role=person.role) as event:
        desk.state.accounts.remove_staff(name)
    return Outcome(what, event.number)


def _say_end(what: str, ends: datetime | None) -> str:
    """Say how long a token is good."""
    if ends is None:
        return ""
    return f", {what} until {ends.astimezone(UTC).isoformat(timespec='minutes')}"
