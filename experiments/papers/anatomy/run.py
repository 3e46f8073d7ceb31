"""A whole run: what is there already is kept, what is missing is done, then the numbers are written
up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from experiments.papers.anatomy.experiments import Experiment
from experiments.papers.anatomy.fold import CLIENTS, run_fold
from experiments.papers.anatomy.folds import FOLDS, Assignment, kept
from experiments.papers.anatomy.pictures import write_pictures
from experiments.papers.anatomy.results import COLUMNS, Line, write_csv
from experiments.papers.anatomy.summary import summary
from experiments.papers.files import make_folder, read_json, write_json
from experiments.papers.running import ended_by_exceptions
from privet._validate import check_integer
from privet.domain import Schema
from privet.errors import ParameterError
from privet.report.plots.style import need_matplotlib

#: Told how much is done, how much there is to do, and what is under way.
Progress = Callable[[float, float, str], None]
RESULTS, SUMMARY = "results.csv", "summary.md"
#: Rows that take as long as starting the processes of a fold.
_STARTING = 1000


def run(
    experiments: list[Experiment],
    folds: int | Mapping[int, int],
    output: Path,
    progress: Progress = lambda *_: None,
) -> list[Line]:
    """Run the first ``folds`` of ten folds of these experiments, and write numbers, pictures and a
    summary to a folder.

    ``folds`` may differ by the number of the experiment.

    Folds that the folder has are not run again, so a run that was ended goes on where it was.
    """
    counts = {
        one.number: folds[one.number] if isinstance(folds, Mapping) else folds
        for one in experiments
    }
    for count in counts.values():
        check_integer("folds", count, 1, FOLDS)
    need_matplotlib()
    place = output / "folds"
    make_folder(place)
    # All of it is looked at first: what is missing is told before the first fold.
    tables = [_Table(one, *one.load(), place) for one in experiments]
    wanted = [(table, fold) for table in tables for fold in range(counts[table.experiment.number])]
    files = {
        (table.experiment.number, fold): _file(place, table.experiment, fold)
        for table, fold in wanted
    }
    found = {at: _lines(path) for at, path in files.items() if path.exists()}
    todo = [(table, fold) for table, fold in wanted if (table.experiment.number, fold) not in found]
    bar = _Bar(sum(table.effort for table, _ in todo), progress)
    with ended_by_exceptions():
        for table, fold in todo:
            number = table.experiment.number
            step = bar.steps(f"experiment {number}, fold {fold + 1}", table.effort / len(CLIENTS))
            found[number, fold] = run_fold(
                table.experiment, fold, *table.parts(fold), table.schema, step
            )
            write_json(files[number, fold], found[number, fold])
    lines = [line for at in sorted(found) for line in found[at]]
    write_csv(lines, output / RESULTS)
    write_pictures(lines, output)
    (output / SUMMARY).write_text(summary(lines), encoding="utf-8")
    return lines


class _Table:
    """The table of an experiment, and its folds."""

    def __init__(self, experiment: Experiment, rows: Any, schema: Schema, place: Path) -> None:
        self.experiment, self._rows, self.schema = experiment, rows, schema
        self._assignment: Assignment = kept(
            place / f"experiment-{experiment.number}.json", experiment, rows, schema
        )
        self.effort = float(len(rows) + _STARTING)

    def parts(self, fold: int) -> tuple[Any, Any]:
        """What to learn from, and what to predict."""
        train, test = self._assignment.parts(fold)
        return self._rows.iloc[train], self._rows.iloc[test]


class _Bar:
    """How far the run is."""

    def __init__(self, total: float, progress: Progress) -> None:
        self._done, self._total, self._progress = 0.0, total, progress

    def steps(self, what: str, part: float) -> Callable[[str], None]:
        """To be called after each part of a piece of work."""
        self._progress(self._done, self._total, what)

        def step(_: str) -> None:
            self._done += part
            self._progress(self._done, self._total, what)

        return step


def _file(place: Path, experiment: Experiment, fold: int) -> Path:
    return place / f"experiment-{experiment.number}-fold-{fold + 1:02}.json"


def _lines(path: Path) -> list[Line]:
    lines = read_json(path, list)
    if not all(isinstance(line, dict) and tuple(line) == COLUMNS for line in lines):
        raise ParameterError(f"{path} is of another version of this command; choose another folder")
    return lines
