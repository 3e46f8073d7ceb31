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

from privet.accounting.cost import Cost
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
    assert watched.lines() == 10
    tab.get_by_label("Analyst").select_option("bob")
    tab.get_by_label("Text in the question").fill("CELLS")
    tab.get_by_label("Answer").select_option("without an answer")
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
