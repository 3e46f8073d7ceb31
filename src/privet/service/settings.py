"""Read how a service is run, from the command line, the environment and one file (TOML).

A setting that is given in several places is taken from the first of these: the command line; the
environment, as ``PRIVET_`` and its name in capitals; the file; its default. Limits are in the table
``[limits]`` of the file and in ``PRIVET_LIMITS_RATE`` and its like; both stand above the
``limits.json`` of the home. The table ``[oidc]`` names a provider to sign in with.

Secrets are never in the file: a setting names the file that holds one, or the environment does.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from privet._secret_files import read_secret
from privet._validate import suggest
from privet.errors import ParameterError
from privet.service.limits import DescribedLimit, Limits, change_limits, describe_limits
from privet.service.oidc.settings import OidcSettings, read_oidc

_PREFIX = "PRIVET_"
_LIMITS, _OIDC = "limits", "oidc"
#: The environment variable of the home is older than the others.
_NAMES = {"home": "PRIVET_CURATOR"}
Source = Literal["command line", "environment", "file", "default"]


def _says(what: str) -> dict[str, str]:
    return {"what": what}


@dataclass(frozen=True)
class Settings:
    """How a service is run."""

    home: Path = field(default=Path("curator"), metadata=_says("The folder of the curator."))
    host: str = field(
        default="127.0.0.1",
        metadata=_says("The address to listen at; by default this machine only."),
    )
    port: int = field(default=8000, metadata=_says("The port; 0 takes a free one."))
    cert: Path | None = field(default=None, metadata=_says("The TLS certificate (PEM)."))
    key: Path | None = field(
        default=None, metadata=_says("The private key of the certificate (PEM).")
    )
    behind_tls: bool = field(
        default=False, metadata=_says("Something in front does TLS: listen without it.")
    )
    log: str = field(default="text", metadata=_says("How logs are written: text or json."))
    metrics_token_file: Path | None = field(
        default=None,
        metadata=_says("The file with the token for /metrics; without one, there are no metrics."),
    )
    witness: Path | None = field(
        default=None,
        metadata=_says("Another witness of the ledger, on another disk; see 'verify --witness'."),
    )
    verify_every: float = field(
        default=86_400.0, metadata=_says("Seconds between verifications of the ledger; 0: none.")
    )
    #: Where people sign in beside with tokens of Privet.
    oidc: OidcSettings | None = None
    #: Limits that are set in the file or the environment.
    limits: Mapping[str, float] = field(default_factory=dict)
    #: Where each setting came from.
    sources: Mapping[str, Source] = field(default_factory=dict)

    def limits_over(self, home: Limits) -> Limits:
        """Return the limits of a home with those that are set here."""
        return change_limits(home, self.limits, "limits.")

    def describe(self) -> Iterator[tuple[str, Any, str, str]]:
        """Yield the name of each setting, its value, where it came from, and what it says."""
        for name, known in _declared().items():
            value = getattr(self, name)
            yield name, value, self.sources.get(name, "default"), known.metadata["what"]

    def metrics_token(self) -> str | None:
        """Return the token for the metrics as it is now, or None where there is none."""
        token = os.environ.get("PRIVET_METRICS_TOKEN")
        if token is None and self.metrics_token_file is None:
            return None
        if token is None:
            assert self.metrics_token_file is not None
            token = read_secret("metrics_token_file", self.metrics_token_file)
        if len(token) < _LEAST_SECRET:
            raise ParameterError(
                f"the token for the metrics must have at least {_LEAST_SECRET} characters; make "
                "one with: openssl rand -hex 32"
            )
        return token


_LEAST_SECRET = 20


def read_settings(
    file: Path | None, environment: Mapping[str, str], given: Mapping[str, Any]
) -> Settings:
    """Read the settings; all that is wrong with them is told at once.

    Args:
        file: the file, if there is one.
        environment: the variables.
        given: what the command line says; None where it says nothing.
    """
    written = {} if file is None else _read_toml(file)
    problems = list(_find_unknown(written, file))
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for name, known in _declared().items():
        variable = _NAMES.get(name, _PREFIX + name.upper())
        places: tuple[tuple[Source, str, Any], ...] = (
            ("command line", f"--{name.replace('_', '-')}", given.get(name)),
            ("environment", variable, environment.get(variable) or None),
            ("file", f"{file}: {name}", written.get(name)),
        )
        for source, where, value in places:
            if value is None:
                continue
            try:
                values[name] = _read_value(known.type, value, where, text=source == "environment")
                sources[name] = source
            except ParameterError as error:
                problems.append(str(error))
            break
    if values.get("log", "text") not in ("text", "json"):
        problems.append(f"log must be text or json, got {values['log']!r}")
    limits = _read_limits(written.get(_LIMITS, {}), environment, file, problems)
    oidc = None
    if _OIDC in written:
        try:
            secret = environment.get("PRIVET_OIDC_CLIENT_SECRET", "")
            oidc = read_oidc(written[_OIDC], f"{file}: ", secret)
        except ParameterError as error:
            problems.append(str(error))
    if problems:
        raise ParameterError("\n".join(problems))
    return Settings(**values, oidc=oidc, limits=limits, sources=sources)


def _declared() -> dict[str, Any]:
    return {known.name: known for known in fields(Settings) if known.metadata}


def _read_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParameterError(f"cannot read the settings {file}: {error}") from None


def _find_unknown(written: Mapping[str, Any], file: Path | None) -> Iterator[str]:
    known = [*_declared(), _LIMITS, _OIDC]
    for name in written:
        if name not in known:
            meant = suggest(name, known)
            yield f"{file}: there is no setting {name!r}; there are {', '.join(known)}" + (
                f"; {meant}" if meant else ""
            )


def _read_value(kind: Any, value: Any, where: str, *, text: bool) -> Any:
    """Return a value of this kind; the environment has nothing but text."""
    readers: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "bool": ("true or false", _read_boolean),
        "int": ("an integer from 0 to 65535", _read_port),
        "float": ("a number of seconds, zero or more", _read_seconds),
        "str": ("a text", _read_text),
        "Path": ("the path of a file", lambda one: Path(_read_text(str(one)))),
    }
    wanted, reader = readers[str(kind).partition(" |")[0]]
    try:
        return reader(_parse_text(value) if text and wanted != "a text" else value)
    except ValueError:
        raise ParameterError(f"{where} must be {wanted}, got {value!r}") from None


def _parse_text(text: str) -> Any:
    """Return what a text of the environment stands for."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        if text.isascii() and text.replace(".", "", 1).isdigit():
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def _read_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _read_port(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 65_535:
        raise ValueError
    return value


def _read_seconds(value: Any) -> float:
    if type(value) not in (int, float) or not 0 <= value < 1e9:
        raise ValueError
    return float(value)


def _read_text(value: Any) -> str:
    if not isinstance(value, str) or not value or not value.isprintable():
        raise ValueError
    return value


def _read_limits(
    written: Any, environment: Mapping[str, str], file: Path | None, problems: list[str]
) -> dict[str, float]:
    if not isinstance(written, dict):
        problems.append(f"{file}: limits must be a table, such as [limits] and rate = 100")
        return {}
    found = dict(written)
    known: list[DescribedLimit] = describe_limits(Limits())
    for limit in known:
        variable = f"{_PREFIX}LIMITS_{limit.name.upper()}"
        if variable in environment:
            found[limit.name] = _parse_text(environment[variable])
    try:
        change_limits(Limits(), found, "limits.")
    except ParameterError as error:
        problems.append(str(error))
    return found
