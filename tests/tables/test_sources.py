"""Sources of rows: those of Privet, and those that other packages add by entry point."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet.cli.options import check_apart, ledger_beside
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import MissingDependency, ParameterError, TableError
from privet.tables.base import is_table
from privet.tables.memory import MemoryTable
from privet.tables.open import open_table, read_blocks, read_public
from privet.tables.sources import Source
from privet.tables.sources.builtin import BUILT_IN, MEMORY
from privet.tables.sources.registry import (
    GROUP,
    describe_places,
    file_of,
    load_registry,
    make_absolute,
)
from privet.tables.spark.table import SparkTable

ROOT = Path(__file__).parents[2]
SCHEMA = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"])
EVERYTHING = Question.of(Cells.everything(SCHEMA))
FRAME = pd.DataFrame({"a": ["x", "y", "x"], "c": ["no", "yes", "no"]})

#: A source of JSON lines, written lines:///FILE.
LINES = """
import json
from privet.tables.memory import MemoryTable
from privet.tables.sources import Source

def open_lines(url):
    import pandas as pd
    path = LINES.file_of(url)
    rows = map(json.loads, path.read_text().splitlines())
    return MemoryTable(pd.DataFrame(rows), name=path.name)

LINES = Source(
    "lines", "a file of JSON lines", "lines:///FILE", open_lines, schemes=("lines",), in_file=True
)
"""


@pytest.fixture
def install(tmp_path_factory, monkeypatch):
    """Put a module and its entry points where Python looks for packages."""
    modules = []

    def put(module: str, code: str, **points: str) -> None:
        folder = tmp_path_factory.mktemp("site")
        (folder / f"{module}.py").write_text(code)
        about = folder / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        lines = [f"{name} = {value}" for name, value in points.items()]
        (about / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *lines, ""]))
        monkeypatch.syspath_prepend(folder)
        load_registry.cache_clear()
        modules.append(module)

    yield put
    load_registry.cache_clear()
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def lines(install, tmp_path) -> str:
    """A table of a source that another package adds."""
    install("privet_lines", LINES, lines="privet_lines:LINES")
    FRAME.to_json(tmp_path / "people.jsonl", orient="records", lines=True)
    return f"lines:///{tmp_path}/people.jsonl"


def total(table) -> int:
    return int(open_table(table).source(SCHEMA).count(EVERYTHING)[0].sum())


# Privet's own sources.


def test_every_built_in_source_is_an_entry_point():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = project["entry-points"][GROUP]
    loaded = {}
    for name, value in points.items():
        module, _, attribute = value.partition(":")
        loaded[name] = getattr(import_module(module), attribute)
    assert loaded == {source.name: source for source in BUILT_IN}
    extras = project["optional-dependencies"]
    for source in BUILT_IN:
        assert not source.needs or source.requirement.removeprefix("privet")[1:-1] in extras


def test_built_in_sources_need_no_metadata(monkeypatch, tmp_path):
    """Such as those of an installation that is older than the code."""
    monkeypatch.setattr("privet.tables.sources.registry.entry_points", lambda group: [])
    load_registry.cache_clear()
    try:
        assert load_registry().sources == BUILT_IN
        FRAME.to_csv(tmp_path / "t.csv", index=False)
        assert total(tmp_path / "t.csv") == total(FRAME) == 3
    finally:
        load_registry.cache_clear()


def test_metadata_of_privet_that_is_out_of_date_does_no_harm(install):
    install("privet_old", "", gone="privet.tables.sources.builtin:GONE")
    assert load_registry().sources == BUILT_IN
    assert load_registry().unloaded == {}


def test_a_scheme_that_is_close_is_suggested():
    with pytest.raises(TableError) as caught:
        open_table("postgressql://host/db?table=t")
    assert "cannot open a postgressql:// table; did you mean 'postgresql'?" in str(caught.value)
    for source in BUILT_IN:
        assert source.example in str(caught.value)


@pytest.mark.parametrize(
    "url", ["duckdb://people.db?table=t", "duckdb:///?table=t", "duckdb://[a?table=t"]
)
def test_a_url_without_a_file_says_how_to_write_one(url):
    with pytest.raises(TableError, match=r"given as duckdb:///FILE\?table=NAME.*four slashes"):
        open_table(url)


def test_places_lead_to_files_or_servers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert file_of("t.csv") == file_of("duckdb:///t.csv?table=a") == tmp_path / "t.csv"
    assert file_of(f"duckdb:///{tmp_path}/a%20b.db?table=a") == tmp_path / "a b.db"
    for place in ("postgres://host/t.csv", "https://host/t.csv", "mysql://host/t.csv"):
        assert file_of(place) is None
        assert make_absolute(place) == place
    assert make_absolute("t.csv") == str(tmp_path / "t.csv")
    absolute = make_absolute("duckdb:///a%20b.db?table=main.t")
    assert absolute == f"duckdb:///{tmp_path}/a%20b.db?table=main.t"
    monkeypatch.chdir("/")
    assert make_absolute(absolute) == absolute


def test_a_link_leads_to_the_table_itself(tmp_path):
    real, link = tmp_path / "t.csv", tmp_path / "newest"
    FRAME.to_csv(real, index=False)
    link.symlink_to(real)
    assert make_absolute(str(link)) == str(real)
    assert total(link) == 3


# Tables, whatever their source.


def test_an_open_table_is_known_by_its_class():
    methods = ("check_structure", "check_reachable", "problems", "source", "read_blocks")
    frame = pd.DataFrame({name: [1] for name in (*methods, "name", "writable")})
    assert not is_table(frame)
    table = open_table(frame)
    assert is_table(table)
    assert open_table(table) is table


@pytest.mark.parametrize(
    "table",
    [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), FRAME.to_dict("list")],
    ids=["pandas", "polars", "arrow", "mapping"],
)
def test_rows_in_memory_are_read_block_by_block(table):
    blocks = list(open_table(table).read_blocks(2))
    assert [len(block) for block in blocks] == [2, 1]
    assert pd.concat(blocks)[["a", "c"]].to_numpy().tolist() == FRAME.to_numpy().tolist()


def test_labels_are_read_with_their_rows():
    (named,) = open_table(FRAME[["a"]], FRAME["c"]).read_blocks(9)
    assert named.to_numpy().tolist() == FRAME.to_numpy().tolist()
    (unnamed,) = open_table(FRAME[["a"]], FRAME["c"].tolist()).read_blocks(9)
    assert list(unnamed.columns) == ["a", "y"]
    assert "y" not in FRAME


def test_no_rows_are_one_empty_block():
    (block,) = open_table(FRAME[:0]).read_blocks(2)
    assert list(block.columns) == ["a", "c"]
    assert len(block) == 0


def test_rows_in_spark_stay_there():
    with pytest.raises(TableError, match="stay on its cluster"):
        SparkTable(None).read_blocks(2)


# Sources of other packages.


def test_the_source_of_the_how_to_page(install, tmp_path):
    page = (ROOT / "docs" / "how-to" / "add-a-source.md").read_text(encoding="utf-8")
    code = re.search(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    points = re.search(r"^```toml\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    assert code is not None
    assert points is not None
    named = tomllib.loads(points[1])["project"]["entry-points"][GROUP]
    install("privet_arrow", code[1], **named)
    with pa.ipc.new_file(str(tmp_path / "T.Arrow"), pa.Table.from_pandas(FRAME).schema) as file:
        file.write_table(pa.Table.from_pandas(FRAME))
    table = open_table(tmp_path / "T.Arrow")
    assert table.name == "T.Arrow"
    assert total(table) == 3
    assert "FILE.arrow" in describe_places()


def test_a_source_of_another_package_is_known_everywhere(lines, tmp_path):
    assert total(lines) == 3
    pd.testing.assert_frame_equal(read_public(lines), FRAME)
    assert [len(block) for block in read_blocks(lines, size=2)] == [2, 1]
    assert "lines:///FILE" in describe_places()
    assert ledger_beside(lines) == tmp_path / "people.jsonl.ledger.sqlite"
    with pytest.raises(ParameterError, match="the private table itself"):
        check_apart([tmp_path / "people.jsonl"], lines, None)
    for wrong in ("absent.csv", "nothing://host", "line:///x"):
        with pytest.raises(TableError, match="lines:///FILE"):
            open_table(wrong)
    with pytest.raises(TableError, match="did you mean 'lines'"):
        open_table("line:///x")
    with pytest.raises(TableError, match="y goes with a data frame"):
        open_table(lines, y=[1])


def test_commands_know_a_source_of_another_package(lines, install, tmp_path, monkeypatch):
    install("privet_broken", "import nothing_of_the_kind", broken="privet_broken:X")
    SCHEMA.write(tmp_path / "schema.json")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("COLUMNS", "400")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        program = "from privet.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
        )

    assert "lines://" in run("schema", "check", "--help").stdout
    checked = run("schema", "check", str(tmp_path / "schema.json"), lines)
    assert (checked.returncode, checked.stderr) == (0, "")
    listed = run("sources")
    assert listed.returncode == 0
    assert "a file of JSON lines" in listed.stdout
    assert "the source 'broken' could not be loaded (ModuleNotFoundError" in listed.stderr
    refused = run("schema", "check", str(tmp_path / "schema.json"), "broken://host")
    assert refused.returncode == 2
    assert "'broken' could not be loaded" in refused.stderr


def test_help_imports_no_engine():
    heavy = "duckdb", "pandas", "psycopg", "pyspark", "pyarrow", "privet.tables.duckdb.table"
    program = (
        "import sys\nfrom privet.cli import main\n"
        "sys.argv = ['privet', 'fit', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"sys.exit(' '.join({set(heavy)} & set(sys.modules)) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "FILE.csv" in done.stdout


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_of_the_kind", "ModuleNotFoundError"),
        ("X = 1 / 0", "ZeroDivisionError"),
        ("Y = 1", "AttributeError"),
        ("X = 1", "is no Source, but a int"),
        (
            "from privet.tables.sources import Source\nX = Source('x', 'x', 'x', print, ('X://',))",
            "schemes must be in lower case",
        ),
    ],
    ids=["import", "module", "attribute", "object", "description"],
)
def test_a_broken_source_breaks_no_other(install, lines, code, why, tmp_path):
    install("privet_broken", code, broken="privet_broken:X")
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    assert total(FRAME) == total(tmp_path / "t.csv") == total(lines) == 3
    with pytest.raises(TableError, match=f"the source 'broken' could not be loaded.*{why}"):
        open_table("broken://host/db")


def test_an_entry_point_that_leads_nowhere_breaks_no_other(install):
    install("privet_broken", "", broken="no such thing!", empty="")
    assert load_registry().sources == BUILT_IN
    assert set(load_registry().unloaded) == {"broken", "empty"}


GREEDY = """
from privet.tables.memory import MemoryTable
from privet.tables.sources import Source

X = Source(
    "greedy", "everything", "greedy://HOST", lambda place: MemoryTable({"a": [], "c": []}),
    schemes=("lines", "duckdb", "https", "greedy"), endings=(".csv", ".new.csv", ".duckdb"),
    takes=lambda table: True,
)
"""


def test_schemes_and_endings_stay_with_those_who_have_them(install, lines, tmp_path):
    install("privet_other", GREEDY, other="privet_other:X")
    assert total("greedy://host") == 0
    (tmp_path / "t.duckdb").touch()
    assert total(tmp_path / "t.duckdb") == 0
    assert total(FRAME) == 3
    for name in ("t.csv", "t.new.csv"):
        FRAME.to_csv(tmp_path / name, index=False)
        with pytest.warns(UserWarning, match="'.*csv' belongs to the source 'csv'; the source 'gr"):
            assert total(tmp_path / name) == 3
    with pytest.warns(UserWarning, match="'lines://' belongs to .* of the package privet_other"):
        assert total(lines) == 3
    assert "an address" in load_registry().refused["https://"]
    assert file_of("https://host/people.csv") is None


def test_an_object_of_another_library_has_its_source(install):
    code = (
        "from privet.tables.memory import MemoryTable\nfrom privet.tables.sources import Source\n"
        "class Mine: pass\n"
        "X = Source('mine', 'my table', 'a Mine', takes=lambda table: type(table) is Mine,\n"
        "           opener=lambda mine: MemoryTable({'a': ['x'], 'c': ['no']}, name='mine'))\n"
    )
    install("privet_mine", code, mine="privet_mine:X")
    load_registry()
    assert open_table(sys.modules["privet_mine"].Mine()).name == "mine"
    assert open_table(FRAME).name == "table in memory"
    assert "a Mine" in describe_places(objects=True)
    assert "a Mine" not in describe_places()


# What a source says about itself.


def source_of(**changed) -> Source:
    return Source(**{"name": "s", "help": "a thing", "example": "s://X", "opener": print} | changed)


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"name": ""}, "name must be one line"),
        ({"help": "two\nlines"}, "help must be one line"),
        ({"schemes": "lines"}, "schemes must be a tuple"),
        ({"schemes": ("lines://",)}, "schemes must be in lower case and without '://'"),
        ({"endings": ("csv",)}, "endings must be in lower case and begin with a dot"),
        ({"endings": (".CSV",)}, "endings must be in lower case"),
        ({"needs": ("numpy",)}, "requirement must say what to install"),
    ],
)
def test_a_wrong_description_is_refused(changed, wrong):
    with pytest.raises(ParameterError, match=wrong):
        source_of(**changed)


def test_what_is_missing_comes_with_the_command_that_installs_it():
    def opener(place):
        import nothing_of_the_kind  # noqa: F401

    source = source_of(opener=opener, needs=("json", "nothing_of_the_kind"), requirement="s[all]")
    assert not source.is_installed
    with pytest.raises(
        MissingDependency,
        match=r"a thing needs the package 'nothing_of_the_kind': pip install 's\[all\]'",
    ):
        source.open("s://X")
    with pytest.raises(ModuleNotFoundError) as caught:
        source_of(opener=opener).open("s://X")
    assert not isinstance(caught.value, MissingDependency)


def test_an_opener_that_opens_no_table_is_said():
    with pytest.raises(TableError, match="'s' opened no table, but a dict"):
        source_of(opener=lambda place: {}).open("s://X")


def test_memory_takes_what_no_other_source_takes():
    assert load_registry().find_object(object()) is MEMORY
    assert isinstance(open_table(np.zeros((2, 1)), y=["no", "yes"]), MemoryTable)
