"""List the changes that an owner can make, by name, with what each takes: for API and page."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from privet._types import Json
from privet.accounting.cost import Budget
from privet.domain import Schema
from privet.errors import ParameterError, SchemaError
from privet.queries.json_parts import Amount
from privet.queries.shapes import Document, Either, Field, Fields, OneOf, ShapeError, Text
from privet.service.owner import datasets, people, rights
from privet.service.owner.desk import NEVER, Desk, Outcome, parse_span

_NAME = Text(500, 1)


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    @property
    def schema(self) -> Json:
        return {"type": "boolean"}

    def check(self, value: Any, where: str) -> None:
        if type(value) is not bool:
            raise ShapeError(where, "must be true or false")


_DATASET = Field(_NAME, True, "The name of the data set.")
_ANALYST = Field(_NAME, True, "The name of the analyst.")
_WHY = Field(Text(500), description="The reason, for the audit log.")
_PLACE = "Where the rows are: a file in an allowed folder, or a table of an allowed database."
_SAME_ROWS = Field(Flag(), description="You know that another data set has the same rows.")
_SCHEMA = Either((Document(), Text(1 << 20, 1)))
_BUDGET = {
    "epsilon": Field(Amount(), description="A cap in epsilon, such as 1 or 1/3."),
    "rho": Field(Amount(), description="A cap in rho (zCDP), instead."),
    "delta": Field(Amount(), description="With epsilon: as much rho as keeps (epsilon, delta)."),
}


@dataclass(frozen=True)
class Change:
    """One kind of change: its name, what it takes, and the function that makes it."""

    name: str
    shape: Fields
    make: Callable[[Desk, Json], Outcome]

    def run(self, desk: Desk, body: Json) -> Outcome:
        """Make the change, if the body has the shape that it may have."""
        desk.require_owner(self.name.replace("-", " "))
        self.shape.check(body, "body")
        return self.make(desk, body)

    def read_form(self, form: Mapping[str, str]) -> Json:
        """Return the body that a form stands for: fields that are empty are left out."""
        given: Json = {}
        for name, text in form.items():
            if name not in self.shape.of or not text.strip():
                continue
            given[name] = True if isinstance(self.shape.of[name].shape, Flag) else text.strip()
        return given


def _budget_of(body: Json) -> Budget | None:
    given = {name: body.get(name) for name in ("epsilon", "rho", "delta")}
    return Budget(**given) if any(one is not None for one in given.values()) else None


def _required_budget(body: Json) -> Budget:
    budget = _budget_of(body)
    if budget is None:
        raise ParameterError("give a cap: epsilon or rho")
    return budget


def _schema_of(body: Json) -> Schema | None:
    given = body.get("schema")
    if given is None:
        return None
    try:
        return Schema.from_json(json.loads(given) if isinstance(given, str) else given)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SchemaError(f"the schema is no JSON: {error}") from None


def _add_dataset(desk: Desk, body: Json) -> Outcome:
    schema = _schema_of(body)
    assert schema is not None  # it is required
    return datasets.add_dataset(
        desk,
        body["name"],
        body["place"],
        schema,
        _required_budget(body),
        same_rows=body.get("same_rows", False),
        why=body.get("why", ""),
    )


def _update_dataset(desk: Desk, body: Json) -> Outcome:
    return datasets.update_dataset(
        desk,
        body["name"],
        place=body.get("place"),
        password=body.get("password"),
        schema=_schema_of(body),
        same_rows=body.get("same_rows", False),
        why=body.get("why", ""),
    )


def _named(change: Callable[[Desk, str, str], Outcome]) -> Callable[[Desk, Json], Outcome]:
    return lambda desk, body: change(desk, body["name"], body.get("why", ""))


def _add_analyst(desk: Desk, body: Json) -> Outcome:
    same, why = body.get("same_person", False), body.get("why", "")
    until = body.get("until", NEVER)
    return people.add_analyst(desk, body["name"], same_person=same, until=until, why=why)


def _replace_token(desk: Desk, body: Json) -> Outcome:
    span = parse_span("overlap", body["overlap"]) if "overlap" in body else timedelta(0)
    until = body.get("until", NEVER)
    return people.replace_token(desk, body["name"], body.get("why", ""), span, until)


def _add_staff(desk: Desk, body: Json) -> Outcome:
    until = body.get("until", NEVER)
    return people.add_staff(desk, body["name"], body["role"], body.get("why", ""), until)


def _replace_staff_token(desk: Desk, body: Json) -> Outcome:
    until = body.get("until", NEVER)
    return people.replace_staff_token(desk, body["name"], body.get("why", ""), until)


def _grant(desk: Desk, body: Json) -> Outcome:
    names = body["analyst"], body["dataset"]
    return rights.grant(desk, *names, _budget_of(body), body.get("until"), body.get("why", ""))


def _revoke(desk: Desk, body: Json) -> Outcome:
    return rights.revoke(desk, body["analyst"], body.get("dataset"), body.get("why", ""))


def _change_cap(desk: Desk, body: Json) -> Outcome:
    budget, why = _required_budget(body), body.get("why", "")
    return rights.change_cap(desk, body["dataset"], budget, body.get("analyst"), why)


def _cancel(desk: Desk, body: Json) -> Outcome:
    return rights.cancel_reservation(desk, body["analyst"], body["key"], body.get("why", ""))


_UNTIL = Field(Text(100, 1), description="A date, an ISO time, a span such as 30d, never.")
_TOKEN_UNTIL = Field(
    Text(100, 1), description="When the token ends: as for a grant; by default never."
)
_ONE_ANALYST = {"name": _ANALYST, "why": _WHY}
_ONE_DATASET = {"name": _DATASET, "why": _WHY}
_ONE_OF_STAFF = {"name": Field(_NAME, True, "The owner's or auditor's name."), "why": _WHY}

#: All changes, by their names.
CHANGES = {
    change.name: change
    for change in (
        Change(
            "add-dataset",
            Fields(
                {
                    "name": Field(_NAME, True, "What analysts call it."),
                    "place": Field(Text(4000, 1), True, _PLACE),
                    "schema": Field(_SCHEMA, True, "What is public about the table."),
                    **_BUDGET,
                    "same_rows": _SAME_ROWS,
                    "why": _WHY,
                },
                "Register a table with its schema and the budget of all analysts together.",
            ),
            _add_dataset,
        ),
        Change(
            "update-dataset",
            Fields(
                {
                    "name": _DATASET,
                    "place": Field(Text(4000, 1), description=_PLACE),
                    "password": Field(Text(1000, 1), description="That of the table's server."),
                    "schema": Field(_SCHEMA, description="What is public about the table now."),
                    "same_rows": _SAME_ROWS,
                    "why": _WHY,
                },
                "Give a data set another place, password or schema. Grants and spending stay.",
            ),
            _update_dataset,
        ),
        Change(
            "pause-dataset",
            Fields(_ONE_DATASET, "Answer nothing about a data set until it is resumed."),
            _named(datasets.pause_dataset),
        ),
        Change(
            "resume-dataset",
            Fields(_ONE_DATASET, "Answer questions about a data set again."),
            _named(datasets.resume_dataset),
        ),
        Change(
            "remove-dataset",
            Fields(_ONE_DATASET, "No longer serve a data set. What was spent on it stays."),
            _named(datasets.remove_dataset),
        ),
        Change(
            "change-cap",
            Fields(
                {
                    "dataset": _DATASET,
                    "analyst": Field(_NAME, description="Change this analyst's cap alone."),
                    **_BUDGET,
                    "why": _WHY,
                },
                "Raise or lower the cap of a data set, or of one analyst on it.",
            ),
            _change_cap,
        ),
        Change(
            "grant",
            Fields(
                {
                    "analyst": _ANALYST,
                    "dataset": _DATASET,
                    **_BUDGET,
                    "until": _UNTIL,
                    "why": _WHY,
                },
                "Let an analyst ask about a data set. Granted again, what is left out stays.",
            ),
            _grant,
        ),
        Change(
            "revoke",
            Fields(
                {
                    "analyst": _ANALYST,
                    "dataset": Field(_NAME, description="By default all, and the token ends."),
                    "why": _WHY,
                },
                "Take back a grant, or all grants of an analyst and their token.",
            ),
            _revoke,
        ),
        Change(
            "cancel-reservation",
            Fields(
                {"analyst": _ANALYST, "key": Field(Text(500, 1), True), "why": _WHY},
                "Free what an analyst has set aside for a fit. What was charged stays charged.",
            ),
            _cancel,
        ),
        Change(
            "add-analyst",
            Fields(
                {
                    **_ONE_ANALYST,
                    "same_person": Field(
                        Flag(), description="Somebody of this name who was removed comes back."
                    ),
                    "until": _TOKEN_UNTIL,
                },
                "Register an analyst. The answer holds their token, this once.",
            ),
            _add_analyst,
        ),
        Change(
            "replace-token",
            Fields(
                {
                    **_ONE_ANALYST,
                    "overlap": Field(Text(100, 1), description="Such as 2h or 7d."),
                    "until": _TOKEN_UNTIL,
                },
                "Give an analyst another token. The one before ends at once, or after 'overlap'.",
            ),
            _replace_token,
        ),
        Change(
            "remove-analyst",
            Fields(_ONE_ANALYST, "Remove an analyst. What they spent stays in the ledger."),
            _named(people.remove_analyst),
        ),
        Change(
            "add-staff",
            Fields(
                {
                    **_ONE_OF_STAFF,
                    "role": Field(OneOf(("owner", "auditor")), True),
                    "until": _TOKEN_UNTIL,
                },
                "Register another owner, or an auditor. The answer holds their token, this once.",
            ),
            _add_staff,
        ),
        Change(
            "replace-staff-token",
            Fields(
                {**_ONE_OF_STAFF, "until": _TOKEN_UNTIL},
                "Give an owner or auditor another token.",
            ),
            _replace_staff_token,
        ),
        Change(
            "remove-staff",
            Fields(_ONE_OF_STAFF, "Remove an owner or auditor with their token."),
            _named(people.remove_staff),
        ),
    )
}
