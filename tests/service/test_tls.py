"""TLS by certificate files: the client trusts what it is told to trust, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import trustme

import privet as pv
from privet.errors import Unavailable


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
def port(home, certificates):
    command = [
        sys.executable,
        "-c",
        "from privet.cli import main; main()",
        "curator",
        "serve",
        "--home",
        str(home.path),
        "--port",
        "0",
    ]
    command += ["--cert", str(certificates / "cert.pem"), "--key", str(certificates / "key.pem")]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        said = server.stderr.readline()
        assert "https://127.0.0.1:" in said
        yield int(said.split("https://127.0.0.1:")[1].split()[0])
    finally:
        server.terminate()
        server.stderr.read()
        server.stderr.close()
        server.wait(timeout=60)


def test_a_trusted_certificate_and_no_other(port, home, certificates):
    token = home.tokens["ada"]
    with pv.connect(f"https://localhost:{port}", token, ca=certificates / "ca.pem") as curator:
        curator.size("1/10")
        assert str(curator.left) == "19/10"
    for scheme, ca in (("https", certificates / "other.pem"), ("https", None), ("http", None)):
        with pytest.raises(Unavailable) as caught:
            pv.connect(f"{scheme}://localhost:{port}", token, ca=ca, retry_for=0)
        assert token not in str(caught.value)
    assert str(home.ledger.spent("people").epsilon) == "1/10"
