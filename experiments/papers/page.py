"""The report: one HTML page with everything in it, for screen, phone and paper. It loads nothing
and runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from experiments.papers.experiment import VERDICTS as VERDICT_ORDER
from experiments.papers.experiment import Comparison, Outcome, Paper, Verdict, say_counts
from experiments.papers.inventory import ITEMS, LEFT_OUT
from experiments.papers.ran import describe_runs
from privet._page import wrap_html
from privet.report.blocks import (
    Banner,
    Bullets,
    CardBlock,
    Grid,
    Paragraph,
    render_html_block,
)
from privet.text import escape_html

TITLE = "Experiments of papers, run again"
CHANCE = (
    "Folds and parts are the same in every run, but for the outsourced tables (anatomy), whose "
    "groups are drawn anew for each output folder. Noise, and structures that are drawn by chance, "
    "come from the operating system's cryptographic generator and have no seed, so another run "
    "gives slightly other numbers."
)
VERDICTS = (
    "Each claim is a number with a 95% interval over repeats, and a range in which it must lie. It "
    "agrees where the interval lies in the range, differs where it lies outside, and cannot tell "
    "otherwise, or with one repeat only. Of 20 claims that are just at the edge of their range, "
    "one is judged wrongly by chance."
)
QUICK = (
    "A quick run, which is not the papers' protocol: under each heading stands what was run. "
    "Intervals are wide, and where there is one fold or run no verdict is given."
)
#: Where there is nothing to compare, there is nothing to agree with.
_MARKS = {"agrees": "agrees", "differs": "DIFFERS", "cannot tell": "cannot tell", None: ""}
#: Pictures wider than this many points are not made smaller than they can be read; on a phone they
#: are moved sideways.
_BROAD = 480
_STYLE = """
body { max-width: 60rem; }
h2 { font-size: 1.35rem; border-top: 3px solid var(--line); padding-top: 1rem; } h3 { margin: 2.2rem 0 .3rem; break-after: avoid; }
.verdict { font-size: .8rem; font-weight: 600; padding: .1rem .5rem; border: 1px solid var(--line); border-radius: .8rem;
  white-space: nowrap; }
.differs { border-color: var(--loud); color: var(--loud); border-width: 2px; }
figure { margin: .8rem 0; break-inside: avoid; background: #fff; border-radius: .4rem; overflow-x: auto; }
figure svg { display: block; margin: 0 auto; max-width: 100%; height: auto; } .broad svg { min-width: 40rem; }
.paper th { padding-top: .9rem; }
.claim { border-left: 4px solid var(--line); padding-left: .8rem; break-inside: avoid; break-after: avoid; }
a { color: inherit; } .small { font-size: .88rem; }
@media print { h2 { break-before: page; } .broad svg { min-width: 0; } figure svg { max-height: 19cm; } }
"""  # noqa: E501


def page(outcomes: Sequence[Outcome], *, quick: bool) -> str:
    """The whole report."""
    parts = [render_html_block(Paragraph(text)) for text in (VERDICTS, CHANCE)]
    if quick:
        parts.insert(0, render_html_block(Banner(QUICK, alarm=False)))
    parts.append(render_html_block(Paragraph(_summary(outcomes))))
    parts.append(_overview(outcomes))
    for paper, mine in groupby(outcomes, key=lambda one: one.paper):
        parts += _paper(paper, list(mine))
    papers = list(dict.fromkeys(one.paper.name for one in outcomes))
    parts += _inventory(papers)
    return wrap_html(TITLE, "\n".join(parts), _STYLE)


def _summary(outcomes: Sequence[Outcome]) -> str:
    """How many claims of how many figures agree."""
    counts: dict[Verdict, int] = {}
    for one in outcomes:
        for verdict, count in one.counts.items():
            counts[verdict] = counts.get(verdict, 0) + count
    claims = sum(counts.values())
    ordered = {verdict: counts[verdict] for verdict in VERDICT_ORDER if verdict in counts}
    return f"{len(outcomes)} figures, tables and texts, {claims} claims: {say_counts(ordered)}."


def _inventory(papers: Sequence[str]) -> list[str]:
    """Every item of the papers, and where it is or why it is left out."""
    parts = []
    for name in papers:
        items = [item for item in ITEMS if item.paper == name]
        if not items:
            continue
        left_out = sum(item.why != "" for item in items)
        rows = tuple(
            (item.place, item.what, ", ".join(item.where) or LEFT_OUT + item.why) for item in items
        )
        parts += [
            f"<h2>{escape_html(name)}: what the paper has, item by item</h2>",
            render_html_block(
                Paragraph(f"{len(items)} items; {left_out} are left out, each with the reason.")
            ),
            render_html_block(Grid(("place", "item", "where it is"), rows)),
        ]
    return parts


def _overview(outcomes: Sequence[Outcome]) -> str:
    """Every figure with its verdict, as links, paper by paper."""
    lines = []
    for paper, mine in groupby(outcomes, key=lambda one: one.paper):
        lines.append(
            f'<tr class="paper"><th scope="rowgroup" colspan="2">{escape_html(paper.name)}: '
            f"{escape_html(paper.reference)}</th></tr>"
        )
        lines += [
            f'<tr><td><a href="#{one.stem}">{escape_html(one.experiment.heading)}</a>: '
            f"{escape_html(one.experiment.title)}</td>"
            f"<td>{_chip(one)}</td></tr>"
            for one in mine
        ]
    return "<table><tbody>\n" + "\n".join(lines) + "\n</tbody></table>"


def _paper(paper: Paper, outcomes: Sequence[Outcome]) -> list[str]:
    blocks: list[CardBlock] = [Banner(paper.warning, alarm=True)] if paper.warning else []
    head = f"<h2>{escape_html(paper.reference)}</h2>"
    return [
        head,
        *map(render_html_block, [*blocks, Paragraph(f"The paper's protocol. {paper.setting}")]),
        *(_section(one) for one in outcomes),
    ]


def _section(outcome: Outcome) -> str:
    one = outcome.experiment
    parts = [
        f'<section id="{outcome.stem}">',
        f"<h3>{escape_html(one.heading)}: {escape_html(one.title)} {_chip(outcome)}</h3>",
    ]
    parts.append(f'<p class="claim">{escape_html(one.claim)}</p>')
    if ran := describe_runs(outcome.rows):
        parts.append(f'<p class="small"><b>What was run:</b> {escape_html(ran)}.</p>')
    parts += [render_html_block(Banner(message, alarm=False)) for message in outcome.absent]
    if outcome.picture:
        size = ' class="broad"' if _width(outcome.picture) > _BROAD else ""
        parts.append(
            f'<figure{size} role="img" '
            f'aria-label="{escape_html(one.title)}">'
            f"{inline(outcome.picture, outcome.stem)}</figure>"
        )
    if one.tabulate is not None and outcome.rows:
        parts.append(render_html_block(one.tabulate(outcome.rows)))
    if outcome.comparisons:
        parts += _compared(outcome.comparisons)
    for head, listed in (
        ("What the paper leaves open, and what was chosen", one.choices),
        ("To be known", one.remarks),
    ):
        if listed:
            parts += [
                f'<p class="small"><b>{head}</b></p>',
                f'<div class="small">{render_html_block(Bullets(listed))}</div>',
            ]
    if outcome.rows:
        parts.append(f'<p class="small">All numbers: {outcome.stem}.csv</p>')
    return "\n".join([*parts, "</section>"])


def _compared(comparisons: Sequence[Comparison]) -> list[str]:
    rows = tuple(
        (one.what, one.paper, one.ours, one.holds, _MARKS[one.verdict]) for one in comparisons
    )
    heads = ("", "the paper", "here (95% interval)", "holds if", "verdict")
    parts = [render_html_block(Grid(heads, rows))]
    why = tuple(f"{one.what}: {one.why}" for one in comparisons if one.why)
    return [*parts, render_html_block(Bullets(why))] if why else parts


def _chip(outcome: Outcome) -> str:
    loud = " differs" if "differs" in outcome.counts else ""
    return f'<span class="verdict{loud}">{outcome.verdict}</span>'


def _width(svg: str) -> float:
    """In points."""
    found = re.search(r'<svg[^>]*\bwidth="([0-9.]+)pt"', svg)
    return float(found[1]) if found else 0.0


def inline(svg: str, name: str) -> str:
    """A picture of matplotlib's as part of a page: without what stands before it, and with names
    that no other picture has.
    """
    text = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'((?:xlink:)?href="#)', rf"\1{name}-", text)
    return text.replace("url(#", f"url(#{name}-")
