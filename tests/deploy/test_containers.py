"""What the containers run, without containers: the same command and variables, a real PostgreSQL
that wants a password, and nginx in front.
"""

from __future__ import annotations

import json
import re
import ssl
import time
import urllib.request
from pathlib import Path

import pytest
import trustme
import yaml

from tests.deploy.production import DEPLOY, Machine, Proxy, nginx
from tests.ports import free_port

ROLE, PASSWORD = "privet_in_container", "a password with spaces"


@pytest.fixture
def database(postgres):
    """The URL, without a password, of a database whose owner must give one."""
    import psycopg

    url = postgres.database()
    name = re.search(r"/(fresh_\w+)\?", url)[1]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
        connection.execute(f"ALTER DATABASE {name} OWNER TO {ROLE}")
        (place,) = connection.execute("SHOW hba_file").fetchone()
        rules = Path(place).read_text(encoding="utf-8")
        Path(place).write_text(f"local all {ROLE} scram-sha-256\n{rules}", encoding="utf-8")
        connection.execute("SELECT pg_reload_conf()")
    yield re.sub(r"//[^/]*/", f"//{ROLE}@/", url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"REASSIGN OWNED BY {ROLE} TO postgres")
        connection.execute(f"DROP OWNED BY {ROLE}")
        connection.execute(f"DROP ROLE {ROLE}")


@pytest.mark.slow
@pytest.mark.skipif(nginx() is None, reason="there is no nginx")
def test_the_containers_run(tmp_path, database):
    curator = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]["curator"]
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "ledger_password").write_text(f"{PASSWORD}\n")
    (secrets / "metrics_token").write_text("m" * 64)
    port, secure = free_port(), free_port() + 50
    variables = {
        name: value.replace("/run/secrets", str(secrets))
        for name, value in curator["environment"].items()
    } | {
        "PRIVET_CURATOR": str(tmp_path / "home"),
        "PRIVET_HOST": "127.0.0.1",
        "PRIVET_PORT": str(port),
        "FORWARDED_ALLOW_IPS": "127.0.0.1",
    }
    machine = Machine(tmp_path, {}, port, variables)
    init = f"privet curator init --ledger '{database}'"
    (tmp_path / "wrong").write_text("another password")
    refused = machine.run(f"PGPASSWORD_FILE={tmp_path}/wrong {init}")
    assert refused.returncode == 2, "this database wants a password"
    assert "another password" not in refused.stderr
    made = machine.run(init)
    assert made.returncode == 0, made.stderr
    assert PASSWORD not in (tmp_path / "home" / "curator.json").read_text()
    issued = (authority := trustme.CA()).issue_cert("localhost")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    text = (DEPLOY / "nginx-compose.conf").read_text().replace("curator:8000", f"127.0.0.1:{port}")
    text = text.replace("listen 443", f"listen {secure}").replace("/etc/privet/tls", str(tmp_path))
    (tmp_path / "nginx.conf").write_text(text)
    proxy = Proxy(tmp_path, tmp_path / "nginx.conf")
    context = ssl.create_default_context()
    authority.configure_trust(context)
    try:
        machine.serve(" ".join(["privet", *curator["command"]]))
        proxy.start()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
            assert json.loads(answer.read())["checks"]["ledger"] == "ok"
        with urllib.request.urlopen(f"https://localhost:{secure}/healthz", context=context) as told:
            assert told.headers["x-request-id"] in wait_for(machine, told.headers["x-request-id"])
        assert machine.stop() == 0
    finally:
        proxy.stop()
        if machine.serving is not None:
            machine.serving.kill()
    assert (tmp_path / "home").stat().st_mode & 0o077 == 0


def wait_for(machine: Machine, text: str) -> str:
    """What was logged, once this is in it: a request is logged after its answer has left."""
    until = time.monotonic() + 60
    while text not in machine.log and time.monotonic() < until:
        time.sleep(0.05)
    return machine.log
