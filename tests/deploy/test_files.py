"""The files for systemd, nginx, containers and Prometheus say what the service does."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from privet.service.app import create_app
from privet.service.operations import Operations
from privet.service.settings import read_settings
from tests.deploy.production import DEPLOY, ROOT, Proxy, nginx
from tests.service.conftest import FAST, make_state, people, place, table_file  # noqa: F401

TOKEN = "t" * 32


def test_the_settings_are_ones_that_there_are():
    settings = read_settings(DEPLOY / "privet.toml", {}, {})
    assert settings.behind_tls
    assert settings.log == "json"
    assert tomllib.loads((DEPLOY / "privet.toml").read_text())["limits"] == settings.limits


def test_the_unit_is_one_that_systemd_takes(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd")
    unit = tmp_path / "privet-curator.service"
    text = (DEPLOY / unit.name).read_text()
    command = re.search(r"^ExecStart=(\S+)", text, flags=re.M)[1]
    unit.write_text(text.replace(command, sys.executable))
    call = ["systemd-analyze", "verify", str(unit)]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
    complaints = [line for line in done.stderr.splitlines() if unit.name in line]
    assert not complaints


@pytest.mark.skipif(nginx() is None, reason="there is no nginx")
@pytest.mark.parametrize("name", ["nginx.conf", "nginx-compose.conf"])
def test_nginx_takes_its_configuration(tmp_path, name):
    import trustme

    issued = trustme.CA().issue_cert("curator.example")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    text = (DEPLOY / name).read_text().replace("/etc/privet/tls", str(tmp_path))
    (tmp_path / name).write_text(text.replace("server curator:", "server 127.0.0.1:"))
    done = Proxy(tmp_path, tmp_path / name).check()
    assert done.returncode == 0, done.stderr


def test_both_configurations_of_nginx_are_one():
    def lines(name):
        text = (DEPLOY / name).read_text().replace("server curator:", "server 127.0.0.1:")
        return [line for line in text.splitlines() if not line.strip().startswith("#")]

    assert lines("nginx.conf") == lines("nginx-compose.conf")


def test_the_image_is_one_that_hadolint_takes():
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("there is no hadolint")
    call = [linter, str(DEPLOY / "Dockerfile")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_the_containers_name_settings_and_secrets_that_there_are():
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    curator = compose["services"]["curator"]
    variables = {**curator["environment"]}
    secrets = {name for name in variables if name.endswith("_FILE")}
    assert {variables[name].rpartition("/")[2] for name in secrets} == set(curator["secrets"])
    assert set(curator["secrets"]) <= set(compose["secrets"])
    settings = read_settings(None, variables, {})
    known = {name for name, source in settings.sources.items() if source == "environment"}
    assert known == {"home", "host", "port", "behind_tls", "log", "metrics_token_file"}
    assert settings.behind_tls is True
    (network,) = compose["networks"]["inside"]["ipam"]["config"]
    assert network["subnet"] == variables["FORWARDED_ALLOW_IPS"]


@pytest.fixture
def state_of_files(tmp_path, place):  # noqa: F811
    return make_state(tmp_path, place)


def test_alerts_name_metrics_that_there_are(state_of_files):
    state_of_files.accounts.new_token("ada", ends=datetime(2999, 1, 31, tzinfo=UTC))
    app = create_app(state_of_files, FAST, Operations(lambda: TOKEN))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        client.get("/healthz")
        text = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).text
    told = {
        sample.name for family in text_string_to_metric_families(text) for sample in family.samples
    }
    rules = yaml.safe_load((DEPLOY / "privet-alerts.yml").read_text())["groups"][0]["rules"]
    assert len(rules) >= 8
    for rule in rules:
        named = set(re.findall(r"privet_\w+", rule["expr"]))
        assert named <= told, rule["alert"]
        assert rule["annotations"]["summary"]
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    assert scraped["rule_files"] == ["privet-alerts.yml"]


def test_prometheus_takes_its_configuration(tmp_path):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool")
    for name in ("prometheus.yml", "privet-alerts.yml"):
        text = (DEPLOY / name).read_text()
        token = tmp_path / "privet-metrics.token"
        token.write_text(TOKEN)
        (tmp_path / name).write_text(text.replace("/etc/prometheus/", f"{tmp_path}/"))
    call = [promtool, "check", "config", str(tmp_path / "prometheus.yml")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


#: For each alert: a metric with values that let it fire, and with values of a service that is well.
#: ``a+bxn`` begins at a and grows by b for n steps of five minutes; there are three days of them.
_DAYS = 3 * 24 * 12
_NOW = 3 * 86400
SYMPTOMS = {
    "PrivetDown": ('up{job="privet"}', "0", "1"),
    "PrivetNotReady": ('privet_check_passed{check="ledger"}', "0", "1"),
    "PrivetLedgerDamaged": ("privet_last_verify_problems", "1", "0"),
    "PrivetAuditLogDamaged": ("privet_audit_log_problems", "2", "0"),
    "PrivetNotVerified": ("privet_last_verify_timestamp_seconds", "60", f"{_NOW - 86400}"),
    "PrivetTableUnreachable": ('privet_table_reachable{dataset="people"}', "0", "1"),
    "PrivetBudgetLow": ('privet_budget_left{dataset="people",unit="epsilon"}', "0.2", "0.4"),
    "PrivetTokenEnds": (
        'privet_token_ends_timestamp_seconds{person="ada",role="analyst"}',
        f"{_NOW + 86400}",
        f"{_NOW + 9 * 86400}",
    ),
    "PrivetErrors": ('privet_requests_total{route="/v1",status="500"}', "0+60", "7"),
    "PrivetUnanswered": ("privet_unanswered_questions", "1", "0"),
    "PrivetLateAnswers": ("privet_late_answers", "0+10", "30"),
}


@pytest.mark.parametrize("ill", [True, False], ids=["ill", "well"])
def test_alerts_fire_for_what_is_wrong_and_for_nothing_else(tmp_path, ill):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("there is no promtool")
    shutil.copy(DEPLOY / "privet-alerts.yml", tmp_path)
    series = {metric: sick if ill else well for metric, sick, well in SYMPTOMS.values()}
    series['privet_budget_cap{dataset="people",unit="epsilon"}'] = "3"
    series['privet_requests_total{route="/v1",status="200"}'] = "0+600"
    steps = {
        metric: f"{text if '+' in text else f'{text}+0'}x{_DAYS}" for metric, text in series.items()
    }
    firing = sorted(SYMPTOMS) if ill else []
    case = {
        "interval": "5m",
        "input_series": [{"series": name, "values": text} for name, text in steps.items()],
        "promql_expr_test": [
            {
                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                "eval_time": "72h",
                "exp_samples": [
                    {"labels": f'{{alertname="{name}"}}', "value": 1} for name in firing
                ],
            }
        ],
    }
    told = {"rule_files": ["privet-alerts.yml"], "evaluation_interval": "5m", "tests": [case]}
    (tmp_path / "test.yml").write_text(yaml.safe_dump(told))
    call = [promtool, "test", "rules", str(tmp_path / "test.yml")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_symptom():
    rules = yaml.safe_load((DEPLOY / "privet-alerts.yml").read_text())["groups"][0]["rules"]
    assert {rule["alert"] for rule in rules} == set(SYMPTOMS)


@pytest.mark.slow
def test_a_wheel_has_all_that_the_image_needs(tmp_path):
    """The steps of the image, with the packages of this environment: a wheel, installed by itself,
    serves the page and its templates.
    """
    import venv

    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wheel = [*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(tmp_path), str(ROOT)]
    if subprocess.run(wheel, capture_output=True, check=False).returncode:
        subprocess.run([arg for arg in wheel if arg != "--no-build-isolation"], check=True)
    venv.create(tmp_path / "venv", with_pip=False)
    (packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    (made,) = tmp_path.glob("privet-*.whl")
    install = [*pip, "install", "--no-deps", "--target", str(packages), str(made)]
    subprocess.run(install, check=True, capture_output=True)
    others = Path(yaml.__file__).parents[1]
    code = (
        f"import sys; sys.path.append({str(others)!r}); import privet; "
        "from privet.service.state import ServiceState; from privet.service.app import create_app; "
        "create_app(ServiceState.make('home')[0]); print(privet.__file__)"
    )
    python = tmp_path / "venv" / "bin" / "python"
    done = subprocess.run(
        [python, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert str(packages) in done.stdout
