"""The page in a real browser: clicked through, at the width of a desk and of a phone. Nothing is
loaded, nothing is complained about.
"""

from __future__ import annotations

import shutil
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
import uvicorn

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import journal
from privet.service.app import create_app
from tests.service.conftest import FAST

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
DESK, PHONE = (1280, 900), (390, 844)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def url(state, monkeypatch):
    """A running service with sixty charges of the last sixty days, and names that could break a
    page.
    """
    long = "a-very-long-name-" * 20
    state.tokens[long] = state.accounts.add_analyst(long)
    state.accounts.grant(long, "people", datetime.now(UTC) + timedelta(days=3))
    for number in range(60):
        then = (datetime.now(UTC) - timedelta(days=60 - number)).isoformat(timespec="milliseconds")
        monkeypatch.setattr(journal, "now", lambda then=then: then)
        what = (
            "<script>document.title = 'caught'</script>"
            if number == 59
            else f"counts of {number} cells " + "x" * 3 * number
        )
        analyst = ("ada", "bob", long)[number % 3]
        entry = state.ledger.charge(
            "people", analyst, Cost.pure("1/97"), what, key=f"k{number}", request="0" * 64
        )
        if number % 10:
            state.ledger.record(entry.number, b"{}")
    monkeypatch.undo()
    config = uvicorn.Config(
        create_app(state, FAST),
        host="127.0.0.1",
        port=0,
        ws="none",
        log_level="warning",
        access_log=False,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + 60
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


class Watched:
    """A tab whose requests and complaints are kept."""

    def __init__(self, browser, url: str, size: tuple[int, int], scheme: str = "light") -> None:
        self.url, self.requests, self.complaints = url, [], []
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme
        )
        self.tab = self.context.new_page()
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("console", lambda message: self.complaints.append(message.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("dialog", lambda dialog: self.complaints.append(dialog.message))

    def sign_in(self, token: str) -> None:
        self.tab.goto(self.url)
        self.tab.get_by_label("Your token").fill(token)
        self.tab.get_by_role("button", name="Sign in").click()
        self.tab.get_by_role("button", name="Sign out").wait_for()
        self.fits()

    def fits(self) -> None:
        """Nothing is wider than the screen."""
        assert self.tab.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )

    def lines(self) -> int:
        return self.tab.locator("table.charges tbody tr").count()

    def close(self) -> None:
        self.context.close()
        assert self.requests
        assert [one for one in self.requests if not one.startswith((f"{self.url}/", "data:"))] == []
        assert self.complaints == []


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def watched(browser, url, request):
    watched = Watched(browser, url, request.param)
    yield watched
    watched.close()


def test_the_owner_clicks_through(watched, state):
    tab = watched.tab
    watched.sign_in(state.tokens["owner"])
    assert tab.title() == "Owner · Privet curator"
    assert watched.lines() == 50
    tab.get_by_role("link", name="Older").click()
    tab.wait_for_url("**/?page=2#ledger")
    assert watched.lines() == 13, "sixty charges and the three caps"
    tab.get_by_label("Analyst").select_option("bob")
    tab.get_by_label("Text in the question").fill("CELLS")
    tab.get_by_label("Show", exact=True).select_option("without an answer")
    tab.get_by_role("button", name="Filter").click()
    tab.get_by_text("2 of 60 charges").wait_for()
    assert watched.lines() == 2
    watched.fits()
    tab.get_by_label("From (UTC)").fill((datetime.now(UTC) + timedelta(days=2)).date().isoformat())
    tab.get_by_role("button", name="Filter").click()
    tab.get_by_text("No charge fits this filter").wait_for()
    tab.get_by_role("link", name="Show all").click()
    tab.get_by_text("60 charges, newest first").wait_for()
    tab.get_by_role("button", name="Verify now").click()
    tab.get_by_text("when you asked for it").wait_for()
    tab.reload()  # asks nobody whether to send a form again
    tab.get_by_role("button", name="Sign out").click()
    tab.get_by_role("heading", name="Sign in").wait_for()
    tab.goto(watched.url)
    assert tab.get_by_role("heading", name="Sign in").is_visible()


def test_an_analyst_clicks_through(watched, state):
    tab = watched.tab
    watched.sign_in(state.tokens["ada"])
    tab.get_by_text("What is public about it").click()
    assert tab.get_by_role("rowheader", name="colour").is_visible()
    tab.get_by_text("Ask from Python").click()
    assert watched.url in tab.locator("pre").inner_text()
    tab.get_by_text("Receipt").first.click()
    assert tab.locator("details.receipt code").first.inner_text().startswith("privet-receipt-1.")
    watched.fits()
    tab.get_by_label("Questions", exact=True).fill("5")
    tab.get_by_label("Price of each").fill("1/10")
    tab.get_by_role("button", name="Calculate").click()
    tab.get_by_text("It fits.").wait_for()
    assert "epsilon 0.5" in tab.locator("#estimate").inner_text()
    tab.get_by_label("Questions", exact=True).fill("500")
    tab.get_by_role("button", name="Calculate").click()
    tab.get_by_text("It does not fit.").wait_for()
    watched.fits()
    tab.get_by_label("Text in the question").fill("counts of 3 cells")
    tab.get_by_role("button", name="Filter").click()
    tab.get_by_text("1 of 20 charges").wait_for()
    assert watched.lines() == 1
    tab.get_by_role("button", name="Sign out").click()
    tab.get_by_role("heading", name="Sign in").wait_for()


def test_a_wrong_token_is_told_and_the_browser_keeps_none(watched):
    tab = watched.tab
    tab.goto(watched.url)
    tab.get_by_label("Your token").fill("privet_wrong")
    tab.keyboard.press("Enter")
    tab.get_by_role("alert").wait_for()
    assert watched.context.cookies() == []
    assert "wrong" not in tab.url
    # The browser itself notes a status of 401; nothing else may be noted.
    assert watched.complaints == [text for text in watched.complaints if "401" in text]
    watched.complaints.clear()


def test_a_form_on_another_site_cannot_sign_anybody_in(browser, url, state):
    watched = Watched(browser, url, DESK)
    tab, token = watched.tab, state.tokens["ada"]
    # another site for the browser, though the same server
    other = url.replace("127.0.0.1", "localhost")
    tab.route(
        f"{other}/",
        lambda route: route.fulfill(
            body=(
                f'<form method="post" action="{url}/sign-in"><input name="token" '
                f'value="{token}"><button>Win</button></form>'
            ),
            content_type="text/html",
        ),
    )
    tab.goto(f"{other}/")
    tab.get_by_role("button", name="Win").click()
    tab.get_by_role("heading", name="Refused").wait_for()
    assert watched.context.cookies() == []
    watched.context.close()


def test_an_owner_changes_rights_with_the_keyboard_alone(watched, state):
    """Labels, focus, what is told: no mouse, no script."""
    tab = watched.tab
    watched.sign_in(state.tokens["owner"])
    tab.get_by_role("link", name="Data sets").focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("heading", name="Data sets", level=1).wait_for()
    assert tab.get_by_role("navigation", name="Pages of the curator").count() == 1
    assert tab.locator("[aria-current=page]").inner_text() == "Data sets"
    tab.get_by_text("Change the rights of ada").focus()
    tab.keyboard.press("Enter")
    opened = tab.locator("details[open]")
    assert opened.count() == 1
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.labels[0].textContent") == "Cap in epsilon"
    tab.keyboard.type("1/2")
    tab.keyboard.press("Tab")
    tab.keyboard.type("2999-01-01")
    tab.keyboard.press("Enter")
    done = tab.get_by_role("status").filter(has_text="Done.")
    done.wait_for()
    assert "'ada' may spend epsilon 0.5 on 'people', until 2999-01-01" in done.inner_text()
    assert tab.locator("#done").get_attribute("aria-live") == "polite"
    assert str(state.ledger.cap("people", "ada")) == "epsilon 0.5"
    watched.fits()
    tab.reload()  # asks nobody whether to send a form again


def test_a_token_is_shown_once_and_is_in_no_address(watched, state):
    tab = watched.tab
    watched.sign_in(state.tokens["owner"])
    tab.get_by_role("link", name="People").click()
    tab.get_by_text("Add an owner or auditor").click()
    tab.locator("#add-staff").fill("dora")
    tab.get_by_label("Role").select_option("auditor")
    watched.fits()
    tab.locator("form[action='/change/add-staff'] button").click()
    token = tab.locator("code.copy").inner_text()
    assert str(state.accounts.person_of(token)) == "dora (auditor)"
    assert not any(token in address for address in watched.requests)
    tab.get_by_role("link", name="Back to the page").click()
    assert token not in tab.content()
    tab.get_by_role("button", name="Sign out").click()
    watched.sign_in(token)
    for page in ("Data sets", "People", "Audit log", "Service"):
        tab.get_by_role("link", name=page, exact=True).click()
        tab.get_by_role("heading", name=page, level=1).wait_for()
        watched.fits()
        assert tab.locator("form.change").count() == 0, "an auditor changes nothing"


def test_a_fit_is_one_row_that_opens(watched, state):
    about = {"schema": "s", "neighbours": "add-remove", "rows_per_person": 1, "person": "who"}
    budget = Budget(1)
    state.ledger.reserve("people", "ada", budget, "fit of x", key="f", request="r", **about)
    for number in range(3):
        state.ledger.charge(
            "people", "ada", Cost.pure("1/9"), f"part {number}", key=f"f{number}", request="r",
            reservation="f", asked="colour = red", **about,
        )  # fmt: skip
    tab = watched.tab
    watched.sign_in(state.tokens["owner"])
    row = tab.locator("tr.fit")
    assert row.count() == 1
    assert "0.3334" in row.inner_text()
    assert not tab.get_by_text("part 2").is_visible()
    row.locator("summary").focus()
    tab.keyboard.press("Enter")
    assert tab.get_by_text("part 2").is_visible()
    assert row.locator("li").count() == 3
    watched.fits()
    tab.get_by_text("Cancel it", exact=True).click()
    tab.get_by_role("button", name="Cancel it now").click()
    tab.get_by_role("status").filter(has_text="can be spent again").wait_for()
    assert state.ledger.reservation("ada", "f").state == "cancelled"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", ["data-sets", "people", "audit-log", "service"])
def test_texts_of_owners_pages_stand_out(browser, url, state, page, scheme):
    watched = Watched(browser, url, DESK, scheme)
    watched.sign_in(state.tokens["owner"])
    watched.tab.goto(f"{url}/{page}")
    for summary in watched.tab.locator("details > summary").all():
        summary.click()
    assert watched.tab.evaluate(CONTRAST) == []
    unnamed = """() => [...document.querySelectorAll("input, select, textarea")].filter(
        e => e.type !== "hidden" && !(e.labels && e.labels.length)).map(e => e.name)"""
    assert watched.tab.evaluate(unnamed) == []
    ids = "() => [...document.querySelectorAll('[id]')].map(e => e.id)"
    found = watched.tab.evaluate(ids)
    assert len(found) == len(set(found))
    watched.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("who", ["owner", "ada"])
def test_texts_stand_out_from_what_is_behind_them(browser, url, state, who, scheme):
    """Every text has the contrast that WCAG 2.2 asks for (level AA, 4.5 to 1)."""
    watched = Watched(browser, url, DESK, scheme)
    watched.sign_in(state.tokens[who])
    assert watched.tab.evaluate(CONTRAST) == []
    watched.close()


CONTRAST = """() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
    if (e.classList.contains("off")) continue;  // what cannot be clicked need not stand out
    const style = getComputedStyle(e), svg = e.namespaceURI.includes("svg");
    const [a, b] = [light(rgb(svg ? style.fill : style.color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + .05) / (b + .05) < 4.5) bad.push(e.tagName + ": " + e.textContent.trim().slice(0, 40));
  }
  return bad;
}"""  # noqa: E501
