"""Work on a private table that goes on after an interruption, for the commands that write what they
learnt to a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import typer

from privet.cli.bars import work_bars
from privet.curator import AnyCurator
from privet.errors import PrivetError
from privet.resume import ResumableCurator, Unfinished


@contextmanager
def resumable(
    curator: AnyCurator, output: Path, doing: str, facts: Sequence[str], *, anew: bool
) -> Iterator[tuple[AnyCurator, Callable[[], None]]]:
    """Whom to ask, and what to call before the output is written: a release has one name, however
    often its file is written.

    What was begun is kept beside the output until this block ends well.
    """
    place = output.with_name(output.name + ".unfinished")
    if anew:
        give_up(place, curator)
    unfinished = Unfinished.begin(place, curator, *facts)
    with work_bars(doing) as paid:
        asked = ResumableCurator(curator, unfinished, paid)
        if unfinished.was_begun:
            typer.echo(
                (
                    f"privet: going on with what was interrupted; {asked.answered} answer(s) are "
                    "paid for"
                ),
                err=True,
            )
        try:
            yield asked, unfinished.save
        except KeyboardInterrupt:
            if unfinished.was_begun:
                typer.echo(
                    (
                        "\nprivet: interrupted; the same command goes on with it, and pays for "
                        "nothing "
                        "twice"
                    ),
                    err=True,
                )
            raise
        except PrivetError:
            with suppress(PrivetError):  # a ledger that cannot be asked says nothing
                # refused before it cost anything: there is nothing to go on with
                if not asked.charged:
                    asked.give_up()
                    unfinished.finish()
            raise
    unfinished.finish()


def give_up(place: Path, curator: AnyCurator) -> None:
    """Forget work that was interrupted, and free what is still set aside for it."""
    with suppress(PrivetError):  # what cannot be read is removed all the same
        begun = Unfinished.read(place)
        ResumableCurator(curator, begun).give_up()
    place.unlink(missing_ok=True)
