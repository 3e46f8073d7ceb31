"""No file that a command writes, and nothing that it prints, has an exact count, a row, a seed or a
path of the machine in it.
"""

from __future__ import annotations

import getpass
import platform
import re
import socket
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer.main

from privet.cli import main
from privet.cli.options import NAMES
from privet.mechanisms.laplace import add_laplace
from privet.queries import release_kinds
from tests.cli.test_help import COMMANDS
from tests.released.canaries import (
    CLASSES,
    COUNTS,
    FOLDER,
    HOST,
    USER,
    Canaries,
    canaries,
    people,
    write,
)
from tests.released.chains import CHAINS, NO_RELEASE, OFFERED, SETTINGS
from tests.released.looking import found_in

RELEASES = ("first", "second")
LEAVES = [
    " ".join(path)
    for path, command in COMMANDS.items()
    if path and not hasattr(command, "commands")
]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    """A user, a host and a folder that would be recognised."""
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, USER)
    monkeypatch.setenv("HOSTNAME", HOST)
    monkeypatch.setattr(getpass, "getuser", lambda: USER)
    monkeypatch.setattr(socket, "gethostname", lambda: HOST)
    monkeypatch.setattr(platform, "node", lambda: HOST)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def run(monkeypatch, capsys):
    """Run ``privet`` in this process; the exit code and all that it printed."""
    # made once, not for each line
    monkeypatch.setattr(typer.main, "get_command", lambda _: COMMANDS[()])

    def command(words) -> tuple[int, bytes]:
        monkeypatch.setattr(sys, "argv", ["privet", *words])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        printed = capsys.readouterr()
        return int(left.value.code or 0), (printed.out + printed.err).encode()

    return command


def in_both(releases: list[bytes], looked_for: Canaries) -> set[str]:
    """What leaks: texts that are in one of them, and numbers that are in all."""
    found = [found_in(data, looked_for) for data in releases]
    words = {*looked_for.texts, "seed"}
    return {one for one in set.union(*found) if one in words} | set.intersection(*found)


@pytest.mark.parametrize("chain", CHAINS)
def test_nothing_that_is_released_has_a_canary(chain, run, tmp_path, monkeypatch):
    home = write(tmp_path)
    looked_for = canaries()
    printed: list[list[bytes]] = []
    for release in RELEASES:
        (tmp_path / release).mkdir()
        monkeypatch.chdir(tmp_path / release)
        said = []
        for line in CHAINS[chain]:
            code, told = run([word.format(home=home) for word in line])
            assert code == 0, (line, told.decode())
            said.append(told.replace(str(home).encode(), b""))  # who types a path sees it again
        printed.append(said)
    leaks = {
        f"the words of {' '.join(line)}": in_both(list(said), looked_for)
        for line, *said in zip(CHAINS[chain], *printed, strict=True)
    }
    names = {path.name for path in (tmp_path / RELEASES[0]).iterdir()}
    assert names == {path.name for path in (tmp_path / RELEASES[1]).iterdir()}
    for name in names:
        leaks[name] = in_both(
            [(tmp_path / release / name).read_bytes() for release in RELEASES], looked_for
        )
    assert not {what: found for what, found in leaks.items() if found}
    for ledger in home.glob("*.ledger.sqlite"):
        assert not found_in(ledger.read_bytes(), looked_for) - {FOLDER}, (
            "the ledger has more than charges and noisy answers"
        )


def test_counts_without_noise_are_seen(run, tmp_path, monkeypatch):
    """The test above can fail: a curator that forgot its noise is found out, in what it prints and
    in what it writes.
    """
    home = write(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        release_kinds,
        "add_laplace",
        lambda bits, counts, *cost, **more: (counts, *add_laplace(bits, counts, *cost, **more)[1:]),
    )
    _, told = run([word.format(home=home) for word in CHAINS["questions"][1]])
    assert {
        str(sum(number for (_, _, label), number in COUNTS.items() if label == one))
        for one in CLASSES
    } <= found_in(told, canaries())
    for learner in ("random-trees", "greedy-tree"):
        line = next(line for line in CHAINS["models"] if learner in line)
        code, told = run([word.format(home=home) for word in line])
        assert code == 0, told.decode()
        assert len(found_in(Path(f"{learner}.json").read_bytes(), canaries())) > 3


def test_refusals_tell_nothing(run, tmp_path, monkeypatch):
    """Errors name what was asked for, never what is in the table."""
    home = write(tmp_path)
    monkeypatch.chdir(tmp_path)
    table = (home / "people.parquet", "--schema", home / "people.schema.json")
    schema = (home / "people.schema.json").read_text()
    Path("absent.json").write_text(schema.replace('"colour"', '"height"'))
    people().head(50).to_csv("m.json")  # no model
    refused = [
        ("count", *table, "--epsilon", "1000"),
        ("count", *table, "--epsilon", "-1"),
        ("count", *table, "--epsilon", "1/20000", "--by", "nothing"),
        ("fit", *table, "--epsilon", "1", "-o", "no-such-folder/m.json"),
        (
            "fit",
            home / "people.parquet",
            "--schema",
            "absent.json",
            "--epsilon",
            "1",
            "-o",
            "m2.json",
        ),
        ("quantile", *table, "--attribute", "colour", "--epsilon", "1"),
        ("publish", "synthetic", *table, "--epsilon", "1", "-o", "s.xlsx"),
        ("evaluate", "m.json", *table, "--epsilon", "1"),
    ]
    for words in refused:
        code, told = run([str(word) for word in words])
        assert code == 2, (words, told.decode())
        assert b"privet: " in told or b"rror" in told
        assert found_in(told.replace(str(home).encode(), b""), canaries()) == set(), told.decode()
    assert not Path("m2.json").exists()


def test_every_command_is_looked_at_or_has_a_reason():
    """A new command that writes something must be run above, or be said to release nothing, and
    why.
    """
    run_here = {
        " ".join(line[:size]) for lines in CHAINS.values() for line in lines for size in (1, 2)
    }
    for command in LEAVES:
        reasoned = command in NO_RELEASE or command.split()[0] in NO_RELEASE
        assert (command in run_here) != reasoned, (
            f"{command}: add it to CHAINS or, with a reason, to NO_RELEASE"
        )
    groups = {command.split()[0] for command in LEAVES}
    assert all(command in LEAVES or command in groups for command in NO_RELEASE)


@pytest.mark.parametrize("room", OFFERED)
def test_everything_offered_to_programs_is_looked_at_or_has_a_reason(room):
    offered = {
        name: why for name, why in OFFERED[room].items() if why not in LEAVES or any(_runs(why))
    }
    assert set(import_module(f"privet.{room}").__all__) == set(offered), (
        "add it to OFFERED: which command makes use of it, or why nothing is released"
    )


def _runs(command):
    """The lines that run a command."""
    return [
        line
        for chain in CHAINS.values()
        for line in chain
        if " ".join(line).startswith(f"{command} ")
    ]


def test_every_kind_of_file_and_every_learner_is_looked_at():
    """All pictures are saved by one function, so that it is enough to have each kind of them
    once.
    """
    assert set(SETTINGS) == set(NAMES)
    pictures = {"svg", "png", "pdf"}
    everything = {
        Path(word).suffix[1:] for chain in CHAINS.values() for line in chain for word in line
    }
    assert pictures <= everything
    for command in LEAVES:
        lines = _runs(command)
        if not lines:
            continue
        helps = " ".join(
            option.help or ""
            for option in COMMANDS[tuple(command.split())].params
            if option.name in ("output", "plot")
        )
        promised = set(
            re.findall(r"\.(svg|png|pdf|md|html|txt|dot|onnx|parquet|csv|json)\b", helps)
        )
        written = {Path(word).suffix[1:] for line in lines for word in line}
        assert promised - pictures <= written, (
            f"{command}: no line of CHAINS writes {promised - written}"
        )
        assert not promised & pictures or written & pictures, f"{command}: no line of CHAINS draws"
