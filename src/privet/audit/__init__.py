"""Test whether a claimed epsilon is true, on whole fitted models in two worlds that differ in
one person.

- :mod:`~privet.audit.two_worlds`: ``audit`` anything that can be run; ``audit_estimator``
- :mod:`~privet.audit.worlds`: small neighbouring tables that are the worst case for trees
- :mod:`~privet.audit.features`, :mod:`~privet.audit.fitted`: what can be seen of a release
- :mod:`~privet.audit.likelihoods`: the exact likelihood ratio of a curator's answers
- :mod:`~privet.audit.events`: an event, chosen on some runs and counted on others
- :mod:`~privet.audit.bounds`: how large epsilon must be, and what a perfect test could show
- :mod:`~privet.audit.result`: the result of one audit or many, as text
- :mod:`~privet.audit.releases`: what is released about a world, and what is promised for it
- :mod:`~privet.audit.clock`, :mod:`~privet.audit.clock_worlds`: does a clock tell two worlds apart?
- :mod:`~privet.audit.subjects`: everything in Privet that promises an epsilon, and the table of it

Examples
--------
>>> import privet as pv
>>> sure = pv.audit.epsilon_at_least(900, 1000, 400, 1000)  # hits in runs, in each world
>>> 0.6 < sure < 0.81
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.audit.bounds import epsilon_at_least as epsilon_at_least
    from privet.audit.result import AuditResult as AuditResult
    from privet.audit.result import judged_together as judged_together
    from privet.audit.subjects import SUBJECTS as SUBJECTS
    from privet.audit.subjects import Line as Line
    from privet.audit.subjects import audit_subject as audit_subject
    from privet.audit.subjects import audit_table as audit_table
    from privet.audit.subjects import lines_of as lines_of
    from privet.audit.subjects import subject_named as subject_named
    from privet.audit.two_worlds import audit as audit
    from privet.audit.two_worlds import audit_estimator as audit_estimator
    from privet.audit.worlds import Pair as Pair
    from privet.audit.worlds import World as World
    from privet.audit.worlds import pair_of as pair_of
    from privet.audit.worlds import pairs_of as pairs_of

# Where each public name lives; it is imported when it is first used.
_HOMES = {
    "AuditResult": "privet.audit.result",
    "Line": "privet.audit.subjects",
    "Pair": "privet.audit.worlds",
    "SUBJECTS": "privet.audit.subjects",
    "World": "privet.audit.worlds",
    "audit": "privet.audit.two_worlds",
    "audit_estimator": "privet.audit.two_worlds",
    "audit_subject": "privet.audit.subjects",
    "audit_table": "privet.audit.subjects",
    "epsilon_at_least": "privet.audit.bounds",
    "judged_together": "privet.audit.result",
    "lines_of": "privet.audit.subjects",
    "pair_of": "privet.audit.worlds",
    "pairs_of": "privet.audit.worlds",
    "subject_named": "privet.audit.subjects",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'privet.audit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
