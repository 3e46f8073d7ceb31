"""Hold the result of one audit or many, and write it as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from privet.audit.bounds import epsilon_at_least

#: The verdict where no bound is above its claim. It is no proof.
NOT_REFUTED = "not refuted"


@dataclass(frozen=True)
class AuditResult:
    """The result of an audit.

    ``hits`` are those of the event in the ``counted`` runs of each world, where it is likelier
    first. ``reach`` is about the bound that a perfect test would have found in so many runs, if the
    claim is no larger than it has to be. ``lines`` is how many claims are judged together: the more
    there are, the more a single one takes to be called violated (:func:`judged_together`). ``note``
    says why the audit could not come closer, where that is known.
    """

    subject: str
    claimed: float
    delta: float
    confidence: float
    runs: int
    counted: int
    hits: tuple[int, int]
    pair: str
    event: str
    neighbours: str = ""
    reach: float | None = None
    lines: int = 1
    note: str = ""

    @property
    def bound(self) -> float:
        """The lower bound on epsilon, with the ``confidence``.

        One below the claim does not prove it: it says how close the audit came.
        """
        return self._bound(self.confidence)

    @property
    def sure_bound(self) -> float:
        """The lower bound on epsilon, corrected for the number of audits (Bonferroni).

        The sure bounds of all ``lines`` hold at once with the ``confidence``.
        """
        return self._bound(1 - (1 - self.confidence) / self.lines)

    def _bound(self, confidence: float) -> float:
        return epsilon_at_least(
            self.hits[0],
            self.counted,
            self.hits[1],
            self.counted,
            delta=self.delta,
            confidence=confidence,
        )

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted, with the ``confidence`` for all ``lines`` together."""
        return self.sure_bound > self.claimed

    @property
    def holds(self) -> bool:
        """Whether the claim is *not refuted*: the name that version 0.1 had for it.

        It is no proof. Say ``not result.refuted``, and look at the ``power``.
        """
        return not self.refuted

    @property
    def verdict(self) -> str:
        """The verdict: ``not refuted``, ``violated``, or ``in doubt``.

        It is in doubt if it is above the claim judged alone, and not among so many.
        """
        if self.refuted:
            return "violated"
        return NOT_REFUTED if self.bound <= self.claimed else "in doubt"

    @property
    def tightness(self) -> float:
        """The bound as a share of the claim: near 1, a smaller claim would be refuted."""
        return self.bound / self.claimed if self.claimed > 0 else math.inf

    @property
    def power(self) -> float:
        """The bound as a share of what was within reach: near 0, the audit was all but blind.

        Of the claim, where the reach is not known; 0 where nothing was within reach.
        """
        if self.reach is None:
            return self.tightness
        return self.bound / self.reach if self.reach > 0 else 0.0

    def __str__(self) -> str:
        name = f"{self.subject}: " if self.subject else ""
        delta = f" with delta {self.delta:g}" if self.delta else ""
        bound = _format_rounded_down(self.bound)
        said = (
            f"{name}{self.verdict}. Epsilon {self.claimed:.4g}{delta} is claimed, and it is at "
            f"least {bound} by 2 x {self.runs:,} runs, with a confidence of {self.confidence:.4g}"
        )
        if self.reach is None or self.refuted:
            return said
        reach, share = _format_rounded_down(self.reach), _format_share(self.power)
        return f"{said}; {reach} was within reach, and {share} of it was seen"

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "subject": self.subject,
            "neighbours": self.neighbours,
            "claimed_epsilon": self.claimed,
            "delta": self.delta,
            "audited_lower_bound": self.bound,
            "lower_bound_for_all_lines": self.sure_bound,
            "within_reach": self.reach,
            "power": round(self.power, 4),
            "confidence": self.confidence,
            "lines": self.lines,
            "runs": self.runs,
            "counted": self.counted,
            "hits": list(self.hits),
            "worlds": self.pair,
            "event": self.event,
            "tightness": round(self.tightness, 4),
            "verdict": self.verdict,
            "refuted": self.refuted,
            "note": self.note,
        }


def judged_together(results: Sequence[AuditResult]) -> list[AuditResult]:
    """Judge results as one table.

    If all claims are true, *none* is called violated, with the confidence.
    """
    return [replace(result, lines=len(results)) for result in results]


# Many results as text: lines of words, and a page in Markdown.

COLUMNS = (
    "subject",
    "neighbours",
    "claimed epsilon",
    "audited lower bound",
    "of the claim",
    "within reach",
    "of the reach",
    "runs",
    "verdict",
)


def format_row(result: AuditResult) -> tuple[str, ...]:
    """Format a row of the table, under ``COLUMNS``.

    Bounds are rounded down.
    """
    return (
        result.subject,
        result.neighbours,
        f"{result.claimed:.4g}{f' (delta {result.delta:g})' if result.delta else ''}",
        _format_rounded_down(result.bound),
        _format_share(result.tightness),
        "" if result.reach is None else _format_rounded_down(result.reach),
        "" if result.reach is None else _format_share(result.power),
        f"2 x {result.runs:,}",
        result.verdict,
    )


def summarize_results(results: Sequence[AuditResult]) -> list[str]:
    """Write what is said below the table."""
    confidence = results[0].confidence if results else 0.0
    violated, doubtful = (
        [result.subject for result in results if result.verdict == word]
        for word in ("violated", "in doubt")
    )
    said = [
        f"{len(results)} claims: {f'{len(violated)} violated' if violated else 'none refuted'}, "
        "judged together with a confidence of "
        f"{confidence:.4g}. Each bound by itself is right with the same confidence.",
        (
            "Not refuted is no proof. Within reach: about what a perfect test would show in so "
            "many runs, if the claim is no larger than it has to be; of the reach: how much of it "
            "this test showed."
        ),
    ]
    if doubtful:
        said.append(f"In doubt, and to be run again alone: {', '.join(dict.fromkeys(doubtful))}.")
    return said


def describe_event(result: AuditResult) -> str:
    """Describe the event, and how often it was seen."""
    return (
        f"{result.subject} ({result.neighbours}): in {result.hits[0]:,} of {result.counted:,} runs "
        f"against {result.hits[1]:,}, {result.event}; worlds: {result.pair}"
    )


def render_page(results: Sequence[AuditResult], command: str) -> str:
    """Render the table as a page in Markdown, with the command that made it and what was seen."""
    notes = [_wrap(f"- {note}") for note in list_notes(results)]
    lines = [
        "# What the audit found",
        "",
        _wrap(
            f"Made by `{command}`. How it works, and what it does not say: "
            "`docs/concepts/audit.md`."
        ),
        "",
        *map(_wrap, summarize_results(results)[:1]),
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---|---|---|--:|--:|--:|--:|--:|---|",
        *(f"| {' | '.join(format_row(result))} |" for result in results),
        "",
        *map(_wrap, summarize_results(results)[1:]),
        "",
        *(["## Why some cannot come closer", "", *notes, ""] if notes else []),
        "## What was seen",
        "",
        *(_wrap(f"- {describe_event(result)}") for result in results),
    ]
    return "\n".join(lines) + "\n"


def list_notes(results: Sequence[AuditResult]) -> list[str]:
    """List why some results stay below what is within reach, with what is attainable."""
    return [
        f"{result.subject} ({result.neighbours}): {result.note}"
        for result in results
        if result.note
    ]


def _wrap(text: str) -> str:
    """Lines of at most 100 characters; those of a list are indented."""
    indent = "  " if text.startswith("- ") else ""
    return "\n".join(
        wrap(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    )


def _format_share(share: float) -> str:
    """As a percentage, rounded down."""
    return f"{math.floor(100 * share)}%" if share < math.inf else "infinite"


def _format_rounded_down(value: float) -> str:
    return f"{math.floor(100 * value) / 100:.2f}"
