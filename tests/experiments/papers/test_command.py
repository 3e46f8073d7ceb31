"""``python -m experiments.papers``: figures, a report, and what is said where data is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from experiments.papers.command import app, main
from tests.cli.conftest import Ran, Run, own_surroundings  # noqa: F401

GROUP = typer.main.get_command(app)


@pytest.fixture
def papers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command with these arguments, errors and exit code included."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["papers", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return Ran(int(left.value.code or 0), captured.out, captured.err)

    return run


def test_every_paper_has_a_command_that_explains_itself() -> None:
    assert set(GROUP.commands) == {"hanisch", "rdt2009", "rdt2012", "novakovic", "anatomy", "all"}
    for name, command in GROUP.commands.items():
        sentence = (command.help or "").partition("\n\n")[0]
        shown = CliRunner().invoke(app, [name, "--help"])
        assert shown.exit_code == 0
        assert " ".join(sentence.split()[:3]) in " ".join(shown.output.split())
        assert f"python -m experiments.papers {name}" in " ".join(shown.output.split())
        assert all(option.help for option in command.params if option.name != "help")


@pytest.mark.slow
def test_one_figure_of_generated_data(papers: Run, tmp_path: Path) -> None:
    done = papers("rdt2009", "--figure", "10", "--quick", "--jobs", 1, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "Figure 10" in done.out
    assert "Figure 6" not in done.out
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"cells", "report.html", "rdt2009-figure-10.csv", "rdt2009-figure-10.svg"}


def test_data_that_is_not_present_is_told(
    papers: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_DATA_URL", "http://127.0.0.1:1")
    done = papers("rdt2012", "--figure", "5", "--quick", "--jobs", 1, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert "data not present" in done.out
    assert "Set PRIVET_DATA to a folder that holds votes.csv" in done.out
    assert (
        "Set PRIVET_DATA to a folder that holds votes.csv"
        in (tmp_path / "out" / "report.html").read_text()
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("rdt2012", "--figure", "99"),
            (
                "figure must be one of those that there are (of rdt2012: table 1, table 2, 1, 2, "
                "3, 4, 5); got '99'"
            ),
        ),
        (("rdt2009", "--jobs", "0"), "jobs must be an integer of at least 1, got 0"),
        (
            ("anatomy", "--figure", "7"),
            "figure must be one of those that there are (of anatomy: 4, 5, 6, love canal); got '7'",
        ),
    ],
)
def test_what_cannot_be_asked_for(
    papers: Run, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    refused = papers(*words, "-o", tmp_path / "out")
    assert refused.code == 2
    assert message in refused.err
    assert not (tmp_path / "out").exists()
