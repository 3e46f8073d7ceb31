"""What people should know about each case, from remarks.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Remark:
    """``says`` is what the peer promises, ``why`` says why this fails or stands; ``avoid`` is empty
    where there is nothing to avoid.

    ``reading``: the peer does not say for which neighbours its epsilon is, and the promise fails
    for these only.
    """

    title: str
    says: str
    why: str
    avoid: str = ""
    reading: bool = False


REMARKS: dict[str, Remark] = {
    name: Remark(**texts)
    for name, texts in tomllib.loads(
        Path(__file__).with_name("remarks.toml").read_text(encoding="utf-8")
    ).items()
}
