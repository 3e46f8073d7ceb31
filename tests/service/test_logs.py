"""The logs of a service name the request, and say nothing that an error or a client said."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from privet.service.logs import REQUEST_ID, JsonFormatter, TextFormatter, logging_to_stderr
from tests.service.running import Service

COUNT = {"epsilon": "1/4", "by": ["colour"]}
#: What makes a service fail as nobody expects.
FAULT = """
import privet.service.handlers as handlers
def fail(*_):
    raise ValueError("patient 17 has 3 rows")
handlers.RequestHandlers.list_datasets = fail
"""


def make_record() -> logging.LogRecord:
    """A record of an error that says what nobody may read."""
    try:
        raise ValueError("patient 17 has 3 rows")
    except ValueError:
        return logging.LogRecord("x", 40, __file__, 1, "it failed\n", (), sys.exc_info())


@pytest.fixture
def named():
    before = REQUEST_ID.set("7f")
    yield
    REQUEST_ID.reset(before)


def test_an_unexpected_error_is_logged_without_what_it_says(named):
    written = JsonFormatter().format(make_record())
    told = json.loads(written)
    assert (told["error"], told["message"], told["request_id"]) == ("ValueError", "it failed", "7f")
    assert told["raised_at"][0].startswith(__file__)
    assert "patient" not in written


def test_text_says_no_more_than_json(named):
    written = TextFormatter().format(make_record())
    assert written.startswith(f"error: it failed (request 7f): ValueError at {__file__}:")
    assert "patient" not in written
    assert "\n" not in written


@pytest.mark.parametrize("form", ["json", "text"])
def test_loggers_are_afterwards_what_they_were(form, capsys):
    root, ours, other = (logging.getLogger(name) for name in (None, "privet", "privet.some.place"))
    as_it_was = root.handlers[:], root.level, ours.handlers[:], ours.level, other.disabled
    with logging_to_stderr(form):
        other.warning("said by us")
        logging.getLogger("some.library").warning("said by others")
        logging.getLogger("some.library").info("not said")
    assert (root.handlers, root.level, ours.handlers, ours.level, other.disabled) == as_it_was
    told = capsys.readouterr().err
    assert told.count("\n") == 2
    assert "said by us" in told
    assert "said by others" in told


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_service_that_fails_names_the_request_and_says_nothing_else(state, tmp_path, form):
    service = Service(state.path, tmp_path / "serve.log", before=FAULT, more=["--log", form])
    try:
        with service.client(state.tokens["ada"]) as ada:
            answer = ada.get("datasets")
    finally:
        service.stop()
    assert answer.problem["status"] == 500
    (said,) = [line for line in service.told.splitlines() if "ValueError" in line]
    assert answer.headers["x-request-id"] in said
    for told in (service.told, answer.body.decode()):
        assert "patient" not in told
        assert "Traceback" not in told


def test_logs_are_lines_of_json_without_bodies_and_tokens(state, tmp_path):
    service = Service(state.path, tmp_path / "serve.log", more=["--log", "json"])
    try:
        with service.client(state.tokens["ada"]) as ada:
            answer = ada.ask("count-by", COUNT, key="my-own-key")
        with service.client("a-wrong-token") as stranger:
            assert stranger.get("datasets/some-name").status == 401
    finally:
        service.stop()
    lines = [json.loads(line) for line in service.told.splitlines()]
    (asked,) = [line for line in lines if line.get("route", "").endswith("/count-by")]
    assert asked["request_id"] == answer.headers["x-request-id"]
    assert (asked["status"], asked["method"], asked["analyst"]) == (200, "POST", "ada")
    assert any(line.get("status") == 401 for line in lines)
    for secret in (state.tokens["ada"], "a-wrong-token", "some-name", "my-own-key", "colour"):
        assert secret not in service.told
