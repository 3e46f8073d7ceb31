"""TLS by certificate files: the client trusts what it is told to trust, and nothing else."""

from __future__ import annotations

import pytest
import trustme

import privet as pv
from privet.errors import Unavailable
from tests.service.running import Service


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
