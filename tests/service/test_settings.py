"""Settings: which place counts, what is refused, and secrets in files."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from privet._secret_files import read_secret_files
from privet.errors import ParameterError
from privet.service.limits import Limits
from privet.service.settings import read_settings


@pytest.mark.parametrize("there", list(product((False, True), repeat=3)))
def test_the_command_line_counts_before_the_environment_before_the_file(tmp_path, there):
    line, environment, file = there
    path = tmp_path / "privet.toml"
    path.write_text("port = 3\n" if file else "")
    settings = read_settings(
        path, {"PRIVET_PORT": "2"} if environment else {}, {"port": 1 if line else None}
    )
    expected = 1 if line else 2 if environment else 3 if file else 8000
    assert settings.port == expected
    assert (
        settings.sources.get("port", "default")
        == {
            1: "command line",
            2: "environment",
            3: "file",
            8000: "default",
        }[expected]
    )


def test_everything_can_be_set_in_file_and_environment(tmp_path):
    path = tmp_path / "privet.toml"
    path.write_text(
        'home = "/srv/privet"\nbehind_tls = true\nlog = "json"\nverify_every = 60\n'
        "[limits]\nrate = 100\nwork = 600\n"
    )
    variables = {"PRIVET_LIMITS_RATE": "7.5", "PRIVET_METRICS_TOKEN_FILE": "/run/token"}
    settings = read_settings(path, variables, {})
    assert (settings.home, settings.behind_tls, settings.log) == (Path("/srv/privet"), True, "json")
    assert settings.metrics_token_file == Path("/run/token")
    limits = settings.limits_over(Limits(burst=12, work=1.0))
    assert (limits.rate, limits.work, limits.burst) == (7.5, 600, 12)


def test_all_that_is_wrong_is_told_at_once(tmp_path):
    path = tmp_path / "privet.toml"
    path.write_text('prot = 1\nbehind_tls = "yes"\nlog = "xml"\n[limits]\nrat = 3\n')
    with pytest.raises(ParameterError) as caught:
        read_settings(path, {"PRIVET_PORT": "many"}, {})
    told = str(caught.value)
    for part in ("'prot'", "did you mean 'port'", "behind_tls", "'xml'", "limits.rat", "'many'"):
        assert part in told, part


def test_what_is_no_toml_is_told(tmp_path):
    path = tmp_path / "privet.toml"
    path.write_text("port: 8000")
    with pytest.raises(ParameterError, match="cannot read the settings"):
        read_settings(path, {}, {})
    with pytest.raises(ParameterError, match="cannot read the settings"):
        read_settings(tmp_path / "none.toml", {}, {})


def test_secrets_are_read_from_the_files_that_the_environment_names(tmp_path):
    secret = tmp_path / "password"
    secret.write_text("s3cret\n")
    named = {"PGPASSWORD_FILE": str(secret)}
    assert read_secret_files(named) == {"PGPASSWORD": "s3cret"}
    with pytest.raises(ParameterError, match="not both"):
        read_secret_files({**named, "PGPASSWORD": "other"})
    secret.chmod(0o666)
    with pytest.raises(ParameterError, match="everybody may write"):
        read_secret_files(named)
    secret.chmod(0o600)
    secret.write_text("")
    with pytest.raises(ParameterError, match="one line"):
        read_secret_files(named)


def test_a_token_for_the_metrics_is_read_anew_and_not_a_short_one(tmp_path, monkeypatch):
    monkeypatch.delenv("PRIVET_METRICS_TOKEN", raising=False)
    token = tmp_path / "token"
    settings = read_settings(None, {"PRIVET_METRICS_TOKEN_FILE": str(token)}, {})
    for text in ("a" * 32, "b" * 32):
        token.write_text(f"{text}\n")
        assert settings.metrics_token() == text
    token.write_text("short")
    with pytest.raises(ParameterError, match="openssl rand"):
        settings.metrics_token()


def test_the_command_shows_what_is_in_force_and_where_from(tmp_path, state, monkeypatch):
    import os

    from tests.commands import run

    (tmp_path / "privet.toml").write_text(
        f"home = {json.dumps(str(state.path))}\nport = 8765\n[limits]\nrate = 50\n"
    )
    environment = {**os.environ, "PRIVET_LOG": "json", "COLUMNS": "200"}
    environment.pop("PRIVET_CURATOR", None)
    done = run(["curator", "serve", "--config", "privet.toml", "--check"], tmp_path, environment)
    assert done.returncode == 0, done.stderr
    told = {tuple(line.split()[:3]) for line in done.stdout.splitlines()}
    assert ("port", "8765", "file") in told
    assert ("log", "json", "environment") in told
    assert ("host", "127.0.0.1", "default") in told
    assert ("limits.rate", "50", "environment") in told, "a default that is given is shown"
    assert "the ledger is whole" in done.stdout
    narrow = run(
        ["curator", "serve", "--config", "privet.toml", "--check"],
        tmp_path,
        {**environment, "COLUMNS": "60"},
    )
    assert "…" not in narrow.stdout, "a place is folded, and never cut"


def test_the_check_looks_at_the_witness_elsewhere_as_serving_does(tmp_path, state):
    import os

    from tests.commands import run

    environment = {**os.environ, "PRIVET_CURATOR": str(state.path)}
    witness = ["--witness", "elsewhere"]

    def check():
        return run(["curator", "serve", "--check", *witness], tmp_path, environment)

    assert "there is no witness file" in check().stderr
    new = run(["curator", "verify", *witness, "--new-witness"], tmp_path, environment)
    assert new.returncode == 0, new.stderr
    assert check().returncode == 0
    *mark, line, digest, end = (tmp_path / "elsewhere").read_text().split(".")
    later = ".".join([*mark, str(int(line) + 7), digest, end])
    (tmp_path / "elsewhere").write_text(later)  # it has seen more than there is now
    done = check()
    assert done.returncode == 2
    assert "has seen line" in done.stderr
