"""Make the pictures of explanations beside those of DP-EBM: three public tables, one row each.

    python docs/pictures/make_dp_ebm.py

Needs interpret, plotly, playwright and an installed Chromium beside Privet.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import pandas as pd
from interpret.privacy import DPExplainableBoostingClassifier
from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import privet as pv

HERE = Path(__file__).parent
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
TABLES = ("adult", "mushroom", "crx")
WIDTH, HEIGHT, COLOURS = 1240, 1300, 96
PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem; margin: 1rem; font: 14px sans-serif; }
h1 { font-size: 1.2rem; } h2 { font-size: 1rem; }</style>
<div><h1>DP-EBM</h1>%s</div><div><h1>Privet</h1>%s</div>"""  # noqa: E501


def main() -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for name in TABLES:
            data = pv.datasets.load(name)
            page = PAGE % (show_dp_ebm(data), show_privet(data))
            save_picture(browser, page, HERE / f"dp-ebm-{name}.png")
        browser.close()


def show_privet(data: pv.datasets.Dataset) -> str:
    """Return what Privet says about the first row and about all, at epsilon 1."""
    schema = data.schema.declare(n_rows=len(data.table))
    model = pv.PrivetClassifier(1, schema).fit(data.table)
    return str(model.explain(data.X.head(1))._repr_html_())


def show_dp_ebm(data: pv.datasets.Dataset) -> str:
    """Return the same of DP-EBM, whose bounds are those of the schema."""
    table, target = make_columns(data), data.y.astype(str)
    bounds = {
        name: (attribute.cuts[0], attribute.cuts[-1])
        for name, attribute in data.schema.attributes.items()
        if attribute.holds_numbers
    }
    model = DPExplainableBoostingClassifier(
        epsilon=1, delta=1e-5, privacy_bounds=bounds, random_state=None
    )
    model.fit(table, target)
    everywhere = model.explain_global()
    shown = [model.explain_local(table.head(1), target.head(1)).visualize(0)]
    shown += [everywhere.visualize(key) for key in (None, *find_leading(everywhere))]
    parts = [
        figure.update_layout(width=580, height=400).to_html(
            full_html=False, include_plotlyjs=place == 0
        )
        for place, figure in enumerate(shown)
    ]
    return "".join(parts)


def find_leading(said: object) -> list[int]:
    """Return the two attributes that say most."""
    scores = pd.Series(said.data()["scores"])  # type: ignore[attr-defined]
    return scores.nlargest(2).index.tolist()


def make_columns(data: pv.datasets.Dataset) -> pd.DataFrame:
    """Return numbers as numbers and everything else as text."""
    columns = {}
    for name, attribute in data.schema.attributes.items():
        column = data.X[name]
        numbers = pd.to_numeric(column, errors="coerce")
        columns[name] = (
            numbers.fillna(numbers.median()) if attribute.holds_numbers else column.astype(str)
        )
    return pd.DataFrame(columns)


def save_picture(browser: Browser, html: str, path: Path) -> None:
    """Save the top of a page with few colours."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.set_content(html)
    page.wait_for_timeout(2000)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    page.close()


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
