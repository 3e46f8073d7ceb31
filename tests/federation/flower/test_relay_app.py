"""Relays under Flower in one process: apps and messages are real, only the network is not. The last
test has real processes and TLS.
"""

from __future__ import annotations

import copy
import json
import logging
import signal
import threading
import time
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path

import pytest
from flwr.app import ConfigRecord, Message, RecordDict

import privet as pv
from examples.flower.processes import Flower
from privet.accounting.ledger import SQLiteLedger
from privet.errors import ParameterError, PrivacyError
from privet.federation.flower import relay_server
from privet.federation.flower.relay_client import app
from privet.federation.flower.relay_party import CARD, RECORD, TURN, RelayParty
from privet.federation.keys import SigningKey
from privet.federation.relay import RelayFile
from tests.federation.flower.loop import LoopGrid, a_context
from tests.federation.parties import SCHEMA, rows

RELAY_APP = Path(__file__).parents[3] / "examples/flower/relay_app"
NODES = {11: "north", 22: "south", 33: "west"}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Tables, keys and schema on a disk, and a server that does not pause."""
    monkeypatch.setattr(relay_server, "PAUSE", 0.001)
    SCHEMA.write(tmp_path / "schema.json")
    for place, name in enumerate((*NODES.values(), "east")):
        rows(400, 7 * place).to_csv(tmp_path / f"{name}.csv", index=False)
        SigningKey.new().write(tmp_path / f"{name}.key")
    return tmp_path


def node_config(home, name, **changes):
    return {
        "party": name,
        "table": str(home / f"{name}.csv"),
        "schema": str(home / "schema.json"),
        "rows": 400,
        "epsilon": "1",
        "key": str(home / f"{name}.key"),
        "ledger": str(home / f"{name}.ledger.sqlite"),
        "budget": "5",
    } | changes


class Nodes(LoopGrid):
    """Nodes of a relay, and what happens at some of their turns."""

    def __init__(self, home, names=NODES, **changes):
        configs = {node: node_config(home, name, **changes) for node, name in names.items()}
        contexts = {node: a_context(node, config) for node, config in configs.items()}
        super().__init__(dict.fromkeys(configs, app), contexts)
        self.turns, self.events = [], {}

    def _reply(self, message):
        node = message.metadata.dst_node_id
        if message.metadata.message_type == TURN:
            self.turns.append(node)
            event = self.events.pop(len(self.turns), None)
            if event is not None:
                return event(self, message)
        return super()._reply(message)

    def add(self, home, node, name, **changes):
        self.apps = {**self.apps, node: app}
        context = a_context(node, node_config(home, name, **changes))
        self.contexts = {**self.contexts, node: context}


def run(home, grid, **changes):
    settings = {
        "schema": str(home / "schema.json"),
        "output": str(home / "model.json"),
        "people": "disjoint",
        "parties": 3,
        "timeout": 30,
    }
    return relay_server.run(grid, a_context(run_config={**settings, **changes}))


def spent(home, name):
    path = home / f"{name}.ledger.sqlite"
    if not path.exists():
        return 0
    return sum((entry.cost.epsilon for entry in SQLiteLedger(path).entries()), F(0))


def accuracy(model):
    table = rows(600)
    return (pv.ReleasedClassifier(model).predict(table) == table["advice"]).mean()


def test_parties_take_turns_and_each_pays_once(home):
    grid = Nodes(home)
    model = run(home, grid)
    assert {part.name for part in model.privacy.parts} == set(NODES.values())
    assert model.privacy.promised.epsilon == 1
    assert {spent(home, name) for name in NODES.values()} == {1}
    assert len(set(grid.turns)) == 3
    assert pv.load(home / "model.json").model_.privacy.promised.epsilon == 1
    assert accuracy(model) > 0.8


def test_one_message_for_each_turn(home):
    grid = Nodes(home)
    run(home, grid)
    relay = RelayFile.read(home / "model.relay.json")
    assert len(grid.turns) == len(relay.visits)
    kinds = [message for message, _ in grid.seen]
    assert kinds.count(CARD) == 3
    assert kinds.count(TURN) == len(relay.visits)


def test_a_party_that_dies_comes_back_as_another_node_and_pays_once(home):
    """It has taken its turn and charged for it, and nobody got to know."""
    grid = Nodes(home)

    def die(grid, message):
        LoopGrid._reply(grid, message)
        node = message.metadata.dst_node_id
        grid.dead.add(node)
        grid.add(home, 99, NODES[node])

    grid.events[2] = die
    model = run(home, grid)
    assert 99 in grid.turns
    assert {part.name for part in model.privacy.parts} == set(NODES.values())
    assert {spent(home, name) for name in NODES.values()} == {1}


def test_a_party_that_stays_away_is_not_waited_for_longer_than_agreed(home, caplog):
    grid = Nodes(home)
    grid.events[1] = lambda grid, message: grid.dead.add(message.metadata.dst_node_id)
    with caplog.at_level(logging.WARNING):
        model = run(home, grid, timeout=1)
    gone = NODES[grid.turns[0]]
    assert f"{gone} takes no more turns" in caplog.text
    assert {part.name for part in model.privacy.parts} == set(NODES.values()) - {gone}
    assert spent(home, gone) == 0


def test_who_comes_late_takes_turns(home):
    grid = Nodes(home)

    def come(grid, message):
        grid.add(home, 44, "east")
        return LoopGrid._reply(grid, message)

    grid.events[1] = come
    model = run(home, grid)
    assert "east" in {part.name for part in model.privacy.parts}
    assert 0 < spent(home, "east") <= 1


def test_a_server_that_is_ended_goes_on(home):
    grid = Nodes(home)

    def end(grid, message):
        raise KeyboardInterrupt

    grid.events[3] = end
    with pytest.raises(KeyboardInterrupt):
        run(home, grid)
    assert not (home / "model.json").exists()
    kept = RelayFile.read(home / "model.relay.json")
    assert len(kept.visits) == 2
    again = Nodes(home)
    model = run(home, again)
    assert len(again.turns) == len(RelayFile.read(home / "model.relay.json").visits) - 2
    assert {part.name for part in model.privacy.parts} == set(NODES.values())
    assert {spent(home, name) for name in NODES.values()} == {1}


def test_a_kept_relay_of_other_people_is_refused(home):
    run(home, Nodes(home))
    with pytest.raises(ParameterError, match="another schema, or says something else about people"):
        run(home, Nodes(home), people="may-overlap")


def test_too_few_parties_pay_nothing(home):
    names = {11: "north", 22: "south"}
    with pytest.raises(ParameterError, match="3 parties are expected, and 2 have sent a card"):
        run(home, Nodes(home, names), timeout=1)
    assert not (home / "model.relay.json").exists()
    assert [spent(home, name) for name in names.values()] == [0, 0]


def forge(grid, message):
    """Change what came back, as a party without the key would."""
    reply = LoopGrid._reply(grid, message)
    content = json.loads(reply.content.config_records[RECORD]["content"])
    content["entries"][-1]["name"] = "west"
    forged = ConfigRecord({"content": json.dumps(content).encode()})
    return Message(RecordDict({RECORD: forged}), reply_to=message)


def lie(grid, message):
    """Sign a tree that outvotes all others, as a party with its key can."""
    node = message.metadata.dst_node_id
    relay = RelayFile.from_bytes(message.content.config_records[RECORD]["content"])
    reply = LoopGrid._reply(grid, message)
    taken = RelayFile.from_bytes(reply.content.config_records[RECORD]["content"])
    visit = taken.visits[-1]
    *others, tree = visit.added.trees
    loud = replace(tree, counts=1000 * tree.counts)
    forged = replace(visit, added=replace(visit.added, trees=(*others, loud)))
    key = SigningKey.read(grid.contexts[node].node_config["key"])
    content = relay._sign(forged, key).to_bytes()
    return Message(RecordDict({RECORD: ConfigRecord({"content": content})}), reply_to=message)


def nest(grid, message):
    """Send brackets that no parser follows to the end."""
    content = b"[" * 100_000
    return Message(RecordDict({RECORD: ConfigRecord({"content": content})}), reply_to=message)


def stand_still(grid, message):
    """Send the relay back as it came."""
    content = copy.deepcopy(message.content)
    return Message(content, reply_to=message)


@pytest.mark.parametrize("event", [forge, stand_still, lie, nest])
def test_a_party_that_sends_something_else_is_left_out(home, event, caplog):
    grid = Nodes(home)
    grid.events[1] = event
    with caplog.at_level(logging.WARNING):
        model = run(home, grid)
    liar = NODES[grid.turns[0]]
    assert f"what {liar} sent is refused" in caplog.text
    assert {part.name for part in model.privacy.parts} == set(NODES.values()) - {liar}


def test_a_card_that_is_nested_deeply_ends_no_run(home, caplog):
    grid = Nodes(home)
    grid.apps = {**grid.apps, 77: lambda message, _: nest(grid, message)}
    grid.contexts = {**grid.contexts, 77: grid.contexts[11]}
    with caplog.at_level(logging.WARNING):
        model = run(home, grid)
    assert "the card of node 77 is refused: it is nested too deeply" in caplog.text
    assert {part.name for part in model.privacy.parts} == set(NODES.values())


def test_a_node_with_anothers_name_or_key_takes_no_part(home, caplog):
    grid = Nodes(home)
    SigningKey.new().write(home / "other.key")
    grid.add(home, 55, "north", key=str(home / "other.key"))
    grid.add(home, 66, "stranger", key=str(home / "north.key"), table=str(home / "north.csv"))
    with caplog.at_level(logging.WARNING):
        model = run(home, grid)
    assert "takes part already, with another key" in caplog.text
    assert "is that of another party" in caplog.text
    assert {part.name for part in model.privacy.parts} == set(NODES.values())


class TestWhatAPartyAccepts:
    """A hostile server learns the kind of an error, and charges nothing."""

    @pytest.fixture
    def started(self, home):
        cards = [
            RelayParty.from_config(node_config(home, name)).sign_card(SCHEMA)
            for name in NODES.values()
        ]
        return RelayFile.start(SCHEMA, cards, "disjoint")

    def test_a_card_for_more_than_it_pays_now(self, home, started):
        now = RelayParty.from_config(node_config(home, "north", epsilon="1/2"))
        with pytest.raises(PrivacyError, match="may cost 1/2 in all, and the relay has an older"):
            now.take_turn(started)
        assert spent(home, "north") == 0

    def test_a_relay_of_another_schema(self, home, started):
        other = SCHEMA.declare(neighbours="replace")
        other.write(home / "other.json")
        party = RelayParty.from_config(node_config(home, "north", schema=str(home / "other.json")))
        with pytest.raises(pv.errors.QuestionError, match="another schema than this table"):
            party.take_turn(started)
        with pytest.raises(pv.errors.QuestionError, match="another schema than this table"):
            party.sign_card(SCHEMA)
        assert spent(home, "north") == 0

    def test_other_words_about_people_than_the_owner_agreed_to(self, home, started):
        party = RelayParty.from_config(node_config(home, "north", people="may-overlap"))
        with pytest.raises(PrivacyError, match="signs only that people are 'may-overlap'"):
            party.take_turn(started)
        assert spent(home, "north") == 0
        with pytest.raises(ParameterError, match="people"):
            RelayParty.from_config(node_config(home, "north", people="some"))

    def test_a_budget_that_is_spent(self, home, started):
        party = RelayParty.from_config(node_config(home, "north", budget="1/2"))
        with pytest.raises(pv.errors.BudgetExceeded):
            party.take_turn(started)
        assert spent(home, "north") == 0

    def test_a_misspelt_setting(self, home):
        with pytest.raises(ParameterError, match="no 'budjet'; there are party, table"):
            RelayParty.from_config(node_config(home, "north", budjet="1"))

    @pytest.mark.parametrize("kind", [CARD, TURN])
    @pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", "text", 5])
    def test_rubbish(self, home, kind, content):
        grid = Nodes(home)
        record = RecordDict({RECORD: ConfigRecord({"content": content})})
        (reply,) = grid.send_and_receive([Message(record, 11, kind)])
        told = reply.content.config_records[RECORD]
        assert set(told) == {"refused"}
        assert str(home) not in told["refused"].decode()
        assert spent(home, "north") == 0

    def test_the_owner_reads_what_is_wrong_with_a_relay(self, home, started, caplog):
        damaged = started.to_bytes().replace(b"north", b"n\x1b[2J")
        record = RecordDict({RECORD: ConfigRecord({"content": damaged})})
        with caplog.at_level(logging.WARNING):
            Nodes(home).send_and_receive([Message(record, 11, TURN)])
        assert "takes no part: it is damaged or cut off" in caplog.text
        assert "\x1b" not in caplog.text

    def test_a_long_story_is_cut(self, home, caplog):
        card = {"name": "n" * 5000, "rows": 1, "epsilon": "1"}
        card |= dict.fromkeys(("key", "nonce", "signature"), "")
        content = ConfigRecord({"content": json.dumps(card).encode()})
        grid = Nodes(home)
        grid.apps = {
            **grid.apps,
            77: lambda message, _: Message(RecordDict({RECORD: content}), reply_to=message),
        }
        grid.contexts = {**grid.contexts, 77: grid.contexts[11]}
        with caplog.at_level(logging.WARNING):
            run(home, grid)
        assert "the card of node 77 is refused" in caplog.text
        assert "n" * 300 not in caplog.text

    def test_why_stays_with_the_owner(self, home, started, caplog):
        grid = Nodes(home, epsilon="1/2")
        record = RecordDict({RECORD: ConfigRecord({"content": started.to_bytes()})})
        with caplog.at_level(logging.WARNING):
            (reply,) = grid.send_and_receive([Message(record, 11, TURN)])
        assert reply.content.config_records[RECORD]["refused"] == b"PrivacyError"
        assert "may cost 1/2 in all" in caplog.text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"people": "some"}, "people"),
        ({"parties": 1}, "parties"),
        ({"timeout": 0}, "timeout must be a number of seconds"),
        ({"timeout": True}, "timeout must be a number of seconds"),
        ({"output": ""}, "output"),
    ],
)
def test_settings_of_the_server_are_checked(home, changes, message):
    with pytest.raises(ParameterError, match=message):
        run(home, Nodes(home), **changes)


def test_a_schema_that_was_read_off_data_is_refused(home):
    replace(SCHEMA, from_data=True).write(home / "read.json")
    with pytest.raises(PrivacyError, match="read off the data"):
        run(home, Nodes(home), schema=str(home / "read.json"))


@pytest.mark.slow
def test_real_processes_with_tls_and_a_party_that_is_killed_and_replaced(home):
    with Flower(home, RELAY_APP, tls=True) as flower:
        for name in NODES.values():
            flower.join(name, node_config(home, name))

        killed = []

        def replace_party():
            """End a node in the middle of a turn; another one takes its place."""
            until = time.monotonic() + 240
            while "train.turn message" not in flower.log("west") and time.monotonic() < until:
                time.sleep(0.05)
            killed.append("train.turn message" in flower.log("west"))
            flower.end("west", signal.SIGKILL)
            flower.join("west", node_config(home, "west"))

        killer = threading.Thread(target=replace_party)
        killer.start()
        ended = flower.run(
            {
                "schema": str(home / "schema.json"),
                "output": str(home / "model.json"),
                "people": "disjoint",
                "parties": 3,
                "timeout": 200.0,
            },
            timeout=600,
        )
        killer.join()
        assert ended.completed, ended.log
        assert killed == [True], "it was asked for a turn"
    model = pv.load(home / "model.json").model_
    assert {part.name for part in model.privacy.parts} == set(NODES.values())
    assert {spent(home, name) for name in NODES.values()} == {1}
    assert accuracy(model) > 0.8
