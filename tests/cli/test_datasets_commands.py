"""``privet datasets list`` and ``privet datasets get``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from privet.datasets import load, names
from privet.domain import Schema

Run = Callable[..., Any]


def test_list_names_every_data_set(privet: Run) -> None:
    listed = json.loads(privet("datasets", "list", "--json").out)
    assert [line["name"] for line in listed] == names()
    assert (
        listed[0].items()
        >= {"rows": 12960, "attributes": 8, "classes": 5, "available": True}.items()
    )
    table = privet("datasets", "list").out
    assert all(name in table for name in names())


def test_get_writes_the_table_and_its_schema(privet: Run) -> None:
    ran = privet("datasets", "get", "car", "--output", "new/folder")
    assert (ran.code, ran.out) == (
        0,
        "wrote new/folder/car.csv (1728 rows) and new/folder/car.schema.json\n",
    )
    assert Schema.read("new/folder/car.schema.json") == load("car").schema
    pd.testing.assert_frame_equal(
        pd.read_csv("new/folder/car.csv", dtype=str),
        load("car").table.astype(str),
        check_dtype=False,
    )
    assert sorted(path.name for path in Path("new/folder").iterdir()) == [
        "car.csv",
        "car.schema.json",
    ]


def test_get_replaces_files_only_with_force(privet: Run) -> None:
    for existing in ("car.csv", "car.schema.json"):
        Path("car.csv").unlink(missing_ok=True)
        Path(existing).write_text("mine")
        ran = privet("datasets", "get", "car")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert f"{existing} exists; replace it with --force" in ran.err
        assert Path(existing).read_text() == "mine"
    assert privet("datasets", "get", "car", "--force").code == 0
    assert Path("car.csv").read_text().startswith("buying,")


def test_get_refuses_an_unknown_name_or_target(privet: Run) -> None:
    for arguments, said in (
        (("nursry",), "did you mean 'nursery'"),
        (("car", "--target", "class"), "target"),
    ):
        ran = privet("datasets", "get", *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert said in ran.err
    assert list(Path().iterdir()) == []


def test_get_says_where_it_cannot_write(privet: Run) -> None:
    Path("file").write_text("")
    ran = privet("datasets", "get", "car", "--output", "file")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "cannot write to file" in ran.err
