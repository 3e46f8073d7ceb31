"""Signing in at a certified provider (oidc-provider, for Node) on loopback."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient

from privet.service.app import create_app
from privet.service.oidc import provider as provider_module
from privet.service.oidc.settings import read_oidc
from tests.ports import free_port
from tests.service.conftest import FAST
from tests.service.oidc_provider import AUDIENCE, CLIENT, SECRET

SCRIPT = Path(__file__).with_name("real_provider.mjs")
#: TestClient never connects: what is between it and the service has this address.
HERE = "http://127.0.0.1"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("npm") is None, reason="there is no Node"),
]


@pytest.fixture(scope="module")
def node(tmp_path_factory):
    """A folder with the provider's package."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    install = ["npm", "install", "--no-audit", "--no-fund", "oidc-provider@9"]
    if subprocess.run(install, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("npm cannot reach a registry")
    shutil.copy(SCRIPT, folder)
    return folder


class RealProvider:
    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder, free_port()
        self.issuer = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self) -> None:
        call = ["node", SCRIPT.name, str(self.port), f"{HERE}/oidc/callback", AUDIENCE]
        log = self._folder / "log"
        with log.open("wb") as file:
            self._process = subprocess.Popen(call, cwd=self._folder, stdout=file, stderr=file)
        until = time.monotonic() + 60
        while "listening" not in log.read_text():
            assert self._process.poll() is None, log.read_text()
            assert time.monotonic() < until
            time.sleep(0.05)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(60)

    def sign_in(self, address: str, login: str) -> str:
        """What a person does in a browser; where the provider sends it back to."""
        with httpx2.Client() as browser:
            answer = browser.get(address)
            for _ in range(10):
                while answer.is_redirect:
                    target = urljoin(str(answer.url), answer.headers["location"])
                    if target.startswith(f"{HERE}/oidc/callback"):
                        return target
                    answer = browser.get(target)
                assert answer.status_code == 200, answer.text
                action = html.unescape(re.search(r'action="([^"]+)"', answer.text)[1])
                prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)[1]
                form = {"prompt": prompt, "login": login, "password": "any"}
                answer = browser.post(urljoin(str(answer.url), action), data=form)
        raise AssertionError(answer.text)


@pytest.fixture
def real(node):
    made = RealProvider(node)
    yield made
    made.stop()


@pytest.fixture
def browser(state, real):
    table = {
        "issuer": real.issuer,
        "client_id": CLIENT,
        "audience": AUDIENCE,
        "name_claim": "preferred_username",
        "owner": {"groups": "owners"},
    }
    app = create_app(state, FAST, oidc=read_oidc(table, "", SECRET))
    with TestClient(app, base_url=HERE, follow_redirects=False) as client:
        yield client


def come_back(browser, real, login):
    leaving = browser.get("/oidc/sign-in").headers["location"]
    return browser.get(real.sign_in(leaving, login))


def test_people_sign_in_and_stay_out(browser, real, state):
    assert come_back(browser, real, "ada").status_code == 200
    assert "ada" in browser.get("/").text
    assert come_back(browser, real, "grace").status_code == 200
    assert "verification" in browser.get("/").text, "an owner, by the groups that she is in"
    browser.cookies.clear()
    assert come_back(browser, real, "mallory").status_code == 403
    signed_out = browser.get("/")
    assert "/oidc/sign-in" in signed_out.text


def test_an_access_token_of_the_provider_asks_and_keys_rotate(browser, real, state, monkeypatch):
    def token() -> str:
        leaving = browser.get("/oidc/sign-in").headers["location"]
        verifier = browser.cookies["privet-oidc"].strip('"').split(".")[2]
        back = parse_qs(urlsplit(real.sign_in(leaving, "ada")).query)
        form = {
            "grant_type": "authorization_code",
            "code": back["code"][0],
            "redirect_uri": f"{HERE}/oidc/callback",
            "code_verifier": verifier,
        }
        told = httpx2.post(f"{real.issuer}/token", data=form, auth=(CLIENT, SECRET)).json()
        return str(told["access_token"])

    def ask(with_token: str):
        return browser.get("/v1/datasets", headers={"Authorization": f"Bearer {with_token}"})

    first = token()
    assert ask(first).json()["analyst"] == "ada"
    real.stop()
    real.start()  # with another key
    monkeypatch.setattr(provider_module, "_PAUSE", 0.0)
    second = token()
    assert ask(second).json()["analyst"] == "ada"
    assert ask(first).status_code == 401
