"""SQL that predicts inside a database says what Python says, whatever names and labels are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.errors import ParameterError
from privet.report.sql import to_sql
from privet.report.sql_dialects import DIALECTS
from privet.testing import unlock_test_seeds
from tests.postgres import put_table

HOSTILE = [
    "it's",
    'say "x"',
    "semi; DROP TABLE people; --",
    "back\\slash",
    "new\nline",
    "ü€😀",
    "`t`",
]
NUMBER, TEXT, TARGET = 'how "old"; --', "co`l'our", "he\\al'th"
SCHEMA = pv.Schema(
    {
        NUMBER: pv.Numeric(0, 80, bins=7, missing="unknown"),
        TEXT: pv.Categorical(HOSTILE, other="else"),
        "rate": pv.Numeric(-1, 1, bins=5, on_unknown="drop"),
        "smokes": pv.Boolean(),
        "rooms": pv.Categorical([1, 2, 3]),
    },
    TARGET,
    ["it's", "a\\b", 'x"y'],
)


def rows(n: int = 400) -> pd.DataFrame:
    random = np.random.default_rng(3)
    texts = [*HOSTILE, "nowhere", None]
    return pd.DataFrame(
        {
            NUMBER: random.choice([-5, 0, 11.4, 35, 79.99, 80, 200, None], n),
            TEXT: pd.Series([texts[i] for i in random.integers(0, len(texts), n)], dtype=object),
            "rate": random.choice(["-1", "0.5", " 1e-1 ", "1_0", "x", "", "2", None], n),
            "smokes": random.choice(["true", "false"], n),
            "rooms": random.integers(1, 5, n),
            TARGET: random.choice(SCHEMA.classes, n),
        }
    )


LEARNERS: dict[str, Callable[[], pv.PrivetClassifier]] = {
    "greedy": lambda: pv.GreedyTreeClassifier(3, SCHEMA, max_depth=3, random_state=1),
    "forest": lambda: pv.ForestClassifier(3, SCHEMA, n_trees=3, random_state=1),
    "vote": lambda: pv.RandomTreesClassifier(3, SCHEMA, n_trees=4, combine="vote", random_state=1),
    "probabilities": lambda: pv.RandomTreesClassifier(
        3, SCHEMA, n_trees=4, combine="probabilities", random_state=1
    ),
    "additive": lambda: pv.AdditiveClassifier(3, SCHEMA, random_state=1),
    "id3": lambda: pv.NoisyID3Classifier(3, SCHEMA, random_state=1),
    "gibbs": lambda: pv.GibbsTreeClassifier(3, SCHEMA, random_state=1),
    "default": lambda: pv.PrivetClassifier(30, SCHEMA, random_state=1),
}


@pytest.fixture(scope="module")
def models() -> dict[str, pv.Model]:
    made = {}
    with unlock_test_seeds():
        for name, make in LEARNERS.items():
            made[name] = make().fit(rows(2000)).model_
    costs = {("it's", "a\\b"): 3, ("a\\b", 'x"y'): 9}
    made["costs"] = made["additive"].with_costs(costs)
    return made


def check(model: pv.Model, frame: pd.DataFrame, found: pd.DataFrame) -> None:
    released = pv.ReleasedClassifier(model)
    assert len(found) == len(frame)
    stated = found[[f"probability of {label}" for label in SCHEMA.classes]].to_numpy(float)
    wanted = released.predict_proba(frame)
    np.testing.assert_allclose(stated, wanted, rtol=1e-12, atol=1e-15)
    said = found[f"predicted {TARGET}"].to_numpy(object)
    assert (said == released.predict(frame)).all()


NAMES = [*LEARNERS, "costs"]


@pytest.mark.parametrize("name", NAMES)
def test_duckdb(models, name):
    frame = rows()
    people = frame  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect() as connection:
        connection.register("people", frame)
        check(models[name], frame, connection.execute(to_sql(models[name])).df())


@pytest.mark.parametrize("name", NAMES)
def test_sqlite(models, name):
    frame = rows()
    frame["rate"] = frame["rate"].map(lambda text: text.strip() if isinstance(text, str) else None)
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("people", connection, index=False)
        check(models[name], frame, pd.read_sql(to_sql(models[name], "sqlite"), connection))


@pytest.mark.parametrize("name", NAMES)
def test_postgres(models, name, postgres):
    psycopg = pytest.importorskip("psycopg")
    frame, url = rows(), postgres.database()
    put_table(url, frame)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(to_sql(models[name], "postgres"))
        columns = [column.name for column in cursor.description]
        check(models[name], frame, pd.DataFrame(cursor.fetchall(), columns=columns))


@pytest.mark.slow
def test_spark(models, spelled, tmp_path):
    pytest.importorskip("pyspark", reason="needs pip install 'privet[spark]'")
    from tests.spark import classic_session

    session = classic_session()
    for name, model, frame in (
        *((name, models[name], rows()) for name in NAMES),
        ("spelled", spelled, spelled_rows()),
    ):
        path = tmp_path / f"{name}.parquet"
        frame.to_parquet(path)
        session.read.parquet(str(path)).createOrReplaceTempView("people")
        found = session.sql(to_sql(model, "spark").rstrip(";\n"))
        check(model, frame, pd.DataFrame(found.collect(), columns=found.columns))


def test_a_column_that_is_called_like_a_step_is_refused():
    schema = pv.Schema({"Privet_C0": pv.Categorical(["u", "v"])}, "y", ["a", "b"])
    table = pd.DataFrame({"Privet_C0": ["u", "v"] * 50, "y": ["a", "b"] * 50})
    model = pv.GreedyTreeClassifier(50, schema, max_depth=1).fit(table).model_
    with pytest.raises(ParameterError, match="'Privet_C0' would be taken for a step"):
        to_sql(model)


def test_every_text_is_a_literal_of_its_dialect():
    for name, dialect in DIALECTS.items():
        assert dialect.text("it's") == ("'it\\'s'" if name == "spark" else "'it''s'")
        with pytest.raises(ParameterError, match="NUL"):
            dialect.text("a\x00b")
    assert DIALECTS["spark"].text("\\'") == "'\\\\\\''"
    assert DIALECTS["postgres"].text("a\\'b") == "E'a\\\\''b'"
    assert DIALECTS["spark"].name("a`b") == "`a``b`"


def test_a_table_may_have_a_schema(models):
    assert 'FROM "public"."pe""ople" AS t' in to_sql(models["greedy"], "postgres", 'public.pe"ople')


def test_the_guarantee_stays_in_its_comment(models):
    model = models["greedy"]
    loud = replace(model.privacy, assumes="x\n; DROP TABLE people; --")
    head = to_sql(replace(model, privacy=loud)).splitlines()
    assert all(line.startswith("--") for line in head[:3])
    assert head[4].startswith("WITH ")


def test_other_dialects_are_refused(models):
    with pytest.raises(ParameterError, match="did you mean 'postgres'"):
        to_sql(models["greedy"], "postgre")


SPELLED = pv.Schema(
    {
        "job": pv.Categorical(
            ["technici", "manageme", "it's", "ab"], other="other", missing="missing", prefix=8
        ),
        "fee": pv.Numeric(0, 5000, bins=9, decimal=",", thousands=".", unit="€", missing="missing"),
        "cost": pv.Numeric(0, 5000, bins=9, decimal=",", thousands=".", missing="missing"),
    },
    TARGET,
    SCHEMA.classes,
)


def spelled_rows(n: int = 1200) -> pd.DataFrame:
    random = np.random.default_rng(5)
    jobs = ["technician", "technici", "technic", "management of people", "it's", "it's so", "abc"]
    fees = ["1.234,50 €", "4.999,9", " 12 €", "€ 2.000", "30\u00a0€", "", "none", None]
    return pd.DataFrame(
        {
            "job": random.choice([*jobs, None], n),
            "fee": random.choice(fees, n),
            "cost": random.choice([1.5, 120.25, 4000.0, np.nan], n),  # numbers, not text
            TARGET: random.choice(SCHEMA.classes, n),
        }
    )


@pytest.fixture(scope="module")
def spelled() -> pv.Model:
    """A model that tells all these entries apart."""
    rng, table = np.random.default_rng(1), spelled_rows(4000)
    classes = SPELLED.encode(table).sum(axis=1) + rng.integers(0, 2, len(table))
    table[TARGET] = [SCHEMA.classes[int(k) % 3] for k in classes]
    with unlock_test_seeds():
        learner = pv.GreedyTreeClassifier(1000, SPELLED, max_depth=6, random_state=1)
        return learner.fit(table).model_


def test_text_is_cut_and_amounts_are_read_in_duckdb(spelled):
    frame = spelled_rows()
    with duckdb.connect() as connection:
        connection.register("people", frame)
        check(spelled, frame, connection.execute(to_sql(spelled)).df())


def test_text_is_cut_and_amounts_are_read_in_sqlite(spelled):
    frame = spelled_rows()
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("people", connection, index=False)
        check(spelled, frame, pd.read_sql(to_sql(spelled, "sqlite"), connection))


def test_text_is_cut_and_amounts_are_read_in_postgres(spelled, postgres):
    psycopg = pytest.importorskip("psycopg")
    frame, url = spelled_rows(), postgres.database()
    put_table(url, frame)
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(to_sql(spelled, "postgres"))
        columns = [column.name for column in cursor.description]
        check(spelled, frame, pd.DataFrame(cursor.fetchall(), columns=columns))
