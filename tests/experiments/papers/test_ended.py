"""A run that is ended leaves no process behind, and goes on when it is started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import privet
from tests.experiments.papers.test_run import PATIENCE, alive, wait_for

CODE = """
import sys
from pathlib import Path
from experiments.papers.whole import reproduce
from tests.experiments.papers.a_paper import paper
if __name__ == "__main__":
    reproduce([paper(Path(sys.argv[1]))], Path(sys.argv[2]), jobs=2)
"""


def started(script: Path, *arguments: object) -> subprocess.Popen[str]:
    root = Path(__file__).parents[3]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{Path(privet.__file__).parents[1]}{os.pathsep}{root}",
    }
    command = [sys.executable, str(script), *map(str, arguments)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    "how",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_was_ended_goes_on(tmp_path, how):
    script, log, output = tmp_path / "script.py", tmp_path / "log", tmp_path / "out"
    script.write_text(CODE)
    (tmp_path / "hold").write_text("")
    first = started(script, log, output)
    wait_for(
        lambda: len(list(output.glob("cells/*.json"))) >= 2 or first.poll() is not None,
        "no cell was done",
    )
    assert first.poll() is None, first.communicate()
    os.kill(first.pid, how)
    first.communicate(timeout=PATIENCE)
    assert first.returncode != 0
    wait_for(lambda: not alive(first.pid), f"still running: {alive(first.pid)}")
    kept = {path: path.read_bytes() for path in output.glob("cells/*.json")}
    assert len(kept) == 2
    assert not (output / "report.html").exists()
    (tmp_path / "hold").unlink()
    log.write_text("")
    again = started(script, log, output)
    said = again.communicate(timeout=PATIENCE)
    assert again.returncode == 0, said
    assert (output / "report.html").exists()
    assert len(log.read_text()) == 2
    assert {path: path.read_bytes() for path in kept} == kept
