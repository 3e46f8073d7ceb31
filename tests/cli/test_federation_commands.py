"""``privet federation``, ``update``, ``merge`` and ``join``, as a person would use them."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction as F
from pathlib import Path

import duckdb
import pytest

import privet as pv
from privet.cli import federation_demo
from privet.federation.relay import RelayFile
from tests.federation.parties import SCHEMA, rows


@pytest.fixture
def run(privet):
    """Run the command, and look at its exit code."""

    def command(*arguments, code=0):
        done = privet(*arguments)
        assert done.code == code, done.err
        return done

    return command


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three parties: a CSV file, a Parquet file and a DuckDB database."""
    monkeypatch.chdir(tmp_path)
    SCHEMA.write("s.json")
    rows(300).to_csv("north.csv", index=False)
    south, west = rows(200, 11), rows(100, 29)  # noqa: F841 - DuckDB finds them by name
    with duckdb.connect() as connection:
        connection.sql("COPY (SELECT * FROM south) TO 'south.parquet'")
    with duckdb.connect("west.duckdb") as connection:
        connection.sql("CREATE TABLE people AS SELECT * FROM west")
    return tmp_path


TABLES = {
    "north": "north.csv",
    "south": "south.parquet",
    "west": "duckdb:///west.duckdb?table=people",
}


@pytest.fixture
def parts(folder, run):
    run(
        "federation",
        "plan",
        "--schema",
        "s.json",
        "--trees",
        "3",
        "--height",
        "2",
        "-o",
        "plan.json",
    )
    for party, table in TABLES.items():
        run(
            "federation",
            "contribute",
            table,
            "--plan",
            "plan.json",
            "--epsilon",
            "1",
            "--party",
            party,
            "-o",
            f"{party}.json",
        )
    return [f"{party}.json" for party in TABLES]


def test_from_a_plan_to_a_model(parts, run, folder):
    done = run("merge", *parts, "--people", "disjoint", "-o", "m.json")
    assert (
        "1-differentially private with one row added or removed, provided that nobody is in two of "
        "the 3 batches"
    ) in done.out
    assert all(party in done.out for party in TABLES)
    run("predict", "m.json", "north.csv", "-o", "p.csv")
    assert len(Path("p.csv").read_text().splitlines()) == 301
    assert "3 batches" in run("show", "m.json").out.replace("\n", " ")
    card = run("card", "m.json").out
    assert "'north', for the neighbours above" in card


def test_order_does_not_matter(parts, run):
    run("merge", *parts, "-o", "one.json")
    run("merge", *parts[::-1], "-o", "other.json")
    assert Path("one.json").read_bytes() == Path("other.json").read_bytes()


def test_machines_are_told_each_ones_epsilon(parts, run):
    run(
        "federation",
        "contribute",
        "north.csv",
        "-p",
        "plan.json",
        "-e",
        "1/2",
        "--party",
        "again",
        "-o",
        "again.json",
    )
    told = json.loads(run("merge", *parts, "again.json", "-o", "m.json", "--json").out)
    assert told["epsilon"] == 3.5
    assert {batch["name"]: batch["epsilon"] for batch in told["batches"]} == {
        "north": 1,
        "south": 1,
        "west": 1,
        "again": 0.5,
    }
    assert (
        max(batch["weight"] for batch in told["batches"])
        > 1
        > min(batch["weight"] for batch in told["batches"])
        > 0
    )


def test_each_party_pays_from_its_own_ledger(parts, folder):
    for name in ("north.csv", "south.parquet", "west.duckdb"):
        ledger = pv.SQLiteLedger(folder / f"{name}.ledger.sqlite")
        (dataset,) = ledger.datasets()
        assert ledger.spent(dataset).epsilon == 1


def test_a_plan_tells_its_fingerprint(folder, run):
    told = json.loads(
        run("federation", "plan", "-s", "s.json", "-n", "600", "-o", "plan.json", "--json").out
    )
    assert told["fingerprint"] == pv.federation.read_plan("plan.json").fingerprint
    said = run("federation", "plan", "-s", "s.json", "-n", "600", "-o", "other.json").out
    assert f"fingerprint {pv.federation.read_plan('other.json').fingerprint}" in said
    assert (told["trees"], told["height"]) == (10, 1)


class TestRefused:
    def test_one_given_twice(self, parts, run, folder):
        assert (
            "'north' is given twice"
            in run("merge", "north.json", "north.json", "-o", "m.json", code=2).err
        )
        assert not Path("m.json").exists()

    def test_another_structure(self, parts, run):
        run(
            "federation",
            "plan",
            "-s",
            "s.json",
            "--trees",
            "3",
            "--height",
            "2",
            "-o",
            "other.json",
        )
        run(
            "federation",
            "contribute",
            "south.parquet",
            "-p",
            "other.json",
            "-e",
            "1",
            "-o",
            "foreign.json",
        )
        assert (
            "different structures"
            in run("merge", "north.json", "foreign.json", "-o", "m.json", code=2).err
        )
        assert not Path("m.json").exists()

    def test_a_broken_checksum(self, parts, run):
        data = Path("south.json").read_bytes()
        place = data.index(b'"batches":') + 40
        Path("south.json").write_bytes(
            data[:place] + b"1" + data[place + 1 :]
            if data[place : place + 1] != b"1"
            else data[:place] + b"2"
        )
        refused = run("merge", "north.json", "south.json", "-o", "m.json", code=2).err
        assert "model file south.json" in refused
        assert not Path("m.json").exists()

    def test_a_changed_plan(self, parts, run):
        text = Path("plan.json").read_text()
        Path("plan.json").write_text(text.replace('"height":2', '"height":3'))
        refused = run(
            "federation",
            "contribute",
            "north.csv",
            "-p",
            "plan.json",
            "-e",
            "1",
            "-o",
            "x.json",
            code=2,
        ).err
        assert "plan file plan.json: its checksum does not fit" in refused
        assert pv.SQLiteLedger("north.csv.ledger.sqlite").spent("north.csv").epsilon == 1

    def test_a_table_that_does_not_have_the_columns(self, parts, run):
        rows(5).drop(columns="age").to_csv("thin.csv", index=False)
        refused = run(
            "federation",
            "contribute",
            "thin.csv",
            "-p",
            "plan.json",
            "-e",
            "1",
            "-o",
            "x.json",
            code=2,
        ).err
        assert "column 'age' is not in the table" in refused
        assert not Path("thin.csv.ledger.sqlite").exists()

    def test_a_schema_of_another_domain(self, parts, run):
        pv.Schema(SCHEMA.attributes, "advice", ["yes", "no"]).write("other.json")
        refused = run(
            "federation",
            "contribute",
            "north.csv",
            "-p",
            "plan.json",
            "-s",
            "other.json",
            "-e",
            "1",
            "-o",
            "x.json",
            code=2,
        )
        assert "drawn for another schema" in refused.err
        fresh = run(
            "federation",
            "contribute",
            "south.parquet",
            "-p",
            "plan.json",
            "-s",
            "other.json",
            "-e",
            "1",
            "-o",
            "x.json",
            code=2,
        )
        assert "drawn for another schema" in fresh.err
        assert pv.SQLiteLedger("north.csv.ledger.sqlite").spent("north.csv").epsilon == 1

    @pytest.mark.parametrize(
        ("more", "reason"),
        [
            (["--people", "same"], "people must be 'disjoint'"),
            (["--weights", "all"], "--weights must be 'by-noise' or 'equal', got 'all'"),
            (["-o", "no/m.json"], "its folder must exist"),
        ],
    )
    def test_bad_options(self, parts, run, more, reason):
        assert reason in run("merge", *parts, "-o", "m.json", *more, code=2).err

    def test_a_file_that_is_not_there(self, parts, run):
        assert (
            "model file gone.json: it cannot be read"
            in run("merge", "gone.json", "-o", "m.json", code=2).err
        )


class TestUpdate:
    def test_new_rows_are_added(self, folder, run):
        run("fit", "north.csv", "-s", "s.json", "-e", "1", "-l", "random-trees", "-o", "m.json")
        done = run(
            "update",
            "m.json",
            "south.parquet",
            "-e",
            "1/2",
            "--people",
            "disjoint",
            "--name",
            "spring",
            "-o",
            "m2.json",
        )
        assert "1-differentially private with one row" in done.out
        assert "spring" in done.out
        assert pv.SQLiteLedger("south.parquet.ledger.sqlite").spent(
            "south.parquet"
        ).epsilon == pytest.approx(0.5)
        assert len(pv.load("m2.json").privacy_.leaves) == 2

    def test_unless_it_is_asserted_epsilon_is_the_sum(self, folder, run):
        run("fit", "north.csv", "-s", "s.json", "-e", "1", "-l", "random-trees", "-o", "m.json")
        told = json.loads(
            run("update", "m.json", "south.parquet", "-e", "1/2", "-o", "m2.json", "--json").out
        )
        assert (told["epsilon"], told["people"]) == (1.5, "may-overlap")

    def test_the_old_table_is_not_new(self, folder, run):
        run("fit", "north.csv", "-s", "s.json", "-e", "1", "-l", "random-trees", "-o", "m.json")
        refused = run(
            "update",
            "m.json",
            "north.csv",
            "-e",
            "1",
            "--people",
            "disjoint",
            "-o",
            "m2.json",
            code=2,
        ).err
        assert "charged to one account" in refused
        assert pv.SQLiteLedger("north.csv.ledger.sqlite").spent("north.csv").epsilon == 1

    def test_a_model_of_the_default_learner_grows(self, folder, run):
        run("fit", "north.csv", "-s", "s.json", "-e", "1", "-o", "m.json")
        more = ["-e", "1/2", "--people", "disjoint", "--name", "spring", "--rows-before", "200"]
        told = json.loads(
            run("update", "m.json", "south.parquet", *more, "-o", "m2.json", "--json").out
        )
        assert (told["epsilon"], told["people"]) == (1, "disjoint")
        assert {batch["name"] for batch in told["batches"]} == {"", "spring"}
        assert pv.SQLiteLedger("south.parquet.ledger.sqlite").spent("south.parquet").epsilon == F(
            1, 2
        )
        assert len(pv.load("m2.json").model_.trees) > len(pv.load("m.json").model_.trees)

    def test_a_name_that_looks_like_markup_is_printed_as_it_is(self, folder, run):
        """It ended the command with a traceback, after the rows had paid."""
        run("fit", "north.csv", "-s", "s.json", "-e", "1", "-o", "m.json")
        more = ["-e", "1", "--people", "disjoint", "--name", "[/b] ward [1]"]
        told = run("update", "m.json", "south.parquet", *more, "-o", "m2.json").out
        assert "[/b] ward [1]" in told

    def test_a_default_model_does_not_take_the_old_table_for_new(self, folder, run):
        run("fit", "north.csv", "-s", "s.json", "-e", "1", "-o", "m.json")
        again = ["-e", "1", "--people", "disjoint", "-o", "m2.json"]
        assert "charged to one account" in run("update", "m.json", "north.csv", *again, code=2).err
        assert pv.SQLiteLedger("north.csv.ledger.sqlite").spent("north.csv").epsilon == 1

    def test_another_learner(self, folder, run):
        run("fit", "north.csv", "-s", "s.json", "-e", "1", "-l", "gibbs-tree", "-o", "m.json")
        assert (
            "keeps no leaf vectors"
            in run("update", "m.json", "south.parquet", "-e", "1", "-o", "m2.json", code=2).err
        )
        assert not Path("south.parquet.ledger.sqlite").exists()

    def test_a_warning_where_noise_has_outgrown_the_counts(self, folder, run):
        few = ["-p", "plan.json", "-e", "1/50"]
        run(
            "federation", "plan", "-s", "s.json", "--trees", "3", "--height", "2", "-o", "plan.json"
        )
        for number in range(8):
            rows(10, number).to_csv(f"t{number}.csv", index=False)
            run("federation", "contribute", f"t{number}.csv", *few, "-o", f"t{number}.json")
        done = run(
            "merge",
            *(f"t{number}.json" for number in range(8)),
            "--weights",
            "equal",
            "-o",
            "m.json",
        )
        assert "noise of 8 batches has outgrown the counts" in done.err


class TestPeople:
    @pytest.fixture
    def merged(self, folder, run):
        """Two parties with columns of different names for the person, and more rows than they
        declare.
        """
        run(
            "federation", "plan", "-s", "s.json", "--trees", "3", "--height", "2", "-o", "plan.json"
        )
        for party, column, most in (("a", "patient", 1), ("b", "pid", 2)):
            rows(60).assign(**{column: [number % 10 for number in range(60)]}).to_csv(
                f"{party}.csv", index=False
            )
            SCHEMA.declare(person=column, rows_per_person=most).write(f"{party}.schema.json")
            count = [
                "federation",
                "contribute",
                f"{party}.csv",
                "-p",
                "plan.json",
                "-s",
                f"{party}.schema.json",
                "-e",
                "50",
            ]
            run(*count, "--budget", "1000", "--party", party, "-o", f"{party}.json")
        return json.loads(
            run("merge", "a.json", "b.json", "--people", "disjoint", "-o", "m.json", "--json").out
        )

    def test_each_table_is_cut_to_its_own_rows_per_person(self, merged):
        assert merged["epsilon"] == 100  # two rows of a person in the second
        counted = {
            leaf.name: batch.n_rows for leaf, batch in zip(*_released("m.json"), strict=True)
        }
        assert counted["a"] == pytest.approx(10, abs=3)
        assert counted["b"] == pytest.approx(20, abs=3)

    def test_an_update_must_say_whose_rows_they_are(self, merged, run):
        refused = run("update", "m.json", "a.csv", "-e", "1", "-o", "m2.json", code=2)
        assert "--schema is needed" in refused.err
        run("update", "m.json", "a.csv", "-e", "1", "-s", "a.schema.json", "-o", "m2.json")


def _released(path):
    model = pv.load(path).model_
    return model.privacy.leaves, model.evidence.batches


class TestJoin:
    def test_different_attributes_of_the_same_people(self, folder, run):
        table = rows(300)
        for name, columns in (("left", ["form"]), ("right", ["age", "child"])):
            table[[*columns, "advice"]].to_csv(f"{name}.csv", index=False)
            pv.Schema(
                {column: SCHEMA.attributes[column] for column in columns}, "advice", ["no", "yes"]
            ).write(f"{name}.schema.json")
            fitted = [
                "fit",
                f"{name}.csv",
                "-s",
                f"{name}.schema.json",
                "-e",
                "1",
                "-l",
                "random-trees",
                "--set",
                "height=1",
            ]
            run(*fitted, "-o", f"{name}.json")
        done = run("join", "left.json", "right.json", "-o", "m.json")
        assert "2-differentially private with one row added or removed in all 2 tables" in done.out
        assert "unknown" not in run("predict", "m.json", "north.csv", "-o", "all.csv").err
        half = run("predict", "m.json", "left.csv", "-o", "half.csv")
        assert "not in the table, and taken as unknown: age, child" in half.err
        assert len(Path("half.csv").read_text().splitlines()) == 301

    def test_one_model_is_not_enough(self, parts, run):
        assert "at least two models" in run("join", "north.json", "-o", "m.json", code=2).err


NAMES = ("north", "south", "west")
SHOWN = {
    **{f"{name} alone": accuracy for name, accuracy in zip(NAMES, (0.87, 0.9, 0.89), strict=True)},
    "relay": 0.93,
    "pooled": 0.95,
    "random trees, merged": 0.86,
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demonstration said, and its folder: once, as it starts many processes."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    command = [sys.executable, "-c", "from privet.cli import main; main()", "federation", "demo"]
    done = subprocess.run(
        [*command, "--json", "--epsilon", "2", "-o", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), folder


class TestDemo:
    @pytest.mark.slow
    def test_it_compares_six_models(self, demo):
        told, folder = demo
        assert list(told["accuracy"]) == list(SHOWN)
        # Noise decides how much, not whether: every model has learnt something (.333 is to guess).
        assert min(told["accuracy"].values()) > 0.7
        assert told["accuracy"]["relay"] > min(list(told["accuracy"].values())[:3]) - 0.02
        assert sum(told["rows"][name] for name in NAMES) == told["rows"]["pooled"]
        assert told["rows"]["pooled"] + told["held_out"] == 12960
        assert told["folder"] == str(folder)

    @pytest.mark.slow
    def test_whoever_stays_alone_has_the_default_learner(self, demo):
        _, folder = demo
        expected = pv.PrivetClassifier(1, SCHEMA).fit(rows(300)).model_.learner
        for file in (*(f"{name}.alone.json" for name in NAMES), "pooled.json", "model.json"):
            assert pv.load(folder / file).model_.learner == expected, file
        assert pv.load(folder / "merged.json").model_.learner == "random-trees"

    @pytest.mark.slow
    def test_every_party_takes_a_turn_with_its_own_rows_and_pays_once(self, demo):
        told, folder = demo
        relay = RelayFile.read(folder / "relay-3.json")
        assert [visit.name for visit in relay.visits] == list(NAMES)
        assert not relay.next_names
        model = pv.load(folder / "model.json")
        assert model.privacy_.epsilon == 2
        assert told["promise"] == model.privacy_.describe()
        for name in NAMES:
            with duckdb.connect(str(folder / f"{name}.duckdb"), read_only=True) as connection:
                ((held,),) = connection.sql("SELECT count(*) FROM people").fetchall()
            assert held == told["rows"][name]
            # The relay has the ledger of the table; what it is compared with has others.
            for ledger in ("duckdb.ledger.sqlite", "alone.sqlite", "trees.sqlite"):
                spent = pv.SQLiteLedger(folder / f"{name}.{ledger}")
                assert [spent.spent(one).epsilon for one in spent.datasets()] == [2], ledger

    @pytest.mark.slow
    def test_it_draws_a_picture(self, demo):
        told, folder = demo
        assert told["picture"] == "accuracy.svg"
        assert "<svg" in (folder / "accuracy.svg").read_text()

    def test_without_matplotlib_it_says_what_to_install(self, monkeypatch, tmp_path):
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        said = federation_demo._draw(tmp_path / "accuracy.svg", SHOWN, "1", "private")
        assert "privet[plots]" in said
        assert not any(tmp_path.iterdir())

    def test_without_signatures_nothing_is_written(self, monkeypatch, run, tmp_path):
        monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
        done = run("federation", "demo", "-o", str(tmp_path / "out"), code=2)
        assert "pip install 'privet[relay]'" in done.err
        assert not (tmp_path / "out").exists()

    def test_words_follow_the_numbers(self):
        said = federation_demo.explain(SHOWN)
        assert "0.030 above the best party alone, 0.020 below pooled rows" in said
        assert "reach 0.860: 0.040 below the best party alone" in said
        turned = federation_demo.explain({**SHOWN, "relay": 0.88, "random trees, merged": 0.96})
        assert "0.020 below the best party alone, 0.070 below pooled rows" in turned
        assert "reach 0.960: 0.060 above the best party alone" in turned
        assert "level with the best party" in federation_demo.explain({**SHOWN, "relay": 0.9})

    def test_a_folder_that_is_there_is_left_alone(self, run, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "north.duckdb").write_text("precious")
        assert "mine is there already" in run("federation", "demo", "-o", "mine", code=2).err
        assert (tmp_path / "mine" / "north.duckdb").read_text() == "precious"

    def test_a_bad_epsilon_is_refused_before_anything_is_written(self, run, tmp_path):
        assert "epsilon must be" in run("federation", "demo", "--epsilon", "-1", code=2).err
        assert not (tmp_path / "federation-out").exists()
