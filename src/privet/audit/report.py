"""What a table of audits says, as text for people: lines of words, and a page in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from privet.audit.result import AuditResult

COLUMNS = (
    "subject",
    "neighbours",
    "claimed epsilon",
    "audited lower bound",
    "of the claim",
    "within reach",
    "runs",
    "verdict",
)


def format_row(result: AuditResult) -> tuple[str, ...]:
    """A line of the table, under ``COLUMNS``. Bounds are rounded down."""
    return (
        result.subject,
        result.neighbours,
        f"{result.claimed:.4g}{f' (delta {result.delta:g})' if result.delta else ''}",
        _format_rounded_down(result.bound),
        f"{math.floor(100 * result.tightness)}%",
        "" if result.reach is None else _format_rounded_down(result.reach),
        f"2 x {result.runs:,}",
        result.verdict,
    )


def summarize_results(results: Sequence[AuditResult]) -> list[str]:
    """What is said below the table."""
    confidence = results[0].confidence if results else 0.0
    violated, doubtful = (
        [one.subject for one in results if one.verdict == word] for word in ("violated", "in doubt")
    )
    said = [
        f"{len(results)} claims: {'all hold' if not violated else f'{len(violated)} violated'}, "
        "judged together with a confidence of "
        f"{confidence:.4g}. Each bound by itself holds with the same confidence.",
        (
            "A bound below the claim refutes nothing, and proves nothing. Within reach: about what "
            "a perfect test would show in so many runs."
        ),
    ]
    if doubtful:
        said.append(f"In doubt, and to be run again alone: {', '.join(dict.fromkeys(doubtful))}.")
    return said


def describe_event(result: AuditResult) -> str:
    """What the event was, and how often it was seen."""
    return (
        f"{result.subject} ({result.neighbours}): in {result.hits[0]:,} of {result.counted:,} runs "
        f"against {result.hits[1]:,}, {result.event}; worlds: {result.pair}"
    )


def render_page(results: Sequence[AuditResult], command: str) -> str:
    """The table as a page in Markdown, with the command that made it and what was seen."""
    lines = [
        "# What the audit found",
        "",
        f"Made by `{command}`. How it works, and what it does not say: `docs/concepts/audit.md`.",
        "",
        *summarize_results(results)[:1],
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---|---|---|--:|--:|--:|--:|---|",
        *(f"| {' | '.join(format_row(one))} |" for one in results),
        "",
        *summarize_results(results)[1:],
        "",
        "## What was seen",
        "",
        *(f"- {describe_event(one)}" for one in results),
    ]
    return "\n".join(lines) + "\n"


def _format_rounded_down(value: float) -> str:
    return f"{math.floor(100 * value) / 100:.2f}"
