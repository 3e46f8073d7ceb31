"""Write golden files: ``python -m tests.golden.make FOLDER [PART ...]``.

The files in ``v0.1`` were made by Privet 0.1.0 with this script. They stand for what users of 0.1
have on their disks, so later code must NEVER write them again. Keep this script as the record of
how they were made. A later version whose formats differ adds a folder of its own (``v0.2``, ...).

Randomness is drawn from a fixed stream, in place of the operating system's, so that models and
ledgers come out alike (times, ports and keys of OpenSSL do not). No real person is in any table.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

import privet as pv
from tests.golden import http_home
from tests.golden.facts import exact_counts, facts_of, ledger_facts
from tests.golden.files import states, write_json
from tests.golden.reach import MAIN, commands, privet, serving
from tests.golden.samples import LEFT, PLAIN, RICH, RIGHT, plain, rich

Budget = pv.Budget


@contextmanager
def fixed_stream(name: str) -> Iterator[None]:
    """Draw from a stream that follows the name, in place of the system's generator."""
    drawn = 0

    def draw(size: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return hashlib.shake_256(f"golden\0{name}\0{drawn}".encode()).digest(size)

    system, other = os.urandom, random._urandom  # type: ignore[attr-defined]
    os.urandom = random._urandom = draw  # type: ignore[attr-defined, assignment]
    try:
        yield
    finally:
        os.urandom, random._urandom = system, other  # type: ignore[attr-defined]


def run(folder: Path, *words: object, code: int = 0, **environment: str) -> str:
    """Run the command; its output."""
    ran = privet(*words, folder=folder, environment=environment)
    assert ran.code == code, (words, ran)
    return ran.out


# -- schemas -------------------------------------------------------------------------------------


def make_schemas(folder: Path) -> None:
    """Schema files, and how each encodes a table: the noiseless counts of generated rows."""
    car = pv.datasets.load("car").schema
    schemas = {
        "plain": PLAIN,
        "rich": RICH,
        "car": car,
        "car-rows": car.declare(n_rows=1728),
        "people": PLAIN.declare(person="who", rows_per_person=2),
        "replace": PLAIN.declare(neighbours="replace", n_rows=400),
        "numbers": pv.Schema({"n": pv.Numeric(1, 1000, bins=3, spacing="log")}, "c", [0, 1]),
        "truth": pv.Schema({"t": pv.Categorical([True, False])}, "c", [True, False]),
    }
    expected = {}
    for name, schema in schemas.items():
        schema.write(folder / f"{name}.json")
        expected[name] = {
            "fingerprint": schema.fingerprint,
            "sizes": [int(size) for size in schema.sizes],
            "names": list(schema.names),
            "labels": {key: list(a.labels) for key, a in schema.attributes.items()},
            "target": schema.target,
            "classes": list(schema.classes),
            "n_rows": schema.n_rows,
            "person": schema.person,
            "rows_per_person": schema.rows_per_person,
            "neighbours": schema.neighbours,
            "from_data": schema.from_data,
        }
    read_off = PLAIN.to_json() | {"from_data": True}
    (folder / "from-data.json").write_text(json.dumps(read_off), "utf-8")
    expected["from-data"] = expected["plain"] | {"from_data": True}
    # One row a person, or which of their rows count would be drawn by chance.
    rich_rows = rich().assign(who=[f"p{i}" for i in range(240)])
    rich_rows.to_csv(folder / "rich.csv", index=False)
    expected["counts of rich.csv"] = exact_counts(folder / "rich.csv", RICH)
    write_json(folder / "expected.json", expected)


# -- models --------------------------------------------------------------------------------------


def curator(schema: pv.Schema = PLAIN, rows: int = 400, turn: int = 0, **more: Any) -> pv.Curator:
    """A curator of generated rows."""
    return pv.Curator(plain(rows, turn), schema, **({"budget": Budget(100)} | more))


def fitted_models() -> dict[str, Callable[[], Any]]:
    """Every learner, with the settings that change what stands in its file."""
    table, known = plain(), PLAIN.declare(n_rows=400)
    people = PLAIN.declare(person="who", rows_per_person=2)
    small = {"n_trees": 3, "height": 2}
    car = pv.datasets.load("car")

    def seeded() -> Any:
        with pv.unlock_test_seeds():
            return pv.GreedyTreeClassifier(1, PLAIN, max_depth=2, random_state=1).fit(table)

    def parts(people: str) -> Any:
        learner = pv.RandomTreesClassifier(1, PLAIN, **small, people=people)
        return learner.partial_fit(table).partial_fit(plain(100, 500))

    def updated() -> Any:
        first = pv.RandomTreesClassifier(1, **small).fit_from(curator(dataset="winter"))
        later = curator(rows=200, turn=900, dataset="spring")
        return pv.federation.update(first.model_, later, "1/2", "disjoint", "spring")

    def joined(kind: Any) -> Any:
        halves = [kind(1, schema).fit(table) for schema in (LEFT, RIGHT)]
        return pv.federation.join(halves)

    def tuned() -> Any:
        depths = [pv.GreedyTreeClassifier("1/2", max_depth=depth) for depth in (1, 2)]
        return pv.tune(depths, curator(), 1)

    return {
        "privet": lambda: pv.PrivetClassifier(1, PLAIN).fit(table),
        "privet-car": lambda: pv.PrivetClassifier(1, car.schema.declare(n_rows=1728)).fit(
            car.X, car.y
        ),
        "privet-delta": lambda: pv.PrivetClassifier(1, PLAIN, delta="1e-6").fit(table),
        "privet-rho": lambda: pv.PrivetClassifier(1, delta="1e-6").fit_from(
            curator(budget=Budget(rho=5))
        ),
        "privet-rich": lambda: pv.PrivetClassifier(1, RICH).fit(rich()),
        "gibbs-tree": lambda: pv.GibbsTreeClassifier(1, PLAIN).fit(table),
        "gibbs-boost": lambda: pv.GibbsBoostClassifier(2, PLAIN, rounds=3).fit(table),
        "gibbs-boost-delta": lambda: pv.GibbsBoostClassifier(2, PLAIN, rounds=3, delta="1e-6").fit(
            table
        ),
        "random-trees": lambda: pv.RandomTreesClassifier(1, PLAIN, **small).fit(table),
        "random-trees-rich": lambda: pv.RandomTreesClassifier(1, RICH, **small).fit(rich()),
        "random-trees-vote": lambda: pv.RandomTreesClassifier(
            1, PLAIN, combine="vote", **small
        ).fit(table),
        "random-trees-counts": lambda: pv.RandomTreesClassifier(
            1, PLAIN, combine="counts", shrink=0, **small
        ).fit(table),
        "random-trees-people": lambda: pv.RandomTreesClassifier(1, people, **small).fit(table),
        "greedy-tree": lambda: pv.GreedyTreeClassifier(2, PLAIN, max_depth=2).fit(table),
        "greedy-tree-max": lambda: pv.GreedyTreeClassifier(
            2, PLAIN, criterion="max", max_depth=3, schedule="thesis", shrink=0
        ).fit(table),
        "greedy-tree-info-gain": lambda: pv.GreedyTreeClassifier(
            8, known, criterion="info_gain", splits="multiway", schedule="deep", max_depth=2
        ).fit(table),
        "forest-people": lambda: pv.ForestClassifier(2, PLAIN, n_trees=3, max_depth=2).fit(table),
        "forest-budget": lambda: pv.ForestClassifier(
            2, PLAIN, n_trees=3, max_depth=2, divide="budget", combine="vote"
        ).fit(table),
        "additive": lambda: pv.AdditiveClassifier(1, PLAIN).fit(table),
        "additive-rich": lambda: pv.AdditiveClassifier(1, RICH, damping=0.5).fit(rich()),
        "noisy-id3": lambda: pv.NoisyID3Classifier(4, PLAIN, max_depth=2).fit(table),
        "not-private-seed": seeded,
        "not-private-from-data": lambda: pv.GreedyTreeClassifier(1, "from-data", max_depth=2).fit(
            table[list(PLAIN.names)], table["ill"]
        ),
        "public-table": lambda: pv.GreedyTreeClassifier(1, max_depth=2).fit_from(
            curator(public=True)
        ),
        "partial-disjoint": lambda: parts("disjoint"),
        "partial-may-overlap": lambda: parts("may-overlap"),
        "updated": updated,
        "joined-random-trees": lambda: joined(pv.RandomTreesClassifier),
        "joined-privet": lambda: joined(pv.PrivetClassifier),
        "tuned": tuned,
    }


def make_models(folder: Path) -> None:
    """Model files, rows to classify, and what the models say of them."""
    rows = {
        "plain": plain(24, 1000).drop(columns=["who", "ill"]),
        "rich": rich(40).drop(columns=["who", "ill"]),
        "car": pv.datasets.load("car").X.iloc[::97],
    }
    rows["from-data"] = rows["plain"].set_axis(["x0", "x1", "x2"], axis="columns")
    for name, frame in rows.items():
        frame.to_csv(folder / f"{name}.rows.csv", index=False)
    expected = {}
    for name, fit in fitted_models().items():
        with fixed_stream(name), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pv.save(fit(), folder / f"{name}.json")
        kind = next((kind for kind in rows if name.endswith(f"-{kind}")), "plain")
        read = pd.read_csv(folder / f"{kind}.rows.csv")
        expected[name] = {"rows": f"{kind}.rows.csv", **facts_of(folder / f"{name}.json", read)}
        for command in ("show", "card"):
            shown = run(folder, command, f"{name}.json")
            assert states(shown, expected[name]), (name, command, shown)
    write_json(folder / "expected.json", expected)


# -- ledgers -------------------------------------------------------------------------------------

VERSION_1 = """
CREATE TABLE caps (dataset TEXT NOT NULL, analyst TEXT NOT NULL, amount TEXT NOT NULL,
    unit TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE TABLE spent (dataset TEXT NOT NULL, analyst TEXT NOT NULL, epsilon TEXT,
    rho TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE TABLE entries (number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL,
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, what TEXT NOT NULL, epsilon TEXT,
    rho TEXT NOT NULL);
CREATE TRIGGER entries_stay BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
INSERT INTO caps VALUES ('people', '', '1', 'rho'), ('people', 'ada', '1/2', 'rho'),
    ('towns', '', '3', 'epsilon');
INSERT INTO entries VALUES
    (1, '2026-01-01T00:00:00.000+00:00', 'people', 'ada', 'counts', '1/3', '1/18'),
    (2, '2026-01-02T00:00:00.000+00:00', 'people', 'bob', 'noise', NULL, '1/9'),
    (3, '2026-01-03T00:00:00.000+00:00', 'towns', 'ada', 'size', '1/7', '1/98');
INSERT INTO spent VALUES ('people', '', NULL, '1/6'), ('people', 'ada', '1/3', '1/18'),
    ('people', 'bob', NULL, '1/9'), ('towns', '', '1/7', '1/98'), ('towns', 'ada', '1/7', '1/98');
PRAGMA application_id = 0x50726976;
PRAGMA user_version = 1;
"""


def make_ledgers(folder: Path) -> None:
    """Ledgers of both formats that 0.1 accepts. Version 1 was written before 0.1."""
    first = folder / "version-1.sqlite"
    with closing(sqlite3.connect(first)) as connection:
        connection.executescript(VERSION_1)
    second = folder / "version-2.sqlite"
    with fixed_stream("ledger"), closing(pv.SQLiteLedger(second)) as ledger:
        ledger.open_cap("people", Budget(3))
        ledger.set_cap("people", Budget(2), "ada")
        ledger.set_cap("people", Budget("1/2"), "bob")
        ledger.open_cap("towns", Budget(rho="1/10"))
        ledger.set_cap("towns", Budget(rho="1/20"), "cleo")
        ledger.charge("people", "ada", pv.Cost.pure("1/3"), "counts of 3 cells")
        keyed = ledger.charge(
            "people", "ada", pv.Cost.pure("1/7"), "the size", key="key-1", request="digest-1"
        )
        ledger.record(keyed.number, b'{"answer": "recorded"}')
        ledger.charge(
            "people", "bob", pv.Cost.pure("1/4"), "counts", key="key-1", request="digest-2"
        )
        ledger.charge("towns", "cleo", pv.Cost.concentrated("1/90"), "counts")
        ledger.set_cap("people", Budget(4))
        ledger.set_cap("people", Budget("3/4"), "bob")
        ledger.charge("people", "bob", pv.Cost.pure("1/2"), "all that is left")
    settle(second)
    copies = Path(tempfile.mkdtemp())
    expected = {}
    for path in (first, second):
        expected[path.name] = ledger_facts(Path(shutil.copy(path, copies)))
    expected[second.name]["answers"] = {str(keyed.number): '{"answer": "recorded"}'}
    shutil.rmtree(copies)
    write_json(folder / "expected.json", expected)


def settle(path: Path) -> None:
    """Bring what SQLite keeps beside a file into it, and end the connection."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


# -- fits that were interrupted ------------------------------------------------------------------

KILLED = """
import os, signal, sys
import privet as pv
turn, place = int(sys.argv[1]), sys.argv[2]
charge, record = pv.SQLiteLedger.charge, pv.SQLiteLedger.record
def charges(self, *given, **named):
    entry = charge(self, *given, **named)
    if place == "charge" and len(self.entries()) == turn:
        os.kill(os.getpid(), signal.SIGKILL)
    return entry
def records(self, number, answer):
    kept = record(self, number, answer)
    if place == "record" and len(self.entries()) == turn:
        os.kill(os.getpid(), signal.SIGKILL)
    return kept
pv.SQLiteLedger.charge, pv.SQLiteLedger.record = charges, records
sys.argv = ["privet", *sys.argv[3:]]
"""
FIT = ["fit", "t.csv", "--schema", "s.json", "--epsilon", "1", "--budget", "1"]
FITS: dict[str, tuple[str, int, list[str]]] = {
    "privet": ("record", 1, [*FIT, "-o", "m.json"]),
    "random-trees": (
        "record",
        1,
        [*FIT, "-l", "random-trees", "--set", "n_trees=3", "-o", "m.json"],
    ),
    "random-trees-unanswered": ("charge", 1, [*FIT, "-l", "random-trees", "-o", "m.json"]),
    "greedy-tree": (
        "record",
        2,
        [*FIT, "-l", "greedy-tree", "--set", "max_depth=3", "-o", "m.json"],
    ),
    "gibbs-boost": ("record", 2, [*FIT, "-l", "gibbs-boost", "--set", "rounds=4", "-o", "m.json"]),
    "gibbs-tree": ("record", 1, [*FIT, "-l", "gibbs-tree", "-o", "m.json"]),
    "additive": ("record", 1, [*FIT, "-l", "additive", "-o", "m.json"]),
    "noisy-id3": ("record", 2, [*FIT, "-l", "noisy-id3", "--set", "max_depth=2", "-o", "m.json"]),
    "forest-budget": (
        "record",
        3,
        [*FIT, "-l", "forest", "--set", "divide=budget", "--set", "n_trees=2", "-o", "m.json"],
    ),
    "synthetic": (
        "record",
        2,
        ["publish", "synthetic", *FIT[1:], "--rows", "50", "-o", "m.csv"],
    ),
}


def make_unfinished(folder: Path) -> None:
    """Fits that were killed half way: the file beside the output, and the ledger."""
    plain(300).to_csv(folder / "t.csv", index=False)
    PLAIN.declare(n_rows=300).write(folder / "s.json")
    expected = {}
    for name, (place, turn, words) in FITS.items():
        with tempfile.TemporaryDirectory() as temporary:
            work = Path(temporary)
            for file in ("t.csv", "s.json"):
                shutil.copy(folder / file, work)
            command = [sys.executable, "-c", KILLED + MAIN, str(turn), place, *words]
            done = subprocess.run(command, cwd=work, capture_output=True, check=False)
            assert done.returncode == -signal.SIGKILL, (name, done)
            ledger = work / "t.csv.ledger.sqlite"
            settle(ledger)
            (folder / name).mkdir()
            shutil.copy(ledger, folder / name / "ledger.sqlite")
            unfinished = work / f"{words[-1]}.unfinished"
            shutil.copy(unfinished, folder / name / unfinished.name)
            facts = ledger_facts(ledger)
            ran = privet(*words, folder=work)
            assert ran.code == 0, (name, ran)
            assert not unfinished.exists()
            after = ledger_facts(ledger)
            assert after["entries"][: len(facts["entries"])] == facts["entries"]
        expected[name] = {
            "command": words,
            "entries": facts["entries"],
            "unanswered": facts["unanswered"],
            "spent": facts["accounts"][0]["spent"],
            "spent at the end": after["accounts"][0]["spent"],
            "charges at the end": [[entry["what"], entry["cost"]] for entry in after["entries"]],
        }
    write_json(folder / "expected.json", expected)


# -- federations, randomised records, synthetic tables ---------------------------------------------


def make_federation(folder: Path) -> None:
    """Plans, what parties contribute, and what is merged from them."""
    PLAIN.write(folder / "s.json")
    parties = {"north": plain(300), "south": plain(200, 2000), "west": plain(100, 4000)}
    with fixed_stream("federation"), tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        for combine in ("probabilities", "vote"):
            plan = folder / f"plan-{combine}.json"
            options = ["--trees", 3, "--height", 2, "--combine", combine, "-o", plan]
            run(work, "federation", "plan", "--schema", folder / "s.json", *options)
            for party, table in parties.items():
                place = work / f"{party}-{combine}.csv"
                table.to_csv(place, index=False)
                epsilon = {"north": "1", "south": "1/2", "west": "1/4"}[party]
                given = ["--plan", plan, "--epsilon", epsilon, "--party", party]
                output = folder / f"{party}-{combine}.json"
                run(work, "federation", "contribute", place, *given, "-o", output)
            files = [folder / f"{party}-{combine}.json" for party in parties]
            for people in ("disjoint", "may-overlap"):
                merged = folder / f"merged-{combine}-{people}.json"
                run(work, "merge", *files, "--people", people, "-o", merged)
    rows = plain(24, 1000).drop(columns=["who", "ill"])
    rows.to_csv(folder / "rows.csv", index=False)
    rows = pd.read_csv(folder / "rows.csv")
    expected: dict[str, Any] = {"plans": {}, "models": {}}
    for path in sorted(folder.glob("plan-*.json")):
        plan = pv.federation.read_plan(path)
        expected["plans"][path.name] = {"fingerprint": plan.fingerprint}
    for path in [*sorted(folder.glob("merged-*.json")), *sorted(folder.glob("*th-*.json"))]:
        expected["models"][path.name] = facts_of(path, rows)
    write_json(folder / "expected.json", expected)


def make_randomised(folder: Path) -> None:
    """Randomizer files, reports, what a curator of reports counts, and models from them."""
    schema = PLAIN.declare(neighbours="replace")
    schema.write(folder / "s.json")
    expected: dict[str, Any] = {}
    rows = plain(24, 1000).drop(columns=["who", "ill"])
    rows.to_csv(folder / "rows.csv", index=False)
    rows = pd.read_csv(folder / "rows.csv")
    kinds = {
        "sample": ["--spread", "sample", "--together", "2"],
        "split": ["--spread", "split", "--class-share", "1/2"],
        "leaves": ["--plan", folder / "plan.json"],
    }
    with fixed_stream("randomised"), tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        plain(400).to_csv(work / "t.csv", index=False)
        given = ["--schema", folder / "s.json", "--height", 1, "--trees", 2]
        run(work, "federation", "plan", *given, "-o", folder / "plan.json")
        for kind, options in kinds.items():
            file, reports = folder / f"{kind}.randomizer.json", folder / f"{kind}.reports.csv"
            given = ["--schema", folder / "s.json", "--epsilon", "4", *options]
            run(work, "publish", "randomizer", *given, "-o", file)
            run(
                work,
                "publish",
                "randomize",
                "t.csv",
                "--randomizer",
                file,
                "--budget",
                "100",
                "-o",
                reports,
            )
            made = pv.publish.read_randomizer(file)
            facts: dict[str, Any] = {"epsilon": str(made.epsilon), "columns": list(made.columns)}
            if kind != "leaves":
                curator = pv.publish.local_curator(pd.read_csv(reports), made)
                everything = pv.Cells.everything(PLAIN)
                by = everything.refine({0: pv.Split.multiway(PLAIN, "colour")})
                facts["counts"] = [table.tolist() for table in curator.count(by).tables]
            for learner in ["additive", "greedy-tree"] if kind != "leaves" else [""]:
                model = folder / f"{kind}{learner and '-'}{learner}.model.json"
                chosen = ["--learner", learner] if learner else []
                run(work, "publish", "learn", reports, "-r", file, *chosen, "-o", model)
                facts[model.name] = facts_of(model, rows)
            expected[kind] = facts
    write_json(folder / "expected.json", expected)


def make_synthetic(folder: Path) -> None:
    """Synthetic tables with their cards, and a check of one against other rows."""
    PLAIN.write(folder / "s.json")
    with fixed_stream("synthetic"), tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        plain(400).to_csv(work / "t.csv", index=False)
        given = ["--schema", folder / "s.json", "--epsilon", "4", "--rows", "60"]
        run(work, "publish", "synthetic", "t.csv", *given, "-o", folder / "synthetic.csv")
        run(work, "publish", "synthetic", "t.csv", *given, "-o", folder / "synthetic.parquet")
    expected = {"statement": "4-differentially private with one row added or removed", "rows": 60}
    for name in ("csv", "parquet"):
        card = (folder / f"synthetic.{name}.card.md").read_text("utf-8")
        assert expected["statement"] in card, card
    write_json(folder / "expected.json", expected)


# -- a table that is stored elsewhere ------------------------------------------------------------


def make_outsource(folder: Path) -> None:
    """Keys, the two halves of a table, and the home of a server with a refined tree."""
    towns, diseases = ["north", "south", "east"], ["flu", "gout", "acne", "none"]
    schema = pv.Schema(
        {
            "town": pv.Categorical(towns),
            "age": pv.Numeric(0, 100, bins=5, missing="unknown"),
            "disease": pv.Categorical(diseases),
        },
        "visits",
        ["few", "many"],
    )
    schema.write(folder / "s.json")
    lines = []
    for i in range(120):
        town, disease = towns[i % 3], diseases[i // 3 % 4]
        many = (town == "north") == (disease in ("flu", "gout"))
        age = None if i % 13 == 0 else float(i * 37 % 100)
        line = {"town": town, "age": age, "disease": disease, "visits": "many" if many else "few"}
        lines.append(line)
    pd.DataFrame(lines).to_csv(folder / "t.csv", index=False)
    with fixed_stream("outsource"):
        run(folder, "outsource", "key", "new", "open.key")
        run(folder, "outsource", "key", "new", "small.key", "--algorithm", "AES-128-GCM")
        run(
            folder,
            "outsource",
            "key",
            "new",
            "locked.key",
            "--passphrase",
            PRIVET_PASSPHRASE="golden",
        )
        split = ["outsource", "split", "t.csv", "-s", "s.json", "--sensitive", "disease"]
        run(folder, *split, "-k", "open.key", "-o", "halves")
        run(folder, *split, "-k", "locked.key", "-o", "locked", PRIVET_PASSPHRASE="golden")
        run(folder, "outsource", "init", "halves", "--home", "server")
        said = run(folder, "outsource", "client", "add", "ada", "--home", "server")
    token = next(word for word in said.split() if word.startswith("privet"))
    verified = run(folder, "outsource", "verify", "halves", "-k", "open.key")
    with serving(folder / "server", folder / "serve.log", "outsource") as port:
        url, own = f"http://127.0.0.1:{port}", {"PRIVET_TOKEN": token}
        run(folder, "outsource", "learn", url, "--splits", "binary", **own)
        run(folder, "outsource", "predict", url, "t.csv", "-k", "open.key", "-o", "said.csv", **own)
        run(folder, "outsource", "export", url, "-k", "open.key", "-o", "back.csv", **own)
        status = json.loads(run(folder, "outsource", "status", url, "--json", **own))
        card = run(folder, "outsource", "card", url, **own)
    for left in ("serve.log", ".open.key.lock", ".locked.key.lock"):
        (folder / left).unlink()
    (folder / "card.md").write_text(card, "utf-8")
    store = folder / "server" / "store.duckdb"  # mostly zeros
    store.with_name("store.duckdb.gz").write_bytes(gzip.compress(store.read_bytes(), 9, mtime=0))
    store.unlink()
    write_json(folder / "expected.json", {"token": token, "status": status, "verified": verified})
    for path in folder.rglob("*.sqlite"):
        settle(path)


# -- the command ---------------------------------------------------------------------------------

RUNS: list[tuple[list[str], int]] = [
    (["--version"], 0),
    (["--help"], 0),
    (["nope"], 2),
    (["fit"], 2),
    (["fit", "gone.csv", "--schema", "gone.json", "--epsilon", "1", "-o", "m.json"], 2),
    (["fit", "t.csv", "--schema", "s.json", "--epsilon", "-1", "-o", "m.json"], 2),
    (["fit", "t.csv", "--schema", "s.json", "--epsilon", "1", "-l", "nope", "-o", "m.json"], 2),
    (
        ["fit", "t.csv", "--schema", "s.json", "--epsilon", "1", "--budget", "1/2", "-o", "m.json"],
        2,
    ),
    (["fit", "t.csv", "--schema", "s.json", "--epsilon", "1", "--ledger", "b", "-o", "m.json"], 0),
    (["show", "m.json"], 0),
    (["show", "gone.json"], 2),
    (["show", "s.json"], 2),
    (["card", "m.json"], 0),
    (["predict", "m.json", "t.csv"], 0),
    (["predict", "m.json", "gone.csv"], 2),
    (["evaluate", "m.json", "t.csv", "--schema", "s.json", "--epsilon", "1", "--ledger", "b"], 0),
    (["count", "t.csv", "--schema", "s.json", "--epsilon", "1", "--ledger", "b", "--json"], 0),
    (["quantile", "t.csv", "-s", "s.json", "-a", "age", "-e", "1", "--ledger", "b"], 0),
    (["schema", "check", "s.json"], 0),
    (["schema", "check", "s.json", "t.csv"], 0),
    (["schema", "check", "s.json", "odd.csv"], 2),
    (["schema", "check", "gone.json"], 2),
    (["ledger", "show", "b"], 0),
    (["ledger", "show", "b", "--json"], 0),
    (["ledger", "show", "gone"], 2),
    (["ledger", "cap", "c", "people", "1"], 0),
    (["curator", "verify", "--home", "gone"], 2),
    (["datasets", "list"], 0),
    (["epsilon", "1", "--rows", "1000"], 0),
]


def make_command(folder: Path) -> None:
    """Names of commands and options, and exit codes."""
    plain(60).to_csv(folder / "t.csv", index=False)
    plain(9).assign(colour="violet").to_csv(folder / "odd.csv", index=False)
    PLAIN.write(folder / "s.json")
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary, "work")
        shutil.copytree(folder, work)
        for words, code in RUNS:
            ran = privet(*words, folder=work)
            assert ran.code == code, (words, code, ran)
            found.append({"words": words, "code": ran.code})
    write_json(folder / "commands.json", commands())
    write_json(folder / "exit-codes.json", found)


PARTS: dict[str, Callable[[Path], None]] = {
    "schemas": make_schemas,
    "models": make_models,
    "ledgers": make_ledgers,
    "unfinished": make_unfinished,
    "federation": make_federation,
    "randomised": make_randomised,
    "synthetic": make_synthetic,
    "outsource": make_outsource,
    "command": make_command,
    "http": http_home.make_http,
    "postgres": http_home.make_postgres,
}


def write_manifest(folder: Path) -> None:
    """SHA-256 of every file but the manifest."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if path.name != "manifest.json"
    }
    write_json(folder / "manifest.json", sums)


def main() -> None:
    """Make the parts that are named, or all."""
    assert pv.__version__.startswith("0.1."), "these files are what Privet 0.1 wrote"
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or PARTS:
        place = folder / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        PARTS[name](place.resolve())
    write_manifest(folder)


if __name__ == "__main__":
    main()
