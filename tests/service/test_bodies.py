"""What the description of the service says about bodies is what is accepted: no more, no less."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.queries.shapes import Shape, ShapeError
from privet.service import requests

jsonschema = pytest.importorskip("jsonschema_rs", reason="needs pip install schemathesis")
SHAPES: dict[str, Shape] = {**requests.BODIES, "preview": requests.PLAN}
TREE = {"attribute": [0, -1, -1], "branch": [1, 2], "cell": [0, 1, -1], "n_cells": 2}
SCORED = {"attribute": [0, -1, -1], "branch": [1, 2], "counts": [[0.5, 1], [2, 3], [-1, 0]]}
SPLIT = {"attribute": "form", "branch": [0, 1, 1]}
LISTED = [{"form": ["complete", 1], "age": [0]}, {}]
ROWS = {"snapshot": "s", "part": {"division": 3, "number": 0}, "reservation": "fit-1"}
#: A body that uses each field of each request.
FULL: dict[str, dict[str, Any]] = {
    "choose": {
        "cells": TREE,
        "splits": [SPLIT, SPLIT],
        "candidates": [[0, 1], [1]],
        "criterion": "gini",
        "mechanism": "exponential",
    },
    "choose-model": {"models": [{"learner": "x"}, {}]},
    "choose-partition": {
        "cells": [LISTED, TREE],
        "partitions": [{"cells": 1, "by": "age"}, {"by": None}, {}],
        "expected": [[1, 2], [3, -(1 << 35)]],
        "handicaps": [0, 1 << 62],
        "mechanism": "permute-and-flip",
    },
    "confusion": {"rho": "1/3", "model": {"trees": []}},
    "count": {"rho": None, "cells": [TREE, LISTED], "partitions": [{"cells": 0, "by": "form"}]},
    "count-by": {"rho": None, "by": ["form", "age"], "where": {"form": ["complete", 1]}},
    "count-values": {"rho": None, "attribute": "form"},
    "divide": {"n_parts": 10_000},
    "draw-tree": {
        "space": {"depth": 2, "inner": [SPLIT], "last": None, "split": 0.5, "keep": 1},
        "weighting": [SCORED],
    },
    "gradients": {"rho": 1, "cells": LISTED, "trees": [SCORED], "clip": "even"},
    "preview": {"plan": [{"epsilon": "1"}, {"rho": 0.5}, {"epsilon": 1, "rho": "1/2"}, {}]},
    "quantile": {"attribute": "age", "q": "0.9", "mechanism": "permute-and-flip"},
    "quantiles": {"attribute": "age", "levels": 2},
    "scores": {"rho": "1/3", "model": {"trees": []}, "edges": [[0.5], [], [0.25, 0.75]]},
    "size": {"rho": 2},
    "sums": {"rho": "1", "cells": TREE, "score": [[0, 1], [2, -(1 << 31)]], "by": "form"},
}
ODD = [None, True, 0, -1, -2, 1, 0.5, -2.5, "", "x", "x" * 64, "x" * 65, "x" * 500, "x" * 501]
ODD += [(1 << 31) - 1, 1 << 31, (1 << 31) + 1, 1 << 35, (1 << 35) + 1, -(1 << 62), 1 << 63, 10**30]
ODD += ["x" * 10_000, "x" * 10_001, "gini", "exponential", "1/3"]
ODD += [[], {}, [[]], [{}], [0], ["x"], [[0]], [None], {"x": 0}, {"x": [0]}, {"": [0]}]
ODD += [TREE, SCORED, SPLIT, LISTED, ROWS, {"x" * 501: []}, [0] * 10_001, [{}] * 10_001]


def bodies(question: str) -> list[Any]:
    price = {} if question == "preview" else {"epsilon": "1/3"}
    return [{**price, **FULL[question], **ROWS}, *(SHAPES[question].examples)]


def accepted(shape: Shape, body: Any) -> bool:
    try:
        shape.check(body, "body")
    except ShapeError:
        return False
    return True


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each part of a body, as what holds it and under which name or number."""
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from places(part)


def test_every_field_is_tried():
    assert SHAPES.keys() == FULL.keys()
    for question, shape in SHAPES.items():
        (full, *_) = bodies(question)
        assert full.keys() == shape.of.keys()
        assert all(accepted(shape, body) for body in bodies(question))


@pytest.mark.parametrize("question", SHAPES)
def test_what_is_described_is_what_is_accepted_whatever_stands_anywhere(question):
    shape, described = SHAPES[question], jsonschema.Draft202012Validator(SHAPES[question].schema)
    seen = set()
    for body in bodies(question):
        for number in range(len(list(places(body)))):
            for odd in ODD:
                other = copy.deepcopy(body)
                holder, key = list(places(other))[number]
                holder[key] = odd
                seen.add(described.is_valid(other))
                assert accepted(shape, other) is described.is_valid(other), (key, odd)
            for change in ("left out", "one more"):
                other = copy.deepcopy(body)
                holder, key = list(places(other))[number]
                if change == "left out":
                    del holder[key]
                elif isinstance(holder, dict):
                    holder["more"] = holder[key]
                else:
                    holder.append(holder[key])
                assert accepted(shape, other) is described.is_valid(other), (key, change)
    assert seen == {True, False}
    for odd in ODD:
        assert accepted(shape, odd) is described.is_valid(odd)


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x % 1),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@settings(max_examples=300)
@given(st.sampled_from(sorted(SHAPES)), st.data())
def test_what_is_described_is_what_is_accepted_after_several_changes(question, data):
    body = copy.deepcopy(data.draw(st.sampled_from(bodies(question))))
    for _ in range(data.draw(st.integers(1, 3))):
        if not (found := list(places(body))):
            break
        holder, key = data.draw(st.sampled_from(found))
        holder[key] = data.draw(values | st.sampled_from(ODD).map(copy.deepcopy))
    described = jsonschema.Draft202012Validator(SHAPES[question].schema)
    assert accepted(SHAPES[question], body) is described.is_valid(body)
