"""Complete words in the shell: learners, their settings, data sets and formats.

Nothing here reads a table or a ledger. ``privet --install-completion`` turns it on.
"""

from __future__ import annotations

from collections.abc import Iterable

import typer

from privet.cli.options import NAMES


def complete_learner(incomplete: str) -> list[str]:
    """Return the learners that begin so."""
    return _beginning(NAMES, incomplete)


def complete_setting(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the settings of the learner that is named on the line, with an equals sign."""
    from privet.cli.options import settings_of

    learner = ctx.params.get("learner") or NAMES[0]
    if learner not in NAMES:
        return []
    return _beginning((f"{name}=" for name in settings_of(learner)), incomplete)


def complete_dataset(incomplete: str) -> list[str]:
    """Return the public data sets that begin so."""
    from privet.datasets import names

    return _beginning(names(), incomplete)


def complete_format(incomplete: str) -> list[str]:
    """Return the formats of an export that begin so."""
    from privet.report.export import FORMATS

    return _beginning(FORMATS, incomplete)


def complete_dialect(incomplete: str) -> list[str]:
    """Return the dialects of SQL that begin so."""
    from privet.report.sql_dialects import DIALECTS

    return _beginning(DIALECTS, incomplete)


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.startswith(incomplete)]
