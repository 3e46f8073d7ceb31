"""Release data instead of answers: synthetic tables (central), randomised records (local).

- :mod:`~privet.synthetic`: synthetic rows that describe no real person, drawn from noisy counts
- :mod:`~privet.local`: records that people randomise on their own devices, and what is learnt from
  them

Examples
--------
>>> import privet as pv
>>> car = pv.datasets.load("car")
>>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
>>> published = pv.publish.synthesize(curator, epsilon=1)
>>> type(published).__name__
'SyntheticTable'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.local import LeafRandomizer as LeafRandomizer
    from privet.local import Randomizer as Randomizer
    from privet.local import collect_leaves as collect_leaves
    from privet.local import local_curator as local_curator
    from privet.local import read_randomizer as read_randomizer
    from privet.local import write_randomizer as write_randomizer
    from privet.synthetic.check import check_synthetic as check_synthetic
    from privet.synthetic.synthesize import SyntheticTable as SyntheticTable
    from privet.synthetic.synthesize import synthesize as synthesize

# Where each public name lives; it is imported when it is first used.
_HOMES = {
    "LeafRandomizer": "privet.local",
    "Randomizer": "privet.local",
    "SyntheticTable": "privet.synthetic.synthesize",
    "check_synthetic": "privet.synthetic.check",
    "collect_leaves": "privet.local",
    "local_curator": "privet.local",
    "read_randomizer": "privet.local",
    "synthesize": "privet.synthetic.synthesize",
    "write_randomizer": "privet.local",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'privet.publish' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
