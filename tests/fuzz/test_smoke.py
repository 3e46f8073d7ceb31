"""A slice of every target, and the machinery itself: it must be able to find something."""

from __future__ import annotations

import json
from random import Random

import pytest

from privet.errors import ParameterError
from tests.fuzz.fuzzing import Crash, attempt, fuzz, scratch
from tests.fuzz.mutate import mutated_bytes, mutated_json, mutated_lines
from tests.fuzz.target import Target, sealed, unsealed
from tests.fuzz.targets import NAMES, target_called


@pytest.mark.parametrize("name", NAMES)
def test_every_input_is_taken_or_refused(name):
    with scratch() as folder:
        target = target_called(name)(folder)
        try:
            result = fuzz(target, target.smoke, seed=20)
        finally:
            target.close()
    told = [
        f"{crash.where}: {crash.data[:500]!r}\n{crash.told}" for crash in result.crashes.values()
    ]
    assert not told, "\n".join(told)
    assert result.taken + result.refused == target.smoke
    assert result.messages


class _Fragile(Target):
    """Refuses what is no JSON, and breaks in three ways."""

    name = "fragile"

    def corpus(self) -> list[bytes]:
        return [b'{"a":1,"b":[2,3],"c":"text"}']

    def run(self, data: bytes) -> None:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            raise ParameterError("no JSON") from None
        if not isinstance(value, dict):
            raise ParameterError("\ud800" if value == "unprintable" else "no object")
        if isinstance(value.get("b"), str):
            raise TypeError("b must not be text")
        if value.get("a") == "left":
            (self.out / "half.part").write_bytes(b"")


@pytest.fixture
def fragile(tmp_path) -> _Fragile:
    return _Fragile(tmp_path)


def test_a_crash_is_found_counted_and_made_small(fragile):
    result = fuzz(fragile, 600, seed=1)
    (crash,) = (crash for where, crash in result.crashes.items() if where.startswith("TypeError"))
    assert crash.times > 1
    assert crash.where == "TypeError at test_smoke.py:run"
    assert set(json.loads(crash.data)) == {"b"}
    assert result.taken > 0
    assert result.messages
    assert result.taken + result.refused + sum(one.times for one in result.crashes.values()) == 600


def test_the_same_seed_makes_the_same_inputs(fragile):
    assert fuzz(fragile, 200, seed=3).messages == fuzz(fragile, 200, seed=3).messages


def test_files_left_behind_and_messages_that_cannot_be_printed_are_crashes(fragile):
    left = attempt(fragile, b'{"a": "left"}')
    assert isinstance(left, Crash)
    assert left.where == "files left behind"
    assert isinstance(attempt(fragile, b'"unprintable"'), Crash)
    assert attempt(fragile, b"{}") == "taken"
    assert attempt(fragile, b"[]") == "ParameterError: no object"


@pytest.mark.parametrize("mutate", [mutated_bytes, mutated_json, mutated_lines])
def test_changes_come_from_the_generator_alone(mutate):
    data = [b'{"a":[1,2,{"b":"c"}],"d":null}', b"a,b\n1,2\n"]
    made = [[mutate(rng, data[0], data) for _ in range(200)] for rng in (Random(5), Random(5))]
    assert made[0] == made[1]
    assert len(set(made[0])) > 100


def test_a_seal_fits_whatever_is_sealed():
    assert unsealed(sealed(b'{"a":1}')) == b'{"a":1}'
    assert sealed(sealed(b'{"a":1}')) == sealed(b'{"a":1}')
