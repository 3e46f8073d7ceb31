"""Slopes, ratios, goals and the page of the speed benchmark, from measurements that are written
down here. Nothing is timed.
"""

import math
import sys
from dataclasses import replace

import numpy as np
import pytest

from experiments.bench.speed import results
from experiments.bench.speed.__main__ import processes
from experiments.bench.speed.__main__ import run as measured_apart
from experiments.bench.speed.by_hand import statement
from experiments.bench.speed.contestants import BINARY, CONTESTANTS, MULTIWAY
from experiments.bench.speed.learners import goals as learner_goals
from experiments.bench.speed.one import measure
from experiments.bench.speed.ours import schema_of
from experiments.bench.speed.out_of_core import BLOCK, schema, write
from experiments.bench.speed.pictures import draw_all
from experiments.bench.speed.plan import Plan
from experiments.bench.speed.report import page
from experiments.bench.speed.results import OUT_OF_CORE, Measurement, Run, Task, pooled
from experiments.bench.speed.rows import ATTRIBUTES, Store, sizes
from experiments.bench.speed.summary import Summary, ratio, slope, visits

MILLION = 1_000_000


def fit(contestant, best, shape=BINARY, section="fit", rows=MILLION, **other):
    return Measurement(section, contestant, shape, rows, 14, 10, best, best * 1.5, 3, **other)


@pytest.fixture
def found():
    rows = [
        Measurement("machine", "Machine", note="2 cores"),
        # 10 GB/s
        Measurement("limit", "numpy.sum", best=0.025, median=0.03, runs=20, bytes=250_000_000),
        fit("frame", 0.3, MULTIWAY, bytes=30_000_000),
        fit("frame", 0.1),
        fit("diffprivlib", 1.5),
        fit("greedy", 0.2, MULTIWAY),
        fit("gibbs", 5.0, MULTIWAY),
        Measurement("fit", "sql", BINARY, MILLION, 14, 10, note="failed: no table"),
        fit("predict-frame", 0.5, MULTIWAY, "predict"),
        fit("predict-frame", 2.0, BINARY, "predict"),
        fit("predict-forest", 0.25, BINARY, "predict"),
        Measurement("import", "import privet", best=0.6, median=0.7, runs=5),
    ]
    for n in (10_000, 100_000, MILLION, 3 * MILLION, 10 * MILLION):
        rows.append(fit("kernel", n * 1e-8, MULTIWAY, "rows", n))
        rows.append(fit("kernel", n**1.2 * 1e-8, BINARY, "rows", n))
        rows.append(fit("frame", 0.2 + n * 1e-7, MULTIWAY, "rows", n, bytes=36 * n))
    return rows


@pytest.fixture
def summary(found):
    return Summary(found)


def goals(summary):
    return {goal.what: goal for goal in summary.goals()}


def goal_about(summary, *words):
    (goal,) = [goal for what, goal in goals(summary).items() if all(word in what for word in words)]
    return goal


# -- arithmetic --------------------------------------------------------------------------------------------------------  # noqa: E501


def test_a_slope_is_that_of_the_larger_half():
    fixed_at_first = [(1, 5.0), (10, 5.0), (100, 5.0), (1000, 50.0), (10_000, 500.0)]
    assert slope(fixed_at_first) == pytest.approx(1)
    assert slope(list(reversed(fixed_at_first))) == pytest.approx(1)
    assert slope([(2, 8.0), (4, 32.0)]) == pytest.approx(2)
    assert slope([(1, 9.0), (10, 1.0), (100, 10.0)]) == pytest.approx(1)
    assert math.isnan(slope([(10, 1.0)]))
    assert math.isnan(slope([]))


def test_a_ratio_says_how_many_times_as_long_one_takes():
    assert ratio(fit("diffprivlib", 1.5), fit("frame", 0.3)) == pytest.approx(5)
    assert math.isnan(ratio(None, fit("frame", 0.3)))


def test_diffprivlib_shows_a_row_to_one_tree():
    assert visits(fit("frame", 1)) == 10 * MILLION
    assert visits(fit("forest", 1)) == 10 * MILLION
    assert visits(fit("diffprivlib", 1)) == MILLION
    assert visits(fit("greedy", 1)) == MILLION


def test_the_limit_is_a_byte_for_each_attribute_and_the_class(summary):
    assert summary.bandwidth == pytest.approx(1e10)
    assert summary.limit(fit("frame", 1)) == pytest.approx(15e6 / 1e10)


def test_times_of_several_processes_are_put_together():
    task = Task("fit", "frame")
    (found,) = pooled(
        [Run(task, (3.0, 2.0), 5), Run(task, (1.0,), 7), Run(task, note="failed: once")]
    )
    assert (found.best, found.median, found.runs, found.bytes, found.note) == (
        1.0,
        2.0,
        3,
        7,
        "failed: once",
    )
    (failed,) = pooled([Run(task, note="failed: no"), Run(task, note="failed: no")])
    assert (failed.best, failed.median, failed.runs, failed.bytes, failed.note) == (
        None,
        None,
        0,
        None,
        "failed: no",
    )


# -- goals -------------------------------------------------------------------------------------------------------------  # noqa: E501


def test_goals_beside_diffprivlib_are_met_or_missed_by_shape(summary):
    assert goal_about(summary, "multiway", "wall time").met is False  # 5 times
    assert goal_about(summary, "multiway", "per row and tree").met is False  # 50 times
    assert goal_about(summary, "binary", "wall time").met is True  # 15 times
    assert goal_about(summary, "binary", "per row and tree").met is True
    assert goal_about(summary, "binary", "per row and tree").found == "150 times"


def test_other_goals(summary):
    named = goals(summary)
    assert named["counting ten multiway trees of height 4 on 10,000,000 rows"].met is True  # 0.1 s
    # 0.1 s of 0.015 s
    assert (
        named["counting ten multiway trees of height 4 on 10,000,000 rows, beside the limit"].met
        is True
    )
    assert named["counting ten binary trees of height 4 on 10,000,000 rows"].met is False
    assert goal_about(summary, "memory").met is False  # 360 MB of 150 + 200
    assert goal_about(summary, "predictions", "multiway").met is True
    assert goal_about(summary, "predictions", "binary").met is False
    assert goal_about(summary, "growth of counting", "multiway").met is True
    assert goal_about(summary, "growth of counting", "binary").met is False
    assert goal_about(summary, "import privet").met is False


def test_memory_at_the_bound_is_enough(found):
    enough = [replace(m, bytes=350_000_000) if m.bytes == 360_000_000 else m for m in found]
    assert goal_about(Summary(enough), "memory").met is True


def test_a_goal_about_other_sizes_is_not_measured(found):
    small = Summary([replace(m, rows=m.rows // 10) for m in found if m.rows])
    assert {goal.met for goal in small.goals()} == {None}
    assert {goal.found for goal in small.goals()} == {""}


# -- file and page -----------------------------------------------------------------------------------------------------  # noqa: E501


def test_a_file_gives_back_what_was_written(found, tmp_path):
    path = tmp_path / "speed.csv"
    assert results.read(path) == []
    results.write(path, found)
    back = results.read(path)
    assert [replace(m, best=None, median=None) for m in back] == [
        replace(m, best=None, median=None) for m in found
    ]
    assert [m.best is None for m in back] == [m.best is None for m in found]
    assert [m.best for m in back if m.best] == pytest.approx(
        [m.best for m in found if m.best], rel=1e-5
    )


def test_what_is_measured_apart_is_kept(found):
    apart = Measurement(OUT_OF_CORE, "random trees", rows=100 * MILLION, best=60.0)
    assert results.replaced([apart, fit("frame", 9.0)], found) == [*found, apart]


def test_the_page_tells_everything_that_was_measured(found, tmp_path):
    summary = Summary(
        [
            *found,
            Measurement(
                OUT_OF_CORE,
                "random trees",
                rows=100 * MILLION,
                best=60.0,
                median=61.0,
                runs=2,
                bytes=10**9,
            ),
        ]
    )
    pictures = draw_all(summary, tmp_path)
    text = page(summary, pictures)
    for line in (
        "| Privet, data frame | multiway | 0.300 | 0.450 | 3 | 1.00 | 200 | 30 | 30 |",
        "| Privet, data frame | binary | 0.100 | 0.150 | 3 | 1.00 | 67 | 10 |  |",
        "| diffprivlib RandomForest | binary | 1.500 | 2.250 | 3 | 15 | 1000 | 1500 |  |",
        "| Privet, default learner | multiway | 5.000 | 7.500 | 3 | 17 | 3333 |  |  |",
        "| DuckDB alone, table in memory | binary | failed: no table |  |  |  |  |  |  |",
        "| Privet, data frame | multiway | 0.500 | 0.750 | 3 | 2.00 | 2.00 |  |",
        "| import privet | 0.600 | 0.700 | 5 |",
        "| random trees | 100,000,000 | 60.0 | 61.0 | 2 | 1000 |  |",
        "10.0 GB/s",
        "- Machine: 2 cores",
    ):
        assert line in text
    assert (
        "| Privet, counting only, multiway | 0.0001 | 0.0010 | 0.0100 | 0.0300 | 0.100 | 1.00 |"
        in text
    )
    assert "1.20 |" in text
    assert "nan" not in text
    linked = {part.partition(")")[0] for part in text.split("](")[1:]} - {"speed.csv"}
    assert (
        linked
        == {path.name for path in tmp_path.glob("*.svg")}
        == {"speed-fit.svg", "speed-rows.svg", "speed-predict.svg"}
    )


def test_a_page_of_few_measurements_has_few_sections():
    text = page(Summary([fit("frame", 0.1)]), [])
    assert "## Fits" in text
    assert "## Predictions" not in text
    assert "## Out of core" not in text
    assert "### Over" not in text


def test_whole_learners_are_compared_at_each_size():
    found = [
        Measurement("learners load", "Load average", note="1.0 to 2.0"),
        *(
            fit(name, seconds * n / MILLION, shape, "learners", n, bytes=50_000_000, cpu=seconds)
            for name, shape, seconds in (
                ("gibbs", MULTIWAY, 1.5),
                ("dp-ebm", BINARY, 9.0),
                ("hist", BINARY, 5.0),
            )
            for n in (10_000, 100_000, MILLION)
        ),
        fit("gibbs", 16.0, MULTIWAY, "learners", 10 * MILLION),
        fit("predict-gibbs", 0.4, MULTIWAY, "learners predict"),
    ]
    text = page(Summary(found), [])
    assert "| DP-EBM | 0.0900 (6) | 0.900 (6) | 9.000 (6) |  | 1.00 |" in text
    assert "| Privet, default learner | 1.500 | 50 | 0.400 |" in text
    verdicts = {goal.what: goal.met for goal in learner_goals(Summary(found))}
    assert list(verdicts.values()) == [True, False, True, True, False]
    assert "1.03" in text  # its slope, by the two largest sizes


# -- contestants -------------------------------------------------------------------------------------------------------  # noqa: E501


def test_everyone_in_the_plan_is_known_and_peers_can_be_left_out():
    with_peers, without = Plan(), Plan(with_peers=False)
    everything = [
        [*plan.comparison(), *plan.growth(), *plan.learners()] for plan in (with_peers, without)
    ]
    assert {task.contestant for task in everything[0]} == set(CONTESTANTS)
    assert not any(CONTESTANTS[task.contestant].peers for task in everything[1])
    over_rows = [task for task in with_peers.growth() if task.section == "rows"]
    assert max(task.rows for task in over_rows) == 10 * MILLION
    assert (
        max(task.rows for task in over_rows if task.contestant in ("diffprivlib", "forest"))
        == MILLION
    )
    assert max(task.trees for task in with_peers.growth() if task.contestant == "forest") == 30
    assert (
        max(task.trees for task in with_peers.growth() if task.contestant == "diffprivlib") == 100
    )
    assert len({(task.section, task) for task in with_peers.growth()}) == len(with_peers.growth())


def test_a_process_has_one_contestant_and_begins_with_the_largest_table():
    for tasks in processes(Plan().growth(), Plan()):
        assert len({(task.section, task.contestant, task.shape) for task in tasks}) == 1
        grown = [getattr(task, tasks[0].section) for task in tasks]
        assert grown == sorted(set(grown), reverse=True)
    quick = Plan(100_000, quick=True)
    peers = [
        {CONTESTANTS[task.contestant].peers for task in tasks}
        for tasks in processes(quick.comparison(), quick)
    ]
    assert peers == [{False}, {True}]


def test_what_fails_is_told(store):
    absent = Task("fit", "forest", BINARY, 10 * MILLION, 14, 10)
    (run,) = measured_apart([absent], Plan(), store, sys.executable, 1, 1.0)
    assert run.task == absent
    assert run.seconds == ()
    assert run.note.startswith("failed: FileNotFoundError")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("rows"))
    store.make(3000, ATTRIBUTES)
    store.make(1000, 20)
    return store


def test_a_smaller_table_is_the_beginning_of_a_larger_one(store):
    whole, part = store.codes(3000, ATTRIBUTES), store.codes(100, 5)
    assert part.shape == (6, 100)
    assert (part[:5] == whole[:5, :100]).all()
    assert (part[-1] == whole[-1, :100]).all()
    assert (whole[:-1].max(axis=1) + 1).tolist() == sizes(ATTRIBUTES)
    assert store.codes(1000, 20).shape == (21, 1000)
    with pytest.raises(FileNotFoundError):
        store.codes(3000, 20)


def test_classes_depend_on_attributes(store):
    codes = store.codes(3000, ATTRIBUTES)
    shares = [codes[-1][codes[0] == value].mean() for value in range(4)]
    assert max(shares) - min(shares) > 0.2


@pytest.mark.parametrize("shape", [MULTIWAY, BINARY])
def test_sql_by_hand_counts_as_privet_does(store, shape):
    import duckdb

    import privet as pv
    from privet.learners.random_trees.drawing import draw_forest

    task = Task("fit", "sql", shape, 3000, ATTRIBUTES, 3)
    with pv.testing.unlock_test_seeds():
        forest = draw_forest(schema_of(task), 3, 3, pv.testing.SeededBits(1))
    tables = (
        pv.open_table(store.frame(3000, ATTRIBUTES))
        .source(schema_of(task))
        .count(pv.Question.forest(forest))
    )
    counted = [np.zeros_like(table) for table in tables]
    for tree, leaf, y, n in duckdb.sql(
        statement(forest, f"'{store.parquet(3000, ATTRIBUTES)}'")
    ).fetchall():
        counted[tree][leaf, y] += n
    assert all((a == b).all() for a, b in zip(tables, counted, strict=True))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    "contestant", [name for name, who in CONTESTANTS.items() if not who.peers and name != "gibbs"]
)
def test_every_contestant_of_our_environment_runs(store, contestant):
    task = Task("fit", contestant, BINARY if contestant == "sql" else MULTIWAY, 2000, 6, 2)
    for kind, rows, attributes in Plan().files(task):
        getattr(store, kind)(rows, attributes)
    found = measure(task, store, 2, 1e-9)
    assert len(found["seconds"]) == 1
    assert all(second > 0 for second in found["seconds"])
    assert found["bytes"] >= 0


def test_a_large_file_is_written_in_blocks_and_fits_its_schema(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    import privet as pv

    monkeypatch.setattr("experiments.bench.speed.out_of_core.BLOCK", 400)
    path = tmp_path / "people.parquet"
    described = write(path, 1000)
    assert described == tmp_path / "people.parquet.schema.json"
    assert pv.Schema.read(described) == schema()
    assert pq.read_metadata(path).num_rows == 1000
    assert pq.read_metadata(path).num_row_groups == 3
    assert pv.open_table(path).problems(schema()) == []
    assert BLOCK > 400
