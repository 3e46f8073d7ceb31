"""What is wrong with a request is said in our words, with the field and what is allowed."""

from __future__ import annotations

import re

import pytest
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from privet.service.validation import describe_errors

#: Words of the libraries that read requests.
THEIRS = re.compile(
    r"Input should|Field required|Extra inputs|String should|valid (integer|dictionary|string)|"
    r"unable to parse|Expecting|expected (value|ident|`)|pydantic|loc\b|trailing",
    re.IGNORECASE,
)


class Wanted(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    whole: int = Field(ge=1, le=9)
    real: float = Field(gt=0, lt=1)
    text: str = Field(min_length=2, max_length=3, pattern="^[a-z]+$")
    yes: bool
    some: list[int] = Field(min_length=1, max_length=2)
    names: dict[str, int]


GOOD = {"whole": 1, "real": 0.5, "text": "ab", "yes": True, "some": [1], "names": {}}


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        ({"whole": "much"}, "whole", "must be an integer"),
        ({"whole": 1.5}, "whole", "must be an integer"),
        ({"whole": 0}, "whole", "must be 1 or more"),
        ({"whole": 10}, "whole", "must be 9 or less"),
        ({"real": "x"}, "real", "must be a number"),
        ({"real": 0}, "real", "must be more than 0.0"),
        ({"real": 1}, "real", "must be less than 1.0"),
        ({"real": float("nan")}, "real", "must be a finite number"),
        ({"text": 5}, "text", "must be text"),
        ({"text": "a"}, "text", "must have at least 2 characters"),
        ({"text": "abcd"}, "text", "must have at most 3 characters"),
        ({"text": "AB"}, "text", "must fit the pattern ^[a-z]+$"),
        ({"yes": "perhaps"}, "yes", "must be true or false"),
        ({"some": 5}, "some", "must be a list"),
        ({"some": []}, "some", "must have at least 1 items"),
        ({"some": [1, 2, 3]}, "some", "must have at most 2 items"),
        ({"some": ["x"]}, "some.0", "must be an integer"),
        ({"names": []}, "names", "must be an object"),
        ({"more": 1}, "more", "is no parameter here; check its name, or leave it out"),
    ],
)
def test_every_kind_of_error_has_words_of_ours(change, where, what):
    with pytest.raises(ValidationError) as raised:
        Wanted.model_validate(GOOD | change)
    error = RequestValidationError(raised.value.errors())
    assert describe_errors(error.errors()) == [{"where": where, "what": what}]


def test_what_nobody_has_thought_of_is_told_without_their_words():
    told = describe_errors([{"type": "new_kind", "loc": ("query", "x"), "msg": "Input should be"}])
    (told_of_bound,) = describe_errors([{"type": "less_than", "loc": ("query", "x"), "ctx": {}}])
    for one in (*told, told_of_bound):
        assert one["where"] == "query.x"
        assert "/v1/openapi.json" in one["what"]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("count", "{"),
        ("count", '{"epsilon": NaN, "cells": [{}]}'),
        ("count", '{"epsilon": 1, "epsilon": 1}'),
        ("count", '{"epsilon": 1} more'),
        ("count", "[]"),
        ("count", b"\xff\xfe"),
        ("count", '{"epsilon": 1, "cells": 5, "x": 1}'),
        ("count", '{"cells": [{}]}'),
        ("nothing", "{}"),
    ],
)
def test_no_library_speaks_in_answers_to_bodies(client, state, path, sent):
    content = sent if isinstance(sent, bytes) else sent.encode()
    head = {
        "Authorization": f"Bearer {state.tokens['ada']}",
        "Content-Type": "application/json",
        "Idempotency-Key": "k",
    }
    answer = client.post(f"/v1/datasets/people/{path}", content=content, headers=head)
    assert answer.status_code in (404, 422), answer.text
    assert not THEIRS.search(answer.text), answer.text


@pytest.mark.parametrize("query", ["after=x", "limit=0", "limit=9999", "other=1", "after=-1"])
def test_no_library_speaks_in_answers_to_parameters(client, state, query):
    head = {"Authorization": f"Bearer {state.tokens['ada']}"}
    answer = client.get(f"/v1/history?{query}", headers=head)
    if answer.status_code == 404:
        answer = client.get(f"/v1/datasets/people/history?{query}", headers=head)
    assert answer.status_code == 422, answer.text
    assert not THEIRS.search(answer.text), answer.text
    assert answer.json()["errors"][0]["where"] == f"query.{query.partition('=')[0]}"


def test_a_key_that_cannot_be_one_is_told_so(client, state):
    head = {"Authorization": f"Bearer {state.tokens['ada']}", "Content-Type": "application/json"}
    for key in ({}, {"Idempotency-Key": "a b"}, {"Idempotency-Key": "k" * 201}):
        answer = client.post("/v1/datasets/people/count", content=b"{}", headers=head | key)
        assert answer.status_code == 422, answer.text
        assert not THEIRS.search(answer.text), answer.text
