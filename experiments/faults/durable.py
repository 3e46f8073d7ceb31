"""Whether charges and files are flushed to the disk before anybody goes on: no simulation can cut
the power, but system calls tell.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from experiments.faults.tally import Tally

CALLS = "fsync,fdatasync,rename,renameat,renameat2,write,writev"

#: Charges, and says so after each.
CHARGES = """
import os, sys
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger
ledger = SQLiteLedger(sys.argv[1] + "/ledger.sqlite")
ledger.open_cap("people", Budget(1))
os.write(1, b"BEGIN")
for _ in range(int(sys.argv[2])):
    ledger.charge("people", "ada", Cost.pure("1/100000"), "x")
    os.write(1, b"ANSWER")
"""

#: Writes a file over and over, and says so after each.
FILES = """
import os, sys
from pathlib import Path
from privet._atomic import write_atomically
os.write(1, b"BEGIN")
for number in range(int(sys.argv[2])):
    write_atomically(Path(sys.argv[1], "m.json"), b"x" * number)
    os.write(1, b"ANSWER")
"""


def flushed(folder: Path, rounds: int) -> Tally:
    """Before each word that a process says there must be a flush of the log; for files: of the
    file, then its name, then of the folder.
    """
    tally = Tally("flushed before it is said (system calls)")
    for code, wanted in ((CHARGES, r"(?:.*,)?log(?:,.*)?"), (FILES, r"part,name,folder")):
        for calls in _calls(folder, code, rounds):
            tally.rounds += 1
            tally.answers += 1
            if not re.fullmatch(wanted, ",".join(calls)):
                tally.odd[f"said after {calls}"] += 1
    return tally


def can_trace() -> bool:
    """Whether there is strace, and it may be used."""
    probe = ["strace", "-o", "/dev/null", "true"]
    return (
        shutil.which("strace") is not None
        and subprocess.run(probe, capture_output=True, check=False).returncode == 0
    )


def _calls(folder: Path, code: str, rounds: int) -> list[list[str]]:
    """What was flushed or renamed before each word."""
    trace = folder / "trace"
    command = [
        "strace",
        "-f",
        "-y",
        "-e",
        f"trace={CALLS}",
        "-o",
        str(trace),
        sys.executable,
        "-c",
        code,
        str(folder),
        str(rounds),
    ]
    subprocess.run(command, check=True, capture_output=True)
    found: list[list[str]] = []
    calls: list[str] = []
    for line in trace.read_text(errors="replace").partition('"BEGIN"')[2].splitlines():
        if '"ANSWER"' in line:
            found.append(calls)
            calls = []
        elif "sync(" in line and "= 0" in line:
            calls.append(
                "log"
                if "-wal>" in line
                else "part"
                if ".part>" in line
                else "folder"
                if f"<{folder}>" in line
                else "file"
            )
        elif "rename" in line and "= 0" in line:
            calls.append("name")
    return found
