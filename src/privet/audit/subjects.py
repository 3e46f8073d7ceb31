"""What is audited: everything in Privet that promises an epsilon, at settings small enough for one row to show."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.audit import releases
from privet.audit.releases import Release, Released
from privet.audit.two_worlds import AuditResult, audit
from privet.audit.worlds import Pair, World, pairs_of
from privet.errors import NoiseWarning, ParameterError
from privet.mechanisms.randomness import Bits, SystemBits
from privet.schema.schema import Neighbours


@dataclass(frozen=True)
class Subject:
    """Something to audit.

    ``only`` is the one neighbour relation that it promises anything for, where it is one; ``rows_per_person`` and ``alone`` are the
    worlds that it needs (:func:`~privet.audit.worlds.pairs_of`).
    """

    name: str
    release: Release
    only: Neighbours | None = None
    rows_per_person: int = 1
    alone: bool = False

    def neighbours(self, asked: Neighbours) -> Neighbours:
        """For whom it is audited."""
        return self.only or asked

    def pairs(self, asked: Neighbours) -> tuple[Pair, ...]:
        """The worlds that it is audited in."""
        return pairs_of(self.neighbours(asked), rows_per_person=self.rows_per_person, alone=self.alone)


@dataclass(frozen=True)
class SubjectRun:
    """A run of a subject, by its name, so that it can be sent to another process."""

    name: str
    epsilon: Fraction
    bits: Bits | None = None

    def __call__(self, world: World) -> Any:
        return self.released(world).what

    def released(self, world: World) -> Released:
        """With what was promised."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseWarning)  # so few rows are meant to drown in noise
            return subject_named(self.name).release(world, self.epsilon, self.bits or SystemBits())


def audit_subject(
    name: str, epsilon: Fraction, runs: int = 4000, *, neighbours: Neighbours = "add-remove", bits: Bits | None = None, **options: Any
) -> AuditResult:
    """Audit a ready subject: its promise for these neighbours against what it releases. Options are those of ``audit``."""
    if bits is not None and options.get("executor") is not None:
        raise ParameterError("bits are for runs in this process: sent to several others, all would draw the same")
    run, pairs = SubjectRun(name, epsilon, bits), subject_named(name).pairs(neighbours)
    found = [run.released(world) for pair in pairs for world in (pair.one, pair.other)]
    promised = {(one.epsilon, one.delta) for one in found}
    if len(promised) > 1:
        told = ", ".join(str(float(epsilon)) for epsilon, _ in sorted(promised))
        raise ParameterError(f"the promise of {name} depends on the rows: epsilon {told}")
    ((claimed, delta),) = promised
    return audit(run, pairs, claimed, runs, delta=float(delta), name=name, **options)


SUBJECTS: dict[str, Subject] = {
    one.name: one
    for one in (
        Subject("privet", releases.learner("PrivetClassifier")),
        Subject("gibbs-tree", releases.learner("GibbsTreeClassifier", max_depth=1)),
        Subject("gibbs-boost", releases.learner("GibbsBoostClassifier", rounds=2, max_depth=1)),
        Subject("random-trees", releases.learner("RandomTreesClassifier", n_trees=2, height=1)),
        Subject("greedy-tree", releases.learner("GreedyTreeClassifier", max_depth=1, shrink=0)),
        Subject("forest-budget", releases.learner("ForestClassifier", n_trees=2, max_depth=1, shrink=0, divide="budget")),
        Subject("forest-people", releases.learner("ForestClassifier", n_trees=2, max_depth=1, shrink=0, divide="people")),
        Subject("noisy-id3", releases.learner("NoisyID3Classifier", max_depth=1)),
        Subject("additive", releases.learner("AdditiveClassifier")),
        Subject("tune", releases.tuned),
        Subject("update-disjoint", releases.updated("disjoint", (1,))),
        Subject("update-overlapping", releases.updated("may-overlap", (0, 1))),
        Subject("merge", releases.merged),
        Subject("join", releases.joined),
        Subject("session", releases.session),
        Subject("count", releases.count),
        Subject("count-person", releases.count, rows_per_person=2),
        Subject("count-gaussian", releases.gaussian_count),
        Subject("quantile", releases.quantile),
        Subject("choose-partition", releases.choose_partition),
        Subject("synthetic", releases.synthetic),
        Subject("randomizer-sample", releases.randomized(), only="replace", alone=True),
        Subject("randomizer-split", releases.randomized(spread="split"), only="replace", alone=True),
        Subject("leaf-randomizer", releases.randomized_leaf, only="replace", alone=True),
    )
}


def subject_named(name: str) -> Subject:
    """A ready subject."""
    if name not in SUBJECTS:
        raise ParameterError(f"subject must be one of {', '.join(SUBJECTS)}, got {name!r}")
    return SUBJECTS[name]
