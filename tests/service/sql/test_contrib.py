"""Two-phase commit, dblink and postgres_fdw: tried on a server that has them.

The server of the other tests comes from a wheel without extensions. These tests look for one that
the system has installed, such as Debian's ``postgresql`` and ``postgresql-contrib``.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from privet.accounting.cost import Budget
from privet.errors import PrivacyError
from tests.guard import guard
from tests.service.sql.conftest import SCHEMA, as_role, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")


def _find_programs() -> Path:
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        extensions = Path("/usr/share/postgresql") / folder.parent.name / "extension"
        both = [extensions / f"{name}.control" for name in ("dblink", "postgres_fdw")]
        if (folder / "postgres").exists() and all(path.exists() for path in both):
            return folder
    pytest.skip("needs a PostgreSQL of the system with its contrib modules")


class SystemServer:
    """A server of the system's programs, in a folder of its own, which lets transactions be
    prepared.
    """

    def __init__(self) -> None:
        self._programs = _find_programs()
        self._user: str | None = None
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            try:
                self._user = pwd.getpwnam("postgres").pw_name
            except KeyError:
                pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        self.folder = Path(tempfile.mkdtemp(prefix="privet-contrib-", dir="/tmp"))
        guard().remove(self.folder)
        if self._user:
            shutil.chown(self.folder, self._user)
        self._run("initdb", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-U", "postgres")
        options = (
            f"-c listen_addresses='' -k {self.folder} -c max_prepared_transactions=10 -c fsync=off"
        )
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")
        self.url = f"postgresql://postgres:@/postgres?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, "-D", self.folder / "data", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            user=self._user,
        )

    def database(self) -> str:
        name = f"fresh_{secrets.token_hex(6)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.replace("/postgres?", f"/{name}?")

    def stop(self) -> None:
        self._run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def server():
    started = SystemServer()
    yield started
    started.stop()


@pytest.fixture
def place(server):
    place = place_on(server)
    place.ledger.set_cap("people", Budget(1))
    place.functions.add_dataset("people", "public.people", SCHEMA)
    place.functions.allow("people", "ada")
    yield place
    place.ledger.close()


ASK = "SELECT privet.ask('people', '{}', 0.5)"


def test_an_ask_cannot_be_prepared(place):
    """A prepared transaction would keep the ledger's lock, without a session, after a restart too:
    nobody could charge until a superuser rolls it back.
    """
    with place.connect(place.role("ada")) as session:
        session.execute("BEGIN")
        session.execute("SELECT 1")
        session.execute("PREPARE TRANSACTION 'possible'")
        session.execute("ROLLBACK PREPARED 'possible'")
        session.execute("BEGIN")
        (ticket,) = session.execute(ASK).fetchone()
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="NOTIFY"):
            session.execute("PREPARE TRANSACTION 'kept'")
        assert place.sql("SELECT count(*) FROM pg_prepared_xacts") == [(0,)]
        with pytest.raises(psycopg.Error, match="no such ticket"):
            session.execute("SELECT privet.answer(%s)", (ticket,))
    assert place.ledger.entries() == []  # neither an answer nor a charge


def test_dblink_is_no_way_to_an_answer_without_a_charge(place, server):
    """In another session, in the middle of a transaction: what is not committed has no answer."""
    place.sql("CREATE EXTENSION dblink")
    role = place.role("ada")
    database = place.url.partition("?")[0].rpartition("/")[2]
    there = f"host={server.folder} dbname={database} user="
    with place.connect(role) as session:
        session.execute("BEGIN")
        (ticket,) = session.execute(ASK).fetchone()
        for user in (role, "postgres"):
            with pytest.raises(psycopg.Error, match="password"), session.transaction():
                session.execute("SELECT dblink_connect('other', %s)", (there + user,))
        # as if they had a password: another session of theirs, which sees what is committed
        with place.connect(role) as other, pytest.raises(psycopg.Error, match="no such ticket"):
            other.execute("SELECT privet.answer(%s)", (ticket,))
        session.execute("ROLLBACK")
        with pytest.raises(psycopg.Error, match="no such ticket"):
            session.execute("SELECT privet.answer(%s)", (ticket,))
    assert place.ledger.entries() == []


def test_a_role_that_a_foreign_server_takes_for_somebody_else_is_refused(place, server):
    role = place.role("ada")
    owner = psycopg.conninfo.conninfo_to_dict(place.ledger.url)["user"]
    database = place.url.partition("?")[0].rpartition("/")[2]
    place.sql("CREATE EXTENSION postgres_fdw")
    place.sql(f"CREATE SCHEMA own AUTHORIZATION {role}")
    place.sql(
        "CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw "
        f"OPTIONS (host '{server.folder}', dbname '{database}')"
    )
    place.sql(f"GRANT USAGE ON FOREIGN SERVER here TO {role}")
    place.functions.grant_role(role, "ada")  # it leads nowhere yet
    options = f"SERVER here OPTIONS (user '{owner}', password_required 'false')"
    place.sql(f"CREATE USER MAPPING FOR PUBLIC {options}")
    with psycopg.connect(as_role(place.url, role), autocommit=True) as session:  # the attack
        session.execute(
            "CREATE FOREIGN TABLE own.rows (class text) SERVER here "
            "OPTIONS (schema_name 'public', table_name 'people')"
        )
        assert session.execute("SELECT count(*) FROM own.rows").fetchone() == (3000,)
    with pytest.raises(PrivacyError, match="may use the foreign server here"):
        place.functions.grant_role(role, "ada")
    place.sql("DROP USER MAPPING FOR PUBLIC SERVER here")
    place.sql(f"CREATE USER MAPPING FOR {role} {options}")
    with pytest.raises(PrivacyError, match="mapped to a user of the foreign server here"):
        place.functions.grant_role(role, "ada")


def test_a_foreign_table_is_refused(place, server):
    database = place.url.partition("?")[0].rpartition("/")[2]
    owner = psycopg.conninfo.conninfo_to_dict(place.ledger.url)["user"]
    place.sql("CREATE EXTENSION postgres_fdw")
    place.sql(
        "CREATE SERVER away FOREIGN DATA WRAPPER postgres_fdw "
        f"OPTIONS (host '{server.folder}', dbname '{database}')"
    )
    place.sql(
        f"CREATE USER MAPPING FOR {owner} SERVER away "
        f"OPTIONS (user '{owner}', password_required 'false')"
    )
    place.sql(
        "CREATE FOREIGN TABLE far (color text, age integer, class text) SERVER away "
        "OPTIONS (schema_name 'public', table_name 'people')"
    )
    place.sql(f"ALTER FOREIGN TABLE far OWNER TO {owner}")
    with pytest.raises(PrivacyError, match=r"the foreign table public\.far"):
        place.functions.add_dataset("far", "public.far", SCHEMA)
