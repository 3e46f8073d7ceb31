"""``fit``, ``count`` and ``evaluate`` through a curator at an address."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import privet
from privet.accounting.cost import Budget
from tests.client.running import running

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    car = privet.datasets.load("car")
    car.table.to_csv(folder / "car.csv", index=False)
    car.schema.write(folder / "car.schema.json")
    with running(folder) as service:
        service.add("car", folder / "car.csv", car.schema, Budget(100))
        service.schema_file = folder / "car.schema.json"
        yield service


@pytest.fixture(autouse=True)
def token(service, monkeypatch):
    monkeypatch.setenv("PRIVET_TOKEN", service.token)


def test_a_model_is_trained_and_evaluated(privet: Run, service):
    spent = service.state.ledger.spent("car", "ada").epsilon
    ran = privet(
        "fit",
        service.url,
        "--dataset",
        "car",
        "--epsilon",
        "1",
        "--learner",
        "greedy-tree",
        "-o",
        "m.json",
    )
    assert (ran.code, ran.err) == (0, "")
    assert "1-differentially private" in ran.out
    assert "left of your budget for 'car': epsilon " in ran.out
    assert service.state.ledger.spent("car", "ada").epsilon == spent + 1
    ran = privet("evaluate", "m.json", service.url, "--epsilon", "10", "--json")
    said = json.loads(ran.out)
    assert len(said["classes"]) == len(said["noisy_confusion"]) == 4
    assert 0.5 < said["accuracy"] < 1
    assert service.state.ledger.spent("car", "ada").epsilon == spent + 11
    assert (
        "Noisy confusion matrix" in privet("evaluate", "m.json", service.url, "--epsilon", "1").out
    )


def test_rows_are_counted(privet: Run, service):
    ran = privet("count", service.url, "--epsilon", "5", "--by", "safety", "--json")
    counts = json.loads(ran.out)["noisy_counts"]
    assert sum(sum(line.values()) for line in counts.values()) == pytest.approx(1728, abs=60)
    assert (
        "left of your budget"
        in privet("count", service.url, "--epsilon", "1", "--schema", service.schema_file).out
    )


def test_a_token_from_a_file(privet: Run, service, monkeypatch):
    monkeypatch.delenv("PRIVET_TOKEN")
    Path("token").write_text(service.token + "\n")
    assert privet("count", service.url, "--epsilon", "1", "--token-file", "token").code == 0
    for arguments, said in (
        ((), "set PRIVET_TOKEN"),
        (("--token-file", "absent"), "cannot read a token from absent"),
    ):
        ran = privet("count", service.url, "--epsilon", "1", *arguments)
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--budget", "1"), "are for a table"),
        (("--ledger", "book.sqlite"), "are for a table"),
        (("--analyst", "bob"), "are for a table"),
        (("--dataset", "planes"), "planes"),
        (("--epsilon", "1000"), "does not allow this"),
        (("--epsilon", "inf"), "epsilon"),
        (("--by", "colour"), "colour"),
        (("--schema", "other.json"), "other.json is not the schema of 'car'"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_what_is_refused_is_one_message_and_charges_nothing(
    privet: Run, service, arguments: tuple, said: str
):
    import privet as pv

    pv.datasets.load("nursery").schema.write("other.json")
    spent = service.state.ledger.spent("car")
    ran = privet("count", service.url, "--epsilon", "1/10", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("privet: ") == 1
    assert said in ran.err
    assert service.token not in ran.err
    assert service.state.ledger.spent("car") == spent


def test_options_of_a_curator_do_not_go_with_a_table(privet: Run):
    for arguments in (("--dataset", "car"), ("--token-file", "token")):
        ran = privet("count", "car.csv", "--epsilon", "1", *arguments)
        assert ran.code == 2
        assert "are for a curator at an address" in ran.err
    assert "--schema is needed" in privet("count", "car.csv", "--epsilon", "1").err


def test_plain_http_to_another_machine_is_refused(privet: Run):
    ran = privet("count", "http://curator.example", "--epsilon", "1")
    assert ran.code == 2
    assert "plain HTTP to curator.example" in ran.err


def test_a_question_without_an_answer_names_its_key(service, monkeypatch):
    """The key goes into the next command, which is not charged again."""
    from privet.cli.asking import ask_under_key, place_of
    from privet.client.curator import RemoteCurator
    from privet.errors import Unavailable
    from privet.queries import CountBy

    place = place_of(service.url, None, None, None, None, None, None)
    curator = place.curator("0.1")
    before = service.state.ledger.spent("car", "ada").epsilon
    asked = RemoteCurator.ask_once

    def lose_the_answer(self, *given, **more):
        asked(self, *given, **more)
        raise Unavailable("the curator cannot be reached")

    monkeypatch.setattr(RemoteCurator, "ask_once", lose_the_answer)
    with pytest.raises(Unavailable, match="--key") as lost:
        ask_under_key(place, curator, CountBy([], {}), "0.1", None)
    monkeypatch.setattr(RemoteCurator, "ask_once", asked)
    key = re.search(r"--key (\w+)", str(lost.value))[1]
    ask_under_key(place, curator, CountBy([], {}), "0.1", key)
    assert service.state.ledger.spent("car", "ada").epsilon == before + Fraction(1, 10)
