"""A client in TypeScript, generated from the OpenAPI file by other people's tools, asks a count."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

import privet
from privet.accounting.cost import Budget
from privet.accounting.ledger import Receipt
from tests.client.running import running

EXAMPLE = Path(__file__).parents[2] / "examples" / "javascript"


def steps() -> list[str]:
    """The commands of the page, in order."""
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    lines = text.partition("```sh\n")[2].partition("```")[0].splitlines()
    return [line.partition("#")[0].strip() for line in lines]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="there is no Node")
def test_the_page_asks_a_count(tmp_path):
    folder = tmp_path / "javascript"
    shutil.copytree(EXAMPLE, folder)
    install, export, *rest = steps()
    assert install == "npm install"
    assert export.startswith("export CURATOR=")

    def run(line: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            line,
            shell=True,
            cwd=folder,
            env={**os.environ, **more},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    if run(f"{install} --no-audit --no-fund").returncode:
        pytest.skip("npm cannot reach a registry")
    nursery = privet.datasets.load("nursery")
    nursery.table.to_csv(tmp_path / "nursery.csv", index=False)
    with running(tmp_path) as service:
        service.add("nursery", tmp_path / "nursery.csv", nursery.schema, Budget(10))
        named = {"CURATOR": service.url, "PRIVET_TOKEN": service.token}
        for line in rest:
            done = run(line, **named)
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        answer, receipt = done.stdout.splitlines()
        spent = service.state.ledger.spent("nursery", "ada").epsilon
        assert spent == Fraction(1, 10)
        assert Receipt.read(receipt).number == 3
        assert json.loads(answer)["cost"]["epsilon"] == "1/10"
        refused = run("node ask.js nursery helth 0.1", **named)
        assert refused.returncode == 1
        assert "helth" in refused.stderr
        assert service.state.ledger.spent("nursery", "ada").epsilon == spent
