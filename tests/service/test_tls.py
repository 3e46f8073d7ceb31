"""TLS by certificate files: the client trusts what it is told to trust, and nothing else."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import time

import pytest
import trustme
from cryptography import x509

import privet as pv
from privet.errors import Unavailable
from tests import commands
from tests.service.running import PATIENCE, Service


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "cert.pem")
    trustme.CA().cert_pem.write_to_path(folder / "other.pem")
    return folder


@pytest.fixture
def port(state, certificates):
    files = ["--cert", str(certificates / "cert.pem"), "--key", str(certificates / "key.pem")]
    server = Service(state.path, certificates / "serve.log", more=files)
    assert f"https://127.0.0.1:{server.port} " in server.told
    yield server.port
    server.stop()


def test_a_trusted_certificate_and_no_other(port, state, certificates):
    token = state.tokens["ada"]
    with pv.connect(f"https://localhost:{port}", token, ca=certificates / "ca.pem") as curator:
        curator.size("1/10")
        assert str(curator.left) == "19/10"
    for scheme, ca in (("https", certificates / "other.pem"), ("https", None), ("http", None)):
        with pytest.raises(Unavailable) as caught:
            pv.connect(f"{scheme}://localhost:{port}", token, ca=ca, retry_for=0)
        assert token not in str(caught.value)
    assert str(state.ledger.spent("people").epsilon) == "1/10"


def serial_of(connection) -> int:
    return int(connection.getpeercert()["serialNumber"], 16)


def test_a_renewed_certificate_is_served_without_a_restart(state, tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"

    def renew() -> int:
        issued = authority.issue_cert("localhost")
        issued.private_key_pem.write_to_path(key)
        issued.cert_chain_pems[0].write_to_path(cert)
        return x509.load_pem_x509_certificate(cert.read_bytes()).serial_number

    context = ssl.create_default_context(cafile=tmp_path / "ca.pem")

    def shake_hands():
        plain = socket.create_connection(("localhost", server.port), PATIENCE)
        return context.wrap_socket(plain, server_hostname="localhost")

    first = renew()
    more = ["--cert", str(cert), "--key", str(key)]
    server = Service(state.path, tmp_path / "serve.log", more=more)
    try:
        with shake_hands() as open_before:
            assert serial_of(open_before) == first
            second = renew()
            os.kill(server.process.pid, signal.SIGHUP)
            wait_until(lambda: "loaded the certificate" in server.told)
            with shake_hands() as renewed:
                assert serial_of(renewed) == second
            key.write_text("half a key")
            os.kill(server.process.pid, signal.SIGHUP)
            wait_until(lambda: "stays as it was" in server.told)
            with shake_hands() as kept:
                assert serial_of(kept) == second
            open_before.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert open_before.recv(15) == b"HTTP/1.1 200 OK", "what was open goes on"
    finally:
        assert server.stop() == 0


def wait_until(there) -> None:
    until = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("named", ["option", "PRIVET_CA", "SSL_CERT_FILE"])
def test_commands_trust_an_authority_of_their_own(port, state, certificates, tmp_path, named):
    environment = {**os.environ, "PRIVET_TOKEN": state.tokens["ada"]}
    ask = ["count", f"https://localhost:{port}", "--epsilon", "1/10", "--key", "once", "--json"]
    refused = commands.run(ask, tmp_path, environment)
    assert refused.returncode == 2
    assert "--ca" in refused.stderr
    ca = str(certificates / "ca.pem")
    if named == "option":
        ask += ["--ca", ca]
    else:
        environment[named] = ca
    answers = [commands.run(ask, tmp_path, environment) for _ in range(2)]
    assert [done.returncode for done in answers] == [0, 0], answers[0].stderr
    assert answers[0].stdout == answers[1].stdout, "the same key, the same answer"
    assert str(state.ledger.spent("people").epsilon) == "1/10"
    other = commands.run([*ask, "--by", "colour"], tmp_path, environment)
    assert other.returncode == 2
    assert "belongs to another request" in other.stderr
