"""Requests made from the published description, good ones and bad ones: what comes back is as
described, and never a 5xx.
"""

from __future__ import annotations

import json
from urllib.request import urlopen

import pytest
from hypothesis import HealthCheck, given, settings

from privet.outsource.server.state import ServerState
from tests.outsource.server.running import serving
from tests.outsource.server.test_refusals import ROUTES as NAMED
from tests.outsource.server.test_refusals import TREE
from tests.outsource.store import tables
from tests.service.running import PATIENCE

schemathesis = pytest.importorskip("schemathesis", reason="needs pip install schemathesis")
REFUSED = ["400", "401", "404", "405", "406", "409", "413", "415", "422"]
CHECKS = [
    getattr(schemathesis.checks, name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "negative_data_rejection",
    )
]
MODES = schemathesis.GenerationMode


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """A server with a tree, its description with that tree and its leaf, and a token."""
    folder = tmp_path_factory.mktemp("fuzz")
    state = ServerState.make(folder / "server", tables.folder(folder / "folder"))
    token = state.accounts.add_analyst("ada")
    with serving(state.path) as server:
        with server.asking(token) as ada:
            _, tree = ada.call("POST", "trees", {})
            _, told = ada.call("POST", f"trees/{tree['id']}/leaves", {"rows": [["red", 20]]})
        base = f"http://127.0.0.1:{server.port}"
        with urlopen(f"{base}/v1/openapi.json", timeout=60) as response:
            described = json.load(response)
        known = {"tree": [tree["id"]], "leaf": told["leaves"]}
        for method, operation in (
            pair for path in described["paths"].values() for pair in path.items()
        ):
            operation.pop("security")  # the token is sent with all of them
            for parameter in operation.get("parameters", []):
                if parameter["name"] in known and method != "delete":
                    parameter["schema"] = {"enum": known[parameter["name"]]}
        config = {
            "base-url": base,
            "checks": {"negative_data_rejection": {"expected-statuses": REFUSED}},
        }
        yield (
            schemathesis.openapi.from_dict(described, config=schemathesis.Config.from_dict(config)),
            token,
        )
        with server.asking(token) as ada:
            assert ada.call("GET", "about")[0] == 200
            assert ada.call("GET", f"trees/{tree['id']}")[0] == 200
        server.stop()
        assert server.told.count("\n") == 1, server.told  # where it listens, and no complaint


ROUTES = [
    (
        method,
        f"/v1/{path}".replace(TREE, "{tree}").replace("/1/", "/{leaf}/").replace("naive", "{name}"),
    )
    for method, path in NAMED
]


@pytest.mark.parametrize("number", [8, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", list(MODES), ids=lambda mode: mode.value)
@pytest.mark.parametrize(("method", "path"), ROUTES, ids=lambda part: part.removeprefix("/v1/"))
def test_every_answer_is_as_described(there, method, path, mode, number):
    api, token = there
    if mode is MODES.NEGATIVE and (path == "/v1/about" or method == "DELETE"):
        pytest.skip(
            "nothing can be wrong with it: any text may be the name of a tree that is not there"
        )

    @settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=api[path][method].as_strategy(generation_mode=mode))
    def tried(case):
        case.call_and_validate(
            headers={"Authorization": f"Bearer {token}"}, checks=CHECKS, timeout=PATIENCE
        )

    tried()
