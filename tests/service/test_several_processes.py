"""Two processes serve one home behind nginx, which sends each request to the next of them: fits,
groups of people, the page and limits work as with one.
"""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

import privet as pv
from privet.accounting.ledger import verify
from privet.service.limits import Limits, Rates, TooMany
from privet.service.shared import Shared, socket_address
from tests.ports import free_port
from tests.service.running import PATIENCE, Client, Service, house

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
CONFIG = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream curators {{ {servers} }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://curators; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_next_upstream error timeout http_502 http_503 non_idempotent;
    }}
  }}
}}
"""


class Balanced:
    """Services of one home, and a balancer in front of them."""

    def __init__(self, folder: Path, n_services: int = 2) -> None:
        self.there = house(folder, 100)
        self.there.add("ada", 100)
        self.folder, self.port, self.nginx = folder, free_port(), None
        self.n_services = n_services

    def start(self) -> None:
        self.services = [self.serve() for _ in range(self.n_services)]
        assert NGINX is not None
        ports = [service.port for service in self.services]
        servers = " ".join(f"server 127.0.0.1:{port} fail_timeout=1s;" for port in ports)
        config = CONFIG.format(folder=self.folder, port=self.port, servers=servers)
        (self.folder / "nginx.conf").write_text(config)
        command = [NGINX, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        self.nginx = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 5).close()
                return
            except ConnectionError:
                assert time.monotonic() < until, (self.folder / "nginx.log").read_text()
                time.sleep(0.02)

    def serve(self, port: int = 0) -> Service:
        return Service(self.there.path, self.folder / f"serve-{time.monotonic_ns()}.log", port=port)

    def connect(self) -> pv.RemoteCurator:
        return pv.connect(f"http://127.0.0.1:{self.port}", self.there.tokens["ada"])

    def client(self) -> Client:
        return Client(self.port, self.there.tokens["ada"])

    def close(self) -> None:
        if self.nginx is not None:
            self.nginx.kill()
            self.nginx.wait()
        for service in self.services:
            service.kill()


@pytest.fixture
def balanced(tmp_path):
    if NGINX is None:
        pytest.skip("needs nginx")
    made = Balanced(tmp_path)
    made.services = []
    yield made
    made.close()


def shared_bytes(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob("shared.sqlite*"))


def test_fits_and_groups_of_people_work_through_a_balancer(balanced):
    balanced.start()
    state = balanced.there.state
    with balanced.connect() as curator:
        tree = pv.GreedyTreeClassifier(epsilon=1).fit_from(curator)
        assert tree.privacy_.promised.epsilon == 1
        with curator.snapshot():
            sizes = [curator.size(1) for _ in range(4)]
            groups = curator.split_people(2, epsilon=5)
            parts = [sum(group.size(2).tables[0].tolist()) for group in groups for _ in range(2)]
        assert len(sizes) == 4
        assert sum(parts) / 2 == pytest.approx(400, abs=60)
    assert state.ledger.spent("people").epsilon == 10
    assert verify(state.ledger, state.witness) == []
    assert b"p17" not in shared_bytes(state.path)  # nobody's row leaves its process
    assert [service.complaints for service in balanced.services] == ["", ""]


def test_a_fit_goes_on_when_a_process_is_killed(balanced):
    balanced.start()
    state = balanced.there.state
    with balanced.connect() as curator, curator.reserving(pv.Cost.pure(8), "a fit") as fit:
        with fit.snapshot():
            for number in range(8):
                if number == 3:
                    balanced.services[0].kill()
                if number == 5:
                    balanced.services[0] = balanced.serve(balanced.services[0].port)
                    balanced.services[1].kill()
                fit.size(1)
        assert fit.notes
    assert state.ledger.spent("people").epsilon == 8
    assert state.ledger.unanswered() == set()
    assert verify(state.ledger, state.witness) == []


def test_who_signed_in_is_known_to_all(balanced):
    balanced.start()
    host = f"127.0.0.1:{balanced.port}"
    browser = http.client.HTTPConnection(host, timeout=PATIENCE)
    form = urlencode({"token": balanced.there.tokens["ada"]})
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    browser.request("POST", "/sign-in", form, kind)
    signed_in = browser.getresponse()
    signed_in.read()
    assert signed_in.status == 303
    cookie = {"Cookie": signed_in.headers["Set-Cookie"].partition(";")[0]}
    pages = []
    for _ in range(4):
        browser.request("GET", "/", headers=cookie)
        pages.append(browser.getresponse().read())
    assert all(b"ada" in page for page in pages)
    browser.request("POST", "/sign-out", "", {**kind, **cookie})
    browser.getresponse().read()
    for _ in range(2):
        browser.request("GET", "/", headers=cookie)
        assert b"ada" not in browser.getresponse().read()
    browser.close()


def test_limits_hold_for_all_processes_together(balanced):
    limits = {"snapshots_each": 2, "snapshot_lease": 3600}
    (balanced.there.path / "limits.json").write_text(json.dumps(limits))
    balanced.start()
    with balanced.client() as ada:
        begun = [ada.request("POST", "datasets/people/snapshots", b"").status for _ in range(4)]
        assert begun == [201, 201, 429, 429]
        balanced.services[0].kill()  # its snapshot is gone with it, and makes room
        statuses = [ada.request("POST", "datasets/people/snapshots", b"").status for _ in range(2)]
        assert sorted(statuses) == [201, 429]


def test_a_rate_is_one_for_all_processes(tmp_path):
    """Two processes take from one bucket: together no more than its burst and what flows in."""
    home = tmp_path / "home"
    home.mkdir()
    processes = [Rates(0.001, 40, "person", Shared(home)) for _ in range(2)]
    passed = []

    def ask(rates: Rates) -> None:
        for _ in range(60):
            try:
                rates.take("ada")
            except TooMany:
                continue
            passed.append(None)

    threads = [threading.Thread(target=ask, args=(rates,)) for rates in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 40
    debtor = Rates(0.001, 40, "debtor", Shared(home))
    debtor.take("bob")
    debtor.pay("bob", 100)
    with pytest.raises(TooMany) as refused:  # a debt is known to all, and counted once
        debtor.take("bob")
    assert refused.value.wait == pytest.approx((1 + 61) / 0.001, rel=0.01)
    with pytest.raises(TooMany) as refused:
        Rates(0.001, 40, "debtor", Shared(home)).take("bob")
    assert refused.value.wait == pytest.approx((1 + 61) / 0.001, rel=0.01)


def test_a_home_with_a_long_path_has_sockets(tmp_path):
    home = tmp_path / ("long" * 30)
    home.mkdir()
    shared = Shared(home)
    with shared.listen() as listener:
        listener.listen()
        other = Shared(home)
        shared.claim_snapshot("one", "ada", 1, "", Limits())
        owner = other.owner_of_snapshot("one", "ada", 1)
        assert owner is not None
        assert owner.secret == shared.secret
        assert len(socket_address(owner.place)) < 100
        other.forget_dead()
        assert other.owner_of_snapshot("one", "ada", 1) is not None
        assert other.owner_of_snapshot("one", "bob", 1) is None
    other.forget_dead()
    assert other.owner_of_snapshot("one", "ada", 1) is None


def test_what_is_damaged_is_made_anew(tmp_path):
    (tmp_path / "shared.sqlite").write_bytes(b"no database at all" * 100)
    assert Shared(tmp_path).ended_snapshots() == set()
