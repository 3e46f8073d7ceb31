"""The experiments from end to end: real processes over loopback, and what is left of them."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import experiments
import privet
from experiments.papers.anatomy.experiments import EXPERIMENTS, Experiment
from experiments.papers.anatomy.fold import CLIENTS
from experiments.papers.anatomy.pictures import PICTURES
from experiments.papers.anatomy.processes import Client, Server
from experiments.papers.anatomy.run import RESULTS, SUMMARY, run
from privet.errors import DatasetError, OutsourceError, ParameterError

PATIENCE = 300
VOTES = [EXPERIMENTS[2]]
#: A table that needs no file.
CARS = Experiment(1, "car", "safety", "multiway", 1728, 0, sample=200)


def lines(folder: Path) -> list[dict[str, str]]:
    with (folder / RESULTS).open(newline="") as file:
        return list(csv.DictReader(file))


def command(*arguments: object, temporary: Path) -> subprocess.Popen[str]:
    """``python -m experiments.papers anatomy`` as a process, whose temporary files are in a folder
    that the test sees.
    """
    paths = os.pathsep.join(
        str(Path(package.__file__).parents[1]) for package in (privet, experiments)
    )
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(temporary), "NO_COLOR": "1"}
    asked = [sys.executable, "-m", "experiments.papers", "anatomy", *map(str, arguments)]
    return subprocess.Popen(
        asked,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def wait_for(what, why: str) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, why
        time.sleep(0.05)


def alive(session: int) -> list[str]:
    """The processes that a command started and that still run."""
    listed = subprocess.run(
        ["ps", "-o", "stat=,args=", "-s", str(session)], capture_output=True, text=True, check=False
    ).stdout
    return [line for line in listed.splitlines() if not line.startswith("Z")]


def check(found: list[dict], train: int, test: int) -> None:
    """What must hold for the lines of one fold, however long things took."""
    cdbsl, cdtl, chosen, cnl = found
    assert {(line["train_rows"], line["test_rows"]) for line in found} == {(train, test)}
    # one prediction per exchange
    assert all(line["requests"] >= test for line in (cdtl, chosen, cnl))
    assert cdtl["opened"] >= test
    # every row, and the whole tree for every prediction
    assert (cnl["sealed"], cnl["opened"]) == (1, train + test)
    assert cdtl["sealed"] == cdtl["refined"] <= cdtl["leaves"]
    assert cdbsl["sealed"] == cdbsl["opened"] == cdbsl["rows_held"] == 0
    # one leaf, where no split of these groups tells anything
    assert cdbsl["largest_leaf"] == cdtl["largest_leaf"] <= train
    assert cnl["rows_held"] >= 2 * train  # each row came with all values of its group
    # A leaf of all rows, where the groups that were drawn make one, needs them all to be refined.
    assert 0 < cdtl["rows_held"] <= cnl["rows_held"]
    assert cdtl["rows_held"] < cnl["rows_held"] or cdtl["largest_leaf"] == train
    assert cdtl["peak_bytes"] > 0


@pytest.mark.slow
def test_one_fold_with_real_processes(tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    told: list[tuple[float, float, str]] = []
    found = run([CARS], 1, tmp_path / "out", lambda *one: told.append(one))
    check(found, 180, 20)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        RESULTS,
        SUMMARY,
        "folds",
        *PICTURES,
    }
    assert [float(line["accuracy"]) for line in lines(tmp_path / "out")] == pytest.approx(
        [line["accuracy"] for line in found], rel=1e-5
    )
    assert len(told) == 1 + len(CLIENTS)
    assert told[-1][0] == pytest.approx(told[-1][1])
    assert not list((tmp_path / "temporary").iterdir())

    # What was done is not done again.
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    monkeypatch.setattr("experiments.papers.anatomy.run.run_fold", None)  # it would fail
    assert run([CARS], 1, tmp_path / "out") == found
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == written


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_votes_on_one_fold(tmp_path):
    found = run([EXPERIMENTS[2]], 1, tmp_path)
    check(found, 338, 38)
    assert all(0.7 < line["accuracy"] <= 1 for line in found)


@pytest.mark.usefixtures("real_data")
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_that_was_ended_leaves_nothing_running_and_goes_on(tmp_path, how):
    output, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    first, second = (output / "folds" / f"experiment-2-fold-0{number}.json" for number in (1, 2))
    ended = command("-e", 2, "--folds", 2, "-o", output, temporary=temporary)
    wait_for(
        lambda: (first.exists() and any(temporary.rglob("serve.log"))) or ended.poll() is not None,
        "no fold was done",
    )
    assert ended.poll() is None, ended.communicate()
    os.kill(ended.pid, how)
    ended.communicate(timeout=PATIENCE)
    assert ended.returncode != 0
    wait_for(lambda: not alive(ended.pid), f"still running: {alive(ended.pid)}")
    assert not list(temporary.iterdir())
    assert not second.exists()
    done, dealt = first.read_bytes(), (output / "folds" / "experiment-2.json").read_bytes()
    again = command("-e", 2, "--folds", 2, "-o", output, temporary=temporary)
    said, complaint = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, complaint
    assert "This is anatomization, not differential privacy." in said
    assert (first.read_bytes(), (output / "folds" / "experiment-2.json").read_bytes()) == (
        done,
        dealt,
    )
    assert [(line["fold"], line["learner"]) for line in lines(output)][::4] == [
        ("1", "cdbsl"),
        ("2", "cdbsl"),
    ]
    assert not list(temporary.iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_a_run_that_was_killed_in_its_first_fold_leaves_nothing_running(tmp_path):
    output, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    killed = command("-e", 2, "--folds", 1, "-o", output, temporary=temporary)
    wait_for(
        lambda: any(temporary.rglob("serve.log")) or killed.poll() is not None, "nothing was served"
    )
    killed.kill()
    assert killed.communicate(timeout=PATIENCE)[1] == ""
    wait_for(lambda: not alive(killed.pid), f"still running: {alive(killed.pid)}")
    assert not list(temporary.iterdir())
    assert not list(output.rglob("*fold-*"))


@pytest.mark.slow
@pytest.mark.usefixtures("real_data")
def test_the_quick_run(tmp_path):
    (tmp_path / "temporary").mkdir()
    done = command("--quick", "-o", tmp_path / "out", temporary=tmp_path / "temporary")
    _, complaint = done.communicate(timeout=4 * PATIENCE)
    assert done.returncode == 0, complaint
    found = lines(tmp_path / "out")
    assert len(found) == 3 * 2 * 4
    assert {(line["experiment"], line["sample"]) for line in found} == {
        ("2", ""),
        ("3", ""),
        ("4", "1500"),
    }
    for path in (tmp_path / "out").rglob("*"):
        assert path.is_dir() or str(tmp_path) not in path.read_text()
    refused = command(
        "-e", 4, "--folds", 1, "-o", tmp_path / "out", temporary=tmp_path / "temporary"
    )
    assert "is of another run" in refused.communicate(timeout=PATIENCE)[1]
    assert refused.returncode == 2


@pytest.mark.parametrize("folds", [0, 11, True, 1.5, "2", {2: 0}, {2: 11}])
def test_folds_that_there_are_not(tmp_path, folds):
    with pytest.raises(ParameterError, match="folds must be an integer from 1 to 10"):
        run(VOTES, folds, tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="cannot make the folder"):
        run(VOTES, 1, tmp_path / "file" / "out")


@pytest.mark.usefixtures("real_data")
def test_results_of_another_version(tmp_path):
    (tmp_path / "folds").mkdir()
    (tmp_path / "folds" / "experiment-2-fold-01.json").write_text('[{"experiment": 2}]')
    with pytest.raises(ParameterError, match="another version of this command"):
        run(VOTES, 1, tmp_path)


def test_a_table_that_is_missing_is_told_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PRIVET_DATA_URL", "http://127.0.0.1:1")
    monkeypatch.setattr("experiments.papers.anatomy.run.run_fold", None)
    with pytest.raises(DatasetError, match="votes"):
        run(VOTES, 1, tmp_path / "out")


def test_a_server_that_does_not_start(tmp_path):
    with (
        pytest.raises(OutsourceError, match=r"the server did not start: .*is no home of a server"),
        Server(tmp_path / "home", tmp_path),
    ):
        pass


def test_a_client_that_fails_says_why(tmp_path):
    with Client() as client:
        client.ready()
        with pytest.raises(
            OutsourceError, match=r"the client of cdtl failed: cannot read the key file"
        ):
            client.ask({"learner": "cdtl", "key": str(tmp_path / "key")})
