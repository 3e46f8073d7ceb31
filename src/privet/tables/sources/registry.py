"""Find the source that opens a table: one of Privet's own, or one that another package adds.

A package adds a source as an entry point of the group ``privet.sources`` that leads to a
:class:`~privet.tables.sources.source.Source`. Privet's own sources are always there, whatever the
installed metadata says, and keep their schemes and endings. A source that cannot be loaded is an
error only where it might have been meant.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from urllib.parse import quote

from privet._validate import list_words, suggest
from privet.errors import TableError
from privet.tables.sources.builtin import BUILT_IN, MEMORY
from privet.tables.sources.source import Source

GROUP = "privet.sources"
_ADDRESSES = ("http://", "https://")  # of curators, on the command line


@dataclass(frozen=True)
class Registry:
    """All sources there are.

    Args:
        sources: Privet's own first, then those of other packages by their names.
        unloaded: why a source could not be loaded, by the name of its entry point.
        refused: what to say where two sources ask for a scheme or an ending, by that, such as
            ``"duckdb://"`` or ``".csv"``.
    """

    sources: tuple[Source, ...]
    unloaded: Mapping[str, str]
    refused: Mapping[str, str]

    def find_scheme(self, scheme: str) -> Source:
        """Return the source of URLs with this scheme."""
        for source in self.sources:
            if scheme in source.schemes:
                self._warn_about(f"{scheme}://")
                return source
        meant = suggest(scheme, [name for source in self.sources for name in source.schemes])
        raise self._refuse(f"cannot open a {scheme}:// table", meant)

    def find_file(self, path: Path) -> Source:
        """Return the source of files with such a name."""
        name = path.name.lower()
        for source in self.sources:
            if name.endswith(source.endings):
                self._warn_about(*(claim for claim in self.refused if name.endswith(claim)))
                return source
        raise self._refuse(f"cannot tell what {path.name} is")

    def find_object(self, table: object) -> Source:
        """Return the source that takes an object. What no other takes is a table in memory."""
        for source in self.sources:
            if source.takes is not None and source.takes(table):
                return source
        return MEMORY

    def describe_places(self, *, objects: bool = False) -> str:
        """Return how tables are written, for help and messages.

        Args:
            objects: whether objects in Python are listed, too.
        """
        return list_words(
            [source.example for source in self.sources if objects or source.has_places]
        )

    def refuse_absent_file(self, shown: str) -> TableError:
        """Return the error for a file that is not there."""
        return self._refuse(f"no file {shown}")

    def _refuse(self, wrong: str, meant: str = "") -> TableError:
        parts = [wrong, meant, f"a table is {self.describe_places(objects=True)}"]
        parts += [f"the source {name!r} {why}" for name, why in self.unloaded.items()]
        return TableError("; ".join(part for part in parts if part))

    def _warn_about(self, *claims: str) -> None:
        for claim in claims:
            if claim in self.refused:
                warnings.warn(self.refused[claim], stacklevel=4)


@cache
def load_registry() -> Registry:
    """Return all sources. Looks for those of other packages once in a process."""
    sources, unloaded, refused = list(BUILT_IN), {}, {}
    owners = dict.fromkeys(_ADDRESSES, "a curator at an address")
    for source in BUILT_IN:
        owners |= dict.fromkeys(_claims_of(source), f"the source {source.name!r}")
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        if entry.value.startswith("privet."):
            continue  # built in
        try:
            loaded = _load(entry)
        # - another package's module runs, and may raise anything
        except Exception as error:  # noqa: BLE001
            unloaded[entry.name] = f"could not be loaded ({type(error).__name__}: {error})"
            continue
        taken = _find_taken(loaded, owners)
        for claim, owner in taken.items():
            refused[claim] = (
                f"{claim!r} belongs to {owner}; the source {loaded.name!r} of {_package_of(entry)} "
                "asks for it, too, and does not get it"
            )
        loaded = replace(
            loaded,
            schemes=tuple(scheme for scheme in loaded.schemes if f"{scheme}://" not in taken),
            endings=tuple(ending for ending in loaded.endings if ending not in taken),
        )
        owners |= dict.fromkeys(_claims_of(loaded), f"the source {loaded.name!r}")
        sources.append(loaded)
    return Registry(tuple(sources), unloaded, refused)


def describe_places(*, objects: bool = False) -> str:
    """Return how tables are written, for help and messages: ``FILE.csv, ... or ...``."""
    return load_registry().describe_places(objects=objects)


def file_of(place: str) -> Path | None:
    """Return the file in which a table is, or None where it is at a server."""
    scheme, mark, _ = place.partition("://")
    if not mark:
        return Path(place).resolve()
    for source in load_registry().sources:
        if scheme in source.schemes:
            return source.file_of(place)
    return None


def make_absolute(place: str) -> str:
    """Return a place that means the same from every folder."""
    path = file_of(place)
    if path is None:
        return place
    scheme, mark, rest = place.partition("://")
    if not mark:
        return str(path)
    _, mark, query = rest.partition("?")
    return f"{scheme}:///{quote(str(path))}{mark}{query}"


def _load(entry: EntryPoint) -> Source:
    loaded = entry.load()
    if not isinstance(loaded, Source):
        raise TypeError(f"{entry.value} is no Source, but a {type(loaded).__name__}")
    return loaded


def _claims_of(source: Source) -> list[str]:
    """Return the schemes and endings that a source asks for, as they are written."""
    return [*(f"{scheme}://" for scheme in source.schemes), *source.endings]


def _find_taken(source: Source, owners: Mapping[str, str]) -> dict[str, str]:
    """Return the schemes and endings of a source that are taken, and by whom."""
    taken = {}
    for claim in _claims_of(source):
        for known, owner in owners.items():
            # .data.csv would take some files of .csv
            if claim == known or (claim.startswith(".") and claim.endswith(known)):
                taken[claim] = owner
    return taken


def _package_of(entry: EntryPoint) -> str:
    return "another package" if entry.dist is None else f"the package {entry.dist.name}"
