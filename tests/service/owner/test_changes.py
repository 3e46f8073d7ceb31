"""What an owner changes: it acts, it is recorded first, and what is wrong changes nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from privet.accounting.cost import Budget, Cost
from privet.domain import Categorical
from privet.errors import AccessError, ParameterError, PrivacyError, PrivetError, SchemaError
from privet.service.accounts import FIRST_OWNER
from privet.service.audit_log import Person
from privet.service.audit_log.store import verify_stored
from privet.service.owner import datasets, people, rights
from privet.service.owner.desk import Desk
from privet.service.owner.places import AllowedPlaces, PlaceRefused, with_password
from tests.service.conftest import SCHEMA, copy_table


@pytest.fixture
def desk(state) -> Desk:
    return Desk(state, FIRST_OWNER)


@pytest.fixture
def spent(state) -> Cost:
    return state.ledger.charge("people", "ada", Cost.pure("1/2"), "size", key="k", request="r").cost


def last(desk: Desk):
    return desk.state.audit_log.events()[-1]


# -- rights ----------------------------------------------------------------------------------------


def test_a_grant_that_is_given_again_keeps_what_is_not_said(desk, state):
    rights.grant(desk, "ada", "people", until="2999-01-01")
    (held,) = state.accounts.grants("ada")
    assert held.expires == "2999-01-01T00:00:00+00:00"
    assert state.ledger.cap("people", "ada") == Budget(2), "the budget stays"
    rights.grant(desk, "ada", "people", Budget(1))
    assert state.accounts.grants("ada") == [held], "the end stays"
    assert state.ledger.cap("people", "ada") == Budget(1)
    outcome = rights.grant(desk, "ada", "people", until="never", why="prolonged")
    assert state.accounts.grants("ada")[0].expires == ""
    event = last(desk)
    assert (event.number, event.kind) == (outcome.event, "grant changed")
    assert event.what == "'ada' may spend epsilon 1 on 'people' (prolonged)"
    assert (event.dataset, event.analyst, event.person) == ("people", "ada", "owner")


def test_a_grant_without_a_budget_or_with_an_end_in_the_past_is_none(desk, state):
    people.add_analyst(desk, "eve")
    with pytest.raises(ParameterError, match="say how much 'eve' may spend"):
        rights.grant(desk, "eve", "people")
    with pytest.raises(ParameterError, match="a time to come"):
        rights.grant(desk, "eve", "people", Budget(1), "2001-01-01")
    assert state.accounts.grants("eve") == []
    assert state.ledger.cap("people", "eve") is None


def test_a_cap_below_what_was_spent_stops_everything_and_says_so(desk, state, spent):
    outcome = rights.change_cap(desk, "people", Budget("1/4"), why="too much")
    assert state.ledger.cap("people") == Budget("1/4")
    (warning,) = outcome.warnings
    assert "epsilon 0.5 is spent already, so nothing more can be spent" in warning
    assert "nothing more can be spent" in last(desk).what
    with pytest.raises(PrivetError, match="budget"):
        state.ledger.charge("people", "ada", Cost.pure("1/100"), "size", key="l", request="r")
    assert rights.change_cap(desk, "people", Budget(4)).warnings == ()
    assert last(desk).particulars == {"budget": "epsilon 4", "before": "epsilon 0.25"}


def test_the_cap_of_one_analyst_is_changed_alone(desk, state, spent):
    rights.change_cap(desk, "people", Budget(1), "ada")
    assert (state.ledger.cap("people"), state.ledger.cap("people", "ada")) == (Budget(3), Budget(1))
    with pytest.raises(PrivetError, match="cannot be compared"):
        rights.change_cap(desk, "people", Budget(rho=1), "ada")
    with pytest.raises(ParameterError, match="no analyst 'eve'"):
        rights.change_cap(desk, "people", Budget(1), "eve")
    with pytest.raises(ParameterError, match="no data set 'cars' has a cap; there are 'people'"):
        rights.change_cap(desk, "cars", Budget(1))


def test_a_reservation_that_is_cancelled_frees_what_is_left(desk, state):
    state.ledger.reserve(
        "people", "ada", Budget(1), "fit of privet", key="fit-1", request="r",
        schema="s", neighbours="add-remove", rows_per_person=1, person="who",
    )  # fmt: skip
    outcome = rights.cancel_reservation(desk, "ada", "fit-1")
    assert outcome.said == "cancelled 'fit of privet': epsilon 1 can be spent again"
    assert state.ledger.reservation("ada", "fit-1").state == "cancelled"
    with pytest.raises(PrivetError, match="no open reservation"):
        rights.cancel_reservation(desk, "ada", "fit-1")


# -- people ----------------------------------------------------------------------------------------


def test_an_analyst_is_removed_and_their_spending_stays(desk, state, spent):
    token = state.tokens["ada"]
    people.remove_analyst(desk, "ada", why="left")
    assert state.accounts.analysts() == ["bob"]
    assert state.accounts.grants("ada") == []
    assert state.ledger.spent("people", "ada") == spent
    with pytest.raises(AccessError):
        state.accounts.person_of(token)
    with pytest.raises(ParameterError, match="was here before"):
        people.add_analyst(desk, "ada")
    outcome = people.add_analyst(desk, "ada", same_person=True)
    assert state.accounts.person_of(outcome.token) == Person("ada", "analyst")
    assert outcome.token not in "".join(event.what for event in state.audit_log.events())


def test_owners_and_auditors_come_and_go_and_the_first_owner_stays(desk, state):
    auditor = people.add_staff(desk, "dora", "auditor").token
    owner = people.add_staff(desk, "otto", "owner").token
    dora, otto = Person("dora", "auditor"), Person("otto", "owner")
    assert state.accounts.staff() == [FIRST_OWNER, otto, dora]
    assert state.accounts.person_of(auditor) == dora
    fresh = people.replace_staff_token(desk, "dora").token
    assert state.accounts.person_of(fresh) == dora
    with pytest.raises(AccessError):
        state.accounts.person_of(auditor)
    people.remove_staff(desk, "otto")
    with pytest.raises(AccessError):
        state.accounts.person_of(owner)
    with pytest.raises(ParameterError, match="the first owner stays"):
        people.remove_staff(desk, "owner")
    with pytest.raises(ParameterError, match="already"):
        people.add_staff(desk, "dora", "owner")
    with pytest.raises(ParameterError, match="'owner' or 'auditor'"):
        people.add_staff(desk, "eve", "analyst")
    assert state.accounts.person_of(state.tokens["owner"]) == FIRST_OWNER


def test_an_auditor_changes_nothing_and_the_attempt_is_recorded(desk, state, place):
    auditor = replace(desk, person=Person("dora", "auditor"))
    before = state.accounts.grants(), state.ledger.books(), state.accounts.analysts()
    for attempt in (
        lambda: rights.grant(auditor, "ada", "people", Budget(3)),
        lambda: rights.revoke(auditor, "ada"),
        lambda: rights.change_cap(auditor, "people", Budget(9)),
        lambda: people.add_analyst(auditor, "eve"),
        lambda: people.replace_token(auditor, "ada"),
        lambda: people.add_staff(auditor, "eve", "owner"),
        lambda: datasets.pause_dataset(auditor, "people"),
        lambda: datasets.remove_dataset(auditor, "people"),
        lambda: datasets.update_dataset(auditor, "people", place=place),
        lambda: datasets.add_dataset(auditor, "new", place, SCHEMA, Budget(1)),
    ):
        with pytest.raises(AccessError, match="an auditor reads everything and changes nothing"):
            attempt()
        assert (last(desk).kind, last(desk).who) == ("change refused", "dora")
    assert (state.accounts.grants(), state.ledger.books(), state.accounts.analysts()) == before


# -- data sets -------------------------------------------------------------------------------------


def test_a_data_set_is_paused_and_resumed_and_its_grants_stay(desk, state):
    datasets.pause_dataset(desk, "people", "the table is rebuilt")
    assert state.accounts.dataset("people").paused[1] == "the table is rebuilt"
    with pytest.raises(ParameterError, match="paused already"):
        datasets.pause_dataset(desk, "people")
    datasets.resume_dataset(desk, "people")
    assert state.accounts.dataset("people").paused is None
    with pytest.raises(ParameterError, match="not paused"):
        datasets.resume_dataset(desk, "people")
    assert len(state.accounts.grants()) == 2


def test_another_place_keeps_the_number_and_another_schema_does_not(desk, state, tmp_path, place):
    (tmp_path / "moved").mkdir()
    moved = copy_table(tmp_path / "people.db", tmp_path / "moved")
    before = state.accounts.dataset("people")
    datasets.update_dataset(desk, "people", place=moved)
    now = state.accounts.dataset("people")
    assert (now.id, now.place, now.schema) == (before.id, moved, before.schema)
    other = replace(SCHEMA, attributes={"colour": Categorical(["red", "green"])})
    datasets.update_dataset(desk, "people", schema=other)
    assert state.accounts.dataset("people").id > before.id
    assert state.accounts.dataset("people").schema == other
    assert [grant.analyst for grant in state.accounts.grants()] == ["ada", "bob"]
    assert last(desk).particulars["schema_before"] == SCHEMA.fingerprint


def test_an_update_that_cannot_be_is_none(desk, state, tmp_path, spent):
    state.ledger.charge(
        "people", "ada", Cost.pure("1/4"), "size", key="n", request="r",
        neighbours="add-remove", rows_per_person=1, person="who",
    )  # fmt: skip
    before = state.accounts.dataset("people")
    with pytest.raises(ParameterError, match="say what changes"):
        datasets.update_dataset(desk, "people")
    with pytest.raises(ParameterError, match="only a table at a server has a password"):
        datasets.update_dataset(desk, "people", password="secret")
    shade = replace(SCHEMA, attributes={"shade": Categorical(["red", "green"])})
    with pytest.raises(SchemaError, match="shade"):
        datasets.update_dataset(desk, "people", schema=shade)
    with pytest.raises(PrivacyError):  # the account promises something to people with one row
        datasets.update_dataset(desk, "people", schema=replace(SCHEMA, rows_per_person=5))
    assert state.accounts.dataset("people") == before


def test_the_rows_of_another_data_set_are_recognised_in_an_update(desk, state, tmp_path, place):
    (tmp_path / "other").mkdir()
    other = copy_table(tmp_path / "people.db", tmp_path / "other")
    datasets.add_dataset(desk, "others", other, SCHEMA, Budget(1))
    with pytest.raises(ParameterError, match="are, or may be, those of data set 'people'"):
        datasets.update_dataset(desk, "others", place=place)
    datasets.update_dataset(desk, "others", place=place, same_rows=True)
    assert [(one, two) for one, two, _ in state.accounts.overlaps()] == [("others", "people")]


def test_a_table_is_looked_at_without_its_rows(desk, state, tmp_path):
    assert datasets.check_dataset(desk, "people").good
    renamed = replace(SCHEMA, target="sick")
    state_now = datasets.check_dataset(desk, "people", schema=renamed)
    assert (state_now.reachable, state_now.fits) == (True, False)
    assert "sick" in state_now.trouble
    (tmp_path / "people.db").unlink()
    gone = datasets.check_dataset(desk, "people")
    assert (gone.reachable, gone.fits, gone.good) == (False, False, False)


# -- the record ------------------------------------------------------------------------------------


def test_a_change_that_fails_is_recorded_as_one(desk, state, monkeypatch):
    def fail(*_):
        raise OSError("the disk is full: /secret/place")

    monkeypatch.setattr(type(state.accounts), "grant", fail)
    with pytest.raises(OSError, match="disk"):
        rights.grant(desk, "ada", "people", Budget(1))
    tried, failed = state.audit_log.events()[-2:]
    assert (tried.kind, failed.kind) == ("grant changed", "change failed")
    assert failed.what == f"line {tried.number} did not take effect, or not all of it: OSError"


def test_there_is_no_change_without_a_record(desk, state):
    state.audit_log.append  # noqa: B018 - makes the file
    state.audit_log.path.write_bytes(b"no database" * 500)
    with pytest.raises(PrivetError, match="cannot use the audit log"):
        rights.revoke(desk, "ada")
    assert len(state.accounts.grants("ada")) == 1


def test_the_log_of_a_day_verifies(desk, state):
    rights.grant(desk, "ada", "people", Budget(1))
    people.replace_token(desk, "bob")
    assert verify_stored(state.audit_log, state.audit_witness) == []
    assert state.audit_witness.seen().number == 2


# -- places over HTTP ------------------------------------------------------------------------------


def test_over_http_only_allowed_places_are_looked_at(desk, state, tmp_path, monkeypatch):
    far = replace(desk, over_http=True)
    (tmp_path / "tables").mkdir()
    inside = copy_table(tmp_path / "people.db", tmp_path / "tables")
    opened = []
    real = datasets.open_table
    monkeypatch.setattr(datasets, "open_table", lambda place: opened.append(place) or real(place))
    for place in ("/etc/passwd", inside, "postgresql://127.0.0.1/x?table=t", "people.csv"):
        with pytest.raises(PlaceRefused, match="none is allowed yet; the administrator allows"):
            datasets.add_dataset(far, "new", place, SCHEMA, Budget(1))
        with pytest.raises(PlaceRefused):
            datasets.check_dataset(far, place=place, schema=SCHEMA)
    assert opened == [], "what is not allowed is not even looked for"
    AllowedPlaces().allowing(str(tmp_path / "tables")).write(state.path)
    datasets.add_dataset(far, "new", inside, SCHEMA, Budget(1))
    (tmp_path / "tables" / "link.csv").symlink_to("/etc/passwd")
    for place in (
        str(tmp_path / "tables" / "link.csv"),
        str(tmp_path / "tables" / ".." / "people.db"),
        inside.replace("/tables/", "/tables/../"),
        inside.replace("/tables/", "/tables/%2e%2e/"),
    ):
        with pytest.raises(PlaceRefused, match="must be in an allowed folder; allowed are"):
            datasets.check_dataset(far, place=place, schema=SCHEMA)
    # the place that was registered on the machine itself may stay
    datasets.update_dataset(far, "people", schema=replace(SCHEMA, classes=("no", "yes")))


@pytest.mark.parametrize(
    ("place", "allowed"),
    [
        ("postgresql://db.example/clinic?table=people", True),
        ("postgres://ada:secret@db.example:5432/clinic?table=people&sslmode=require", True),
        ("postgresql://db.example:5433/clinic?table=people", False),
        ("postgresql://db.example/other?table=people", False),
        ("postgresql://10.0.0.1/clinic?table=people", False),
        ("postgresql://db.example,10.0.0.1/clinic?table=people", False),
        ("postgresql://db.example/clinic?table=people&host=10.0.0.1", False),
        ("postgresql://db.example/clinic?table=people&hostaddr=10.0.0.1", False),
        ("postgresql://db.example/clinic?table=people&dbname=other", False),
        ("postgresql://db.example/clinic?table=people&passfile=/etc/shadow", False),
        ("postgresql://db.example/clinic?table=people&sslkey=/etc/key", False),
        ("postgresql://db.example/clinic?table=people&service=x", False),
        ("postgresql:///clinic?table=people", False),
        ("postgresql://%2Fvar%2Frun/clinic?table=people", False),
        ("postgresql://db.example@10.0.0.1/clinic?table=people", False),
        ("postgresql://db.example\\@10.0.0.1/clinic?table=people", False),
        ("postgresql://db.example/clinic#?host=10.0.0.1&table=people", False),
        ("postgresql://db.example/clinic?table=people#&options=-cwork_mem%3D1", False),
        ("postgresql://ada@10.0.0.1,x@db.example/clinic?table=people", False),
        ("postgresql://ada@10.0.0.1:5433,x@db.example/clinic?table=people", False),
        ("postgresql://ada@%2Ftmp,@db.example/clinic?table=people", False),
        ("postgresql://db.example//clinic?table=people", False),
        ("postgresql://db.example/cli\tnic?table=people", False),
        ("postgresql://db.example/clinic?table=people&%68ost=10.0.0.1", False),
        ("spark://db.example/clinic", False),
    ],
)
def test_an_address_cannot_lead_past_the_allowed_databases(place, allowed, tmp_path):
    places = AllowedPlaces().allowing("postgresql://db.example/clinic")
    if allowed:
        places.check(place, tmp_path)
    else:
        with pytest.raises((PlaceRefused, PrivetError)):
            places.check(place, tmp_path)


def test_what_is_checked_is_what_libpq_would_connect_to():
    """Whatever is between two parts of an address: if it is allowed, libpq reads the same."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    places, home = AllowedPlaces().allowing("postgresql://db.example/clinic"), Path("/home-of-none")
    parts = [
        "",
        "#",
        "?",
        "@",
        ",",
        ":",
        "/",
        "\\",
        "&",
        ";",
        "%23",
        "evil",
        "#?host=evil",
        "@evil,",
    ]
    taken = 0
    for first, second, third in itertools.product(parts, repeat=3):
        place = f"postgresql://u{first}@db.example{second}/clinic{third}"
        try:
            places.check(f"{place}?table=t", home)
        except PrivetError:
            continue
        try:
            read = conninfo_to_dict(place)
        except ProgrammingError:
            continue
        taken += 1
        assert (read["host"], read["dbname"]) == ("db.example", "clinic"), place
        assert read.keys() <= {"user", "password", "host", "port", "dbname"}, place
    assert taken > 3


def test_over_http_the_home_itself_is_no_place(desk, state):
    """An administrator may allow the folder that the home is in, as by ``--allow .``."""
    far = replace(desk, over_http=True)
    AllowedPlaces().allowing(str(state.path.parent)).write(state.path)
    inside = f"sqlite:///{state.path}/accounts.sqlite?table=datasets"
    for place in (inside, str(state.path / "witness.csv")):
        with pytest.raises(PlaceRefused, match="the curator's own home"):
            datasets.check_dataset(far, place=place, schema=SCHEMA)
    for place in ("people\0.csv", f"{'x' * 5000}.csv"):
        with pytest.raises(PlaceRefused):
            datasets.check_dataset(far, place=place, schema=SCHEMA)


def test_an_allowed_place_is_taken_back(tmp_path):
    both = AllowedPlaces().allowing(str(tmp_path)).allowing("postgresql://db/clinic")
    assert both.databases == ("db:5432/clinic",)
    assert both.forbidding("postgresql://db:5432/clinic").databases == ()
    with pytest.raises(ParameterError, match="was not allowed"):
        both.forbidding("/elsewhere")
    with pytest.raises(ParameterError, match="is no folder"):
        both.allowing(str(tmp_path / "absent"))


@pytest.mark.parametrize(
    ("place", "now"),
    [
        ("postgresql://a@h/d?table=t", "postgresql://a:p%40%2F@h/d?table=t"),
        ("postgresql://a:old@h:9/d?table=t", "postgresql://a:p%40%2F@h:9/d?table=t"),
        ("postgresql://a@h/d?password=old&table=t", "postgresql://a:p%40%2F@h/d?table=t"),
    ],
)
def test_a_password_is_put_where_the_old_one_was(place, now):
    assert with_password(place, "p@/") == now


def test_a_password_is_in_no_event(desk, state, monkeypatch):
    place = "postgresql://reader:old-secret@db.example/clinic?table=people"
    state.accounts.update_dataset("people", place, SCHEMA)

    class Opened:
        name = "public.people"

        def check_structure(self, schema): ...
        def check_reachable(self): ...
        def writable(self):
            return True

    monkeypatch.setattr(datasets, "open_table", lambda place: Opened())
    outcome = datasets.update_dataset(desk, "people", password="new-secret")
    assert "new-secret" in state.accounts.dataset("people").place
    told = repr([event.to_json() for event in state.audit_log.events()]) + repr(outcome)
    assert "secret" not in told.replace("new password", "")
    assert outcome.warnings


def test_a_grant_that_has_ended_says_so(desk, state):
    state.accounts.grant("ada", "people", datetime.now(UTC) + timedelta(seconds=60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("privet.service.accounts.Grant.over", property(lambda _: True))
        outcome = rights.grant(desk, "ada", "people", Budget(1))
    assert "give it another end" in outcome.warnings[0]
