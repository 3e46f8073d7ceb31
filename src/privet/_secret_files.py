"""Read secrets from files, as containers and systemd hand them to a service."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from privet.errors import ParameterError

#: Secrets that the environment may hold, or name the file of, with ``_FILE`` at the end.
SECRETS = ("PGPASSWORD", "PRIVET_TOKEN", "PRIVET_METRICS_TOKEN", "PRIVET_OIDC_CLIENT_SECRET")


def read_secret(name: str, path: Path) -> str:
    """Return the secret in a file, without the end of its line, or raise."""
    try:
        written = path.read_text(encoding="utf-8")
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise ParameterError(f"{name}: cannot read the secret in {path}: {why}") from None
    if os.name == "posix" and mode & stat.S_IWOTH:
        raise ParameterError(f"{name}: everybody may write {path}; change that: chmod o-w {path}")
    secret = written.rstrip("\r\n")
    if not secret or not secret.isprintable():
        raise ParameterError(f"{name}: {path} must hold one line of printable characters")
    return secret


def read_secret_files(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets whose files the environment names, to be put into it.

    So ``PGPASSWORD_FILE`` works wherever the PostgreSQL driver looks for ``PGPASSWORD``.
    """
    found = {}
    for name in SECRETS:
        path = environment.get(f"{name}_FILE")
        if not path:
            continue
        if environment.get(name):
            raise ParameterError(f"set {name} or {name}_FILE, not both")
        found[name] = read_secret(f"{name}_FILE", Path(path))
    return found
