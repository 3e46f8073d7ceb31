"""List everything in Privet that promises an epsilon, and audit all of it in one table.

Settings are small enough for one row to show.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from typing import Any, Literal, NamedTuple, get_args

from privet._validate import check_integer, check_name
from privet.audit import releases
from privet.audit.bounds import CONFIDENCE, epsilon_at_least, reach_of_gaussian, reach_of_parts
from privet.audit.likelihoods import Heard
from privet.audit.releases import Release, Released
from privet.audit.result import AuditResult, judged_together
from privet.audit.two_worlds import audit
from privet.audit.worlds import Pair, World, pairs_of
from privet.domain.schema import Neighbours
from privet.errors import NoiseWarning, ParameterError
from privet.mechanisms.randomness import Bits, SystemBits

#: What all claim in an audit, per person: a large epsilon is refuted by few runs, and the code is
#: that of a small one. It is below what 2000 runs can show at all (about 4.4 in a table of this
#: length), so that every claim could be refuted.
CLAIM = Fraction(4)


@dataclass(frozen=True)
class Limit:
    """Why no test comes close to the claim of a subject, and what its answers could show at best.

    ``parts``, ``selections`` and ``draws`` are the shares of its epsilon that noise, selections and
    draws could give away in the worst of worlds, ``rho`` the share of its rho. ``event`` is the
    most telling event of an answer whose law was searched: its probabilities in both worlds.
    """

    why: str
    parts: tuple[float, ...] = ()
    selections: tuple[float, ...] = ()
    draws: tuple[float, ...] = ()
    rho: float = 0.0
    event: tuple[float, float] | None = None

    def attainable(self, released: Released, counted: int, confidence: float) -> float:
        """Return about the best bound for what was released, with so many counted runs."""
        if self.event is not None:
            hits, other_hits = (round(chance * counted) for chance in self.event)
            return epsilon_at_least(hits, counted, other_hits, counted, confidence=confidence)
        if self.rho:
            rho, delta = self.rho * released.rho, float(released.delta)
            return reach_of_gaussian(rho, counted, delta, confidence)
        parts, selections, draws = (
            [share * float(released.epsilon) for share in shares]
            for shares in (self.parts, self.selections, self.draws)
        )
        return reach_of_parts(parts, counted, confidence, selections=selections, draws=draws)


@dataclass(frozen=True)
class Subject:
    """Something to audit.

    ``families`` are the worlds in which one row shows best (:func:`~privet.audit.worlds.pairs_of`);
    ``only`` is the one neighbour relation that it promises anything for, where it is one; ``claim``
    is what it shall promise to a person unless another epsilon is asked for. ``local``: people do
    it on their own side, and the promise is for one row replaced. ``limits`` say for which
    neighbours no test could come close to the claim.
    """

    name: str
    release: Release
    families: tuple[str, ...] = ("nobody else",)
    only: Neighbours | None = None
    rows_per_person: int = 1
    claim: Fraction = CLAIM
    local: bool = False
    limits: Mapping[Neighbours, Limit] = field(default_factory=dict)

    @property
    def relations(self) -> tuple[Neighbours, ...]:
        """The neighbours for which it is audited."""
        return (self.only,) if self.only else ("add-remove", "replace")

    def neighbours(self, asked: Neighbours) -> Neighbours:
        """Return the neighbours for which it is audited, where somebody asks for these."""
        return self.only or asked

    def pairs(self, asked: Neighbours) -> tuple[Pair, ...]:
        """Return the pairs of worlds that it is audited in."""
        return pairs_of(
            self.neighbours(asked), families=self.families, rows_per_person=self.rows_per_person
        )

    def epsilon(self, asked: Neighbours) -> Fraction:
        """Return what it is given per row added or removed, for its claim."""
        return self.claim / (
            self.rows_per_person * (2 if asked == "replace" and not self.local else 1)
        )


@dataclass(frozen=True)
class SubjectRun:
    """A run of a subject, by its name, so that it can be sent to another process."""

    name: str
    epsilon: Fraction
    bits: Bits | None = None

    def __call__(self, world: World) -> Heard:
        released = self.released(world)
        return Heard(released.what, released.answers)

    def released(self, world: World) -> Released:
        """Run the subject, and return the release with what was promised."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseWarning)  # so few rows are meant to drown in noise
            return subject_named(self.name).release(world, self.epsilon, self.bits or SystemBits())


def audit_subject(
    name: str,
    epsilon: Fraction | None = None,
    runs: int = 4000,
    *,
    neighbours: Neighbours = "add-remove",
    bits: Bits | None = None,
    **options: Any,
) -> AuditResult:
    """Audit a ready subject: its promise for these neighbours against what it releases.

    ``epsilon`` is what it is given per row added or removed, by default what its claim takes.
    Options are those of ``audit``.
    """
    if bits is not None and options.get("executor") is not None:
        raise ParameterError(
            "bits are for runs in this process: sent to several others, all would draw the same"
        )
    subject = subject_named(name)
    asked = subject.neighbours(neighbours)
    run, pairs = (
        SubjectRun(name, subject.epsilon(asked) if epsilon is None else epsilon, bits),
        subject.pairs(asked),
    )
    found = [run.released(world) for pair in pairs for world in (pair.one, pair.other)]
    promised = {(one.epsilon, one.delta) for one in found}
    if len(promised) > 1:
        promises = ", ".join(str(float(epsilon)) for epsilon, _ in sorted(promised))
        raise ParameterError(f"the promise of {name} depends on the rows: epsilon {promises}")
    ((claimed, delta),) = promised
    result = audit(run, pairs, claimed, runs, delta=float(delta), name=name, **options)
    result = replace(result, neighbours=asked, reach=_estimate_reach(found[0], result))
    limit = subject.limits.get(asked) if epsilon is None else None
    return result if limit is None else replace(result, note=_explain(limit, found[0], result))


def _explain(limit: Limit, released: Released, result: AuditResult) -> str:
    attainable = limit.attainable(released, result.counted, result.confidence)
    found = f"; this one found {result.bound / attainable:.0%} of that" if attainable > 0 else ""
    return f"{limit.why}. A perfect test of these answers would find about {attainable:.2f}{found}"


def _estimate_reach(released: Released, result: AuditResult) -> float:
    if released.rho:
        return reach_of_gaussian(released.rho, result.counted, result.delta, result.confidence)
    return reach_of_parts(
        released.parts or (float(released.epsilon),), result.counted, result.confidence
    )


_TWO: dict[str, Any] = {"n_trees": 2, "max_depth": 1, "shrink": 0, "criterion": "max"}
_LABELS = ("outvoted by one",)
_EXCLUDED = ("what a rule excludes",)
_TIE = ("a tie that one row breaks", "against one of two")
_ONLY_OF_ITS_CLASS = ("the only one of its class",)
_DEPENDENT = ("one more of a dependent pair",)
_ORDER = ("below one other",)
_HALF = ("half like one and half like another",)
_ODDS = "one row moves the odds of a drawn tree half as far as those of the worst answer"
_SAME_SIZE = "the number of rows is charged and, where people are replaced, tells nothing"
_TWO_COUNTS = "a replaced row changes two counts by one each, and the charge is for one by two"
_BOOSTED = Limit(
    f"{_ODDS}, and it weighs less in the second tree where the first is right about it",
    draws=(1 / 2, 1 / 2),
)
_TUNED = Limit(_ODDS, selections=(1 / 5,), draws=(2 / 5, 2 / 5))
_ASKED_FOR_REPLACED = Limit(
    f"{_SAME_SIZE}; {_TWO_COUNTS}; the median tells about half of what it costs",
    parts=(1 / 6, 1 / 12, 1 / 12),
    selections=(1 / 6, 1 / 12),
    draws=(1 / 6,),
)
_ASKED_IN_RHO_FOR_REPLACED = Limit(
    f"{_SAME_SIZE}; {_TWO_COUNTS}; the median tells about half of what it costs",
    rho=1 / 8 + 1 / 4 + 1 / 16,
)
# Searched over all tables of at most three rows in each of four bins.
_MEDIAN = Limit(
    "two bins part by as much as one row may move them only where a third is better than both",
    event=(0.4939, 0.0618),
)
_MEDIAN_FOR_REPLACED = Limit(_MEDIAN.why, event=(0.4564, 0.0338))
_QUANTILE_FOR_REPLACED = Limit(
    "both rows of a replacement move all scores the same way, and the charge is for opposite ways",
    selections=(1 / 2,),
)
# Searched in the same way.
_QUANTILES = Limit(
    "each level has half of epsilon, and few rows move two cuts apart in both",
    event=(0.2523, 0.0144),
)
_QUANTILES_FOR_REPLACED = Limit(_QUANTILES.why, event=(0.2112, 0.0242))
_SYNTHETIC_FOR_REPLACED = Limit(
    f"{_TWO_COUNTS}, in each of three tables",
    parts=(1 / 10,) * 4 + (1 / 5,) * 2,
    draws=(1 / 5,),  # which pair to measure is chosen by the exponential mechanism
)
_SYNTHETIC_WITH_RULES_FOR_REPLACED = Limit(
    _SYNTHETIC_FOR_REPLACED.why, parts=(1 / 10,) * 4 + (3 / 10,) * 2
)
SUBJECTS: dict[str, Subject] = {
    one.name: one
    for one in (
        Subject("privet", releases.release_learner("PrivetClassifier"), _LABELS),
        Subject(
            "privet-delta",
            releases.release_learner("PrivetClassifier", delta=releases.DELTA),
            _LABELS,
        ),
        Subject(
            "gibbs-tree",
            releases.release_learner("GibbsTreeClassifier", max_depth=1),
            (*_LABELS, "outvoted by two"),
        ),
        Subject(
            "gibbs-boost",
            releases.release_learner("GibbsBoostClassifier", rounds=2, max_depth=1),
            (*_ORDER, *_HALF),
            limits={"add-remove": _BOOSTED, "replace": _BOOSTED},
        ),
        Subject(
            "gibbs-boost-delta",
            releases.release_learner(
                "GibbsBoostClassifier", rounds=2, max_depth=1, delta=releases.DELTA
            ),
            (*_ORDER, *_LABELS),
        ),
        Subject(
            "random-trees",
            releases.release_learner("RandomTreesClassifier", answers=2, n_trees=2, height=1),
        ),
        Subject(
            "greedy-tree",
            releases.release_learner(
                "GreedyTreeClassifier", max_depth=1, shrink=0, criterion="max"
            ),
            _TIE,
        ),
        Subject(
            "greedy-tree-gini",
            releases.release_learner("GreedyTreeClassifier", max_depth=1, shrink=0),
            _TIE,
        ),
        Subject(
            "forest-budget",
            releases.release_learner("ForestClassifier", divide="budget", **_TWO),
            _TIE[1:],
        ),
        # Without a test on the way to a leaf: who else is in a part is drawn, and so is a tie.
        Subject(
            "forest-people",
            releases.release_learner(
                "ForestClassifier", divide="people", **(_TWO | {"max_depth": 0})
            ),
        ),
        Subject(
            "noisy-id3",
            releases.release_learner("NoisyID3Classifier", answers=2, max_depth=1),
            _ONLY_OF_ITS_CLASS,
        ),
        Subject(
            "additive",
            releases.release_learner("AdditiveClassifier", answers=2),
            _ONLY_OF_ITS_CLASS,
        ),
        Subject(
            "tune",
            releases.release_tuned,
            (*_LABELS, *_HALF),
            limits={"add-remove": _TUNED, "replace": _TUNED},
        ),
        Subject("update-disjoint", releases.release_updated_model("disjoint", (1,))),
        Subject("update-overlapping", releases.release_updated_model("may-overlap", (0, 1))),
        Subject("merge", releases.release_merged_model),
        Subject("relay", releases.release_relayed_model, _LABELS),
        Subject("update-default", releases.release_grown_model, _LABELS),
        Subject("join", releases.release_joined_model),
        Subject(
            "session",
            releases.release_session,
            (*_ORDER, *_HALF),
            limits={"replace": _ASKED_FOR_REPLACED},
        ),
        Subject(
            "session-rho",
            releases.release_session_in_rho,
            (*_ORDER, *_HALF),
            limits={"replace": _ASKED_IN_RHO_FOR_REPLACED},
        ),
        Subject("count", releases.release_count),
        Subject("count-values", releases.release_values),
        Subject("scores", releases.release_scores),
        Subject("count-person", releases.release_count, rows_per_person=2),
        Subject(
            "count-gaussian",
            releases.release_gaussian_count,
            limits={"replace": Limit(_TWO_COUNTS, rho=1 / 2)},
        ),
        Subject(
            "quantile",
            releases.release_quantile("0"),
            _ORDER,
            limits={"replace": _QUANTILE_FOR_REPLACED},
        ),
        Subject(
            "median",
            releases.release_quantile("1/2"),
            _ORDER,
            limits={"add-remove": _MEDIAN, "replace": _MEDIAN_FOR_REPLACED},
        ),
        Subject(
            "quantiles",
            releases.release_quantiles,
            _ORDER,
            limits={"add-remove": _QUANTILES, "replace": _QUANTILES_FOR_REPLACED},
        ),
        Subject("choose-partition", releases.release_partition_choice),
        Subject(
            "synthetic",
            releases.release_synthetic_table(),
            _DEPENDENT,
            limits={"replace": _SYNTHETIC_FOR_REPLACED},
        ),
        # Without pairs to choose from: what is left buys the class counts a second time.
        Subject(
            "synthetic-attribute",
            releases.release_synthetic_table(view=partial(releases.see_attribute, "a")),
        ),
        # Fine grids: the number of rows is paid for, and what is counted are merged bins.
        Subject(
            "synthetic-grid",
            releases.release_synthetic_table(view=releases.see_gridded),
            _DEPENDENT,
        ),
        # A pair that a rule names is measured without a selection, and who breaks the rule counts.
        Subject(
            "synthetic-rules",
            releases.release_synthetic_table(view=releases.see_ruled),
            _EXCLUDED,
            limits={"replace": _SYNTHETIC_WITH_RULES_FOR_REPLACED},
        ),
        Subject(
            "synthetic-delta",
            releases.release_synthetic_table(releases.DELTA),
            _ONLY_OF_ITS_CLASS,
            limits={"replace": Limit(_SYNTHETIC_FOR_REPLACED.why, rho=3 / 5)},
        ),
        Subject(
            "randomizer-sample",
            releases.release_randomized_records(),
            only="replace",
            local=True,
        ),
        Subject(
            "randomizer-split",
            releases.release_randomized_records(spread="split"),
            only="replace",
            local=True,
        ),
        Subject(
            "randomizer-table",
            releases.release_randomized_table,
            ("nobody else", "first of all in order"),
            only="replace",
            local=True,
        ),
        Subject("leaf-randomizer", releases.release_randomized_leaf, only="replace", local=True),
    )
}


def subject_named(name: str) -> Subject:
    """Return a ready subject by its name."""
    return SUBJECTS[check_name("subject", name, SUBJECTS)]


# Many audits in one table, worked off by several processes.

Relations = Literal["add-remove", "replace", "both"]
_STRIDE = 5


class Line(NamedTuple):
    """A row of the table: what is audited, and for which neighbours."""

    subject: str
    neighbours: Neighbours


def lines_of(subjects: Sequence[str] = (), neighbours: Relations = "both") -> list[Line]:
    """List the rows of the table for these subjects, by default all.

    A subject that promises for one relation only has a row for that one.
    """
    check_name("neighbours", neighbours, get_args(Relations))
    lines = []
    for name in dict.fromkeys(subjects or SUBJECTS):
        subject = subject_named(name)
        of = subject.relations if neighbours == "both" else (subject.neighbours(neighbours),)
        lines += [Line(name, one) for one in of]
    return lines


def audit_table(
    lines: Sequence[Line],
    runs: int = 4000,
    *,
    epsilon: Fraction | None = None,
    confidence: float = CONFIDENCE,
    jobs: int = 1,
    done: Callable[[float], None] = lambda _: None,
) -> list[AuditResult]:
    """Audit all lines, and judge them together.

    Parameters
    ----------
    lines
        Such as :func:`lines_of` gives.
    runs
        Of each, in each of its two worlds.
    epsilon
        What each is given per row added or removed; by default what its claim takes.
    confidence
        Of each bound by itself, and of all verdicts together.
    jobs
        How many processes work at once.
    done
        Told the share of the lines that are done.
    """
    check_integer("runs", runs, 64)
    check_integer("jobs", jobs, 1)
    # Quick and slow ones are mixed, so that the time left can be told from the lines that are done.
    order = [place for start in range(_STRIDE) for place in range(start, len(lines), _STRIDE)]
    results: dict[int, AuditResult] = {}
    for place, result in _audit_in_processes(lines, order, runs, epsilon, confidence, jobs):
        results[place] = result
        done(len(results) / len(lines))
    return judged_together([results[place] for place in range(len(lines))])


def _audit_in_processes(
    lines: Sequence[Line],
    order: Sequence[int],
    runs: int,
    epsilon: Fraction | None,
    confidence: float,
    jobs: int,
) -> Iterator[tuple[int, AuditResult]]:
    if jobs == 1:
        for place in order:
            yield place, _audit_line(lines[place], runs, epsilon, confidence)
        return
    # Fresh processes: one that is forked off a process with threads may hang.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: dict[Future[AuditResult], int] = {
            pool.submit(_audit_line, lines[place], runs, epsilon, confidence): place
            for place in order
        }
        try:
            for future in as_completed(waiting):
                yield waiting[future], future.result()
        finally:
            for future in waiting:
                future.cancel()


def _audit_line(line: Line, runs: int, epsilon: Fraction | None, confidence: float) -> AuditResult:
    return audit_subject(
        line.subject, epsilon, runs, neighbours=line.neighbours, confidence=confidence
    )
