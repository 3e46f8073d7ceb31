"""Is the claimed epsilon true? Tests of whole fitted models in two worlds that differ in one
person.

- :mod:`~privet.audit.worlds`: small neighbouring tables that are the worst case for trees
- :mod:`~privet.audit.own_worlds`: such tables from rows of one's own
- :mod:`~privet.audit.features`: what can be seen of something released
- :mod:`~privet.audit.likelihood`: the likelihood of one world against the other, learnt from runs
- :mod:`~privet.audit.events`: an event, chosen on some runs and counted on others
- :mod:`~privet.audit.bounds`: how large epsilon must be, from these counts
- :mod:`~privet.audit.reach`: what a perfect test could show in so many runs
- :mod:`~privet.audit.result`: what was found, of one claim or of many that are judged together
- :mod:`~privet.audit.two_worlds`: ``audit``, all of it in one call, for anything that can be run
- :mod:`~privet.audit.fitted`, :mod:`~privet.audit.estimators`: ``audit_estimator``, for anybody's
  object with fit
- :mod:`~privet.audit.releases`, :mod:`~privet.audit.local_releases`: what is released about a
  world, and what is promised for it
- :mod:`~privet.audit.subjects`: everything in Privet that promises an epsilon, by name
- :mod:`~privet.audit.table`, :mod:`~privet.audit.report`: all of it in one table, and as a page
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.audit.bounds import epsilon_at_least as epsilon_at_least
    from privet.audit.estimators import audit_estimator as audit_estimator
    from privet.audit.own_worlds import pair_of as pair_of
    from privet.audit.result import AuditResult as AuditResult
    from privet.audit.result import judged_together as judged_together
    from privet.audit.subjects import SUBJECTS as SUBJECTS
    from privet.audit.subjects import audit_subject as audit_subject
    from privet.audit.subjects import subject_named as subject_named
    from privet.audit.table import Line as Line
    from privet.audit.table import audit_table as audit_table
    from privet.audit.table import lines_of as lines_of
    from privet.audit.two_worlds import audit as audit
    from privet.audit.worlds import Pair as Pair
    from privet.audit.worlds import World as World
    from privet.audit.worlds import pairs_of as pairs_of

# Where each public name lives; it is imported when it is first used.
_HOMES = {
    "AuditResult": "privet.audit.result",
    "Line": "privet.audit.table",
    "Pair": "privet.audit.worlds",
    "SUBJECTS": "privet.audit.subjects",
    "World": "privet.audit.worlds",
    "audit": "privet.audit.two_worlds",
    "audit_estimator": "privet.audit.estimators",
    "audit_subject": "privet.audit.subjects",
    "audit_table": "privet.audit.table",
    "epsilon_at_least": "privet.audit.bounds",
    "judged_together": "privet.audit.result",
    "lines_of": "privet.audit.table",
    "pair_of": "privet.audit.own_worlds",
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
