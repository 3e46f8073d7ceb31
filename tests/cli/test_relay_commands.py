"""``privet relay``, as three hospitals would use it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.federation.parties import SCHEMA, rows

NAMES = ("north", "south", "west")


@pytest.fixture
def run(privet):
    """Run the command, and look at its exit code."""

    def command(*arguments, code=0):
        done = privet(*arguments)
        assert done.code == code, done.err
        return done

    return command


@pytest.fixture
def folder(tmp_path, monkeypatch, run):
    """Three parties with a table, a key and a card each, and a relay that was started."""
    monkeypatch.chdir(tmp_path)
    SCHEMA.write("s.json")
    for number, name in enumerate(NAMES):
        rows(300, 11 * number).to_csv(f"{name}.csv", index=False)
        said = ("--schema", "s.json", "--rows", "300", "--epsilon", "1", "--key", f"{name}.key")
        run("relay", "card", name, *said, "-o", f"{name}.card.json")
    cards = [f"{name}.card.json" for name in NAMES]
    run("relay", "start", *cards, "-s", "s.json", "--people", "disjoint", "-o", "relay.json")
    return tmp_path


def add(run, name, relay="relay.json", output="relay.json", *more, code=0):
    return run(
        *("relay", "add", f"{name}.csv", "--relay", relay, "--party", name),
        *("--key", f"{name}.key", "-o", output, *more),
        code=code,
    )


def said(run, path):
    return json.loads(run("relay", "show", path, "--json").out)


def test_three_parties_make_a_model(folder, run):
    path = "relay.json"
    for number in range(10):
        waiting = said(run, path)["next"]
        if not waiting:
            break
        add(run, waiting[0], path, f"relay-{number}.json")
        path = f"relay-{number}.json"
    done = run("relay", "finish", path, "-o", "m.json")
    assert "1-differentially private" in done.out
    assert "nobody is in two of the 3 batches" in done.out
    shown = said(run, path)
    assert {party["spent"] for party in shown["parties"]} == {"1"}
    predicted = run("predict", "m.json", "north.csv")
    assert predicted.out.startswith("advice\n")


def test_a_visit_pays_once_whatever_copy_arrives(folder, run):
    first = said(run, "relay.json")["next"][0]
    add(run, first, "relay.json", "one.json")
    before = run("ledger", "show", f"{first}.csv.ledger.sqlite", "--json").out
    # the same file again: the same answers, for nothing
    add(run, first, "relay.json", "again.json")
    assert run("ledger", "show", f"{first}.csv.ledger.sqlite", "--json").out.count(
        '"charge"'
    ) == before.count('"charge"')
    trees = [
        entry["model"]["trees"]
        for name in ("one.json", "again.json")
        for entry in json.loads(Path(name).read_text())["entries"]
        if entry["kind"] == "visit"
    ]
    assert trees[0] == trees[1]
    # another copy, in which somebody has left: other questions under the same key
    others = [name for name in NAMES if name != first]
    run("relay", "leave", "relay.json", others[0], "-o", "other.json")
    refused = add(run, first, "other.json", "two.json", code=2)
    assert "on another copy of the relay" in refused.err
    assert "Nothing was charged" in refused.err
    assert not Path("two.json").exists()


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--epsilon", "2"), "pays 1 in all"),
        (("--key", "south.key"), "not the key that 'north' joined with"),
        (("--key", "s.json"), "no key in PEM"),
        (("--party", "east"), "no party 'east'"),
    ],
)
def test_what_is_refused_charges_nothing(folder, run, more, problem):
    refused = add(run, "north", "relay.json", "two.json", *more, code=2)
    assert problem in refused.err
    assert not Path("two.json").exists()
    assert not Path("north.csv.ledger.sqlite").exists()


def test_turns_that_nobody_knows_yet_are_no_zero(folder, run):
    """Whoever waits for the first look would think that there is nothing to do."""
    shown = run("relay", "show", "relay.json").out
    left = {
        line.split()[0]: line.split()[-1]
        for line in shown.splitlines()
        if line.strip().startswith(NAMES)
    }
    assert left == dict.fromkeys(NAMES, "?")
    assert "follows from the first" in shown
    assert "nobody is in two of their tables" in shown
    add(run, said(run, "relay.json")["next"][0], "relay.json", "one.json")
    assert "?" not in run("relay", "show", "one.json").out


def test_public_keys_are_shown_to_be_compared(folder, run):
    """A stranger may sign a card with the name of another party, by a key of their own."""
    shown = run("relay", "show", "relay.json").out
    parties = {one["name"]: one["key"] for one in said(run, "relay.json")["parties"]}
    for name in NAMES:
        key = json.loads(Path(f"{name}.card.json").read_text())["card"]["key"]
        assert parties[name] == key
        assert f"{name} {key[:16]}" in shown
    again = ("--schema", "s.json", "--rows", "900", "--epsilon", "1", "--key", "north.key")
    told = run("relay", "card", "north", *again, "-o", "again.json").out
    assert f"public key: {parties['north'][:16]}" in told


def test_what_was_not_due_is_shown(folder, run):
    from privet.federation.keys import SigningKey
    from privet.federation.relay import RelayFile

    started = RelayFile.read("relay.json")
    first = started.next_names[0]
    add(run, first, "relay.json", "one.json", "--turns", "1")
    visit = RelayFile.read("one.json").visits[-1]
    *others, tree = visit.added.trees
    loud = replace(tree, counts=1000 * tree.counts)
    lie = replace(visit, added=replace(visit.added, trees=(*others, loud)))
    started._sign(lie, SigningKey.read(f"{first}.key")).write("lie.json")
    shown = run("relay", "show", "lie.json").out
    assert f"beware: {first} added scores that are larger than the recipe's" in shown
    assert "next is" not in shown
    other = next(name for name in NAMES if name != first)
    refused = add(run, other, "lie.json", "two.json", code=2)
    assert "go on with the file as it was before" in refused.err
    assert not Path(f"{other}.csv.ledger.sqlite").exists()


def test_turns_that_are_not_private_are_shown_before_others_pay(folder, run):
    from privet.federation.keys import SigningKey
    from privet.federation.relay import RelayFile

    started = RelayFile.read("relay.json")
    first = started.next_names[0]
    add(run, first, "relay.json", "one.json", "--turns", "1")
    visit = RelayFile.read("one.json").visits[-1]
    statement = replace(visit.added.privacy, private=False, reason="no noise\x1b[2J")
    told = replace(visit, added=replace(visit.added, privacy=statement))
    started._sign(told, SigningKey.read(f"{first}.key")).write("told.json")
    shown = run("relay", "show", "told.json").out
    assert (
        rf"beware: the turns of {first} are not private, so no model of them is: no noise\x1b"
        in (shown)
    )
    assert list(said(run, "told.json")["not_private"]) == [first]
    assert "beware" not in run("relay", "show", "one.json").out


def test_a_damaged_relay_is_refused(folder, run):
    text = Path("relay.json").read_text()
    Path("relay.json").write_text(text.replace('"rows":300', '"rows":900'))
    refused = add(run, "north", "relay.json", "two.json", code=2)
    assert "checksum" in refused.err


def test_who_comes_late_and_who_leaves(folder, run):
    rows(300, 5).to_csv("east.csv", index=False)
    said_ = ("--schema", "s.json", "--rows", "300", "--epsilon", "1", "--key", "east.key")
    run("relay", "card", "east", *said_, "-o", "east.card.json")
    run("relay", "join", "relay.json", "east.card.json", "-o", "four.json")
    run("relay", "leave", "four.json", "west", "-o", "three.json")
    parties = said(run, "three.json")["parties"]
    assert [party["name"] for party in parties] == [*NAMES, "east"]
    assert [party["left"] for party in parties] == [False, False, True, False]


def test_a_party_with_too_few_rows_for_a_turn_is_told(folder, run):
    said_ = ("--schema", "s.json", "--rows", "3", "--epsilon", "1/100", "--key", "tiny.key")
    run("relay", "card", "tiny", *said_, "-o", "tiny.card.json")
    run("relay", "join", "relay.json", "tiny.card.json", "-o", "four.json")
    first = said(run, "four.json")["next"][0]
    add(run, first, "four.json", "five.json")
    assert said(run, "five.json")["idle"] == ["tiny"]
    assert "tiny has too little evidence for a turn" in run("relay", "show", "five.json").out


def test_the_output_is_not_the_relay_that_arrived(folder, run):
    refused = add(run, "north", "relay.json", "north.csv", code=2)
    assert "private table" in refused.err


def test_help_says_what_to_do(run):
    for command in ("card", "start", "add", "join", "leave", "show", "finish"):
        assert "Example:" in run("relay", command, "--help").out
