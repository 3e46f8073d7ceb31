"""What make dist builds can be installed and used, without extras and without the checkout."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_no_link_of_the_description_leads_into_the_repository():
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.describe((ROOT / "README.md").read_text(encoding="utf-8"))
    assert re.findall(r"\]\((?!https?:)", text) == []
    assert "differential privacy, for hospitals" in text
    assert module.describe("a [b](https://x.org/c) [d](e.md)") == "a [b](https://x.org/c) d"


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
    constraints = ROOT / "constraints.txt"
    run(uv, "pip", "install", "--python", python, "-c", constraints, wheel)
    privet, around = python.with_name("privet"), {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    run(privet, "datasets", "get", "car", cwd=tmp_path, env=around)
    fit = ("fit", "car.csv", "-s", "car.schema.json", "-e", "1", "--budget", "2", "-o", "m.json")
    assert "differentially private" in run(privet, *fit, cwd=tmp_path, env=around)
    evaluate = ("evaluate", "m.json", "car.csv", "-s", "car.schema.json", "-e", "1")
    assert "AUROC" in run(privet, *evaluate, cwd=tmp_path, env=around)
