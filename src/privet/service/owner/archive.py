"""Move recorded answers out of the ledger, into a sealed file of the owner's."""

from __future__ import annotations

import base64
from datetime import UTC, date, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from privet.accounting.ledger.archive import ArchivedAnswer
from privet.errors import LedgerError, ParameterError
from privet.model.file import MAX_BYTES, read_sealed, seal, unseal, write_sealed
from privet.service.owner.desk import Desk, Outcome

_KIND = "answer archive"


def archive_answers(
    desk: Desk, before: str, path: str | PathLike[str], *, why: str = ""
) -> Outcome:
    """Move the answers of questions that were charged before a day (UTC) to a new file.

    The ledger's lines stay, and so does what was spent. Whoever sends such a request again is told
    the name of the archive. Answers of open reservations stay where they are.

    Args:
        desk, why: who does it, and the reason.
        before: the day, such as 2026-01-31; it is not over before today.
        path: the file, which must not exist.
    """
    day, place = _read_day(before), Path(path)
    if place.exists():
        raise ParameterError(f"{place} exists already; name another file")
    if not place.parent.is_dir():
        raise ParameterError(f"cannot make {place}: the folder {place.parent} does not exist")
    ledger = desk.state.ledger
    written = False

    def keep(taken: list[ArchivedAnswer]) -> None:
        nonlocal written
        write_sealed(_seal(ledger.identity, day, taken), place, _KIND, private=True)
        written = True

    what = f"recorded answers of questions before {day} move to the archive {place.name!r}"
    with desk.changing("answers archived", what, why=why, archive=place.name) as event:
        try:
            n_taken = ledger.archive(day.isoformat(), place.name, keep)
        except BaseException:
            if written:  # the ledger has them all still
                place.unlink(missing_ok=True)
            raise
    if n_taken == 0:
        return Outcome(f"no answers of questions before {day} can be archived", event.number)
    return Outcome(
        f"{n_taken} answers of questions before {day} are in {place}; the ledger's lines stay. "
        "Keep the file: nothing else has them",
        event.number,
    )


def read_archive(path: str | PathLike[str]) -> dict[int, bytes]:
    """Return the answers of an archive by the numbers of their lines in the ledger."""
    document = read_sealed(path, lambda data: unseal(data, _KIND, 1), _KIND)
    return {one["number"]: base64.b64decode(one["answer"]) for one in document["answers"]}


def _seal(ledger: str, day: date, taken: list[ArchivedAnswer]) -> bytes:
    answers: list[dict[str, Any]] = [
        {
            **{
                name: getattr(one.line, name)
                for name in ("number", "time", "dataset", "analyst", "what", "key", "hash")
            },
            "answer": base64.b64encode(one.answer).decode(),
        }
        for one in taken
    ]
    made = datetime.now(UTC).isoformat(timespec="seconds")
    facts = {"ledger": ledger, "made": made, "before": day.isoformat()}
    data = seal({"privet": _KIND, "version": 1, **facts, "answers": answers})
    if len(data) > MAX_BYTES:
        raise LedgerError(
            f"these answers take more than {MAX_BYTES} bytes; archive those before an earlier day "
            "first"
        )
    return data


def _read_day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ParameterError(f"before must be a day such as 2026-01-31, got {text!r}") from None
    if day > datetime.now(UTC).date():
        raise ParameterError(f"before must be today or earlier, got {day}")
    return day
