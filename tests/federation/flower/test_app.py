"""The app for real: SuperLink, SuperNodes and app processes on loopback. In-process rounds are in
test_rounds.py.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import privet as pv
from examples.flower.processes import Flower
from privet.accounting.ledger import SQLiteLedger

ROOT = Path(__file__).parents[3]


def wait_for(log, words: str, times: int, timeout: float = 240.0) -> None:
    until = time.monotonic() + timeout
    while log().count(words) < times:
        assert time.monotonic() < until, f"{words!r} was not seen {times} times:\n{log()}"
        time.sleep(0.05)


def charges(federation, node: int) -> int:
    path = federation.ledger(node)
    return len(SQLiteLedger(path).entries()) if path.exists() else 0


def of_this_run(folder: Path) -> list[int]:
    """Processes whose environment names the folder: everything that Flower started there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if f"FLWR_HOME={folder}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def kill_when_asked_for_its_vector(flower: Flower, name: str) -> None:
    """The third message comes after those of the two stages that share keys."""
    wait_for(lambda: flower.log(name), "Receiving: train message", 3)
    flower.end(name, signal.SIGKILL)


@pytest.mark.slow
def test_a_party_is_killed_while_it_counts_and_a_run_with_too_few_writes_nothing(federation):
    with Flower(federation.home) as flower:
        for node in (11, 22):
            flower.join(str(node), federation.nodes[node])
        refused = flower.run({**federation.run, "timeout": 5.0})
        assert not refused.completed
        assert "3 are expected, 2 are there" in refused.log
        assert not federation.output.exists()
        assert [charges(federation, node) for node in federation.nodes] == [0, 0, 0]

        flower.join("33", federation.nodes[33])
        killer = threading.Thread(target=kill_when_asked_for_its_vector, args=(flower, "33"))
        killer.start()
        ended = flower.run({**federation.run, "timeout": 60.0})
        killer.join()
        assert ended.completed, ended.log

        dear = flower.run(
            {
                **federation.run,
                "parties": 2,
                "epsilon": "2.5",
                "output": str(federation.home / "dear.json"),
                "timeout": 60.0,
            }
        )
        assert not dear.completed
        assert "nothing was unmasked and no model is written" in dear.log
        assert "epsilon must be at most 2 for this party, the server asks for 5/2" in flower.log(
            "11"
        ), "its owner reads why"
        assert "at most 2 for this party" not in flower.log("superlink") + dear.log, (
            "and the server does not"
        )
    assert not (federation.home / "dear.json").exists()
    assert [charges(federation, node) for node in federation.nodes] == [1, 1, 0]
    model = pv.load(federation.output)
    assert model.privacy_.notes[0].startswith("The counts of 2 of 3 parties")
    assert model.privacy_.epsilon == 2
    assert of_this_run(federation.home) == []


@pytest.mark.slow
def test_the_example(tmp_path):
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error",
            ROOT / "examples/flower/run.py",
            "--keep",
            tmp_path / "kept",
            "--epsilon",
            "1",
        ],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {
        name: (float(accuracy), float(noise))
        for name, accuracy, noise in re.findall(
            r"^(\w[^:\n]*?)  +(0\.\d+) +([\d.]+)$", done.stdout, re.M
        )
    }
    assert set(found) == {
        "random trees, pooled rows",
        "random trees, secure sum",
        "random trees, merged",
        "random trees, one party",
    }
    pooled, secure, merged = (
        found[name]
        for name in (
            "random trees, pooled rows",
            "random trees, secure sum",
            "random trees, merged",
        )
    )
    assert secure[1] == pytest.approx(pooled[1] * 1.5**0.5, rel=0.02), (
        "that of one curator for any two of the three"
    )
    assert secure[1] < merged[1]
    assert abs(secure[0] - pooled[0]) < 0.06
    assert secure[0] > 0.8
    # Beside random trees stands what a party would use if it stayed alone.
    assert re.search(r"^default, one party alone +0\.\d+$", done.stdout, re.M)
    assert "honest but curious" in done.stdout
    assert of_this_run(tmp_path / "kept") == []
    batch = pv.load(tmp_path / "kept/model.json").model_.evidence.batches[0]
    assert batch.n_rows == pytest.approx(0.8 * 12_960, rel=0.1)
    assert all(table.dtype == np.int64 for table in batch.tables)


@pytest.mark.slow
def test_ctrl_c_leaves_nothing_behind(tmp_path):
    running = subprocess.Popen(
        [sys.executable, ROOT / "examples/flower/run.py", "--keep", tmp_path / "kept"],
        stdout=subprocess.DEVNULL,
    )
    log = tmp_path / "kept/flower/party0.log"
    wait_for(lambda: log.read_text() if log.exists() else "", "SuperNode ID", 1)
    assert len(of_this_run(tmp_path / "kept")) >= 4
    running.send_signal(signal.SIGINT)
    assert running.wait(60) == 130
    assert of_this_run(tmp_path / "kept") == []
