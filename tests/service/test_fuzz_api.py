"""Requests made from the published description of the service, good ones and bad ones: what comes
back is as described, and never a 5xx.
"""

from __future__ import annotations

import json
from collections import Counter
from urllib.request import urlopen

import pytest
from hypothesis import HealthCheck, given, settings

from privet.accounting.ledger import verify
from privet.service import requests
from privet.service.owner.changes import CHANGES
from tests.service.running import PATIENCE, house, serving

schemathesis = pytest.importorskip("schemathesis", reason="needs pip install schemathesis")
REFUSED = ["400", "401", "403", "404", "405", "406", "409", "410", "413", "415", "422"]
CHECKS = [
    getattr(schemathesis.checks, name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
        "response_headers_conformance",
        "negative_data_rejection",
    )
]


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    made = house(tmp_path_factory.mktemp("fuzz"), 10**12)
    made.add("ada", 10**12)
    made.tokens["owner"] = made.state.accounts.new_owner_token()
    with serving(made.path) as service:
        made.service = service
        yield made
        with service.client(made.tokens["ada"]) as client:
            assert client.ask("size", {"epsilon": 1}).status == 200
        assert service.stop() == 0
        assert service.complaints == ""
    ledger = made.state.ledger
    assert verify(ledger, made.state.witness) == []
    assert ledger.unanswered() == set()


SPLITS = [
    {"attribute": "colour", "branch": [0, 1, 2]},
    {"attribute": "age", "branch": [0, 0, 1, 1]},
    {"attribute": "smokes", "branch": [1, 0]},
    {"attribute": "smokes", "branch": [0, 0]},
]
#: Of what the description allows, what means something for this table. A name may be a field of
#: several kinds of questions.
FERTILE = {
    "epsilon": {"enum": ["0.1", "1/3", 0.5, 1]},
    "rho": {"type": "null"},
    "snapshot": {"type": "null"},
    "reservation": {"type": "null"},
    "part": {"type": "null"},
    "by": {"enum": [None, "colour", "age", "smokes"]},
    "criterion": {"enum": ["gini", "max", "entropy", "nothing"]},
    "splits": {"type": "array", "minItems": 1, "maxItems": 5, "items": {"enum": SPLITS}},
    "inner": {"enum": [None, SPLITS, SPLITS[:1]]},
    "last": {"enum": [None, SPLITS, SPLITS[:1], []]},
    "depth": {"type": "integer", "minimum": 0, "maximum": 2},
    "split": {"type": "number", "minimum": 0, "maximum": 1},
    "keep": {"type": "number", "minimum": 0, "maximum": 1},
    "score": {
        "type": "array",
        "minItems": 2,
        "maxItems": 2,
        "items": {"type": "integer", "minimum": -3, "maximum": 3},
    },
    "quantile.attribute": {"enum": ["colour", "age"]},
    "q": {"enum": ["1/2", 0.9, 0, 1, 2, "x"]},
    "expected": {"enum": [[[0, 0]], [[9, 9], [1, 1]], [[1, 2, 3, 4, 5, 6, 7, 8]]]},
    "handicaps": {"enum": [None, [0], [3, -3]]},
    "choose-partition.cells": {"enum": [[[{}]], [[{"colour": ["red"]}], [{}]]]},
    "choose-partition.partitions": {"enum": [None, [{"cells": 0, "by": "age"}]]},
    "n_cells": {"enum": [1, 2, 3]},
    "sums.by": {"type": "null"},
    "sums.cells": {"enum": [[{}], [{"colour": ["red"]}], [{"colour": [0]}, {"colour": [0, 1]}]]},
}


def make_fertile(described, question: str = "") -> None:
    """Put values that mean something into an object of the description, and into its parts."""
    if isinstance(described, list):
        for one in described:
            make_fertile(one)
    if not isinstance(described, dict):
        return
    fields = described.get("properties", {})
    if fields:
        described["required"] = sorted(
            {*described.get("required", []), *(fields.keys() & {"epsilon"})}
        )
        fields |= {
            name: FERTILE.get(f"{question}{name}", FERTILE.get(name, usual))
            for name, usual in fields.items()
        }
    for name, part in (fields or described).items():
        if name not in ("examples", "enum"):
            make_fertile(part)


@pytest.fixture(scope="module")
def apis(there):
    """The description with the one name that leads somewhere: as it is, and with values that mean
    something.
    """
    base = f"http://127.0.0.1:{there.service.port}"
    config = {
        "base-url": base,
        "checks": {"negative_data_rejection": {"expected-statuses": REFUSED}},
    }
    made = []
    for fertile in (False, True):
        with urlopen(f"{base}/v1/openapi.json", timeout=60) as response:
            described = json.load(response)
        for path, operations in described["paths"].items():
            for operation in operations.values():
                operation.pop("security")  # the token is sent with all of them
                for parameter in operation.get("parameters", []):
                    if (parameter["in"], parameter["name"]) == ("path", "name"):
                        parameter["schema"] = {"type": "string", "enum": ["people"]}
                if fertile:
                    operation["parameters"] = [
                        one for one in operation.get("parameters", []) if one["in"] == "path"
                    ]
                    body = operation.get("requestBody", {"content": {}})["content"]
                    for one in body.values():
                        make_fertile(one["schema"], f"{path.rpartition('/')[2]}.")
        made.append(
            schemathesis.openapi.from_dict(described, config=schemathesis.Config.from_dict(config))
        )
    return made


OPERATIONS = [
    ("GET", "/v1/datasets"),
    ("GET", "/v1/datasets/{name}"),
    ("GET", "/v1/datasets/{name}/history"),
    ("POST", "/v1/datasets/{name}/preview"),
    ("POST", "/v1/datasets/{name}/snapshots"),
    ("DELETE", "/v1/datasets/{name}/snapshots/{snapshot}"),
    ("GET", "/v1/datasets/{name}/reservations"),
    ("POST", "/v1/datasets/{name}/reservations"),
    ("POST", "/v1/datasets/{name}/reservations/{key}/close"),
    *(("POST", f"/v1/datasets/{{name}}/{question}") for question in requests.BODIES),
]

#: What owners and auditors do.
OWNERS = [
    ("GET", "/v1/owner/datasets"),
    ("GET", "/v1/owner/datasets/{name}/test"),
    ("GET", "/v1/owner/people"),
    ("GET", "/v1/owner/reservations"),
    ("GET", "/v1/owner/state"),
    ("GET", "/v1/owner/ledger"),
    ("GET", "/v1/owner/audit-log"),
    ("GET", "/v1/owner/report"),
    ("POST", "/v1/owner/verify"),
    *(("POST", f"/v1/owner/{change}") for change in CHANGES),
]


def test_all_that_is_described_is_tried(apis):
    assert sorted(
        (one.ok().method.upper(), one.ok().path) for one in apis[0].get_all_operations()
    ) == sorted([*OPERATIONS, *OWNERS])


def statuses(there, operation, mode, number: int, who: str = "ada") -> Counter:
    """Try so many requests, check all answers, and count them."""
    found: Counter = Counter()

    @settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def tried(case):
        answer = case.call_and_validate(
            headers={"Authorization": f"Bearer {there.tokens[who]}"},
            checks=CHECKS,
            timeout=PATIENCE,
        )
        found[answer.status_code] += 1

    tried()
    return found


MANY = [8, pytest.param(150, marks=pytest.mark.slow)]
MODES = schemathesis.GenerationMode
EXPORTED = {f"/v1/owner/{name}" for name in ("ledger", "audit-log", "report")}


@pytest.mark.parametrize("number", MANY)
@pytest.mark.parametrize("mode", list(MODES), ids=lambda mode: mode.value)
@pytest.mark.parametrize(
    ("method", "path"), OPERATIONS, ids=lambda part: part.removeprefix("/v1/datasets")
)
def test_every_answer_is_as_described(apis, there, method, path, mode, number):
    if mode is MODES.NEGATIVE and path == "/v1/datasets":
        pytest.skip("nothing can be wrong with it")
    statuses(there, apis[0][path][method], mode, number)
    with there.service.client(there.tokens["ada"]) as client:
        assert client.get("datasets").status == 200


@pytest.mark.slow
@pytest.mark.parametrize("number", [20])
@pytest.mark.parametrize(
    ("method", "path"), OWNERS, ids=lambda part: part.removeprefix("/v1/owner")
)
def test_every_answer_to_an_owner_is_as_described(apis, there, method, path, number):
    simple = path in {path for method, path in OWNERS if method == "GET"} - EXPORTED
    for mode in MODES:
        if not (simple or path.endswith("verify")) or mode is MODES.POSITIVE:
            statuses(there, apis[0][path][method], mode, number, "owner")


@pytest.mark.parametrize("number", MANY)
@pytest.mark.parametrize(
    "question",
    ["count", "size", "sums", "choose", "choose-partition", "quantile", "draw-tree", "gradients"],
)
def test_questions_that_mean_something(apis, there, question, number):
    before = len(there.state.ledger.entries())
    found = statuses(
        there, apis[1][f"/v1/datasets/{{name}}/{question}"]["POST"], MODES.POSITIVE, 2 * number
    )
    assert set(found) <= {200, 422}
    assert len(there.state.ledger.entries()) - before == found[200] > 0
