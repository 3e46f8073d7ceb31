"""``privet reproduce``: figures by number, a report, and what is said where data is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_one_figure_of_generated_data(privet: Run, tmp_path: Path) -> None:
    done = privet(
        "reproduce", "rdt2009", "--figure", "10", "--quick", "--jobs", 1, "-o", tmp_path / "out"
    )
    assert done.code == 0, done.err
    assert "Figure 10" in done.out
    assert "Figure 6" not in done.out
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {"cells", "report.html", "rdt2009-figure-10.csv", "rdt2009-figure-10.svg"}


def test_data_that_is_not_present_is_told(
    privet: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRIVET_DATA_URL", "http://127.0.0.1:1")
    done = privet(
        "reproduce", "rdt2012", "--figure", "5", "--quick", "--jobs", 1, "-o", tmp_path / "out"
    )
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
                "figure must be one of those that there are (of rdt2012: table 1, 1, 2, 3, 4, 5); "
                "got '99'"
            ),
        ),
        (("rdt2009", "--jobs", "0"), "jobs must be a whole number of at least 1, got 0"),
        (
            ("anatomy", "--figure", "7"),
            "figure must be one of those that there are (of anatomy: 4, 5, 6); got '7'",
        ),
    ],
)
def test_what_cannot_be_asked_for(
    privet: Run, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    refused = privet("reproduce", *words, "-o", tmp_path / "out")
    assert refused.code == 2
    assert message in refused.err
    assert not (tmp_path / "out").exists()
