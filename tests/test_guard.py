"""What tests start is ended and removed, also when the process that runs them is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.guard import Guard

ROOT = Path(__file__).parents[1]
PATIENCE = 60
SLEEPER = """
import signal, sys, time
signal.signal(signal.SIGQUIT, lambda *_: sys.exit(7))
print("up", flush=True)
time.sleep(600)
"""


def wait_until(true) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


@pytest.fixture
def sleeper():
    """A process in a group of its own, which would stay for ten minutes."""
    command = [sys.executable, "-S", "-c", SLEEPER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"up\n"
        yield process
        process.kill()


def test_closing_a_guard_removes_folders_and_kills_groups(tmp_path, sleeper):
    folder = tmp_path / "of a server"
    folder.mkdir()
    (folder / "file").write_text("x")
    guard = Guard()
    guard.remove(folder)
    guard.remove(tmp_path / "never made")
    guard.end_group(sleeper.pid)
    assert folder.exists()
    assert sleeper.poll() is None
    guard.close()
    assert not folder.exists()
    assert sleeper.wait(PATIENCE) == -signal.SIGKILL


def test_a_server_whose_data_are_removed_is_asked_to_end_at_once(tmp_path, sleeper):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "postmaster.pid").write_text(f"{sleeper.pid}\n{folder}\n")
    guard = Guard()
    guard.remove(folder)
    guard._process.stdin.close()
    assert sleeper.wait(PATIENCE) == 7
    guard._process.wait(PATIENCE)
    assert not folder.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.guard import guard
guard().remove(Path(sys.argv[1]))
guard().end_group(int(sys.argv[2]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_guard_cleans_up_after_a_process_that_was_killed(tmp_path, sleeper):
    folder = tmp_path / "data"
    folder.mkdir()
    command = [sys.executable, "-c", KILLED, str(folder), str(sleeper.pid)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert sleeper.wait(PATIENCE) == -signal.SIGKILL
    wait_until(lambda: not folder.exists())


FORKING = """
import os, signal, sys, time
from pathlib import Path
from tests import commands
commands._forks.set_forkserver_preload([])
if __name__ == "__main__":
    out = Path(sys.argv[1])
    process = commands.Forked("import time; print('up', flush=True); time.sleep(600)", [], out, out)
    while not (out.exists() and out.read_text()):
        time.sleep(0.01)
    print(process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_forked_command_ends_with_the_tests(tmp_path):
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, str(script), str(tmp_path / "out")]
    ran = subprocess.run(
        command, capture_output=True, text=True, env=environment, check=False, timeout=PATIENCE
    )
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    wait_until(lambda: not Path("/proc", ran.stdout.strip()).exists())


def test_temporary_files_are_those_of_the_tests(own_temporary_folder):
    """Also those of processes that are killed before they remove them."""
    code = "import tempfile; print(tempfile.mkdtemp())"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert Path(made.stdout.strip()).parent == own_temporary_folder
