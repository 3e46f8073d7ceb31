"""Read what is granted, spent and set aside: for owners and auditors, without any row or count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from privet._types import Json
from privet.accounting.ledger import left
from privet.accounting.ledger.reservations import IDLE, held_by
from privet.service.accounts import Grant, RegisteredDataset
from privet.service.audit_log.events import Person
from privet.service.owner.datasets import describe_place
from privet.service.owner.desk import Desk
from privet.service.owner.places import AllowedPlaces
from privet.service.token_ends import is_over


def list_datasets(desk: Desk) -> list[Json]:
    """Return all data sets with caps and grants; those that are no longer served, too."""
    served = {dataset.name: dataset for dataset in desk.state.accounts.datasets()}
    names = sorted({*served, *desk.state.ledger.datasets()})
    return [_describe_dataset(desk, name, served.get(name)) for name in names]


def _describe_dataset(desk: Desk, name: str, dataset: RegisteredDataset | None) -> Json:
    ledger = desk.state.ledger
    told: Json = {"name": name, "served": dataset is not None}
    if dataset is not None:
        paused = dataset.paused
        told |= {
            "place": describe_place(dataset),
            "added": dataset.added,
            "paused": None if paused is None else {"since": paused[0], "why": paused[1]},
            "schema": dataset.schema.to_json(),
            "fingerprint": dataset.schema.fingerprint,
        }
    cap = ledger.cap(name)
    if cap is not None:
        open_ones = ledger.reservations(name, open_only=True)
        told |= {
            "unit": cap.unit,
            "cap": str(cap.amount),
            "spent": str(ledger.spent(name).amount(cap.unit) or 0),
            "set_aside": str(held_by(open_ones)),
            "left": str(max(cap.amount - ledger.committed(name), 0)),
            "for": str(ledger.relation(name) or ""),
        }
    grants = {
        grant.analyst: grant for grant in desk.state.accounts.grants() if grant.dataset == name
    }
    who = sorted({*grants, *(ledger.analysts(name) if cap is not None else ())})
    told["analysts"] = [_describe_share(desk, name, one, grants.get(one)) for one in who]
    return told


def _describe_share(desk: Desk, dataset: str, analyst: str, grant: Grant | None) -> Json:
    ledger = desk.state.ledger
    shared, cap = ledger.cap(dataset), ledger.cap(dataset, analyst)
    told: Json = {
        "analyst": analyst,
        "granted": grant is not None and not grant.over,
        "until": None if grant is None else grant.expires or None,
        "cap": None if cap is None else str(cap.amount),
    }
    if shared is not None:
        told["spent"] = str(ledger.spent(dataset, analyst).amount(shared.unit) or 0)
        told["left"] = str(left(ledger, dataset, analyst))
    return told


def list_people(desk: Desk) -> Json:
    """Return analysts with what they may ask about now, and owners and auditors."""
    accounts = desk.state.accounts
    grants, ends = accounts.grants(), accounts.token_ends()
    return {
        "analysts": [
            {
                "name": name,
                "datasets": [one.dataset for one in grants if one.analyst == name and not one.over],
                **_describe_token(desk, ends.get(Person(name, "analyst"), "")),
            }
            for name in accounts.analysts()
        ],
        "staff": [
            {
                "name": person.name,
                "role": person.role,
                **_describe_token(desk, ends.get(person, "")),
            }
            for person in accounts.staff()
        ],
    }


def _describe_token(desk: Desk, ends: str) -> Json:
    """When a token ends by itself, and whether it has; the token itself is known to nobody."""
    return {"token_until": ends or None, "token_over": is_over(ends, desk.state.accounts.now())}


def list_reservations(desk: Desk) -> list[Json]:
    """Return what is set aside for fits now, oldest first."""
    from datetime import datetime

    desk.state.ledger.expire()
    return [
        {
            "analyst": one.analyst,
            "dataset": one.dataset,
            "what": one.what,
            "key": one.key,
            "unit": one.unit,
            "reserved": str(one.reserved),
            "left": str(one.left),
            "since": one.time,
            "touched": one.touched,
            "expires": (datetime.fromisoformat(one.touched) + IDLE).isoformat(),
        }
        for one in desk.state.ledger.reservations(open_only=True)
    ]


@dataclass(frozen=True)
class Soundness:
    """Whether ledger and audit log are what they were, and what the tables look like."""

    ledger: tuple[str, ...]
    audit_log: tuple[str, ...]


def verify_all(desk: Desk) -> Soundness:
    """Verify the whole ledger and the whole audit log."""
    from privet.accounting.ledger import verify

    state = desk.state
    return Soundness(
        tuple(verify(state.ledger, state.witness)),
        tuple(state.verify_audit_log()),
    )


def describe_state(desk: Desk, tables: Mapping[str, bool], checks: Mapping[str, bool]) -> Json:
    """Return how the service is: what its health checks found, versions, allowed places.

    ``sql_functions`` says which version is installed, and which one this Privet has.
    """
    import privet

    places = AllowedPlaces.read(desk.state.path)
    functions = desk.state.find_functions()
    told: dict[str, Any] = {
        "version": privet.__version__,
        "checks": dict(checks),
        "tables": {name: "reachable" if good else "not reachable" for name, good in tables.items()},
        "least_epsilon": str(desk.state.least_epsilon),
        "unanswered": len(desk.state.ledger.unanswered()),
        "sql_functions": functions and {"installed": functions[0], "current": functions[1]},
        "places": {"folders": list(places.folders), "databases": list(places.databases)},
    }
    return told
