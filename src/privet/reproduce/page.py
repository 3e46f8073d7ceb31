"""The report: one HTML page with everything in it, for screen, phone and paper. It loads nothing and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from privet.release.blocks import Banner, Block, Bullets, Grid, Paragraph, escaped, html_block, html_of
from privet.reproduce.experiment import Comparison, Outcome, Paper

TITLE = "Experiments of five papers, run again"
CHANCE = (
    "Folds and parts are the same in every run. Noise, and structures that are drawn by chance, come from the operating system's "
    "cryptographic generator and have no seed, so another run gives slightly other numbers."
)
QUICK = "A quick run: few repeats, so numbers are rough, and some comparisons may go the other way by chance."
_MARKS = {True: "yes", False: "NO", None: "cannot be told"}
_STYLE = """
body { max-width: 60rem; }
h2 { font-size: 1.35rem; border-top: 3px solid var(--line); padding-top: 1rem; } h3 { margin: 2.2rem 0 .3rem; break-after: avoid; }
.verdict { font-size: .8rem; font-weight: 600; padding: .1rem .5rem; border: 1px solid var(--line); border-radius: .8rem;
  white-space: nowrap; }
.differs { border-color: var(--loud); color: var(--loud); border-width: 2px; }
figure { margin: .8rem 0; break-inside: avoid; background: #fff; border-radius: .4rem; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 26rem; height: auto; }
.claim { border-left: 4px solid var(--line); padding-left: .8rem; }
a { color: inherit; } .small { font-size: .88rem; }
@media print { h2 { break-before: page; } figure svg { min-width: 0; } }
"""


def page(outcomes: Sequence[Outcome], *, quick: bool) -> str:
    """The whole report."""
    parts = [html_block(Paragraph(CHANCE))]
    if quick:
        parts.insert(0, html_block(Banner(QUICK, alarm=False)))
    parts.append(_overview(outcomes))
    for paper, mine in groupby(outcomes, key=lambda one: one.paper):
        parts += _paper(paper, list(mine))
    return html_of(TITLE, "\n".join(parts), _STYLE)


def _overview(outcomes: Sequence[Outcome]) -> str:
    """Every figure with its verdict, as links."""
    lines = [
        f'<tr><td>{escaped(one.paper.name)}</td><td><a href="#{one.stem}">{escaped(one.experiment.heading)}</a></td>'
        f"<td>{escaped(one.experiment.title)}</td><td>{_chip(one)}</td></tr>"
        for one in outcomes
    ]
    head = "".join(f'<th scope="col">{name}</th>' for name in ("paper", "figure", "what", "here"))
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{"".join(lines)}\n</tbody></table></div>'


def _paper(paper: Paper, outcomes: Sequence[Outcome]) -> list[str]:
    blocks: list[Block] = [Banner(paper.warning, alarm=True)] if paper.warning else []
    head = f"<h2>{escaped(paper.reference)}</h2>"
    return [head, *map(html_block, [*blocks, Paragraph(paper.setting)]), *(_section(one) for one in outcomes)]


def _section(outcome: Outcome) -> str:
    one = outcome.experiment
    parts = [f'<section id="{outcome.stem}">', f"<h3>{escaped(one.heading)}: {escaped(one.title)} {_chip(outcome)}</h3>"]
    parts.append(f'<p class="claim">{escaped(one.claim)}</p>')
    parts += [html_block(Banner(message, alarm=False)) for message in outcome.absent]
    if outcome.picture:
        parts.append(f'<figure role="img" aria-label="{escaped(one.title)}">{inline(outcome.picture, outcome.stem)}</figure>')
    if outcome.comparisons:
        parts += _compared(outcome.comparisons)
    for head, listed in (("What the paper leaves open, and what was chosen", one.choices), ("To be known", one.remarks)):
        if listed:
            parts += [f'<p class="small"><b>{head}</b></p>', f'<div class="small">{html_block(Bullets(listed))}</div>']
    if outcome.rows:
        parts.append(f'<p class="small">All numbers: {outcome.stem}.csv</p>')
    return "\n".join([*parts, "</section>"])


def _compared(comparisons: Sequence[Comparison]) -> list[str]:
    rows = tuple((one.what, one.paper, one.ours, _MARKS[one.agrees]) for one in comparisons)
    parts = [html_block(Grid(("", "the paper", "here", "agrees"), rows))]
    why = tuple(f"{one.what}: {one.why}" for one in comparisons if one.why)
    return [*parts, html_block(Bullets(why))] if why else parts


def _chip(outcome: Outcome) -> str:
    verdict = outcome.verdict
    return f'<span class="verdict{" differs" if verdict == "differs" else ""}">{verdict}</span>'


def inline(svg: str, name: str) -> str:
    """A picture of matplotlib's as part of a page: without what stands before it, and with names that no other picture has."""
    text = re.sub(r"<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r'((?:xlink:)?href="#)', rf"\1{name}-", text)
    return text.replace("url(#", f"url(#{name}-")
