"""Strangers: connections that never ask, heads and bodies that never end, tokens that nobody has.

Nothing here looks at a clock: what was accepted, cut and answered is counted.
"""

from __future__ import annotations

import asyncio
import json
import select
import socket
import sqlite3
import ssl
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import trustme

from privet.errors import AccessError, ParameterError
from privet.outsource.server.state import ServerLimits
from privet.service.accounts import FIRST_OWNER, Accounts
from privet.service.admission import Admission
from privet.service.audit_log import Person
from privet.service.connections import Connections
from privet.service.limits import (
    HttpLimits,
    Limits,
    TooMany,
    describe_limits,
    read_limits,
    write_limits,
)
from privet.service.problems import Unauthorised
from tests.service.running import PATIENCE, Client, Service, house

HALF = b"GET /v1/datasets HTTP/1.1\r\nHost: x\r\n"


@contextmanager
def serving(there, more=(), **limits):
    """A service with these limits."""
    (there.path / "limits.json").write_text(json.dumps(limits))
    service = Service(there.path, there.path.parent / "serve.log", more=more)
    try:
        yield service
    finally:
        service.kill()


@pytest.fixture
def there(tmp_path):
    made = house(tmp_path)
    made.add("ada", 1000)
    return made


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def read_all(connection):
    """What arrives until the server ends the connection."""
    received = b""
    try:
        while piece := connection.recv(1 << 16):
            received += piece
    except ConnectionError:
        pass
    return received


def ask_on(connection):
    connection.sendall(HALF + b"\r\n")


def drip(connection, data, pause):
    """Send byte by byte, until the server has had enough. How many bytes were sent."""
    for sent in range(len(data)):
        try:
            connection.sendall(data[sent : sent + 1])
        except ConnectionError:
            return sent
        time.sleep(pause)
    return len(data)


def answers(service, token, times=5):
    """The statuses of questions, each on a connection of its own."""
    statuses = []
    for _ in range(times):
        with Client(service.port, token) as client:
            statuses.append(client.get("datasets").status)
    return statuses


def test_many_half_open_connections_keep_nobody_out(there):
    with serving(there) as service, ExitStack() as stack:
        for _ in range(1200):
            connection = stack.enter_context(connect(service.port))
            connection.sendall(HALF)
        assert answers(service, there.tokens["ada"]) == [200] * 5
        assert service.complaints == ""


def test_heads_that_never_end_are_cut(there):
    """From the first byte, without a byte, and after a request that was answered."""
    with serving(there, head=0.5, idle=1) as service, ExitStack() as stack:
        silent = stack.enter_context(connect(service.port))
        half = stack.enter_context(connect(service.port))
        half.sendall(HALF)
        second = stack.enter_context(connect(service.port))
        ask_on(second)
        second.sendall(HALF)
        assert read_all(silent) == b""
        assert read_all(half) == b""
        assert read_all(second).startswith(b"HTTP/1.1 401")
        assert service.complaints == ""


def test_one_byte_at_a_time_is_cut(there):
    """Each byte ends the pause, and none the request."""
    with serving(there, head=1) as service, connect(service.port) as connection:
        assert drip(connection, HALF * 100, 0.05) < 100 * len(HALF)


def test_bodies_that_never_end_are_refused(there):
    head = "POST /v1/datasets/people/size HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n"
    token = there.tokens["ada"]
    with serving(there, patience=0.5, idle=1, head=1) as service, ExitStack() as stack:
        known, stranger = (stack.enter_context(connect(service.port)) for _ in range(2))
        known.sendall(f"{head}Authorization: Bearer {token}\r\n\r\n".encode())
        assert read_all(known).startswith(b"HTTP/1.1 408")
        # A stranger is refused at once, and cannot go on sending the body for ever.
        stranger.sendall(f"{head}\r\n".encode())
        assert drip(stranger, b" " * 900, 0.02) < 900
        assert service.complaints == ""


def test_a_slow_body_that_goes_on_is_waited_for(there):
    """It takes longer than the patience for one that does not."""
    body = json.dumps({"epsilon": "1/10"}).encode().ljust(20_000)
    with serving(there, patience=0.5, slowest=1000) as service, connect(service.port) as slow:
        slow.sendall(
            b"POST /v1/datasets/people/size HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\nContent-Length: 20000\r\n"
            + f"Authorization: Bearer {there.tokens['ada']}\r\n\r\n".encode()
        )
        for begin in range(0, len(body), 1000):
            slow.sendall(body[begin : begin + 1000])
            time.sleep(0.06)
        assert read_all(slow).startswith(b"HTTP/1.1 200")


def test_answers_that_nobody_reads_are_cut(there):
    """Requests follow each other, and the client takes no answer: the buffers fill."""
    request = b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
    with serving(there, head=0.5, idle=1, slowest=10**9) as service, connect(service.port) as deaf:
        with suppress(ConnectionError):
            deaf.sendall(request * 50_000)
        ended = select.poll()
        ended.register(deaf, 0)  # without reading
        assert ended.poll(1000 * PATIENCE)
        assert answers(service, there.tokens["ada"]) == [200] * 5


def test_connections_in_all_and_of_one_address(there):
    with serving(there, connections=40, connections_each=30) as service, ExitStack() as stack:
        held = [stack.enter_context(connect(service.port)) for _ in range(60)]
        for connection in held[:30]:
            assert read_all(connection) == b""  # those that waited longest
        statuses = []
        for connection in held[30:]:
            ask_on(connection)
            statuses.append(connection.recv(12))
        assert statuses.count(b"HTTP/1.1 401") + statuses.count(b"HTTP/1.1 429") == 30


def test_half_open_connections_with_tls(there, tmp_path):
    """Also those that never shake hands, which the application does not hear of."""
    issued = trustme.CA().issue_cert("localhost", "127.0.0.1")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    files = ["--cert", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem")]
    context = ssl._create_unverified_context()
    with serving(there, files, head=1, connections_each=20) as service, ExitStack() as stack:
        held = [stack.enter_context(connect(service.port)) for _ in range(60)]
        told = {}
        for host in ("127.0.0.1", "localhost"):
            with context.wrap_socket(connect(service.port)) as asking:
                asking.sendall(
                    f"GET /v1/datasets HTTP/1.1\r\nHost: {host}:1\r\nConnection: close\r\n"
                    f"Authorization: Bearer {there.tokens['ada']}\r\n\r\n".encode()
                )
                told[host] = read_all(asking).lower()
                assert told[host].startswith(b"http/1.1 200")
        assert b"\r\nstrict-transport-security: max-age=31536000\r\n" in told["127.0.0.1"]
        assert b"strict-transport-security" not in told["localhost"]
        assert [read_all(connection) for connection in held] == [b""] * 60
        assert service.complaints == ""


def test_a_working_connection_is_cut_for_nobody():
    """When all connections have a request under way, the new one is refused."""
    limits = HttpLimits(connections=2, connections_each=2)

    async def run():
        connections, release, inside = Connections(limits), asyncio.Event(), []

        async def app(scope, receive, send):
            inside.append(scope["client"])
            await release.wait()

        listener = connections.listen("127.0.0.1", 0)
        listener.setblocking(False)
        port, watched, accepted = listener.getsockname()[1], connections.watch(app), []
        with ExitStack() as stack:
            tasks = []
            for number in range(3):
                stack.enter_context(connect(port))
                connection, address = listener.accept()
                accepted.append(stack.enter_context(connection))
                if number < 2:
                    scope = {"type": "http", "client": address}
                    tasks.append(asyncio.create_task(watched(scope, None, None)))
                    await asyncio.sleep(0)
            assert len(inside) == 2
            assert accepted[2].recv(1) == b""  # refused
            release.set()
            await asyncio.gather(*tasks)
            accepted[0].close()  # there is room again
            stack.enter_context(connect(port))
            last, _ = listener.accept()
            stack.enter_context(last)
            last.setblocking(False)
            with pytest.raises(BlockingIOError):
                last.recv(1)
        listener.close()

    asyncio.run(run())


# -- headers that were sent twice --------------------------------------------------------------


@pytest.mark.parametrize(
    "header", ["authorization", "content-type", "idempotency-key", "privet-schema", "origin"]
)
def test_a_header_that_decides_is_sent_once(standing, header):
    headers = [("authorization", f"Bearer {standing.state.tokens['ada']}")]
    headers += [("content-type", "application/json")]
    said = dict(headers).get(header, "same")
    repeated = [pair for pair in headers if pair[0] != header] + [(header, said)] * 2
    before = len(standing.state.ledger.entries())
    answer = standing.client.post(
        "/v1/datasets/people/size", content=b'{"epsilon": "1/10"}', headers=repeated
    )
    assert answer.status_code == 400
    assert answer.json()["type"] == "urn:privet:problem:headers"
    assert f"header {header} was sent 2 times" in answer.json()["detail"]
    assert len(standing.state.ledger.entries()) == before


@pytest.mark.parametrize(
    "twice",
    [
        "Host: x\r\nHost: y",
        "Host: x\r\nContent-Length: 4\r\nContent-Length: 5",
        "Host: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked",
    ],
)
def test_headers_that_frame_a_request_are_sent_once(there, twice):
    with serving(there) as service, connect(service.port) as connection:
        connection.sendall(f"GET /v1/datasets HTTP/1.1\r\n{twice}\r\n\r\nbody".encode())
        assert read_all(connection).startswith(b"HTTP/1.1 400")


# -- tokens that nobody has --------------------------------------------------------------------


class Counted(Accounts):
    looked_up = 0

    def person_of(self, token: str) -> Person:
        self.looked_up += 1
        return super().person_of(token)

    def analyst_of(self, token):
        self.looked_up += 1
        return super().analyst_of(token)

    def is_owner(self, token):
        self.looked_up += 1
        return super().is_owner(token)


@pytest.fixture
def accounts(tmp_path):
    made, _ = Counted.make(tmp_path / "accounts.sqlite")
    return made


def knock(admission, token, address, times):
    """How often somebody was told that the token is not known, and to wait."""
    unknown = wait = 0
    for _ in range(times):
        try:
            admission.admit(token, address)
        except Unauthorised:
            unknown += 1
        except TooMany:
            wait += 1
    return unknown, wait


FEW = Limits(strangers=0.001, strangers_in_all=0.001)


def test_unknown_tokens_are_counted_before_they_are_looked_up(accounts):
    admission = Admission(accounts, FEW)
    assert knock(admission, "nobody's", "10.0.0.1", 100) == (20, 80)
    assert accounts.looked_up == 20


def test_strangers_from_everywhere_are_counted_together(accounts):
    admission = Admission(accounts, FEW)
    refused = [knock(admission, "nobody's", f"10.0.0.{number}", 1) for number in range(100)]
    assert (refused.count((1, 0)), refused.count((0, 1))) == (20, 80)
    assert accounts.looked_up == 20


def test_an_ipv6_host_has_one_count_for_its_network(accounts):
    admission = Admission(accounts, FEW)
    refused = [knock(admission, "nobody's", f"2001:db8::{number:x}", 1) for number in range(100)]
    assert refused.count((0, 1)) == 80


def test_strangers_keep_nobody_out_who_was_in_before(accounts):
    token, admission = accounts.add_analyst("ada"), Admission(accounts, FEW)
    assert admission.admit(token, "10.0.0.1") == "ada"
    knock(admission, "nobody's", "10.0.0.1", 50)  # a neighbour of hers
    for number in range(50):
        knock(admission, "nobody's", f"10.0.1.{number}", 1)
    assert admission.admit(token, "10.0.0.1") == "ada"


def test_known_tokens_are_no_strangers(accounts):
    """Many analysts behind one address, who come for the first time."""
    tokens = [accounts.add_analyst(f"analyst-{number}") for number in range(50)]
    admission = Admission(accounts, FEW)
    names = [admission.admit(token, "10.0.0.1") for token in tokens]
    assert names == [f"analyst-{number}" for number in range(50)]


def test_the_owner_signs_in_under_the_same_limits(tmp_path):
    accounts, owner = Counted.make(tmp_path / "owner.sqlite")
    admission = Admission(accounts, FEW)
    assert admission.admit_visitor(owner, "10.0.0.1") == FIRST_OWNER
    looked_up = accounts.looked_up
    for _ in range(100):
        with pytest.raises((Unauthorised, TooMany)):
            admission.admit_visitor("nobody's", "10.0.0.2")
    assert accounts.looked_up == looked_up + 20


def steps_of_look_up(accounts, token):
    """How many instructions SQLite runs to find out whose token it is."""
    steps, connect = [0], sqlite3.connect

    def counting(*args, **more):
        connection = connect(*args, **more)
        connection.set_progress_handler(lambda: steps.__setitem__(0, steps[0] + 1), 1)
        return connection

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", counting)
        accounts._connections.close()  # the next look-up opens another
        with suppress(AccessError):
            accounts.analyst_of(token)
        accounts._connections.close()
    return steps[0]


def test_the_work_of_a_look_up_depends_on_no_token(accounts):
    known = accounts.add_analyst("ada")
    few, own = (steps_of_look_up(accounts, token) for token in ("nobody's", known))
    assert 0 < few <= own < few + 10  # a name is copied, or not
    with accounts._opened() as connection:
        connection.executemany(
            "INSERT INTO analysts VALUES (?, ?, '')",
            [(f"analyst-{number}", f"{number:064x}") for number in range(5000)],
        )
    assert steps_of_look_up(accounts, "nobody's") == few
    assert steps_of_look_up(accounts, known) == own


# -- limits in a file --------------------------------------------------------------------------


def test_limits_are_kept_in_the_home(tmp_path):
    assert read_limits(Limits, tmp_path) == Limits()
    assert write_limits(Limits, tmp_path, ["rate=100", "work=2.5"]) == Limits(rate=100, work=2.5)
    write_limits(Limits, tmp_path, ["head=5"])
    assert read_limits(Limits, tmp_path) == Limits(rate=100, work=2.5, head=5)
    shown = {one.name: (one.value, one.default) for one in describe_limits(Limits(rate=100))}
    assert shown["rate"] == (100, 50)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("rat=1", "did you mean 'rate'"),
        ("rate", "NAME=VALUE"),
        ("rate=x", "must be a number"),
        ("rate=-1", "at least 0.001, got -1"),
        ("rate=inf", "must be a number"),
        ("body=0.5", "must be an integer"),
        ("connections=0", "at least 1, got 0"),
    ],
)
def test_limits_that_are_none(tmp_path, change, told):
    write_limits(Limits, tmp_path, ["rate=7"])
    with pytest.raises(ParameterError, match=told):
        write_limits(Limits, tmp_path, [change])
    assert read_limits(Limits, tmp_path) == Limits(rate=7)


@pytest.mark.parametrize("text", ["[]", "{", '{"rate": true}', '{"rate": "1"}', '{"room": {}}'])
def test_a_limits_file_that_is_none(tmp_path, text):
    (tmp_path / "limits.json").write_text(text)
    with pytest.raises(ParameterError, match=r"limits\.json"):
        read_limits(Limits, tmp_path)


@pytest.mark.parametrize("kind", [Limits, ServerLimits])
def test_all_limits_are_in_the_reference(kind):
    text = Path("docs/reference/limits.md").read_text(encoding="utf-8")
    for one in describe_limits(kind()):
        default = f"{one.default:,}".replace(",", " ")
        shown = default if isinstance(one.default, int) else f"{one.default:g}"
        in_table = f"| `{one.name}` | {shown} | {one.what} | {one.reached} |"
        assert in_table in text or f"`{one.name}` {shown}" in text, one.name
