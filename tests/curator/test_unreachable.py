"""Nothing is charged for a table that cannot be reached, however often somebody asks."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pandas as pd
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator, Owner
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.errors import TableError
from tests.postgres import put_table

SCHEMA = Schema(
    {"colour": Categorical(["red", "green"]), "age": Numeric(0, 80, bins=4)}, "ill", ["no", "yes"]
)
QUESTIONS = {
    "count": lambda curator: curator.count(Cells.everything(SCHEMA), "1/10"),
    "size": lambda curator: curator.size("1/10"),
    "choose": lambda curator: curator.choose(
        Cells.everything(SCHEMA), [Split.multiway(SCHEMA, "colour")], "gini", "1/10"
    ),
    "quantile": lambda curator: curator.median("age", "1/10"),
}
FRAME = pd.DataFrame(
    {"colour": ["red", "green"] * 20, "age": [10.0, 50.0] * 20, "ill": ["no", "yes"] * 20}
)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))
def test_a_file_that_is_gone(tmp_path, question):
    path = tmp_path / "people.csv"
    FRAME.to_csv(path, index=False)
    curator = Curator(path, SCHEMA, Budget(1))
    path.rename(tmp_path / "away.csv")
    for _ in range(3):
        with pytest.raises(TableError, match="gone"):
            question(curator)
    assert curator.ledger.entries() == []
    (tmp_path / "away.csv").rename(path)
    question(curator)
    assert curator.left == Budget("9/10").amount


def test_a_share_of_a_file_that_is_gone(tmp_path):
    path = tmp_path / "people.csv"
    FRAME.to_csv(path, index=False)
    owner = Owner(path, SCHEMA, Budget(1))
    path.unlink()
    with pytest.raises(TableError, match="gone"):
        owner.share(Cells.everything(SCHEMA), "1/10", parties=3, honest=2)
    assert owner.ledger.entries() == []


def test_a_folder_that_may_not_be_entered(tmp_path, monkeypatch):
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    curator = Curator(tmp_path / "people.csv", SCHEMA, Budget(1))

    def closed(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", closed)
    with pytest.raises(TableError, match="gone"):
        curator.size("1/10")
    assert curator.ledger.entries() == []


def test_within_a_snapshot_nobody_waits_for_who_waits_for_the_snapshot(postgres):
    """The owner wants to lock the table, and waits for the snapshot; a question in it must not
    queue behind the owner.
    """
    import psycopg

    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:  # an error, rather than no end
        connection.execute(f"ALTER DATABASE {connection.info.dbname} SET lock_timeout = '20s'")
    curator = Curator(put_table(url, FRAME), SCHEMA, Budget(1))

    def lock():
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("ALTER TABLE people ADD COLUMN note text")

    owner = threading.Thread(target=lock)
    with psycopg.connect(url, autocommit=True) as watching, curator.snapshot():
        curator.size("1/10")
        owner.start()
        while watching.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone() == (
            0,
        ):
            time.sleep(0.01)
        curator.size("1/10")
    owner.join()
    assert curator.left == Budget("8/10").amount


def test_a_snapshot_whose_server_was_killed_is_charged_for_nothing_more(own_postgres):
    curator = Curator(put_table(own_postgres.database(), FRAME), SCHEMA, Budget(1))
    with curator.snapshot():
        curator.size("1/10")
        own_postgres.crash()
        own_postgres.start()
        for _ in range(2):
            with pytest.raises(TableError):
                curator.size("1/10")
    assert len(curator.ledger.entries()) == 1
    curator.size("1/10")
