"""Describe the sources of rows, and find the one that opens a table.

- :mod:`~privet.tables.sources.source`: what is said about a source
- :mod:`~privet.tables.sources.builtin`: the sources that come with Privet
- :mod:`~privet.tables.sources.registry`: these and those of other packages, by entry point

Nothing here imports an engine; a source does so when it opens a table. To add one to Privet, add it
to ``BUILT_IN`` and to the entry points in ``pyproject.toml``.
"""

from privet.tables.sources.source import Source

__all__ = ["Source"]
