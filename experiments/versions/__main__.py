"""Install Privet beside old and new versions of what it needs, run its tests there, and write the
page of what passed: python -m experiments.versions --folder FOLDER -o docs/results/versions.md

Environments are made in the folder once, with uv, and used again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: What the library does with each dependency: frames, encoding, files, fits, intervals, commands.
TESTS = (
    "tests/curator/test_frames.py",
    "tests/domain/test_encode_entries.py",
    "tests/tables/test_held_out.py",
    "tests/learners/test_settings.py",
    "tests/cli/test_init.py",
)
PACKAGES = ("numpy", "pandas", "scikit-learn", "duckdb", "numba", "typer")


@dataclass(frozen=True)
class Environment:
    """A version of Python, and what is pinned in it."""

    name: str
    python: str
    pins: tuple[str, ...] = ("-c", str(ROOT / "constraints.txt"))


ENVIRONMENTS = (
    Environment(
        "oldest",
        "3.11",
        (
            *("pandas==2.2.*", "numpy==1.26.*", "scikit-learn==1.6.*", "duckdb==1.4.*"),
            *("numba==0.61.*", "typer==0.20.*"),
        ),
    ),
    Environment(
        "middle", "3.11", ("pandas==2.3.*", "numpy==2.1.*", "scikit-learn==1.6.*", "duckdb==1.4.*")
    ),
    Environment("newest", "3.11", ()),  # what somebody gets who installs it today
    Environment("python-3.12", "3.12"),
    Environment("python-3.13", "3.13"),
)


def make(environment: Environment, folder: Path) -> Path:
    """Return the Python of an environment, which is made where it is not there."""
    home = folder / environment.name
    python = home / "bin" / "python"
    if not python.exists():
        subprocess.run(["uv", "venv", "--python", environment.python, home], check=True)
        needs = ["pytest>=8.3", "hypothesis>=6.100", *PACKAGES, "rich"]
        install = ["uv", "pip", "install", "--python", python]
        subprocess.run([*install, *environment.pins, *needs], check=True)
        subprocess.run([*install, "--no-deps", "--editable", ROOT], check=True)
    return python


def run(environment: Environment, folder: Path, seconds: int) -> dict[str, str]:
    """Return the versions in an environment, and how its tests ended."""
    python = make(environment, folder)
    ask = (
        "import sys, json; from importlib.metadata import version; "
        f"print(json.dumps([sys.version.split()[0], *map(version, {PACKAGES!r})]))"
    )
    versions = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "default", *TESTS]
    around = {**os.environ, "NUMBA_CACHE_DIR": str(folder / f"kept-{environment.name}")}
    done = subprocess.run(
        words, cwd=ROOT, capture_output=True, text=True, timeout=seconds, env=around
    )
    (folder / f"{environment.name}.log").write_text(done.stdout + done.stderr)
    said = done.stdout.strip().splitlines()[-1].strip("= ") if done.stdout.strip() else "no answer"
    return dict(zip(("Python", *PACKAGES), json.loads(versions.stdout), strict=True)) | {
        "tests": said.rpartition(" in ")[0] or said
    }


def write(found: list[dict[str, str]], path: Path) -> None:
    """Write the page."""
    names = ["Python", *PACKAGES, "tests"]
    lines = [
        "# Versions that pass",
        "",
        "Versions of Python and of what Privet needs that its tests were run with, beside those in",
        "`constraints.txt`, with which all tests are run. Made by",
        "`python -m experiments.versions --folder FOLDER -o docs/results/versions.md`, which runs",
        f"{', '.join(f'`{test}`' for test in TESTS[:2])},",
        f"{', '.join(f'`{test}`' for test in TESTS[2:-1])}",
        f"and `{TESTS[-1]}`.",
        "",
        f"| {' | '.join(names)} |",
        f"|{'---|' * len(names)}",
        *(f"| {' | '.join(line[name] for name in names)} |" for line in found),
        "",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Run all environments, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[one.name for one in ENVIRONMENTS])
    parser.add_argument("--seconds", type=int, default=1800)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    found = []
    for environment in ENVIRONMENTS:
        if environment.name in options.only:
            found.append(run(environment, options.folder, options.seconds))
            sys.stdout.write(f"{json.dumps(found[-1])}\n")
            sys.stdout.flush()
    if options.output is not None:
        write(found, options.output)


if __name__ == "__main__":
    main()
