"""A server that is killed at any time: nothing that was acknowledged is lost, and nothing is half
there.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import pytest

from privet.outsource.server.state import ServerState
from tests.outsource.server.running import Asking, Lost, Server
from tests.outsource.server.test_routes import group, text
from tests.outsource.store import tables


class Work:
    """Something that is done again and again until the server is killed, by somebody who knows what
    was acknowledged.
    """

    done = 0
    trouble: BaseException | None = None

    def begin(self, asking: Asking) -> None:
        """Go on, with a server that was started."""
        self._asking = asking
        self._thread = threading.Thread(target=self._go_on)
        self._thread.start()

    def end(self) -> None:
        self._thread.join()
        self._asking.close()
        if self.trouble is not None:
            raise self.trouble

    def _go_on(self) -> None:
        try:
            while True:
                self.step(self._asking)
                self.done += 1
        except Lost:
            pass
        except BaseException as error:  # noqa: BLE001 - raised where the test sees it
            self.trouble = error

    def step(self, asking: Asking) -> None:
        raise NotImplementedError

    def look(self, asking: Asking) -> None:
        """What was acknowledged is there; what was not is there as a whole, or not at all."""
        raise NotImplementedError


class Puts(Work):
    """One sealed object after the other in one place, of many sizes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._version: int | None = None
        self._body, self._sent = "", ""

    def step(self, asking: Asking) -> None:
        self._sent = text(b"%d|" % random.getrandbits(64) * random.choice([1, 10, 1000, 20_000]))
        status, told = asking.call(
            "PUT", self._path, {"sealed": self._sent, "replaces": self._version}
        )
        assert status == 201, told
        assert told["version"] == (self._version or 0) + 1
        self._version, self._body = told["version"], self._sent

    def look(self, asking: Asking) -> None:
        status, told = asking.call("GET", self._path)
        if self._version is None and status == 404:
            return
        assert status == 200, told
        if told["version"] != self._version:  # the one that was under way
            assert told == {"version": (self._version or 0) + 1, "sealed": self._sent}
            self._version, self._body = told["version"], told["sealed"]
        assert told["sealed"] == self._body


class Changes(Work):
    """Each change takes a row, brings a group of three and leaves something pending."""

    def __init__(self, rows: int) -> None:
        self._version, self._rows, self._gone = 1, rows, 0

    def step(self, asking: Asking) -> None:
        change = {
            "version": self._version,
            **group(("flu", "gout", "none")),
            "remove_rows": [self._gone],
            "pending": [text(b"x")],
        }
        status, told = asking.call("POST", "changes", change)
        assert status == 200, told
        self._count()

    def _count(self) -> None:
        self._version, self._rows, self._gone = self._version + 1, self._rows + 2, self._gone + 1

    def look(self, asking: Asking) -> None:
        _, about = asking.call("GET", "about")
        if about["version"] != self._version:  # the one that was under way
            self._count()
        assert (about["version"], about["rows"], about["pending"]) == (
            self._version,
            self._rows,
            self._version - 1,
        )
        _, page = asking.call("GET", "rows?limit=1")
        assert page["rows"][0]["row"] == self._gone


class Grows(Work):
    """Trees that are grown and deleted again."""

    def __init__(self) -> None:
        self._there: list[str] = []

    def step(self, asking: Asking) -> None:
        if len(self._there) > 2:
            assert asking.call("DELETE", f"trees/{self._there.pop(0)}")[0] == 204
        status, told = asking.call("POST", "trees", {"leaf_size": 2})
        assert status == 201, told
        self._there.append(told["id"])

    def look(self, asking: Asking) -> None:
        _, about = asking.call("GET", "about")
        found = {tree["id"] for tree in about["trees"]}
        assert found >= set(self._there)
        unheard_of = found - set(self._there) - {about["trees"][-1]["id"]}  # the oldest is not ours
        assert len(unheard_of) <= 2  # one that was leaving, and one whose growth was not answered
        for name in unheard_of:
            assert asking.call("DELETE", f"trees/{name}")[0] == 204


def everything_fits(asking: Asking) -> None:
    """Rows, groups, leaves and numbers tell the same story."""
    _, about = asking.call("GET", "about")
    rows, after = [], -1
    while after is not None:
        _, page = asking.call("GET", f"rows?after={after}&limit=10000")
        rows, after = rows + page["rows"], page["next"]
    assert about["rows"] == len(rows)
    assert len({row["eseq"] for row in rows}) == len(rows)
    per_group = Counter(row["gid"] for row in rows)
    for row in rows:
        values = [value for _, value in row["candidates"]]
        assert max(Counter(values).values()) * about["anatomy"]["l"] <= len(values)
        assert per_group[row["gid"]] <= len(values)
    for summary in about["trees"]:
        _, tree = asking.call("GET", f"trees/{summary['id']}")
        found = []
        for leaf, n in tree["sizes"]:
            _, page = asking.call("GET", f"trees/{summary['id']}/leaves/{leaf}/rows?limit=10000")
            assert len(page["rows"]) == n
            found += page["rows"]
        assert sorted(row["row"] for row in found) == [row["row"] for row in rows]


def killed_again_and_again(path, token: str, work: list[Work], rounds: int) -> None:
    """Let them work, kill the server after some acknowledgements, start it again and look."""
    for _ in range(rounds):
        server = Server(path)
        try:
            for each in work:
                each.begin(server.asking(token))
            enough = sum(each.done for each in work) + random.randint(5, 40)
            while sum(each.done for each in work) < enough and not any(
                each.trouble for each in work
            ):
                time.sleep(0.001)
        finally:
            server.kill()
        for each in work:
            each.end()
        again = Server(path)
        try:
            asking = again.asking(token)
            for each in work:
                each.look(asking)
            everything_fits(asking)
            asking.close()
            again.stop()
        finally:
            again.kill()


def prepared(state, token: str) -> tuple[str, list[int], int]:
    """A tree with its leaves, and the number of rows."""
    server = Server(state.path)
    try:
        asking = server.asking(token)
        _, tree = asking.call("POST", "trees", {})
        _, told = asking.call("GET", f"trees/{tree['id']}")
        _, about = asking.call("GET", "about")
        asking.close()
        server.stop()
        return tree["id"], [leaf for leaf, _ in told["sizes"]], about["rows"]
    finally:
        server.kill()


def puts_and_trees(state, token: str) -> list[Work]:
    tree, leaves, _ = prepared(state, token)
    return [
        *(Puts(f"trees/{tree}/leaves/{leaf}/subtree") for leaf in leaves[:3]),
        Puts("sealed/naive"),
        Grows(),
    ]


def changes_and_trees(state, token: str) -> list[Work]:
    *_, rows = prepared(state, token)
    return [Changes(rows), Puts("sealed/keys"), Grows()]


@pytest.mark.parametrize("work", [puts_and_trees, changes_and_trees])
def test_a_kill_loses_nothing_that_was_acknowledged(work, state, token):
    killed_again_and_again(state.path, token, work(state, token), 2)


def test_a_kill_with_the_store_elsewhere(postgres, tmp_path, made):
    state = ServerState.make(
        tmp_path / "server", tables.folder(tmp_path / "folder", made), postgres.database()
    )
    token = state.accounts.add_analyst("ada")
    killed_again_and_again(state.path, token, changes_and_trees(state, token), 2)


@pytest.mark.slow
@pytest.mark.parametrize("work", [puts_and_trees, changes_and_trees])
def test_many_kills_lose_nothing_that_was_acknowledged(work, state, token):
    killed_again_and_again(state.path, token, work(state, token), 25)
