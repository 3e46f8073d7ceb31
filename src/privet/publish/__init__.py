"""Releasing data instead of answers: synthetic tables (central), randomised records (local).

- :mod:`~privet.publish.synthetic`: rows that nobody is, drawn from noisy counts
- :mod:`~privet.publish.local`: records that people randomise themselves, and what is learnt from
  them
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.publish.local import LeafRandomizer as LeafRandomizer
    from privet.publish.local import Randomizer as Randomizer
    from privet.publish.local import collect_leaves as collect_leaves
    from privet.publish.local import local_curator as local_curator
    from privet.publish.local import read_randomizer as read_randomizer
    from privet.publish.local import write_randomizer as write_randomizer
    from privet.publish.synthetic.check import check_synthetic as check_synthetic
    from privet.publish.synthetic.synthesize import SyntheticTable as SyntheticTable
    from privet.publish.synthetic.synthesize import synthesize as synthesize

# Where each public name lives; it is imported when it is first used.
_HOMES = {
    "LeafRandomizer": "privet.publish.local",
    "Randomizer": "privet.publish.local",
    "SyntheticTable": "privet.publish.synthetic.synthesize",
    "check_synthetic": "privet.publish.synthetic.check",
    "collect_leaves": "privet.publish.local",
    "local_curator": "privet.publish.local",
    "read_randomizer": "privet.publish.local",
    "synthesize": "privet.publish.synthetic.synthesize",
    "write_randomizer": "privet.publish.local",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'privet.publish' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
