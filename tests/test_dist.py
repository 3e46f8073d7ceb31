"""What make dist builds can be installed and used, without extras and without the checkout."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
IMPORT = re.compile(r"^ *(?:import (\w+)|from (\w+)[\w.]* import)", re.MULTILINE)
#: What is imported and not declared, because what is declared stands on it.
BENEATH = {
    *("llvmlite", "markupsafe", "pydantic", "pydantic_core", "starlette", "h11"),
    "psycopg_pool",  # psycopg[pool]
}


def test_no_link_of_the_description_leads_into_the_repository():
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.describe((ROOT / "README.md").read_text(encoding="utf-8"))
    assert re.findall(r"\]\((?!https?:)", text) == []
    assert "differential privacy, for hospitals" in text
    assert module.describe("a [b](https://x.org/c) [d](e.md)") == "a [b](https://x.org/c) d"


def test_what_is_imported_is_declared():
    """A dependency of a dependency may go: Typer 0.26 came without Click, and no command ran."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needs = [*project["dependencies"], *(need for extra in extras.values() for need in extra)]
    needs = [need for need in needs if need not in extras["dev"]]
    declared = {_plain(re.match(r"[\w.-]+", need)[0]) for need in needs}
    imported = {
        name
        for path in (ROOT / "src").rglob("*.py")
        for match in IMPORT.finditer(path.read_text(encoding="utf-8"))
        for name in match.groups()
        if name is not None
    }
    imported -= {"privet", *sys.stdlib_module_names, *BENEATH}
    brought = packages_distributions()
    assert [
        name
        for name in sorted(imported)
        if declared.isdisjoint(map(_plain, brought.get(name, [name])))
    ] == []


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


@pytest.mark.slow
def test_the_wheel_fits_in_a_fresh_environment(tmp_path):
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        pytest.skip("uv is not installed")

    def run(*words: object, **more: object) -> str:
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(uv, "build", "--out-dir", tmp_path, ROOT)
    (wheel,), (archive,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        told = HeaderParser().parsestr(files.read(metadata).decode())
    assert not [name for name in names if not name.startswith(("privet/", "privet-"))]
    assert "](docs/" not in str(told.get_payload())
    with tarfile.open(archive) as files:
        assert any(name.endswith("hatch_build.py") for name in files.getnames())
    run(uv, "venv", "--python", sys.executable, tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    run(uv, "pip", "install", "--python", python, wheel)  # unconstrained: what a stranger gets
    privet, around = python.with_name("privet"), {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    run(privet, "datasets", "get", "car", cwd=tmp_path, env=around)
    fit = ("fit", "car.csv", "-s", "car.schema.json", "-e", "1", "--budget", "2", "-o", "m.json")
    assert "differentially private" in run(privet, *fit, cwd=tmp_path, env=around)
    evaluate = ("evaluate", "m.json", "car.csv", "-s", "car.schema.json", "-e", "1")
    assert "AUROC" in run(privet, *evaluate, cwd=tmp_path, env=around)
