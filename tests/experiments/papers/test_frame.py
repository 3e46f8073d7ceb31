"""The frame of the report: cells are done once, kept, compared and written up."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from experiments.papers.experiment import Cell, Comparison, Outcome, Verdict
from experiments.papers.keeping import Kept
from experiments.papers.papers import MODULES, paper_named
from experiments.papers.running import run_cells
from experiments.papers.whole import REPORT, choose, reproduce
from privet._progress import watched
from privet.errors import DatasetError, ParameterError
from tests.experiments.papers.a_paper import fails, paper, squares


def done(log: Path) -> int:
    return len(log.read_text()) if log.exists() else 0


def test_cells_are_done_once_and_kept(tmp_path):
    log = tmp_path / "log"
    told: list[tuple[str, float | None]] = []
    with watched(lambda *one: told.append(one)):
        first = reproduce([paper(log)], tmp_path / "out", jobs=1)
    assert done(log) == 4  # the table shares a cell with the figure
    assert [one.verdict for one in first] == ["1 agrees, 1 differs"] * 2
    assert max(share for _, share in told if share is not None) == 1.0
    again = reproduce([paper(log)], tmp_path / "out", jobs=1)
    assert done(log) == 4
    assert [list(one.rows) for one in again] == [list(one.rows) for one in first]
    reproduce([paper(log)], tmp_path / "out", quick=True, jobs=1)
    assert done(log) == 4  # a quick run finds what a full one did


def test_what_is_kept_is_of_these_parameters_and_this_version(tmp_path):
    log = str(tmp_path / "log")
    kept, cell = Kept(tmp_path), Cell(squares, {"number": 3, "log": log})
    kept.put(cell, [{"square": math.inf}], 0.1)
    assert kept.get(cell) == [{"square": math.inf}]
    assert kept.get(Cell(squares, {"number": 4, "log": log})) is None
    assert kept.get(replace(cell, version=2)) is None
    assert kept.get(Cell(fails, {"number": 3, "log": log})) is None
    assert kept.get(replace(cell, weight=9.0)) is not None
    (file,) = (tmp_path / "cells").iterdir()
    told = json.loads(file.read_text())
    for damage in (told | {"rows": [1]}, told | {"identity": {}}, told | {"kept": 0}, [told]):
        file.write_text(json.dumps(damage))
        assert kept.get(cell) is None
    file.write_text(file.read_text()[:20])
    assert kept.get(cell) is None


def test_cells_in_processes(tmp_path):
    log = tmp_path / "log"
    cells = [Cell(squares, {"number": one, "log": str(log), "seconds": 0.3}) for one in range(4)]
    found = run_cells([*cells, cells[0]], Kept(tmp_path), 2)
    assert [found[cell.key][0]["square"] for cell in cells] == [0, 1, 4, 9]
    assert done(log) == 4
    assert len({found[cell.key][0]["worker"] for cell in cells}) == 2


def test_a_cell_that_fails_ends_the_run_and_the_others_are_kept(tmp_path):
    log = tmp_path / "log"
    good, bad = (
        Cell(squares, {"number": 1, "log": str(log)}, weight=2.0),
        Cell(fails, {"log": str(log)}),
    )
    with pytest.raises(RuntimeError, match="cannot be done"):
        run_cells([good, bad], Kept(tmp_path), 1)
    assert Kept(tmp_path).get(good) is not None
    assert Kept(tmp_path).get(bad) is None


def test_data_that_is_not_present(tmp_path, monkeypatch):
    def load(name: str) -> None:
        raise DatasetError(f"there is no {name} here, set PRIVET_DATA")

    monkeypatch.setattr("privet.datasets.load", load)
    outcomes = reproduce(
        [paper(tmp_path / "log", data=("votes",))], tmp_path / "out", quick=True, jobs=1
    )
    assert [one.verdict for one in outcomes] == ["1 agrees, 1 differs", "data not present"]
    assert (
        "Data not present: there is no votes here, set PRIVET_DATA."
        in (tmp_path / "out" / REPORT).read_text()
    )
    assert not (tmp_path / "out" / "made-up-table-2.csv").exists()


def test_a_figure_whose_main_data_is_missing_is_not_shown_with_what_it_is_compared_with(
    tmp_path, monkeypatch
):
    def load(name: str) -> None:
        if name == "votes":
            raise DatasetError("there is no votes here")

    monkeypatch.setattr("privet.datasets.load", load)
    log = str(tmp_path / "log")
    cells = [
        Cell(squares, {"number": 2, "log": log}, data=("nursery",)),
        Cell(squares, {"number": 3, "log": log}, data=("votes",)),
    ]
    one = paper(tmp_path / "log").experiments[0]
    for needs, rows, verdict in (
        (("votes",), 0, "data not present"),
        ((), 2, "1 agrees, 1 differs"),
    ):
        experiment = replace(one, cells=lambda _: cells, needs=needs)
        (found,) = reproduce(
            [replace(paper(tmp_path / "log"), experiments=(experiment,))], tmp_path / "out", jobs=1
        )
        assert (len(found.rows), found.verdict) == (rows, verdict)
        assert found.absent == ("Data not present: there is no votes here.",)


class Page(HTMLParser):
    """Everything that a page names or would load."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "xlink:href", "src"):
                self.links.append(value or "")


def test_the_report_is_one_page_that_loads_nothing(tmp_path):
    reproduce([paper(tmp_path / "log")], tmp_path / "out", quick=True, jobs=1)
    text = (tmp_path / "out" / REPORT).read_text()
    seen = Page()
    seen.feed(text)
    assert len(seen.ids) == len(set(seen.ids))
    assert all(link.startswith("#") and link[1:] in seen.ids for link in seen.links)
    assert set(re.findall(r"url\(#([^)]+)\)", text)) <= set(seen.ids)
    assert not {"script", "link", "img", "iframe", "object"} & set(seen.tags)
    assert seen.tags.count("svg") == 1
    assert "Nobody 1999, &lt;Squares&gt;" in text
    assert "9 &lt;at most&gt;" in text
    assert "squares begin at 0" in text
    assert "A quick run" in text
    assert "2 figures, tables and texts, 4 claims: 2 agree, 2 differ." in text
    with (tmp_path / "out" / "made-up-figure-1.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [float(row["square"]) for row in read] == [0, math.inf, 1, math.inf]
    assert (tmp_path / "out" / "made-up-figure-1.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize("asked", ["table 2", "Table2", "table-2"])
def test_figures_are_chosen_by_number(tmp_path, asked):
    assert [one.number for _, one in choose([paper(tmp_path)], [asked])] == ["table 2"]
    assert [one.number for _, one in choose([paper(tmp_path)], ["Figure 1", "fig-1"])] == ["1"]


@pytest.mark.parametrize("asked", ["love canal", "Love-Canal"])
def test_stories_are_chosen_by_name(asked):
    (chosen,) = choose([paper_named("anatomy")], [asked])
    assert chosen[1].number == "love canal"


def test_what_has_cells_starts_no_servers(tmp_path):
    def alone(*_):
        raise AssertionError

    one = replace(paper(tmp_path / "log"), alone=alone)
    (outcome, _) = reproduce([one], tmp_path / "out", quick=True, jobs=1)
    assert outcome.rows


def test_a_figure_that_there_is_not(tmp_path):
    with pytest.raises(
        ParameterError, match=r"figure must be one of .*made-up: 1, table 2.*; got '7'"
    ):
        reproduce([paper(tmp_path)], tmp_path / "out", figures=["7"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("jobs", [0, True, "2"])
def test_jobs_that_there_cannot_be(tmp_path, jobs):
    with pytest.raises(ParameterError, match="jobs must be an integer of at least 1"):
        reproduce([paper(tmp_path)], tmp_path / "out", jobs=jobs)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="cannot make the folder"):
        reproduce([paper(tmp_path)], tmp_path / "file" / "out")


def test_verdicts():
    def verdict(*told: Verdict | None) -> str:
        one = paper(Path())
        claims = [Comparison("", "", "", each) for each in told]
        return Outcome(one, one.experiments[0], [{}], (), claims).verdict

    assert verdict("agrees", None, "agrees") == "agrees"
    assert verdict("differs", None) == "differs"
    assert verdict("cannot tell") == "cannot tell"
    assert verdict("agrees", "differs") == "1 agrees, 1 differs"
    assert verdict("differs", "agrees", "cannot tell", "agrees", "cannot tell") == (
        "2 agree, 1 differs, 2 cannot tell"
    )
    assert verdict(None) == verdict() == "no claim"


@pytest.mark.parametrize("name", MODULES)
def test_every_paper_has_figures_with_numbers_of_their_own_and_cells_that_can_be_kept(name):
    one = paper_named(name)
    assert one.name == name
    numbers = [experiment.number for experiment in one.experiments]
    assert len(numbers) == len(set(numbers)) > 0
    for experiment in one.experiments:
        assert experiment.claim.endswith(".")
        for quick in (True, False):
            for cell in experiment.cells(quick):
                assert json.loads(json.dumps(dict(cell.given))) == dict(cell.given)
                assert "<" not in cell.name  # at the top of a module


def test_no_such_paper():
    with pytest.raises(ParameterError, match=r"paper must be one of .*; got 'nope'"):
        paper_named("nope")
