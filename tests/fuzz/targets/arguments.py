"""Arguments of the command ``privet``."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import click
from typer.main import get_command

from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger, SQLiteLedger
from privet.cli.app import app
from privet.curator import Curator
from privet.errors import ParameterError, PrivetError
from privet.federation.plan import draw_plan, write_plan
from privet.learners.random_trees.batches import contribution
from privet.local import Randomizer, write_randomizer
from privet.local.records import header_line, report_line
from privet.model.file import write_model
from tests.fuzz.nasty import TEXTS
from tests.fuzz.target import Target
from tests.fuzz.targets.local_records import some_people
from tests.fuzz.targets.tables import SCHEMA, SharedDatabase

#: Those that end by themselves, and go nowhere but to the files they are given.
COMMANDS = [
    (
        "fit people.csv --schema s.json --epsilon 0.01 --learner random-trees --set n_trees=2 -o "
        "out/m.json"
    ),
    (
        "fit people.csv -s s.json -e 1/100 -l greedy-tree --set max_depth=1 -o out/m.json --json "
        "--analyst ada"
    ),
    "predict m.json people.csv -o out/p.csv --probabilities",
    "evaluate m.json people.csv --schema s.json --epsilon 0.01 --json",
    "update rt.json people.csv --epsilon 0.01 -o out/u.json --people disjoint",
    "merge rt.json m2.json --people may-overlap -o out/g.json",
    "show m.json --depth 2 --trees 1 --whole",
    "card m.json -o out/card.md",
    "export m.json -o out/tree.txt",
    "count people.csv --schema s.json --epsilon 0.01 --by colour",
    "quantile people.csv --schema s.json --attribute age --q 0.5 --epsilon 0.01",
    "anonymity people.csv --quasi age,colour --sensitive ill --c 1/2 --l 2 --worst 3 --json",
    "epsilon 0.1 1 --rows 1000 --json",
    "schema check s.json people.csv",
    "schema declare s.json --rows 12 --neighbours replace -o out/s.json",
    "schema draft people.csv --target ill --output out/d.json",
    "init people.csv --target ill --classes no|yes --column age=0..120 --yes -o out/i.json",
    "ledger show people.csv.ledger.sqlite --json",
    "federation plan --schema s.json --trees 2 --height 1 -o out/plan.json",
    "federation contribute people.csv --plan plan.json --epsilon 0.01 --party north -o out/c.json",
    "publish synthetic people.csv --schema s.json --epsilon 0.01 --rows 5 -o out/syn.csv",
    "publish randomize others.csv --randomizer r.json -o out/r.csv",
    "publish randomizer --schema s.json --epsilon 2 -o out/r.json",
    "publish learn reports.csv --randomizer r.json -o out/l.json",
]

#: A path from the root, which a command must not be let loose on.
_FROM_ROOT = re.compile(r"(?<![\w.])/+[\w.]|://|\.\./\.\.")


def mutated_arguments(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Words of a command exchanged, left out, doubled, taken from another command, or nasty."""
    words = json.loads(data)
    first = 1 + (len(words) > 1 and words[0] in ("schema", "ledger", "federation", "publish"))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(min(first, len(words)), len(words) + 1)
        what, there = rng.randrange(8), at < len(words)
        if what < 3 and there:
            words[at] = rng.choice(TEXTS)
        elif what == 3 and there and words[at]:
            cut = rng.randrange(len(words[at]))
            words[at] = words[at][:cut] + rng.choice(TEXTS) + words[at][cut:]
        elif what == 4 and there:
            del words[at]
        elif what == 5 and there:
            words.insert(at, words[at])
        elif what == 6:
            words.insert(at, rng.choice(json.loads(rng.choice(others))))
        elif there:
            words[at] = rng.choice(json.loads(rng.choice(others)))
    return json.dumps(words).encode()


def _possible(word: str) -> str:
    """A word as a system hands it over: without NUL, and bytes that are no text are escaped."""
    return os.fsdecode(word.replace("\0", "").encode("utf-8", "surrogatepass"))


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")


class Arguments(Target):
    """One message and exit code 2, or what was asked for; nothing is left of a command that was
    refused, and nothing charged for it.
    """

    name = "arguments"
    what = (
        "arguments of the command `privet`; a command that is refused writes nothing and charges "
        "nothing"
    )
    smoke = 20
    seconds = 30
    mutate = staticmethod(mutated_arguments)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._database = SharedDatabase()
        # once: to put all commands together takes longer than most of them
        self._command = get_command(app)
        self._before = Path.cwd()
        os.chdir(folder)
        rows, replacing = some_people(12), SCHEMA.declare(neighbours="replace")
        rows.to_csv("people.csv", index=False)
        SCHEMA.write("s.json")
        plan = draw_plan(SCHEMA, 2, height=1)
        write_plan(plan, "plan.json")
        for name in ("rt.json", "m.json", "m2.json"):
            write_model(
                contribution(
                    plan,
                    Curator(rows, SCHEMA, Budget(1), ledger=MemoryLedger(), dataset=name),
                    1,
                    name,
                ),
                name,
            )
        randomizer = Randomizer(replacing, 4, "sample")
        write_randomizer(randomizer, "r.json")
        reports = randomizer.many(rows)
        lines = [
            report_line(dict(zip(reports.columns, values, strict=True)))
            for values in reports.itertuples(index=False, name=None)
        ]
        Path("reports.csv").write_text(header_line(randomizer.columns) + "".join(lines))
        # asked about under another relation of neighbours, so with an account of their own
        Path("others.csv").write_bytes(Path("people.csv").read_bytes())
        with contextlib.closing(SQLiteLedger("others.csv.ledger.sqlite")) as ledger:
            ledger.set_cap("others.csv", Budget(10**12))
        self._ledger = SQLiteLedger("people.csv.ledger.sqlite")
        self._ledger.set_cap("people.csv", Budget(10**12))
        self._files = {
            path.name: path.read_bytes()
            for path in folder.iterdir()
            if path.is_file() and "ledger" not in path.name
        }

    def close(self) -> None:
        self._ledger.close()
        self._database.close()
        os.chdir(self._before)

    def corpus(self) -> list[bytes]:
        return [json.dumps(command.split()).encode() for command in COMMANDS]

    def run(self, data: bytes) -> None:
        words = [_possible(word) for word in json.loads(data)]
        if any(_FROM_ROOT.search(word) for word in words):
            raise ParameterError("kept away from the rest of the machine")
        before = self._ledger.spent("people.csv").rho
        refused: Exception | None = None
        stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO())
        try:
            with contextlib.redirect_stdout(_stream()), contextlib.redirect_stderr(_stream()):
                self._command(words, standalone_mode=False)
        except (
            PrivetError,
            click.ClickException,
            click.exceptions.Abort,
            OSError,
        ) as error:  # as ``privet.cli.main`` does
            refused = error
        finally:
            sys.stdin = stdin
        changed = self._restored()
        if refused is not None:
            assert not changed, f"refused with {refused}, and yet it wrote {changed}"
            assert self._ledger.spent("people.csv").rho == before, (
                f"refused with {refused}, and yet charged"
            )
            told = str(refused).encode("utf-8", "backslashreplace").decode()  # as it is printed
            raise ParameterError(f"{type(refused).__name__} {told}")

    def _restored(self) -> list[str]:
        """What was written beside the output folder; it is put back as it was. A ledger may be made
        for a question that is refused then.
        """
        changed = []
        for path in list(self.folder.iterdir()):
            if (
                path.is_dir()
                or path.name == "current"
                or path.name.startswith(("people.csv.ledger.sqlite", "others.csv.ledger.sqlite"))
            ):
                continue
            content = path.read_bytes()
            if content == self._files.get(path.name):
                continue
            if not content.startswith(b"SQLite format 3") and not path.name.endswith(
                ("-wal", "-shm")
            ):
                changed.append(path.name)
            path.unlink()
        for name, content in self._files.items():
            if not (self.folder / name).is_file():
                (self.folder / name).write_bytes(content)
        return changed
