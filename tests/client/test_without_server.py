"""What asks a curator needs nothing of what serves one."""

from __future__ import annotations

import json
import subprocess
import sys

import privet
from privet.accounting.cost import Budget
from tests.client.running import running

CLIENT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {
            "authlib", "fastapi", "starlette", "pydantic", "jinja2", "uvicorn", "prometheus_client",
            "psycopg",
        }:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import privet as pv

url, token = sys.argv[1:]
with pv.connect(url, token) as curator:
    print(curator.count(by="safety", epsilon="1/2").to_frame().shape)
    model = pv.GreedyTreeClassifier(epsilon=1).fit_from(curator)
    print(model.privacy_.epsilon, curator.left, len(curator.receipts) > 1)
"""


def test_a_client_counts_and_trains_without_a_server(tmp_path):
    car = privet.datasets.load("car")
    car.table.to_csv(tmp_path / "car.csv", index=False)
    with running(tmp_path) as service:
        service.add("car", tmp_path / "car.csv", car.schema, Budget(10))
        call = [sys.executable, "-c", CLIENT, service.url, service.token]
        done = subprocess.run(call, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    shape, told = done.stdout.splitlines()
    assert json.loads(shape.replace("(", "[").replace(")", "]"))[0] > 3
    assert told == "1.0 17/2 True"


SERVICE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"httpx", "httpx2", "joserfc", "psycopg"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
from privet.errors import MissingDependency
from privet.service.app import create_app
from privet.service.oidc.settings import OidcSettings
from privet.service.state import ServiceState

state = ServiceState.make(sys.argv[1])[0]
create_app(state)
try:
    create_app(state, oidc=OidcSettings("https://sso.example", "privet"))
except MissingDependency as error:
    print(error)
"""


def test_a_service_needs_no_client_unless_people_sign_in_elsewhere(tmp_path):
    call = [sys.executable, "-c", SERVICE, str(tmp_path / "home")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "privet[oidc]" in done.stdout
