"""Make the pictures of the curator's page: a curator with some months of questions, seen in a
browser.

    python docs/pictures/make_page.py

Needs playwright and an installed Chromium. Times are set back, so that the ledger has a history.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import uvicorn
from playwright.sync_api import Browser, sync_playwright

import privet as pv
from privet.accounting.cost import Cost
from privet.accounting.ledger import journal
from privet.errors import BudgetExceeded
from privet.service.accounts import FIRST_OWNER
from privet.service.app import create_app
from privet.service.audit_log import Refusals
from privet.service.owner import datasets, people, rights
from privet.service.owner.desk import Desk
from privet.service.state import ServiceState

HERE = Path(__file__).parent
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
QUESTIONS = [
    "class counts of 1 partition by form",
    "class counts of 8 partitions",
    "choice of a split for 4 cells (gini)",
    "size",
]
QUESTIONS += [
    "confusion matrix of a model",
    "tree of depth 3, drawn from all",
    "sums of a score in 6 cells",
    "class counts by health",
]


def make_home(
    folder: Path, *, charges: int = 330, seed: int = 7
) -> tuple[ServiceState, dict[str, str]]:
    """A curator with two data sets, five analysts and a history; and all tokens by name."""
    nursery = pv.datasets.load("nursery")
    table = folder / "nursery.parquet"
    nursery.X.assign(**{nursery.schema.target: nursery.y}).to_parquet(table)
    home, owner = ServiceState.make(folder / "home")
    tokens = {"owner": owner}
    begun = datetime.now(UTC) - timedelta(days=96)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    budgets = {"applications": pv.Budget(4), "nursery-2026": pv.Budget(rho="0.5")}
    caps = {"ada": 1, "grace": "3/4", "joan": "1/2", "edith": "1/4", "katherine": "2/5"}
    with patch.object(journal, "now", lambda: begun.isoformat(timespec="milliseconds")):
        for name, budget in budgets.items():
            home.accounts.add_dataset(name, str(table), nursery.schema)
            home.ledger.set_cap(name, budget)
        for analyst, part in caps.items():
            tokens[analyst] = home.accounts.add_analyst(analyst)
            for name, budget in budgets.items():
                if (analyst, name) in {
                    ("joan", "nursery-2026"),
                    ("grace", "nursery-2026"),
                    ("edith", "applications"),
                }:
                    continue
                own = budget.amount * pv.Budget(part).amount * 3 / 5
                home.ledger.set_cap(name, pv.Budget(**{budget.unit: own}), analyst)
                ends = {"ada": None, "edith": today - timedelta(days=12)}.get(
                    analyst, today + timedelta(days=80)
                )
                home.accounts.grant(analyst, name, ends)
        tokens["hedy"] = home.accounts.add_analyst("hedy")
    _spend(home, begun, charges, seed)
    _fit(home, "ada", "applications", 12, done=True)
    _fit(home, "grace", "applications", 5, done=False)
    _manage(home, tokens)
    return home, tokens


def _fit(home: ServiceState, analyst: str, dataset: str, questions: int, *, done: bool) -> None:
    """A fit with its questions, which is one row of the page."""
    about = {"schema": "s", "neighbours": "add-remove", "rows_per_person": 1, "person": ""}
    key = f"fit-{analyst}"
    home.ledger.reserve(
        dataset, analyst, pv.Budget("0.15"), "fit of privet", key=key, request="f" * 64, **about
    )
    for number in range(questions):
        entry = home.ledger.charge(
            dataset,
            analyst,
            Cost.pure("0.01"),
            QUESTIONS[number % 4],
            key=f"{key}-{number}",
            request=f"{number:064x}",
            reservation=key,
            asked="class counts of form = complete and health = recommended",
            **about,
        )
        home.ledger.record(entry.number, b'{"answer":[]}')
    if done:
        home.ledger.close_reservation(analyst, key)


def _manage(home: ServiceState, tokens: dict[str, str]) -> None:
    """What owners changed, and what was refused."""
    desk = Desk(home, FIRST_OWNER)
    tokens["dora"] = people.add_staff(desk, "dora", "auditor", "data-protection officer").token
    rights.change_cap(desk, "applications", pv.Budget(5), why="approved by the board")
    rights.grant(desk, "hedy", "applications", pv.Budget("1/4"), "90d", "study 17")
    rights.grant(desk, "joan", "applications", until="180d", why="prolonged")
    rights.revoke(desk, "katherine", "nursery-2026")
    people.replace_token(desk, "grace", "laptop lost")
    datasets.pause_dataset(desk, "nursery-2026", "the table is rebuilt")
    refusals = Refusals(home.audit_log)
    asked = "count, epsilon 9: cells = [[form = complete, health = not_recom]]"
    left = "the budget of data set 'applications' does not allow this: asked epsilon 9, left 0.6"
    refusals.refuse_question("edith", "applications", "size, epsilon 0.01", "not granted to you")
    refusals.refuse_question("ada", "applications", asked, left)
    for _ in range(41):
        refusals.refuse_sign_in("203.0.113.7")
    refusals.flush(all_of_them=True)


def _spend(home: ServiceState, begun: datetime, charges: int, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a picture
    grants = home.accounts.grants()
    hours = sorted(draw.betavariate(1.4, 1.1) * 95.5 * 24 for _ in range(charges))
    for number, hour in enumerate(hours):
        grant = draw.choice(grants)
        when = begun + timedelta(hours=hour)
        if grant.over and when.isoformat() > grant.expires:
            continue
        cap = home.ledger.cap(grant.dataset)
        price = draw.choice(["0.01", "0.02", "0.005", "1/30"])
        cost = (
            Cost.pure(price)
            if cap is not None and cap.unit == "epsilon"
            else Cost.concentrated(draw.choice(["0.001", "1/300"]))
        )
        with patch.object(
            journal, "now", lambda when=when: when.isoformat(timespec="milliseconds")
        ):
            try:
                what = draw.choice(QUESTIONS)
                entry = home.ledger.charge(
                    grant.dataset,
                    grant.analyst,
                    cost,
                    what,
                    key=f"key-{number}",
                    request=f"{number:064x}",
                )
            except BudgetExceeded:
                continue
            if number % 97 != 50:
                home.ledger.record(entry.number, b'{"answer":[]}')


def serve(home: ServiceState) -> tuple[uvicorn.Server, threading.Thread, str]:
    """The service in a thread, at a free port of this machine."""
    server = uvicorn.Server(
        uvicorn.Config(create_app(home), host="127.0.0.1", port=0, log_level="warning")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    return server, thread, f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"


def shoot(
    browser: Browser, url: str, token: str, target: Path, *, height: int, page: str = ""
) -> None:
    """Sign in, and take a picture of the upper part."""
    tab = browser.new_page(viewport={"width": 1180, "height": height})
    tab.goto(url)
    tab.get_by_label("Your token").fill(token)
    tab.get_by_role("button", name="Sign in").click()
    tab.get_by_role("button", name="Sign out").wait_for()
    calculate = tab.get_by_role("button", name="Calculate")
    if calculate.count():
        calculate.click()
        tab.get_by_text("It fits.").wait_for()
        tab.goto(f"{tab.url.partition('#')[0]}#")
    if page:
        tab.get_by_role("link", name=page, exact=True).click()
        tab.get_by_text("Change the rights of ada").first.click()
        tab.wait_for_load_state()
    tab.screenshot(path=target)
    tab.close()


def main() -> None:
    """Make the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home, tokens = make_home(Path(folder))
        server, thread, url = serve(home)
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=FLAGS
        )
        shoot(browser, url, tokens["owner"], HERE / "curator-owner.png", height=1310)
        shoot(browser, url, tokens["ada"], HERE / "curator-analyst.png", height=1240)
        target = HERE / "curator-data-sets.png"
        shoot(browser, url, tokens["owner"], target, height=1000, page="Data sets")
        browser.close()
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
