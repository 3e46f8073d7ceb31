"""Wrap HTML in a page that needs no other file, for screen, phone and paper, light and dark."""

from __future__ import annotations

from privet.text import escape_html


def wrap_html(title: str, body: str, style: str = "") -> str:
    """Wrap a body that is HTML already in a page, with more style rules where it needs them."""
    head = f"{_HEAD}<title>{escape_html(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>"
    return f"{head}\n<body>\n<h1>{escape_html(title)}</h1>\n{body}\n</body>\n</html>\n"


_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #ffffff; --line: #c4c4c4; --soft: #f3f3f3; --loud: #9b1c1c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --paper: #161616; --line: #4a4a4a; --soft: #242424; --loud: #ffb4ab; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 1.2rem 1rem 3rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { font-size: 1.15rem; margin: 2rem 0 .4rem; break-after: avoid; }
.promise, .alarm { padding: .7rem 1rem; border: 2px solid var(--line); border-radius: .4rem; background: var(--soft);
  font-weight: 600; }
.alarm { border: 4px double var(--loud); color: var(--loud); font-size: 1.25rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; }
th.number, td.number { text-align: right; } td.number { white-space: nowrap; } tr { break-inside: avoid; } li { margin: .25rem 0; }
details { margin: .6rem 0; } summary { cursor: pointer; }
@media print {
  :root { --ink: #000; --paper: #fff; --line: #888; --soft: #fff; --loud: #000; }
  body { max-width: none; padding: 0; font-size: 10.5pt; } .wide { overflow: visible; }
  p:has(+ .wide), p:has(+ details), p:has(+ table), summary, thead { break-after: avoid; }
}
"""  # noqa: E501

_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
"""
