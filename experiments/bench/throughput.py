"""How many questions a second many clients get answered, beside a version before, in one run.

git worktree add --detach ../before ad35641
python -m experiments.bench.throughput --before ../before [--out docs/results/curator-speed.md]

Each of 32 clients has an account and a connection of its own, and asks for class counts again and
again. The version before, the present one, and two processes of it behind nginx take turns, so
that all of them meet the same load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import platform
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.bench.curator import BODY, SCHEMA, THROUGHPUT, duckdb_place, postgres, written
from experiments.bench.sections import put_section

ROOT = Path(__file__).parents[2]
ROWS = 10_000
#: Several commands in one process, of the version that is in front of the path.
COMMANDS = """
import shlex, sys
from privet.cli import main
for line in sys.stdin:
    sys.argv = ["privet", *shlex.split(line)]
    try:
        main()
    except SystemExit as done:
        if done.code:
            raise
"""
NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream curators {{ {servers} keepalive 64; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://curators; proxy_http_version 1.1;
                  proxy_set_header Connection ""; proxy_set_header Host $http_host; }}
  }}
}}
"""


@dataclass
class Service:
    """A home that is served, and what its clients saw."""

    name: tuple[str, ...]
    port: int
    tokens: list[str]
    seconds: list[float] = field(default_factory=list)
    busy: float = 0.0
    errors: int = 0

    def forget(self) -> None:
        self.seconds.clear()
        self.busy, self.errors = 0.0, 0


def python_for(source: Path) -> tuple[list[str], dict[str, str]]:
    """What runs code with the package of this folder."""
    return [sys.executable, "-c"], {**os.environ, "PYTHONPATH": str(source.resolve())}


def make_home(
    source: Path, home: Path, table: tuple[str, Path], clients: int, ledger: str
) -> list[str]:
    """Make a home with the commands of this version; the tokens of its analysts."""
    place, schema = table
    at = f"--home {home}"
    commands = [
        f"curator init {at} {ledger and f'--ledger {shlex.quote(ledger)}'}",
        f"curator dataset add people {place} --schema {schema} --epsilon 1000 {at}",
    ]
    for number in range(clients):
        commands.append(f"curator analyst add analyst-{number} {at}")
        commands.append(f"curator grant analyst-{number} people --epsilon 1000 {at}")
    python, variables = python_for(source)
    done = subprocess.run(
        [*python, COMMANDS],
        input="\n".join(commands),
        env=variables,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    owner, *tokens = re.findall(r"privet_\S+", done.stdout)
    if not owner or len(tokens) != clients:
        raise SystemExit(done.stdout)
    return tokens


@contextmanager
def serve(source: Path, home: Path) -> Iterator[int]:
    """The port of a process that serves this home with the package of this folder."""
    python, variables = python_for(source)
    command = f"curator serve --home {home} --port 0"
    with subprocess.Popen(
        [
            *python,
            f"import sys; from privet.cli import main; sys.argv[1:] = {command.split()}; main()",
        ],
        env=variables,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        port = re.search(r":(\d+) \(", said)
        if port is None:
            raise SystemExit(said + process.stderr.read())
        try:
            yield int(port[1])
        finally:
            process.terminate()


@contextmanager
def balance(folder: Path, ports: list[int]) -> Iterator[int]:
    """The port of nginx, which sends each request to the next of these ports."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    servers = " ".join(f"server 127.0.0.1:{one};" for one in ports)
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port, servers=servers))
    nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if nginx is None:
        raise SystemExit("needs nginx; install it, for example with: apt-get install nginx-light")
    with subprocess.Popen([nginx, "-p", str(folder), "-c", str(config)]) as process:
        try:
            yield port
        finally:
            process.terminate()


async def ask(service: Service, token: str, until: float) -> None:
    """Ask again and again over one connection."""
    head = (
        "POST /v1/datasets/people/count HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(BODY)}\r\n\r\n"
    ).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
    try:
        while (begun := time.perf_counter()) < until:
            writer.write(head + BODY)
            answer = (await reader.readuntil(b"\r\n\r\n")).lower()
            (length,) = re.findall(rb"content-length: (\d+)", answer)
            await reader.readexactly(int(length))
            service.seconds.append(time.perf_counter() - begun)
            service.errors += not answer.startswith(b"http/1.1 200")
    finally:
        writer.close()


async def ask_at_once(service: Service, seconds: float) -> None:
    begun = time.perf_counter()
    turns = (ask(service, token, begun + seconds) for token in service.tokens)
    await asyncio.gather(*turns)
    service.busy += time.perf_counter() - begun


def describe(services: list[Service], first: Service) -> list[tuple[str, ...]]:
    lines = []
    for service in services:
        rate = len(service.seconds) / service.busy
        p50, p99 = np.percentile(service.seconds, [50, 99]) * 1e3
        times = rate / (len(first.seconds) / first.busy)
        numbers = (f"{rate:.0f}", f"{p50:.0f}", f"{p99:.0f}", str(service.errors), f"{times:.2f}")
        lines.append((*service.name, *numbers))
    return lines


def compare(
    before: Path, folder: Path, ledger: str, databases: Iterator[str], given: argparse.Namespace
) -> list[tuple[str, ...]]:
    """Let three services of homes with this kind of ledger take turns."""
    folder.mkdir()
    schema = folder / "people.schema.json"
    SCHEMA.write(schema)
    table, present = (duckdb_place(folder, ROWS), schema), ROOT / "src"
    services = []
    with ExitStack() as open_now:
        for what, source, processes in (
            ("0.1", before / "src", 1),
            ("now", present, 1),
            ("now, behind nginx", present, 2),
        ):
            home = folder / f"home-{len(services)}"
            tokens = make_home(source, home, table, given.clients, next(databases))
            ports = [open_now.enter_context(serve(source, home)) for _ in range(processes)]
            port = open_now.enter_context(balance(folder, ports)) if len(ports) > 1 else ports[0]
            services.append(Service((ledger, what, str(processes)), port, tokens))
        for service in services:  # the first questions compile loops, and are not measured
            asyncio.run(ask_at_once(service, 3))
            service.forget()
        for _ in range(given.rounds):
            for service in services:
                asyncio.run(ask_at_once(service, given.seconds / given.rounds))
    return describe(services, services[0])


def fresh_databases(url: str) -> Iterator[str]:
    """Yield the URL of one new database after the other."""
    import psycopg

    for number in itertools.count():
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE ledger_{number}")
        yield url.replace("@/postgres", f"@/ledger_{number}")


PAGE = """Made by `python -m experiments.bench.throughput` on {cores} cores ({machine}), which
services, ledgers, clients and other work of the machine share: the load average was {before:.1f}
before and {after:.1f} after.

{clients} clients, each with an account and a connection of its own, ask for 64 noisy counts of
{rows:,} rows in a DuckDB file again and again. The services of one kind of ledger take turns,
{seconds:.0f} seconds each in {rounds} rounds, so that all of them meet the same load. 0.1 is commit
`ad35641`.

{table}
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, required=True, help="a checkout of that version")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0, help="for each service")
    parser.add_argument("--rounds", type=int, default=4, help="turns that the seconds are cut into")
    parser.add_argument("--out", type=Path, help="a page whose section is written anew")
    given = parser.parse_args()
    lines: list[tuple[str, ...]] = [
        (
            "ledger",
            "version",
            "processes",
            "questions/s",
            "p50 ms",
            "p99 ms",
            "errors",
            "beside 0.1",
        )
    ]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name, postgres() as url:
        folder = Path(name)
        kinds = [("SQLite", itertools.repeat(""))]
        if url is not None:
            kinds.append(("PostgreSQL", fresh_databases(url)))
        for ledger, databases in kinds:
            lines += compare(given.before, folder / ledger, ledger, databases, given)
    text = PAGE.format(
        cores=os.cpu_count(),
        machine=f"{platform.system()} {platform.machine()}",
        before=load,
        after=os.getloadavg()[0],
        clients=given.clients,
        rows=ROWS,
        seconds=given.seconds,
        rounds=given.rounds,
        table=written(lines, 2),
    )
    print(text)
    if given.out is not None:
        put_section(given.out, THROUGHPUT, text)


if __name__ == "__main__":
    main()
