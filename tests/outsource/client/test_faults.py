"""The server dies, lies or is slow: nothing that was acknowledged is lost, and nothing wrong is
believed.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import threading
import time

import httpx2
import pytest

from privet.client.transport import Link
from privet.errors import AccessError, NotThere, OutsourceError, PrivetError, Unavailable
from privet.outsource.client import Collaborative, OutsourcedTable
from tests.outsource.client.conftest import Outsourced, outsource
from tests.outsource.client.reference import Reference
from tests.outsource.people import people
from tests.ports import free_port
from tests.service.running import PATIENCE, Service

NEW = people(200, seed=5)


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_killing_the_server_in_the_middle_of_refinements_loses_nothing(tmp_path, rounds):
    """A client predicts row by row; the server is killed at some moment of it and started again on
    another port.
    """
    halves, ring, state, token = outsource(tmp_path, rows=700)
    service = Service(state.path, tmp_path / "serve.log", group="outsource")
    there = Outsourced(halves, ring, state, token, service)
    expected = Reference(halves, ring).collaborative(NEW)
    try:
        for number in range(rounds):
            with there.table(retry_for=0.2) as table:
                learner = Collaborative(table, table.grow())
                stored: list[str] = []
                real = table.store_subtrees

                def store(tree, subtrees, *rest, real=real, stored=stored):
                    assert real(tree, subtrees, *rest) == len(subtrees)
                    stored.extend(leaf for leaf, _, _ in subtrees)  # these must not be lost now
                    return len(subtrees)

                table.store_subtrees = store
                delay = 0.02 + 0.05 * number % 0.4
                killer = threading.Timer(
                    delay, os.kill, (there.service.process.pid, signal.SIGKILL)
                )
                killer.start()
                with pytest.raises(Unavailable):
                    _predict_for_ever(learner, expected)
                killer.join()
            there.service.process.wait(60)
            there.service = Service(state.path, tmp_path / "serve.log", group="outsource")
            with there.table() as table:
                tree = next(tree for tree in table.about()["trees"] if tree.id == learner.tree.id)
                refined = table.details(tree.id).refined
                assert set(refined) >= set(stored)
                assert Collaborative(table, tree).predict(NEW) == expected
    finally:
        there.service.kill()


def _predict_for_ever(learner, expected) -> None:
    while True:
        assert learner.predict(NEW, at_once=1) == expected


def test_a_server_that_comes_back_is_waited_for(tmp_path):
    """A request that finds nobody is sent again, and answered by whoever listens there by then."""
    halves, ring, state, token = outsource(tmp_path)
    place = ["--port", str(free_port())]
    service = Service(state.path, tmp_path / "serve.log", group="outsource", more=place)
    there = Outsourced(halves, ring, state, token, service)
    try:
        with there.table(retry_for=PATIENCE) as table:
            tree = table.grow()
            service.kill()
            again: list[Service] = []

            def restart() -> None:
                time.sleep(0.5)
                again.append(
                    Service(state.path, tmp_path / "again.log", group="outsource", more=place)
                )

            thread = threading.Thread(target=restart)
            thread.start()
            assert Collaborative(table, tree).predict(NEW) == Reference(halves, ring).collaborative(
                NEW
            )
            thread.join()
    finally:
        service.kill()
        for one in again:
            one.kill()


def test_a_token_that_is_revoked_ends_at_once(own):
    with own.table() as table:
        tree = table.grow()
        own.state.accounts.revoke("ada")
        with pytest.raises(AccessError):
            Collaborative(table, tree).predict(NEW)
    with pytest.raises(AccessError):
        own.table()


def about(halves) -> dict:
    return {
        "anatomy": halves.anatomy.to_json(),
        "rows": 1,
        "values": 1,
        "groups": 1,
        "version": 1,
        "pending": 0,
        "sealed_limit": 100,
        "trees": [],
        "statement": "",
    }


SUMMARY = {
    "id": "0" * 32,
    "made": "now",
    "splits": "binary",
    "leaf_size": 2,
    "max_depth": None,
    "leaves": 1,
    "largest": 1,
    "changed": 0,
}
ROW = {
    "row": 0,
    "cells": ["north", "1", "true", "few"],
    "pruning": False,
    "gid": 1,
    "eseq": "AAAA",
    "candidates": [[1, "flu"]],
}


class TestLies:
    """Whatever a server sends that is not what it should be is one clear error."""

    @pytest.fixture
    def lying(self, there, monkeypatch):
        answers: dict[str, object] = {}

        def answer(request: httpx2.Request) -> httpx2.Response:
            path = request.url.path.removeprefix("/v1")
            told = answers.get(path, about(there.halves))
            if path == "/sealed/anatomy":
                told = {"version": 1, "sealed": base64.b64encode(there.halves.seal).decode()}
            return httpx2.Response(
                200, content=told if isinstance(told, bytes) else json.dumps(told).encode()
            )

        real = Link.__init__
        monkeypatch.setattr(
            Link,
            "__init__",
            lambda self, *a, **k: real(self, *a, **(k | {"over": httpx2.MockTransport(answer)})),
        )

        def table() -> OutsourcedTable:
            return OutsourcedTable("http://127.0.0.1:1", "token", there.ring)

        return answers, table

    @pytest.mark.parametrize(
        "changes",
        [
            {"anatomy": {}},
            {"anatomy": None},
            {"rows": -1},
            {"rows": "7"},
            {"version": None},
            {"trees": [{}]},
            {"trees": 3},
            {"pending": True},
        ],
    )
    def test_about(self, there, lying, changes):
        answers, table = lying
        answers["/about"] = about(there.halves) | changes
        with pytest.raises(OutsourceError):
            table()

    @pytest.mark.parametrize(
        "told", [b"", b"[]", b"null", b"<html>", b"{", b'{"a": NaN}', b"[" * 5000]
    )
    def test_what_is_no_json_object(self, lying, told):
        answers, table = lying
        answers["/about"] = told
        with pytest.raises(PrivetError):
            table()

    @pytest.mark.parametrize(
        "changes",
        [
            {"leaves": []},
            {"leaves": ["0"]},
            {"leaves": [-1]},
            {"leaves": [0.5]},
            {"classes": ["some"]},
            {"classes": [[]]},
            {"subtrees": {"x": {"sealed": "AAAA"}}},
            {"subtrees": {"0": {"sealed": "!"}}},
            {"subtrees": []},
            {"subtrees": {"0": 3}},
        ],
    )
    def test_leaves(self, lying, changes):
        answers, table = lying
        answers[f"/trees/{'0' * 32}/leaves"] = {
            "leaves": [0],
            "classes": ["few"],
            "subtrees": {},
        } | changes
        with pytest.raises(OutsourceError, match="not what it should be"):
            table().reach("0" * 32, [["north", "1", "true"]])

    @pytest.mark.parametrize(
        "changes",
        [
            {"row": -1},
            {"row": "0"},
            {"cells": []},
            {"cells": [1, 2, 3, 4]},
            {"cells": None},
            {"pruning": 0},
            {"gid": 1.5},
            {"eseq": "?"},
            {"eseq": None},
            {"candidates": [[1]]},
            {"candidates": [["1", "flu"]]},
            {"candidates": [[1, 2]]},
            {"candidates": 5},
        ],
    )
    def test_rows(self, lying, changes):
        answers, table = lying
        answers["/rows"] = {"rows": [ROW | changes], "next": None, "version": 1}
        with pytest.raises(OutsourceError, match="not what it should be"):
            list(table().rows())

    def test_pages_that_never_end(self, lying):
        answers, table = lying
        answers["/rows"] = {"rows": [], "next": -1, "version": 1}
        with pytest.raises(OutsourceError, match="not what it should be"):
            list(table().rows())
        answers["/rows"] = {"rows": [], "next": 5, "version": 1}
        with pytest.raises(OutsourceError, match="not what it should be"):
            list(table().rows())

    def test_rows_of_somebody_else(self, lying):
        answers, table = lying
        answers["/rows"] = {"rows": [ROW], "next": None, "version": 1}
        from privet.errors import SealError
        from privet.outsource.client import Naive

        with pytest.raises(SealError):
            Naive(table()).learn()

    def test_a_tree_without_what_it_needs(self, lying):
        answers, table = lying
        answers["/trees"] = {**SUMMARY, "more": 1}
        with pytest.raises(OutsourceError, match="not what it should be"):
            table().grow()
        with pytest.raises(OutsourceError, match="has no tree yet"):
            table().newest_tree()


def test_nothing_that_is_not_there(own):
    with own.table() as table:
        with pytest.raises(NotThere):
            table.fetch("/sealed/naive")
        with pytest.raises(NotThere):
            table.details("f" * 32)
