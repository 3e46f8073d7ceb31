"""The relay file: what is signed, what is refused, and that a visit pays once."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

import privet as pv
from privet.accounting.cost import Cost
from privet.accounting.statement import Charge
from privet.errors import ModelError, ParameterError, QuestionError, Unavailable
from privet.federation.card import Card
from privet.federation.keys import SigningKey, verify
from privet.federation.relay import RelayFile
from privet.learners.relay import Relay, Turn
from privet.learners.updates import list_batches
from privet.model.file import seal
from privet.model.structure import Damaged
from tests.federation.parties import SCHEMA, curator_of, rows

NAMES = ("north", "south", "west")
UNKNOWN_CURVE = """\
-----BEGIN EC PRIVATE KEY-----
MGkCAQEEHQBmSMrS/U2V78//fDfDAwrn9feeIje11Q5TzaWDoAcGBSuBBAAgoTwD
OgAEJHKrqmdlqrOFjfBF+RCSZ3kAB544h/g8nV2NYMRKHfK8HD8yZolGCZYNN/Nv
dfTYjmrMId7Cqos=
-----END EC PRIVATE KEY-----
"""


@pytest.fixture(scope="module")
def keys():
    return {name: SigningKey.new() for name in (*NAMES, "east")}


@pytest.fixture(scope="module")
def cards(keys):
    return {name: Card.sign(SCHEMA, name, 400, 1, key) for name, key in keys.items()}


@pytest.fixture(scope="module")
def started(cards):
    return RelayFile.start(SCHEMA, [cards[name] for name in NAMES], "disjoint")


def table_of(name, budget=10):
    return curator_of(rows(400, 7 * (*NAMES, "east").index(name)), budget=budget)


def all_turns(relay, keys, curators, most=None):
    while relay.next_names:
        name = relay.next_names[0]
        relay = relay.take_turns(name, curators[name], keys[name], most)
    return relay


@pytest.fixture(scope="module")
def begun(started, keys):
    """Who took the first turn, and the relay after it."""
    first = started.next_names[0]
    return first, started.take_turns(first, table_of(first), keys[first], 1)


@pytest.fixture(scope="module")
def done(started, keys):
    return all_turns(started, keys, {name: table_of(name) for name in NAMES})


def document(relay):
    data = json.loads(relay.to_bytes())
    del data["checksum"]
    return data


class TestTurns:
    def test_a_relay_ends_in_a_model_that_says_who_paid_what(self, done):
        model = done.finish()
        assert model.privacy.promised.epsilon == 1
        assert sorted(part.name for part in model.privacy.parts) == sorted(NAMES)
        assert all(part.charged.epsilon == 1 for part in model.privacy.parts)
        table = rows(600)
        right = pv.ReleasedClassifier(model).predict(table) == table["advice"]
        assert right.mean() > 0.8

    def test_the_model_says_how_many_rows_each_party_has(self, done):
        model = done.finish()
        batches = list_batches(model, "epsilon", new=7)
        assert [(batch.rows, batch.amount) for batch in batches] == [(400, 1)] * 3

    def test_turn_by_turn_costs_the_same(self, started, keys):
        curators = {name: table_of(name) for name in NAMES}
        relay = all_turns(started, keys, curators, most=1)
        assert len(relay.visits) > len(NAMES)
        for visit in relay.visits:
            assert sum(turn.kind != "classes" for turn in visit.turns) == 1
        assert {curator.left for curator in curators.values()} == {9}
        assert relay.finish().privacy.promised.epsilon == 1

    def test_people_who_may_be_in_several_tables_pay_the_sum(self, cards, keys):
        relay = RelayFile.start(SCHEMA, [cards[name] for name in NAMES], "may-overlap")
        relay = all_turns(relay, keys, {name: table_of(name) for name in NAMES})
        assert relay.finish().privacy.promised.epsilon == 3

    def test_who_comes_late_takes_turns(self, started, cards, keys):
        curators = {name: table_of(name) for name in (*NAMES, "east")}
        relay = started.take_turns("north", curators["north"], keys["north"])
        relay = all_turns(relay.join(cards["east"]), keys, curators)
        assert "east" in {visit.name for visit in relay.visits}
        for curator in curators.values():
            assert curator.left >= 9

    def test_who_leaves_is_not_waited_for(self, started, keys):
        curators = {name: table_of(name) for name in NAMES}
        relay = all_turns(started.leave("south"), keys, curators)
        assert curators["south"].left == 10
        assert {part.name for part in relay.finish().privacy.parts} == {"north", "west"}

    def test_a_model_is_there_although_everybody_has_left(self, started, keys):
        relay = started.take_turns("north", table_of("north"), keys["north"])
        for name in NAMES:
            relay = relay.leave(name)
        assert relay.finish().privacy.parts == relay.finish(early=True).privacy.parts

    def test_an_early_model_is_of_what_was_done(self, started, keys):
        relay = started.take_turns("north", table_of("north"), keys["north"])
        with pytest.raises(ParameterError, match="still to be taken, next by"):
            relay.finish()
        assert len(relay.finish(early=True).trees) == len(relay.standing.trees)
        with pytest.raises(ParameterError, match="nobody has taken a turn"):
            started.finish(early=True)


class TestOnce:
    """Whatever arrives, a party pays for its turns once, and what its card says at most."""

    def test_the_same_turns_again_are_free_and_give_the_same_file(self, started, keys):
        curator = table_of("north")
        one = started.take_turns("north", curator, keys["north"])
        left = curator.left
        again = started.take_turns("north", curator, keys["north"])
        assert curator.left == left
        assert again.to_bytes() == one.to_bytes()

    def test_fewer_turns_at_a_time_are_the_same_turns(self, started, keys):
        curator = table_of("north")
        whole = started.take_turns("north", curator, keys["north"])
        left = curator.left
        relay = started
        while relay.turns_of("north") and len(relay.visits) < len(whole.visits[0].turns):
            relay = relay.take_turns("north", curator, keys["north"], 1)
        assert curator.left == left

    def changed(self, started, cards):
        """The same cards in other relays."""
        north, south, west = (cards[name] for name in NAMES)
        yield RelayFile.start(SCHEMA, [north, south, west], "may-overlap")
        yield RelayFile.start(SCHEMA, [west, north], "disjoint")
        yield started.leave("south").leave("west")
        yield started.join(cards["east"])

    def test_another_copy_of_the_relay_costs_nothing(self, started, cards, keys):
        curator = table_of("north")
        started.take_turns("north", curator, keys["north"])
        left = curator.left
        for other in self.changed(started, cards):
            with suppress(ParameterError):  # or it asks the very same
                other.take_turns("north", curator, keys["north"])
            assert curator.left == left

    def test_what_others_did_is_asked_about_once(self, started, keys):
        curator = table_of("south")
        begun = started.take_turns("north", table_of("north"), keys["north"])
        before = begun.take_turns("west", table_of("west", 5), keys["west"])
        other = begun.take_turns("west", table_of("west", 6), keys["west"])
        assert before.digest != other.digest
        before.take_turns("south", curator, keys["south"])
        left = curator.left
        with pytest.raises(ParameterError, match="on another copy of the relay"):
            other.take_turns("south", curator, keys["south"])
        assert curator.left == left

    def test_a_budget_in_rho_pays_once_too(self, started, keys):
        curator = pv.Curator(rows(400), SCHEMA, pv.Budget(rho=10))
        one = started.take_turns("north", curator, keys["north"], 1)
        started.take_turns("north", curator, keys["north"])
        left = curator.left
        one.take_turns("north", curator, keys["north"])
        assert curator.left == left

    def test_what_is_refused_sets_nothing_aside(self, started, cards, keys):
        curator = table_of("north", budget=2)
        begun = started.take_turns("north", curator, keys["north"], 1)
        left = curator.left
        with pytest.raises(ParameterError, match="on another copy of the relay"):
            started.join(cards["east"]).take_turns("north", curator, keys["north"])
        assert curator.left == left
        while begun.next_names[0] != "north" or not begun.turns_of("north"):
            name = begun.next_names[0]
            begun = begun.take_turns(name, table_of(name), keys[name])
        begun.take_turns("north", curator, keys["north"])
        assert curator.left == 1

    def test_an_interrupted_visit_keeps_what_it_set_aside(self, started, keys, monkeypatch):
        curator = table_of("north", budget=1)
        take, taken = Relay.take, []

        def lose_connection(relay, party, asked):
            if taken:
                raise Unavailable("gone")
            taken.append(party)
            return take(relay, party, asked)

        monkeypatch.setattr(Relay, "take", lose_connection)
        with pytest.raises(Unavailable):
            started.take_turns("north", curator, keys["north"])
        assert curator.left == 0  # set aside: nobody else can have it
        monkeypatch.undo()
        started.take_turns("north", curator, keys["north"])

    def test_another_table_of_the_same_party_is_refused(self, started, keys):
        first = next(name for name in NAMES if started.turns_of(name))
        relay = started.take_turns(first, table_of(first), keys[first], 1)
        while not relay.turns_of(first):
            name = relay.next_names[0]
            relay = relay.take_turns(name, table_of(name), keys[name])
        other = table_of("east")
        with pytest.raises(ParameterError, match="charged to another account"):
            relay.take_turns(first, other, keys[first])
        assert other.left == 10

    def test_the_table_of_another_party_is_refused_before_it_pays(self, started, keys):
        curator = table_of("north")
        relay = started.take_turns("north", curator, keys["north"])
        left = curator.left
        with pytest.raises(ParameterError, match="'north' took turns with this very table"):
            relay.take_turns("south", curator, keys["south"])
        assert curator.left == left


class TestFile:
    def test_it_reads_back(self, done, tmp_path):
        done.write(tmp_path / "relay.json")
        again = RelayFile.read(tmp_path / "relay.json")
        assert again.to_bytes() == done.to_bytes()
        assert again.digest == done.digest
        assert again.finish().privacy.promised.epsilon == 1

    def test_no_row_and_no_secret_is_in_it(self, done, keys):
        text = done.to_bytes().decode()
        for key in keys.values():
            assert key._private.private_bytes_raw().hex() not in text

    @pytest.mark.parametrize(
        ("forge", "problem"),
        [
            (lambda d: d["entries"][3].update(name="south"), "signed by its key"),
            (lambda d: d["entries"][3]["turns"][0].__setitem__(1, "1/1000"), "signed by its key"),
            (lambda d: d["entries"][3]["turns"][0].__setitem__(1, "5"), "more than it said"),
            (lambda d: d["entries"][3]["turns"][0].__setitem__(0, "look"), "one of classes"),
            (lambda d: d["entries"][3].update(signature="00" * 64), "signed by its key"),
            (lambda d: d["entries"][3].update(signature=7), "signed by its key"),
            (lambda d: d["entries"][3].update(name="nobody"), "no party 'nobody'"),
            (lambda d: d["entries"][3].update(more=1), "other parts"),
            (lambda d: d["entries"][0]["card"].update(rows=1), "not signed by its key"),
            (lambda d: d["entries"][0]["card"].update(rows=-1), "rows must be"),
            (lambda d: d["entries"][0]["card"].update(epsilon="1e9"), "card is wrong"),
            (lambda d: d["entries"][0].update(kind="ask"), "one of join, leave, visit"),
            (lambda d: d["entries"].pop(3), "signed by its key"),
            (lambda d: d["entries"].insert(4, d["entries"][3]), "signed by its key|more than"),
            (lambda d: d["entries"][3].update(name=["north"]), "its name a text"),
            (lambda d: d["entries"][3].update(model=None), "no model"),
            (lambda d: d["entries"][3].update(turns=5), "must be a list"),
            (
                lambda d: d["entries"][0]["card"].update(
                    signature=d["entries"][0]["card"]["signature"].upper()
                ),
                "not signed by its key",
            ),
            (lambda d: d["entries"][0]["card"].update(nonce="A" * 32), "nonce must be"),
            (lambda d: d["schema"].update(n_rows=5), "rows of a party"),
            (lambda d: d["schema"].update(rows_per_person=10), "rows of a party"),
            (lambda d: d["schema"].update(neighbours="replace"), "not signed by its key"),
            (lambda d: d["entries"].insert(1, d["entries"][0]), "takes part already"),
            (
                lambda d: d["entries"].insert(3, {"kind": "leave", "name": "north"}),
                "had left|signed",
            ),
            (lambda d: d.update(people="may-overlap"), "signed by its key"),
            (lambda d: d.update(people="all"), "people"),
            (lambda d: d.update(entries={}), "entries must be a list"),
            (lambda d: d.update(extra=1), "exactly"),
        ],
    )
    def test_what_was_changed_is_refused(self, done, forge, problem):
        data = document(done)
        forge(data)
        with pytest.raises(Damaged, match=problem):
            RelayFile.from_bytes(seal(data))

    def test_trees_that_were_changed_are_refused(self, done):
        data = document(done)
        counts = data["entries"][3]["model"]["trees"][0]["counts"]
        counts[-1] = [1000 * number + 1 for number in counts[-1]]
        with pytest.raises(Damaged):
            RelayFile.from_bytes(seal(data))

    def test_a_card_for_another_schema_is_refused(self, cards, tmp_path):
        cards["north"].write(SCHEMA, tmp_path / "card.json")
        other = replace(SCHEMA, classes=["no", "maybe"])
        with pytest.raises(ModelError, match="another schema"):
            Card.read(other, tmp_path / "card.json")
        assert Card.read(SCHEMA, tmp_path / "card.json") == cards["north"]


class TestLiars:
    """A party signs something that is not what it did. Nobody pays for a turn after that."""

    def sign(self, begun, started, keys, change):
        first, relay = begun
        lie = started._sign(change(relay.visits[-1]), keys[first])
        with pytest.raises(Damaged) as refused:
            RelayFile.from_bytes(lie.to_bytes())
        return str(refused.value)

    @pytest.mark.parametrize(
        ("facts", "problem"),
        [
            ({"charges": ()}, "paid something else"),
            ({"charges": (Charge("all", Cost(None, F(1, 2))),)}, "paid something else"),
            ({"charges": (Charge("all", Cost.pure(5)),)}, "paid something else"),
            ({"neighbours": "replace"}, "another change of a row"),
            ({"id": ""}, "statement of something else"),
            ({"name": "south\x1b[2J"}, "statement of something else"),
        ],
    )
    def test_about_what_it_paid(self, begun, started, keys, facts, problem):
        def lie(visit):
            statement = replace(visit.added.privacy, **facts)
            return replace(visit, added=replace(visit.added, privacy=statement))

        assert problem in self.sign(begun, started, keys, lie)

    def test_by_further_trees(self, begun, started, keys):
        def add(visit):
            trees = (*visit.added.trees, *visit.added.trees)
            return replace(visit, added=replace(visit.added, trees=trees))

        assert "one tree for each turn" in self.sign(begun, started, keys, add)

    def test_by_no_turns(self, begun, started, keys):
        def none(visit):
            return replace(visit, turns=())

        assert "one tree for each turn" in self.sign(begun, started, keys, none)

    def test_by_turns_of_other_kinds(self, begun, started, keys):
        def rename(visit):
            turn = visit.turns[-1]._replace(kind="term", attribute="form")
            return replace(visit, turns=(*visit.turns[:-1], turn))

        assert "one tree for each turn" in self.sign(begun, started, keys, rename)

    def test_by_looking_at_classes_twice(self, begun, started, keys):
        def look(visit):
            half = visit.turns[-1].amount / 2
            turns = (visit.turns[-1]._replace(amount=half), Turn("classes", 0, half))
            return replace(visit, turns=(*visit.turns[:-1], *turns))

        assert "only the first turn" in self.sign(begun, started, keys, look)

    def test_by_the_account_of_another(self, begun, keys):
        first, relay = begun
        while relay.next_names == [first]:
            relay = relay.take_turns(first, table_of(first), keys[first], 1)
        other = next(name for name in relay.next_names if name != first)
        visit = relay.take_turns(other, table_of(other), keys[other], 1).visits[-1]
        account = relay.visits[0].added.privacy.account
        statement = replace(visit.added.privacy, account=account)
        lie = replace(visit, added=replace(visit.added, privacy=statement))
        with pytest.raises(Damaged, match="do not go together"):
            RelayFile.from_bytes(relay._sign(lie, keys[other]).to_bytes())

    @pytest.mark.parametrize(
        "more", [{"settings": {"why": "x" * 1000}}, {"learner": "forest"}, {"costs": np.eye(2)}]
    )
    def test_by_something_that_no_turn_adds(self, begun, started, keys, more):
        def add(visit):
            return replace(visit, added=replace(visit.added, **more))

        assert "something else than its trees" in self.sign(begun, started, keys, add)

    def test_by_words_that_a_terminal_obeys(self, begun, started, keys):
        first, relay = begun
        visit = relay.visits[-1]
        statement = replace(visit.added.privacy, private=False, reason="\x1b[2J\x07none")
        lie = replace(visit, added=replace(visit.added, privacy=statement))
        relay = RelayFile.from_bytes(started._sign(lie, keys[first]).to_bytes())
        assert relay.not_private == {first: "\x1b[2J\x07none"}
        assert relay.finish(early=True).privacy.describe() == r"NOT PRIVATE: \x1b[2J\x07none"

    def test_by_more_parties_than_anybody_could_wait_for(self, started, cards, monkeypatch):
        monkeypatch.setattr("privet.federation.relay.MAX_PARTIES", 3)
        with pytest.raises(ParameterError, match="at most 3 parties"):
            started.join(cards["east"])


class TestRefusals:
    """Nothing is charged for any of these."""

    def refused(self, relay, name, key, match, curator=None, error=ParameterError):
        curator = table_of("north") if curator is None else curator
        with pytest.raises(error, match=match):
            relay.take_turns(name, curator, key)
        assert curator.left in (10, 100)  # all of it

    def test_an_unknown_party(self, started, keys):
        self.refused(started, "east", keys["east"], "no party 'east'")

    def test_the_key_of_another(self, started, keys):
        self.refused(started, "north", keys["south"], "not the key that 'north' joined with")

    def test_turns_that_were_taken(self, done, keys):
        self.refused(done, "north", keys["north"], "all turns are taken")

    def test_a_party_that_left(self, started, keys):
        self.refused(started.leave("north"), "north", keys["north"], "has left this relay")
        with pytest.raises(ParameterError, match="has left already"):
            started.leave("north").leave("north")

    def test_a_card_that_was_changed(self, cards):
        with pytest.raises(ParameterError, match="not signed"):
            RelayFile.start(SCHEMA, [replace(cards["north"], rows=1), cards["south"]], "disjoint")

    def test_a_table_of_another_schema(self, started, keys):
        other = replace(SCHEMA, classes=["no", "maybe"])
        table = rows(100).replace({"advice": {"yes": "maybe"}})
        curator = curator_of(table, other)
        self.refused(started, "north", keys["north"], "another schema", curator, QuestionError)

    def test_a_party_twice(self, started, cards):
        with pytest.raises(ParameterError, match="takes part already"):
            started.join(cards["north"])

    def test_one_party(self, cards):
        with pytest.raises(ParameterError, match="two parties or more"):
            RelayFile.start(SCHEMA, [cards["north"]], "disjoint")

    def test_people_must_be_said(self, cards):
        with pytest.raises(ParameterError, match="people"):
            RelayFile.start(SCHEMA, list(cards.values()), "same")  # type: ignore[arg-type]

    @pytest.mark.parametrize("name", ["", "a" * 101, "new\nline"])
    def test_names_that_no_file_could_show(self, keys, name):
        with pytest.raises(ParameterError, match="name must be"):
            Card.sign(SCHEMA, name, 10, 1, keys["north"])


class TestKeys:
    def test_a_key_file_is_for_its_owner(self, tmp_path):
        path, key = tmp_path / "a.key", SigningKey.new()
        key.write(path)
        assert path.stat().st_mode & 0o77 == 0
        signature = SigningKey.read(path).sign(b"said")
        assert verify(key.public, signature, b"said")
        assert not verify(key.public, signature, b"said otherwise")
        with pytest.raises(ModelError, match="there already"):
            SigningKey.new().write(path)

    @pytest.mark.parametrize("text", ["", "no key", "-----BEGIN PRIVATE KEY-----\n"])
    def test_what_is_no_key(self, tmp_path, text):
        (tmp_path / "a.key").write_text(text)
        with pytest.raises(ModelError, match="no key in PEM"):
            SigningKey.read(tmp_path / "a.key")
        with pytest.raises(ModelError, match="cannot be read"):
            SigningKey.read(tmp_path / "b.key")

    @pytest.mark.parametrize(
        ("key", "password", "problem"),
        [
            (Ed25519PrivateKey.generate(), b"secret", "has a passphrase"),
            (ec.generate_private_key(ec.SECP256R1()), b"", "no Ed25519 key; privet relay card"),
        ],
    )
    def test_keys_of_other_kinds(self, tmp_path, key, password, problem):
        protection = BestAvailableEncryption(password) if password else NoEncryption()
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, protection)
        (tmp_path / "a.key").write_bytes(pem)
        with pytest.raises(ModelError, match=problem):
            SigningKey.read(tmp_path / "a.key")

    def test_a_key_on_a_curve_that_nobody_knows(self, tmp_path):
        # secp224k1, which the library refuses with an error of its own kind
        (tmp_path / "a.key").write_text(UNKNOWN_CURVE)
        with pytest.raises(ModelError, match="no key in PEM; privet relay card"):
            SigningKey.read(tmp_path / "a.key")

    @pytest.mark.parametrize("public", ["", "00", "zz", "00" * 32])
    def test_what_is_no_public_key_signs_nothing(self, public):
        assert not verify(public, "00" * 64, b"said")


def test_the_ledger_is_charged_what_the_file_says(started, keys):
    curator = table_of("north")
    relay = started.take_turns("north", curator, keys["north"], 1)
    (visit,) = relay.visits
    assert 10 - curator.left == sum((turn.amount for turn in visit.turns), F(0))
    assert visit.added.privacy.charged.epsilon == 10 - curator.left
