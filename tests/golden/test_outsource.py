"""A table that 0.1 split and stored: its keys, its halves, and the home of its server."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from tests.golden.files import GOLDEN, expected
from tests.golden.reach import privet, serving

OUTSOURCE = GOLDEN / "outsource"
EXPECTED = expected("outsource")
LOCKED = {"PRIVET_PASSPHRASE": "golden"}


@pytest.fixture
def folder(copied) -> Path:
    place = copied("outsource")
    packed = place / "server" / "store.duckdb.gz"
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    return place


def in_order(path: Path) -> list[tuple[str, ...]]:
    frame = pd.read_csv(path, dtype=str).fillna("unknown")
    frame["age"] = [text if text == "unknown" else str(float(text)) for text in frame["age"]]
    return sorted(frame[sorted(frame.columns)].itertuples(index=False, name=None))


def test_halves_are_joined_by_their_keys(folder):
    ran = privet("outsource", "verify", "halves", "-k", "open.key", folder=folder)
    assert ran.code == 0, ran
    words = ("outsource", "verify", "locked", "-k", "locked.key")
    assert privet(*words, folder=folder, environment=LOCKED).code == 0
    assert privet(*words, folder=folder, environment={"PRIVET_PASSPHRASE": "other"}).code == 2
    ran = privet("outsource", "verify", "halves", "-k", "small.key", folder=folder)
    assert ran.code == 1, "a key that is not theirs joins nothing"


def test_an_unused_key_splits_a_table(folder):
    """An AES-128 key that 0.1 made and bound to nothing."""
    given = ("t.csv", "-s", "s.json", "--sensitive", "disease", "-k", "small.key", "-o", "new")
    assert privet("outsource", "split", *given, folder=folder).code == 0
    ran = privet("outsource", "verify", "new", "-k", "small.key", folder=folder)
    assert ran.code == 0, ran
    again = privet("outsource", "split", *given[:-1], "more", folder=folder)
    assert again.code == 2, "it belongs to a split now"


def test_a_passphrase_is_changed(folder):
    new = {**LOCKED, "PRIVET_NEW_PASSPHRASE": "second"}
    words = ("outsource", "key", "passphrase", "locked.key")
    table = json.loads((folder / "locked.key").read_text())["table"]
    assert privet(*words, folder=folder, environment=new).code == 0
    assert table not in (folder / "locked.key").read_text(), "it is sealed with the keys now"
    split = ("t.csv", "-s", "s.json", "--sensitive", "disease", "-k", "locked.key", "-o", "new")
    again = {"PRIVET_PASSPHRASE": "second"}
    assert (
        "another split"
        in privet("outsource", "split", *split, folder=folder, environment=again).err
    )
    second = {"PRIVET_PASSPHRASE": "second"}
    words = ("outsource", "verify", "locked", "-k", "locked.key")
    assert privet(*words, folder=folder, environment=second).code == 0


def test_the_home_of_a_server_is_served(folder):
    """Its tree and sealed refinements predict the same; the key gets all rows back."""
    own = {"PRIVET_TOKEN": EXPECTED["token"]}
    with serving(folder / "server", folder / "log", "outsource") as port:
        url = f"http://127.0.0.1:{port}"

        def run(*words):
            ran = privet("outsource", *words, folder=folder, environment=own)
            assert ran.code == 0, ran
            return ran.out

        status = json.loads(run("status", url, "--json"))
        assert {name: status[name] for name in EXPECTED["status"]} == EXPECTED["status"]
        run("predict", url, "t.csv", "-k", "open.key", "-o", "now.csv")
        assert (folder / "now.csv").read_text("utf-8") == (folder / "said.csv").read_text("utf-8")
        run("export", url, "-k", "open.key", "-o", "rows.csv")
        card = run("card", url)
    assert in_order(folder / "rows.csv") == in_order(folder / "back.csv")
    assert in_order(folder / "rows.csv") == in_order(folder / "t.csv")
    for text in (card, (OUTSOURCE / "card.md").read_text("utf-8")):
        assert "not differentially private" in text.lower()


def test_halves_are_taken_in_by_a_new_server(folder):
    assert privet("outsource", "init", "locked", "--home", "new", folder=folder).code == 0
    ran = privet("outsource", "client", "add", "bob", "--home", "new", folder=folder)
    assert ran.code == 0, ran
    ran = privet("outsource", "client", "list", "--home", "server", folder=folder)
    assert "ada" in ran.out.split()


def test_the_attack_reads_halves(folder):
    ran = privet("outsource", "attack", "halves", "-k", "open.key", "--json", folder=folder)
    assert ran.code == 0, ran
    assert {"accuracy", "random_guess"} <= set(json.loads(ran.out))
