"""The page about production works as it is written, from an empty folder."""

from __future__ import annotations

import json
import shutil
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from privet.accounting.cost import Budget
from privet.service.state import ServiceState
from tests.deploy.production import DEPLOY, Machine, Proxy, blocks, nginx, put_elsewhere
from tests.golden.files import GOLDEN
from tests.golden.test_http import move
from tests.ports import free_port


@pytest.mark.slow
@pytest.mark.skipif(nginx() is None, reason="there is no nginx")
@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
def test_the_page_from_an_empty_folder(tmp_path):
    port = free_port()
    folders = ["etc/privet", "var/lib/privet", "mnt/elsewhere"]
    names = {f"/{name}": str(tmp_path / name) for name in folders}
    for name in names.values():
        (tmp_path / name).mkdir(parents=True)
    with_port = {**names, "8000": str(port)}
    secure = port + 1  # of the same test, which is the only one with this port
    with_port |= {"localhost:443": f"localhost:{secure}", "listen 443": f"listen {secure}"}
    (tmp_path / "deploy").mkdir()
    for file in filter(Path.is_file, DEPLOY.iterdir()):
        text = put_elsewhere(file.read_text(encoding="utf-8"), with_port)
        (tmp_path / "deploy" / file.name).write_text(text, encoding="utf-8")
    machine = Machine(tmp_path, with_port, port)
    proxy = Proxy(tmp_path, tmp_path / "deploy" / "nginx.conf")
    said = ""
    try:
        for how, written, shown in blocks():
            script = put_elsewhere(written, with_port)
            if how == "serve":
                machine.serve(script.strip())
                continue
            if how == "stop":
                assert machine.stop() == 0, machine.log
                continue
            done = machine.run(script)
            assert (done.returncode != 0) == (how == "refused"), f"{script}\n{done.stderr}"
            if how == "refused":
                assert shown.strip() in done.stderr
            if how == "upgrade":
                upgrade_from_0_1(tmp_path, machine, script)
            said += done.stdout
            if "openssl req" in script:
                proxy.start()
            if "metrics.txt" in script:
                look_from_outside(secure, tmp_path)
    finally:
        proxy.stop()
        if machine.serving is not None:
            machine.serving.kill()
    check_what_was_said(said, machine, tmp_path)


def look_from_outside(port, folder):
    """What nginx lets in, and what not."""
    context = ssl.create_default_context(cafile=folder / "etc/privet/tls/cert.pem")

    def fetch(path):
        return urllib.request.urlopen(f"https://localhost:{port}{path}", context=context)

    with fetch("/healthz") as answer:
        assert answer.status == 200
        assert len(answer.headers["x-request-id"]) == 32, "nginx names the request"
    for path in ("/metrics", "/readyz"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetch(path)
        assert refused.value.code == 403
        refused.value.close()


def upgrade_from_0_1(folder, machine, script):
    """The same steps over a home that 0.1 left; then it is served, and asked."""
    old = folder / "old"
    shutil.copytree(GOLDEN / "http", old)
    move(old / "home-used", old / "t.csv")
    here = Machine(folder, machine.names, machine.port)
    here.variables |= {"PRIVET_CURATOR": str(old / "home-used"), "PWD": str(old)}
    done = here.run(script.replace("before-upgrade", "before-upgrade-of-0.1"))
    assert done.returncode == 0, done.stderr
    assert "the ledger is whole" in done.stdout
    tokens = json.loads((old / "tokens.json").read_text())
    here.serve(f"privet curator serve --port {here.port} --log json")
    try:
        ask = urllib.request.Request(
            f"http://127.0.0.1:{here.port}/v1/datasets",
            headers={"Authorization": f"Bearer {tokens['ada']}"},
        )
        with urllib.request.urlopen(ask) as answer:
            assert json.loads(answer.read())["analyst"] == "ada"
        with urllib.request.urlopen(f"http://127.0.0.1:{here.port}/readyz") as answer:
            assert answer.status == 200
    finally:
        here.stop()


def check_what_was_said(said, machine, folder):
    assert 'privet_budget_left{dataset="nursery",unit="epsilon"} 2.9' in said
    state = ServiceState.open(folder / "var/lib/privet/curator")
    assert str(state.ledger.spent("nursery", "ada").epsilon) == "1/10", "the same key, once"
    assert state.ledger.cap("nursery") == Budget("2.9")
    routes = [json.loads(line).get("route") for line in machine.log.splitlines()]
    assert "/v1/datasets/{name}/count-by" in routes
    for name in ("owner.token", "ada.token"):
        token = (folder / "var/lib/privet" / name).read_text().split()[-1]
        assert token not in machine.log
