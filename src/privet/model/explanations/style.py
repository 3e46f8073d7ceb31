"""Style the parts of an explanation's page: light, dark, on paper, on a phone and in notebooks."""

from __future__ import annotations

#: So many classes have a colour of their own.
COLOURS = 6
#: The colours of classes are those of privet.report.plots.style.FILLS. On dark paper, the first is
#: light, so that it differs in grey from the second there, too.
_LIGHT = """
  --c0: #33475b; --c1: #e9b44c; --c2: #6b9a88; --c3: #f6f1e7; --c4: #9c5c6e; --c5: #c9d3df;
  --size: #c9d3df; --rim: rgba(255, 255, 255, .8);"""
_DARK = """
  --c0: #b4d0ec; --c1: #b87716; --c2: #4f8a72; --c3: #f6f1e7; --c4: #c0788c; --c5: #6f8093;
  --size: #8293a6; --rim: rgba(0, 0, 0, .7);"""
#: A notebook may be dark where the browser is not, and the other way round.
_THEMES = f"""
.learnt {{ {_LIGHT} }}
@media (prefers-color-scheme: dark) {{ .learnt {{ {_DARK} }} }}
[data-jp-theme-light="true"] .learnt, .vscode-light .learnt {{ {_LIGHT} }}
[data-jp-theme-light="false"] .learnt, .vscode-dark .learnt {{ {_DARK} }}
@media print {{ .learnt {{ {_LIGHT} print-color-adjust: exact; }} }}
"""
#: Paper shows the attributes that can be told from noise, also where they are folded.
_RULES = """
@media print { .learnt details.paper::details-content { content-visibility: visible; }
  .learnt summary, .learnt p { break-after: avoid; }
  .learnt tr, .learnt .map { break-inside: avoid; } }
.learnt .c0 { --fill: var(--c0); } .learnt .c1 { --fill: var(--c1); } .learnt .c2 { --fill: var(--c2); }
.learnt .c3 { --fill: var(--c3); } .learnt .c4 { --fill: var(--c4); } .learnt .c5 { --fill: var(--c5); }
.learnt .size { --fill: var(--size); }
.learnt table { width: 100%; border-collapse: collapse; font-size: .9em; }
.learnt th, .learnt td { padding: .1em .5em .1em 0; border: none; vertical-align: middle; }
.learnt th { font-weight: normal; text-align: left; min-width: 7em; }
.learnt th.number { text-align: right; min-width: 0; } .learnt table.bars tr > th:not([scope]) { opacity: .75; font-size: .9em; }
.learnt .ends { display: flex; justify-content: space-between; gap: 1em; }
.learnt td.track { width: 45%; min-width: 6em; } .learnt td.number { text-align: right; white-space: nowrap; }
.learnt .many td.track { width: auto; min-width: 5.5em; text-align: center; }
.learnt .many th:not([scope], .number) { min-width: 0; text-align: center; }
.learnt .axis { position: relative; height: 1.15em; }
.learnt .axis > * { position: absolute; display: block; text-decoration: none; }
.learnt s { top: -.1em; bottom: -.1em; border-left: 1px solid currentColor; opacity: .55; }
.learnt b[class] { top: .15em; bottom: .15em; border: 1px solid rgba(128, 128, 128, .9); background: var(--fill); box-sizing: border-box; }
.learnt b.unsure { background: none; border: 1px dashed currentColor; opacity: .6; }
.learnt u { top: calc(50% - .5px); height: 1px; background: currentColor; box-shadow: 0 0 0 1px var(--rim); }
.learnt i { opacity: .75; } .learnt details { margin: .5em 0 .5em .2em; } .learnt summary { cursor: pointer; }
.learnt .wide { overflow-x: auto; }
.learnt table.map { width: auto; font-size: .8em; } .learnt table.map th { min-width: 3em; }
.learnt table.map td { text-align: right; padding: .2em .4em; min-width: 3.2em;
  background: color-mix(in oklab, var(--fill) calc(var(--part) * .55), transparent); }
.learnt table.map td.c1 { background: color-mix(in oklab, var(--fill) calc(var(--part) * .75), transparent); }
@media (max-width: 40rem) { .learnt th[scope] { min-width: 5.5em; overflow-wrap: anywhere; }
  .learnt .many td.track { min-width: 2.6em; } .learnt .many th, .learnt .many td { padding-right: .25em; }
  .learnt .many tr > th:not([scope]) { font-size: .7em; overflow-wrap: anywhere; line-height: 1.2; } }
"""  # noqa: E501
STYLE = _THEMES + _RULES
