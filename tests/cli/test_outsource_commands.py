"""Commands for an outsourced table: what they refuse, and that nothing is half-written then. The
walk-through has the rest.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from privet.domain import Categorical
from privet.outsource.cipher import KeyRing, keys
from privet.outsource.files import read_halves
from tests.cli.conftest import Run
from tests.outsource.people import DISEASES, SCHEMA, people
from tests.service.running import serving

SPLIT = ("--schema", "s.json", "--sensitive", "disease", "--key-file", "k")


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """A table of people, its schema and a key, where the commands run."""
    monkeypatch.setattr(keys, "_SCRYPT", {"n": 1 << 10, "r": 8, "p": 1})
    for name in ("PRIVET_TOKEN", "PRIVET_PASSPHRASE", "PRIVET_NEW_PASSPHRASE", "PRIVET_OUTSOURCED"):
        monkeypatch.delenv(name, raising=False)
    rows = people(200)
    rows.to_csv("t.csv", index=False)
    SCHEMA.write("s.json")
    KeyRing.new().write("k")
    return rows


def test_whatever_the_umask_a_split_and_a_store_are_their_owners_only(privet: Run) -> None:
    before = os.umask(0)
    try:
        assert privet("outsource", "split", "t.csv", *SPLIT, "-o", "halves").code == 0
        assert privet("outsource", "init", "halves", "--home", "home").code == 0
    finally:
        os.umask(before)
    for folder in map(Path, ("halves", "home")):
        assert folder.stat().st_mode & 0o777 == 0o700
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


class TestKeys:
    def test_a_key_is_made_once_and_for_oneself(self, privet: Run) -> None:
        assert privet("outsource", "key", "new", "mine", "--algorithm", "AES-128-GCM").code == 0
        assert Path("mine").stat().st_mode & 0o777 == 0o600
        assert KeyRing.read("mine").current.algorithm == "AES-128-GCM"
        again = privet("outsource", "key", "new", "mine")
        assert (again.code, "exists" in again.err) == (2, True)
        assert "AES-256-GCM" in privet("outsource", "key", "new", "x", "--algorithm", "DES").err
        assert not Path("x").exists()

    def test_passphrases(self, privet: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        assert (
            "PRIVET_PASSPHRASE" in privet("outsource", "key", "new", "locked", "--passphrase").err
        )
        monkeypatch.setenv("PRIVET_PASSPHRASE", "first")
        assert privet("outsource", "key", "new", "locked", "--passphrase").code == 0
        ring = KeyRing.read("locked", "first")
        monkeypatch.setenv("PRIVET_NEW_PASSPHRASE", "second")
        assert privet("outsource", "key", "passphrase", "locked").code == 0
        assert KeyRing.read("locked", "second") == ring
        assert "does not open" in privet("outsource", "key", "passphrase", "locked").err
        monkeypatch.setenv("PRIVET_PASSPHRASE", "second")
        assert privet("outsource", "key", "passphrase", "locked", "--remove").code == 0
        assert KeyRing.read("locked") == ring

    def test_with_a_passphrase_nothing_is_sealed_with_plain_keys(
        self, privet: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PRIVET_PASSPHRASE", "first")
        ran = privet("outsource", "split", "t.csv", *SPLIT, "-o", "halves")  # k is plain
        assert (ran.code, "somebody may have replaced it" in ran.err) == (2, True)
        assert not Path("halves").exists()

    def test_a_key_that_others_can_read_is_refused(self, privet: Run) -> None:
        Path("k").chmod(0o644)
        ran = privet("outsource", "split", "t.csv", *SPLIT, "-o", "halves")
        assert (ran.code, "chmod 600" in ran.err) == (2, True)
        assert not Path("halves").exists()


class TestSplit:
    def test_what_is_held_back_is_told_and_kept_for_the_owner(
        self, privet: Run, table: pd.DataFrame
    ) -> None:
        uneven = table.assign(disease=["flu"] * 150 + ["gout"] * 50)
        uneven.loc[199, "town"] = "atlantis"
        uneven.to_csv("u.csv", index=False)
        ran = privet(
            "outsource", "split", "u.csv", *SPLIT, "-o", "halves", "--withheld", "back.csv"
        )
        assert ran.code == 0
        assert "98 rows in 49 groups, 2-diverse" in ran.out
        assert "101 rows cannot be placed" in ran.out
        assert "1 rows do not fit the schema" in ran.out
        assert "not differential privacy" in ran.out
        back = pd.read_csv("back.csv")
        assert len(back) == 102
        assert (back["disease"] == "flu").sum() == 101
        assert Path("back.csv").stat().st_mode & 0o777 == 0o600
        again = privet("outsource", "split", "u.csv", *SPLIT, "-o", "more", "--json")
        assert (again.code, "belongs to another split" in again.err) == (2, True)
        assert not Path("more").exists()
        KeyRing.new().write("k2")
        told = json.loads(
            privet(
                "outsource", "split", "u.csv", *SPLIT, "--key-file", "k2", "-o", "more", "--json"
            ).out
        )
        assert (told["rows"], told["unplaced"], told["unfit"], told["problems"]) == (98, 101, 1, [])

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--sensitive", "visits"), "must not be the class"),
            (("--sensitive", "nose"), "sensitive must be one of"),
            (("--l", "9"), "l must be at most 4"),
            (("--pruning", "1.5"), "pruning must be a number of at least 0 and below 1"),
            (("--key-file", "none"), "cannot read the key file"),
            (("--schema", "none"), "none"),
            (("-o", "there"), "not an empty folder"),
            (("--withheld", "no/where.csv"), "cannot write"),
        ],
    )
    def test_what_is_refused(self, privet: Run, options: tuple[str, ...], message: str) -> None:
        Path("there").mkdir()
        Path("there/file").write_text("mine")
        ran = privet("outsource", "split", "t.csv", *SPLIT, "-o", "halves", *options)
        assert (ran.code, message in ran.err) == (2, True), ran.err
        assert not Path("halves").exists()
        assert Path("there/file").read_text() == "mine"

    def test_what_links_the_halves_is_not_written(self, privet: Run, table: pd.DataFrame) -> None:
        table.assign(copy=table["disease"]).to_csv("c.csv", index=False)
        dataclasses.replace(
            SCHEMA, attributes={**SCHEMA.attributes, "copy": Categorical(DISEASES)}
        ).write("c.json")
        ran = privet("outsource", "split", "c.csv", *SPLIT, "--schema", "c.json", "-o", "halves")
        assert (
            ran.code,
            "column 'copy' alone tells the sensitive value of 100% of the rows" in ran.err,
        ) == (2, True), ran.err
        assert not Path("halves").exists()
        assert KeyRing.read("k").table is None
        assert (
            privet(
                "outsource",
                "split",
                "c.csv",
                *SPLIT,
                "--schema",
                "c.json",
                "-o",
                "halves",
                "--anyway",
            ).code
            == 0
        )

    def test_verify_finds_what_was_changed(self, privet: Run) -> None:
        assert privet("outsource", "split", "t.csv", *SPLIT, "-o", "halves").code == 0
        assert "joined with the key" in privet("outsource", "verify", "halves", "-k", "k").out
        assert "without the key" in privet("outsource", "verify", "halves").out
        KeyRing.new().write("other")
        wrong = privet("outsource", "verify", "halves", "-k", "other")
        assert (wrong.code, "cannot be joined" in wrong.err) == (1, True)

    def test_the_attack_says_what_it_found(self, privet: Run) -> None:
        assert privet("outsource", "split", "t.csv", *SPLIT, "-o", "halves").code == 0
        ran = privet("outsource", "attack", "halves", "-k", "k", "-o", "a.svg")
        assert ran.code == 0, ran.err
        assert Path("a.svg").read_text().startswith("<?xml")
        assert "l-diversity" in ran.out
        told = json.loads(privet("outsource", "attack", "halves", "-k", "k", "--json").out)
        # Towns go with diseases in this table, so that groups tell more than chance.
        assert told["accuracy"] > told["random_guess"] + 0.1, told
        anatomy = read_halves("halves").anatomy
        assert anatomy.l == 2


@pytest.fixture
def sensitive() -> str:
    """The name of the sensitive column."""
    return "disease"


@pytest.fixture
def served(
    privet: Run, monkeypatch: pytest.MonkeyPatch, table: pd.DataFrame, sensitive: str
) -> Iterator[str]:
    """A server, and the token of a client in the environment."""
    table.rename(columns={"disease": sensitive}).to_csv("t.csv", index=False)
    attributes = {
        sensitive if name == "disease" else name: one for name, one in SCHEMA.attributes.items()
    }
    dataclasses.replace(SCHEMA, attributes=attributes).write("s.json")
    split = [sensitive if word == "disease" else word for word in SPLIT]
    assert privet("outsource", "split", "t.csv", *split, "-o", "halves").code == 0
    assert privet("outsource", "init", "halves").code == 0
    found = re.search(r"shown this once: (\S+)", privet("outsource", "client", "add", "ada").out)
    assert found is not None
    monkeypatch.setenv("PRIVET_TOKEN", found[1])
    with serving(Path("outsourced").absolute(), group="outsource") as service:
        yield f"http://127.0.0.1:{service.port}"


class TestServed:
    def test_clients(self, privet: Run, served: str) -> None:
        assert privet("outsource", "client", "list").out.split() == ["ada"]
        again = privet("outsource", "client", "add", "ada")
        assert again.code == 2
        assert privet("outsource", "status", served).code == 0
        assert privet("outsource", "client", "token", "ada").code == 0
        assert privet("outsource", "status", served).code == 2
        assert privet("outsource", "client", "revoke", "ada").code == 0

    @pytest.mark.parametrize("sensitive", ["[/b] disease"])
    def test_a_name_that_looks_like_markup_is_shown_as_it_is(
        self, privet: Run, served: str
    ) -> None:
        ran = privet("outsource", "status", served)
        assert (ran.code, "2-diverse in '[/b] disease'" in ran.out) == (0, True), ran.err

    def test_roles(self, privet: Run, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
        words = ("outsource", "client")
        found = re.search(r"once: (\S+)", privet(*words, "add", "bob", "--role", "ask").out)
        assert found is not None
        assert privet(*words, "list").out.splitlines() == ["ada", "bob (base trees only)"]
        assert privet(*words, "add", "eve", "--role", "owner").code == 2
        monkeypatch.setenv("PRIVET_TOKEN", found[1])
        assert privet("outsource", "status", served).code == 0
        refused = privet("outsource", "learn", served)
        assert (refused.code, "base trees" in refused.err) == (2, True)
        assert privet(*words, "role", "bob", "key").code == 0
        assert privet("outsource", "learn", served).code == 0
        assert privet(*words, "role", "nobody", "ask").code == 2

    def test_learning_and_predicting(self, privet: Run, served: str, table: pd.DataFrame) -> None:
        assert "no tree yet" in privet("outsource", "predict", served, "t.csv", "-k", "k").err
        assert (
            "--leaf-size must be" in privet("outsource", "learn", served, "--leaf-size", "some").err
        )
        assert privet("outsource", "learn", served, "--splits", "ternary").code == 2
        assert "needs the key" in privet("outsource", "learn", served, "--leaf-size", "auto").err
        assert (
            "not differentially private"
            in privet("outsource", "learn", served, "--splits", "binary").out
        )
        ran = privet("outsource", "predict", served, "t.csv", "-k", "k", "-o", "said.csv")
        assert ran.code == 0
        assert re.search(r"right for 1\d\d of 200 rows", ran.err)
        assert "leaves refined" in ran.err
        assert pd.read_csv("said.csv")["visits"].isin(["few", "many"]).all()
        printed = privet("outsource", "predict", served, "t.csv", "-k", "k")
        assert printed.out.splitlines() == Path("said.csv").read_text().splitlines()
        assert (
            "--tree must be the beginning"
            in privet("outsource", "baseline", served, "t.csv", "-k", "k", "--tree", "zz").err
        )
        assert "could ask for any column" in privet("outsource", "baseline", served, "t.csv").err
        assert (
            privet(
                "outsource",
                "baseline",
                served,
                "t.csv",
                "--anatomy",
                "halves/anatomy.json",
                "-o",
                "b.csv",
            ).code
            == 0
        )
        refused = privet("outsource", "predict", served, "t.csv", "-k", "k", "-o", "no/where.csv")
        assert (refused.code, "cannot write" in refused.err) == (2, True)
        told = json.loads(privet("outsource", "status", served, "--json").out)
        assert told["trees"][0]["refined"] >= 1
        told = privet("outsource", "card", served).out
        assert "> **WARNING: Not differentially private." in told
        assert "## Who sees what" in told
        assert privet("outsource", "card", served, "-o", "card.html").code == 0
        page = Path("card.html").read_text()
        assert '<p class="alarm" role="note">Not differentially private.' in page
        assert "<h2>Who sees what</h2>" in page
        assert (
            "--splits must be"
            in privet("outsource", "naive", served, "t.csv", "-k", "k", "--splits", "x").err
        )

    def test_another_key_changes_nothing(self, privet: Run, served: str) -> None:
        KeyRing.new().write("other")
        assert privet("outsource", "learn", served).code == 0
        for command in (
            ("predict", served, "t.csv"),
            ("naive", served, "t.csv"),
            ("export", served, "-o", "x.csv"),
            ("rotate", served),
        ):
            ran = privet("outsource", *command, "-k", "other")
            assert (ran.code, "cannot be opened with this key" in ran.err) == (2, True), ran.err
        assert (
            json.loads(privet("outsource", "status", served, "--json").out)["trees"][0]["refined"]
            == 0
        )
        assert not Path("x.csv").exists()
        assert len(KeyRing.read("other").keys) == 1

    def test_rotating_and_retiring(self, privet: Run, served: str) -> None:
        old = KeyRing.read("k")
        ran = privet("outsource", "rotate", served, "-k", "k")
        assert ran.code == 0, ran.err
        assert len(KeyRing.read("k").keys) == 2
        assert privet("outsource", "key", "retire", "k", served).code == 0
        (left,) = KeyRing.read("k").keys
        assert left not in old.keys
        assert privet("outsource", "export", served, "-k", "k", "-o", "back.csv").code == 0
        assert Path("back.csv").stat().st_mode & 0o777 == 0o600
        old.write("old")
        assert (
            "cannot be opened with this key"
            in privet("outsource", "export", served, "-k", "old", "-o", "x.csv").err
        )

    def test_a_key_with_something_still_sealed_by_it_is_not_retired(
        self, privet: Run, served: str
    ) -> None:
        KeyRing.read("k").add_fresh_key().write("k", over=True)  # made, but nothing was sealed anew
        ran = privet("outsource", "key", "retire", "k", served)
        assert (ran.code, "still sealed with an older key" in ran.err) == (2, True)
        assert len(KeyRing.read("k").keys) == 2
        assert privet("outsource", "key", "retire", "k", served).code == 0

    def test_init_refuses_what_is_no_split(self, privet: Run, tmp_path: Path) -> None:
        Path("empty").mkdir()
        ran = privet("outsource", "init", "empty", "--home", "h")
        assert ran.code == 2
        assert not Path("h").exists()
        assert "is no home of a server" in privet("outsource", "serve", "--home", "nowhere").err
