"""A fit through the service sets its cost aside, is interrupted anywhere, goes on, pays once."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

import privet as pv
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import verify
from privet.accounting.ledger.reservations import MOST_OPEN
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.errors import BudgetExceeded, ParameterError, ReservationClosed, TooManyReservations
from privet.queries import Count, Size
from tests.client.running import running

CAR = pv.datasets.load("car")
SCHEMA = CAR.schema.declare(n_rows=1728)


class Killed(BaseException):
    """The end of a process, as far as it can be had within one."""


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    CAR.table.to_csv(folder / "car.csv", index=False)
    with running(folder) as service:
        for name in ("fits", "crowded", "starved", "closed", "cancelled", "divided"):
            service.add(name, folder / "car.csv", SCHEMA, Budget(5))
        yield service


def reservations(service, dataset):
    return service.state.ledger.reservations(dataset)


def fit(curator, path, *, dies_at: int = 0, learner=pv.GreedyTreeClassifier):
    """Train as the command does: again with the same file, it goes on."""
    asked = ResumableCurator(curator, Unfinished.begin(path, curator, "facts"))
    inner, count = asked._next_key, [0]

    def next_key():
        count[0] += 1
        if count[0] == dies_at:
            raise Killed
        return inner()

    asked._next_key = next_key
    return learner(epsilon=1).fit_from(asked)


@pytest.mark.parametrize("dies_at", [1, 2, 3])
def test_a_killed_fit_goes_on_and_pays_what_a_whole_one_pays(service, tmp_path, dies_at):
    path = tmp_path / "m.json.unfinished"
    with service.connect("fits") as curator:
        before = curator.left
        with pytest.raises(Killed):
            fit(curator, path, dies_at=dies_at)
        assert curator.left == before - 1  # what is set aside is nobody else's
    with service.connect("fits") as curator:  # another process, later
        known = len(curator.history())
        model = fit(curator, path)
        assert curator.left == before - 1
        assert model.privacy_.promised.epsilon == 1
        keys = [entry.key for entry in curator.history() if entry.key.startswith("fit-")]
        assert len(keys) == len(set(keys))
        assert len(curator.history()) > known
        again = fit(curator, path)  # killed after the last answer: everything is given again
        assert again.model_.trees[0].counts.tolist() == model.model_.trees[0].counts.tolist()
        assert again.privacy_.id == model.privacy_.id
        assert curator.left == before - 1
    ended = reservations(service, "fits")[-1]
    assert (ended.state, ended.facts["claimed_model"]) == ("done", model.privacy_.id)
    assert verify(service.state.ledger) == []


def test_somebody_else_cannot_starve_a_fit(service, tmp_path):
    with service.connect("starved") as curator:
        with curator.reserving(Cost.pure(4), "a fit") as within:
            assert (within.left, curator.left) == (4, 1)
            with pytest.raises(BudgetExceeded):
                curator.size(2)
            curator.size(1)
            within.size(3)
            assert (within.left, curator.left) == (1, 0)
            with pytest.raises(BudgetExceeded):
                within.size(2)
            with within.reserving(Cost.pure(1), "a part of it") as part:
                assert part.left == 1
            with pytest.raises(BudgetExceeded), within.reserving(Cost.pure(2), "too much"):
                pass
        assert curator.left == 1  # what was not spent is free again, what was spent is not
        assert [entry.cost.epsilon for entry in curator.history()] == [1, 3]


def test_a_closed_reservation_gives_its_answers_again_and_no_new_ones(service):
    with service.connect("closed") as curator:
        within = curator.reserve(Cost.pure(1), "a fit", "fit-closed")
        first = within.ask_once("fit-closed.1", Size(), F(1, 2))
        within.close_reservation()
        assert within.ask_once("fit-closed.1", Size(), F(1, 2)).tables == first.tables
        with pytest.raises(ReservationClosed, match="closed"):
            within.ask_once("fit-closed.2", Size(), F(1, 2))
        with pytest.raises(ReservationClosed, match="no reservation"):
            curator.cancel_reservation("fit-of-somebody")
        assert curator.left == F(9, 2)
        assert curator.reservation_state("fit-closed") == "done"
        assert curator.reservation_state("fit-other") == ""


def test_a_failed_fit_frees_what_it_did_not_spend(service):
    class Failing(pv.ForestClassifier):
        def _tree(self, *args):
            raise ParameterError("no tree today")

    with service.connect("cancelled") as curator:
        with pytest.raises(ParameterError, match="no tree today"):
            Failing(3, divide="budget").fit_from(curator)
        assert curator.left == 5
        assert [one.state for one in reservations(service, "cancelled")] == ["cancelled"]


def test_open_reservations_are_limited(service):
    with service.connect("crowded") as curator:
        for number in range(MOST_OPEN):
            curator.reserve(Cost.pure("1/100"), "a fit", f"fit-{number}")
        with pytest.raises(TooManyReservations, match="which is the limit"):
            curator.reserve(Cost.pure("1/100"), "a fit", "fit-more")
        curator.cancel_reservation("fit-0")
        curator.reserve(Cost.pure("1/100"), "a fit", "fit-more")


def test_a_fit_that_divided_its_people_says_that_it_cannot_go_on(service, tmp_path):
    path = tmp_path / "m.json.unfinished"

    class Forest(pv.ForestClassifier):
        def _tree(self, *args):
            raise Killed

    with service.connect("divided") as curator:
        with pytest.raises(Killed):
            fit(curator, path, learner=lambda epsilon: Forest(epsilon, divide="people"))
        assert curator.left == 4
        with pytest.raises(ParameterError, match="had divided its people"):
            fit(curator, path, learner=lambda epsilon: Forest(epsilon, divide="people"))
        ResumableCurator(curator, Unfinished.read(path)).give_up()
        assert curator.reservation_state(Unfinished.read(path).key) == "cancelled"


def test_a_key_pays_for_one_query_at_one_price(service):
    with service.connect("closed") as curator:
        curator.ask_once("key.1", Size(), F(1, 10))
        for query, epsilon in ((Size(), F(1, 9)), (Count([{}]), F(1, 10))):
            with pytest.raises(pv.PrivetError, match="belongs to another request"):
                curator.ask_once("key.1", query, epsilon)


def test_a_reservation_that_the_owner_ends_after_the_last_query_costs_no_model(service, tmp_path):
    with service.connect("closed") as curator:
        with curator.reserving(Cost.pure("1/100"), "a fit") as within:
            within.size(F(1, 200))
            service.state.ledger.close_reservation("ada", within._reservation, why="cancelled")
        assert curator.reservation_state(within._reservation) == "cancelled"
