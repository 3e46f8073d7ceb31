"""The Helm chart: linted, rendered, held against the schemas of Kubernetes, and its steps run
without a cluster.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path

import pytest
import yaml

from privet.service.settings import read_settings
from tests.deploy.production import DEPLOY, Machine, put_elsewhere
from tests.ports import free_port

CHART = DEPLOY / "helm"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent))
pytestmark = pytest.mark.skipif(HELM is None, reason="there is no helm")
ALL = [
    "metrics.secret=privet-metrics",
    "ledger.secret=privet-ledger",
    "ledger.url=postgresql://privet@ledger/privet",
    "ingress.enabled=true",
    "ingress.tlsSecret=privet-tls",
    r"ingress.from=10.244.0.0/16\,10.245.0.0/16",
    "home.storageClass=fast",
    "env[0].name=PGPASSFILE",
    "env[0].value=/run/secrets/pgpass",
]


def helm(command: list[str], values: list[str]) -> subprocess.CompletedProcess[str]:
    given = [word for value in values for word in ("--set", value)]
    call = [str(HELM), *command, str(CHART), *given]
    return subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)


def render(values: list[str]) -> dict[str, dict]:
    """What the chart makes, by kind."""
    done = helm(["template", "here"], values)
    assert done.returncode == 0, done.stderr
    return {made["kind"]: made for made in yaml.safe_load_all(done.stdout) if made}


def pod_of(made: dict[str, dict]) -> tuple[dict, dict, dict]:
    """The pod, the container that makes a home, and the one that serves it."""
    pod = made["StatefulSet"]["spec"]["template"]["spec"]
    return pod, pod["initContainers"][0], pod["containers"][0]


def variables_of(container: dict) -> dict[str, str]:
    return {one["name"]: one["value"] for one in container["env"]}


@pytest.mark.parametrize("values", [[], ALL], ids=["defaults", "all"])
def test_helm_and_kubernetes_take_the_chart(values):
    validate = pytest.importorskip("kubernetes_validate").validate
    done = helm(["lint", "--strict"], values)
    assert done.returncode == 0, done.stdout
    made = render(values)
    assert set(made) == {"ConfigMap", "Service", "StatefulSet"} | ({"Ingress"} if values else set())
    for one in made.values():
        validate(one, "1.33", strict=True)


@pytest.mark.parametrize("values", [[], ALL], ids=["defaults", "all"])
def test_the_pod_has_settings_and_secrets_that_there_are(values, tmp_path):
    made = render(values)
    pod, maker, curator = pod_of(made)
    file = tmp_path / "privet.toml"
    file.write_text(made["ConfigMap"]["data"]["privet.toml"])
    settings = read_settings(file, variables_of(curator), {})
    assert settings.behind_tls
    assert settings.host == "0.0.0.0"
    mounts = {one["name"]: one["mountPath"] for one in curator["volumeMounts"]}
    assert str(settings.home).startswith(f"{mounts['home']}/"), "the home outlives the pod"
    here = {one["name"] for one in pod["volumes"]} | {"home"}
    assert set(mounts) <= here
    for name, value in variables_of(curator).items():
        if name.endswith("_FILE"):
            assert any(value.startswith(f"{mount}/") for mount in mounts.values()), name
    assert maker["volumeMounts"] == curator["volumeMounts"]
    assert (settings.metrics_token_file is None) == (not values)
    assert ("FORWARDED_ALLOW_IPS" in variables_of(curator)) == bool(values)


def test_the_pod_is_confined_and_alone():
    made = render(ALL)
    pod, *containers = pod_of(made)
    assert made["StatefulSet"]["spec"]["replicas"] == 1, "processes of a home share its files"
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["automountServiceAccountToken"] is False
    for container in containers:
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    from_image = (DEPLOY / "Dockerfile").read_text()
    assert f"USER {pod['securityContext']['runAsUser']}" in from_image


def test_without_tls_there_is_no_ingress():
    done = helm(["template", "here"], ["ingress.enabled=true"])
    assert done.returncode != 0
    assert "tokens travel over TLS only" in done.stderr


@pytest.mark.slow
def test_the_steps_of_the_pod_run(tmp_path):
    """The commands and variables of both containers, in folders of this test; twice, as a pod that
    is started again finds the home that is there.
    """
    port = free_port()
    made = render(["metrics.secret=m"])
    _, maker, curator = pod_of(made)
    elsewhere = {
        "/var/lib/privet": str(tmp_path / "home"),
        "/etc/privet": str(tmp_path),
        "/run/secrets/metrics": str(tmp_path),
        "0.0.0.0": "127.0.0.1",
        "8000": str(port),
    }
    (tmp_path / "home").mkdir()
    (tmp_path / "token").write_text("m" * 64)
    text = put_elsewhere(made["ConfigMap"]["data"]["privet.toml"], elsewhere)
    assert tomllib.loads(text)["port"] == port
    (tmp_path / "privet.toml").write_text(text)
    variables = {
        name: put_elsewhere(value, elsewhere) for name, value in variables_of(maker).items()
    }
    machine = Machine(tmp_path, {}, port, variables)
    script = put_elsewhere(maker["command"][-1], elsewhere)
    owner = tmp_path / "home" / "owner.token"
    said = []
    for _ in range(2):
        done = machine.run(script)
        assert done.returncode == 0, done.stderr
        assert "privet_" not in done.stdout + done.stderr, "a log is no place for a token"
        said.append(owner.read_text())
    assert said[0] == said[1]
    assert owner.stat().st_mode & 0o077 == 0
    try:
        machine.serve(put_elsewhere(" ".join(curator["command"]), elsewhere))
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            path = curator[probe]["httpGet"]["path"]
            ask = urllib.request.Request(
                f"http://127.0.0.1:{port}{path}", headers={"Host": "10.244.0.7:8000"}
            )
            with urllib.request.urlopen(ask) as answer:
                assert json.loads(answer.read())["status"] in ("ok", "ready")
        assert machine.stop() == 0, machine.log
    finally:
        if machine.serving is not None:
            machine.serving.kill()
