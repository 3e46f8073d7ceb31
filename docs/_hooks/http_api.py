"""Make the page of the HTTP API from its OpenAPI description, each time that the site is built."""

from __future__ import annotations

import tempfile
from http import HTTPStatus
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from privet.service.app import create_app
from privet.service.state import ServiceState

_TOP = """# The HTTP API of a curator

`privet curator serve` answers these requests. Send your token in the header
`Authorization: Bearer privet_...`. Requests and answers are JSON, amounts may be texts such as
`"1/3"`, and errors are `application/problem+json` with a `title` and a `detail`.

To ask again without paying again, send the same request with the same `Idempotency-Key`: you get
the answer that was recorded. A running curator describes itself in OpenAPI at `/v1/openapi.json`;
[generate a client](https://openapi-generator.tech) from that file, or see the one in
`examples/javascript`.

```sh
curl -H "Authorization: Bearer $PRIVET_TOKEN" -H "Idempotency-Key: first-count" \\
  -H "Content-Type: application/json" -d '{"by": ["health"], "epsilon": "0.1"}' \\
  http://127.0.0.1:8000/v1/datasets/nursery/count-by
```

The answer, shortened:

```json
{"answer": {"cost": {"epsilon": "1/10", "rho": "1/200"},
            "tables": [{"shape": [3, 5], "numbers": [-2, -3, 319, 2410, 1581, 28, "..."]}],
            "deviation": 14.136244785430444,
            "names": ["health", "class"],
            "labels": [["recommended", "priority", "not_recom"],
                       ["not_recom", "recommend", "very_recom", "priority", "spec_prior"]]},
 "receipt": "privet-receipt-1...."}
```

- `numbers` are the noisy counts, row by row: `shape` says that the first 5 are the classes of
  `health = recommended`, in the order of `labels`: 2410 have the class `priority`. Noise can make
  a small count negative.
- `deviation` is the standard deviation of the noise of each count.
- `receipt` proves the charge. Keep it: the owner can [verify
  it](../tutorials/curator.md#the-owner-again).

`epsilon` or `rho` is what you [pay](../glossary.md#epsilon); give one of them. If in doubt, give
`epsilon`; [rho](../glossary.md#rho) is for Gaussian noise. Addresses under `/v1/owner` take an
owner's token, and those that only read also an auditor's.
"""

_ERRORS = """Every address can return these. `detail` says what is wrong and what is allowed, and
[`type`](../concepts/curator.md#http) is for programs:

```json
{"type": "urn:privet:problem:question", "title": "This cannot be asked", "status": 422,
 "detail": "no attribute 'incom'; there are region, age, household, income; did you mean 'income'?"}
```
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "reference/http.md", content=write_page()))
    return files


def write_page() -> str:
    """Return the whole page as Markdown, a section for each address."""
    described = _describe_service()
    parts = described.get("components", {}).get("schemas", {})
    text = [_TOP, _describe_errors(described)]
    for path, methods in described["paths"].items():
        for method, route in methods.items():
            text.append(_describe_route(f"{method.upper()} {path}", route, parts))
    return "".join(text)


def _describe_service() -> dict[str, Any]:
    """Return the description of a service that has no data sets and is never started."""
    with tempfile.TemporaryDirectory() as folder:
        state, _ = ServiceState.make(Path(folder) / "home")
        return create_app(state).openapi()


def _describe_route(title: str, route: dict[str, Any], parts: dict[str, Any]) -> str:
    text = [f"\n## {title}\n\n", _tidy(route.get("description") or route.get("summary", "")), "\n"]
    rows = [
        _row(known["name"], known["in"], known.get("required", False), known["schema"], parts)
        for known in route.get("parameters", [])
        if known["name"].lower() != "authorization"
    ]
    content = route.get("requestBody", {}).get("content", {})
    body = _resolve(content.get("application/json", {}).get("schema", {}), parts)
    needed = body.get("required", [])
    rows += [
        _row(name, "body", name in needed, shape, parts)
        for name, shape in body.get("properties", {}).items()
    ]
    if rows:
        text += ["\n| name | in | required | what |\n|---|---|---|---|\n", *rows]
    answers = (
        f"`{status}` {_say_success(status, told['description'])}"
        for status, told in route["responses"].items()
        if int(status) < HTTPStatus.BAD_REQUEST
    )
    text += ["\nAnswers: ", "; ".join(answers), ".\n"]
    return "".join(text)


def _describe_errors(described: dict[str, Any]) -> str:
    """Return a section about the errors, which are the same for every address."""
    errors: dict[str, str] = {}
    for methods in described["paths"].values():
        for route in methods.values():
            for status, told in route["responses"].items():
                if int(status) >= HTTPStatus.BAD_REQUEST:
                    errors.setdefault(status, told["description"])
    rows = (f"| `{status}` | {_escape(_tidy(errors[status]))} |\n" for status in sorted(errors))
    return "".join(["\n## Errors\n\n", _ERRORS, "\n| status | meaning |\n|---|---|\n", *rows])


def _say_success(status: str, told: str) -> str:
    """Return what a status means, in plain words where the framework has only its default."""
    return HTTPStatus(int(status)).phrase if told == "Successful Response" else told


def _row(name: str, where: str, required: bool, shape: dict[str, Any], parts: Any) -> str:
    shape = _resolve(shape, parts)
    told = _tidy(shape.get("description", ""))
    kind = _kind(shape, parts)
    return f"| `{name}` | {where} | {'yes' if required else ''} | {_escape(f'{kind}. {told}')} |\n"


def _kind(shape: dict[str, Any], parts: Any) -> str:
    """Return the type of a value in a few words."""
    shape = _resolve(shape, parts)
    if values := shape.get("enum", [shape["const"]] if "const" in shape else []):
        return "one of " + ", ".join(f"`{value}`" for value in values)
    for alternatives in ("anyOf", "oneOf"):
        if alternatives in shape:
            kinds = (_kind(one, parts) for one in shape[alternatives])
            return " or ".join(dict.fromkeys(kinds))
    if shape.get("type") == "array":
        return f"list of {_kind(shape.get('items', {}), parts)}"
    named = shape.get("type", "any")
    return named if isinstance(named, str) else " or ".join(named)


def _resolve(shape: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in shape:
        return _resolve(parts[shape["$ref"].rsplit("/", 1)[1]], parts)
    return shape


def _tidy(told: str) -> str:
    return " ".join(told.replace("``", "`").split())


def _escape(told: str) -> str:
    return told.replace("|", "\\|").replace("<", "&lt;").removesuffix(". ")
