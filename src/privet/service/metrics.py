"""Count requests and show budgets, for Prometheus.

Whoever reads the metrics need not be somebody who may see rows, so they tell no more of the work
than a client can measure: latencies are those of answers as they were sent, after their times were
rounded (:mod:`~privet.service.departure`). The processor time and the memory of the process depend
on the rows, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from fractions import Fraction

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

import privet
from privet.accounting.ledger import Ledger
from privet.accounting.ledger.base import compute_remaining
from privet.accounting.ledger.reservations import held_by
from privet.service.departure import Departure
from privet.service.health import Health
from privet.service.state import ServiceState

_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 240)
_METHODS = {"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"}


class Metrics:
    """All metrics of one process of the service."""

    def __init__(self, state: ServiceState, health: Health) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "privet_requests",
            "Requests that were answered, by route (not by address), method and status.",
            ["route", "method", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "privet_request_seconds",
            "Seconds from the head of a request to the head of its answer, as it was sent.",
            ["route"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.under_way = Gauge(
            "privet_requests_under_way",
            "Requests whose answers were not sent yet.",
            registry=self._registry,
        )
        self._registry.register(_State(state, health))

    def count(self, route: str, method: str, status: int, seconds: float | None) -> None:
        """Count a request, with the time its answer took if there was one."""
        known = method if method in _METHODS else "other"  # else strangers could make up series
        self._requests.labels(route, known, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(route).observe(seconds)

    def expose(self) -> bytes:
        """Return all metrics in the text format of Prometheus, as of now."""
        return generate_latest(self._registry)


class _State(Collector):
    """What the ledger and the last checks say, read when it is asked for."""

    def __init__(self, state: ServiceState, health: Health) -> None:
        self._state, self._health = state, health

    def describe(self) -> Iterable[Metric]:
        return ()  # nothing is read when the collector is registered

    def collect(self) -> Iterator[Metric]:
        yield from _describe_budgets(self._state.ledger)
        yield _gauge(
            "privet_unanswered_questions",
            "Charges under a key whose answer was not recorded.",
            len(self._state.ledger.unanswered()),
        )
        yield _gauge(
            "privet_late_answers",
            "Answers that left later than their first deadline, since this process began.",
            Departure.late,
        )
        ends = _by(
            "privet_token_ends_timestamp_seconds",
            "When a person's token ends, of those that end by themselves.",
            "person",
            "role",
        )
        for person, end in self._state.accounts.token_ends().items():
            ends.add_metric([person.name, person.role], datetime.fromisoformat(end).timestamp())
        yield ends
        verified = self._health.verified
        yield _gauge(
            "privet_last_verify_timestamp_seconds",
            "When this process last verified the whole ledger.",
            verified.at.timestamp(),
        )
        yield _gauge(
            "privet_last_verify_problems",
            "Problems that the last verification of the ledger found.",
            len(verified.found),
        )
        yield _gauge(
            "privet_audit_log_problems",
            "Problems that the last verification of the audit log found.",
            len(verified.audit_log),
        )
        checks = GaugeMetricFamily(
            "privet_check_passed", "Whether a check of readiness passed last.", labels=["check"]
        )
        for name, passed in self._health.checks.items():
            checks.add_metric([name], passed)
        yield checks
        tables = GaugeMetricFamily(
            "privet_table_reachable",
            "Whether the table of a data set could be reached last.",
            labels=["dataset"],
        )
        for name, reached in self._health.tables.items():
            tables.add_metric([name], reached)
        yield tables
        info = GaugeMetricFamily("privet_build_info", "The version.", labels=["version"])
        info.add_metric([privet.__version__], 1)
        yield info


def _describe_budgets(ledger: Ledger) -> Iterator[Metric]:
    """Yield caps, what is left and what is set aside, of each data set and of each analyst."""
    caps = _by("privet_budget_cap", "The budget of a data set.", "dataset", "unit")
    left = _by(
        "privet_budget_left",
        "What all analysts together can still spend on a data set.",
        "dataset",
        "unit",
    )
    held = _by(
        "privet_budget_reserved",
        "What open reservations of a data set can still charge.",
        "dataset",
        "unit",
    )
    count = _by(
        "privet_reservations_open", "Reservations of a data set that are open.", "dataset", "unit"
    )
    own = _by(
        "privet_analyst_budget_left",
        "What an analyst can still spend on a data set.",
        "dataset",
        "analyst",
        "unit",
    )
    for dataset in ledger.datasets():
        cap = ledger.cap(dataset)
        if cap is None:
            continue
        reserved = ledger.reservations(dataset, open_only=True)
        free = compute_remaining(cap, ledger.spent(dataset), held_by(reserved))
        caps.add_metric([dataset, cap.unit], float(cap.amount))
        left.add_metric([dataset, cap.unit], float(free))
        held.add_metric([dataset, cap.unit], float(held_by(reserved)))
        count.add_metric([dataset, cap.unit], len(reserved))
        for analyst in ledger.analysts(dataset):
            allowed = ledger.cap(dataset, analyst)
            if allowed is None:
                continue
            spent = ledger.spent(dataset, analyst)
            rest: Fraction = compute_remaining(allowed, spent, held_by(reserved, analyst))
            own.add_metric([dataset, analyst, cap.unit], float(min(free, rest)))
    yield from (caps, left, held, count, own)


def _by(name: str, what: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, what, labels=labels)


def _gauge(name: str, what: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, what, value=value)
