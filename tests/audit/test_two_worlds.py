"""The audit in one call, and everything that is ready for it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

import privet as pv
from privet import learners
from privet._progress import watched
from privet.audit import SUBJECTS, AuditResult, World, audit, audit_subject, pairs_of, subject_named
from privet.audit.features import observed
from privet.audit.subjects import SubjectRun
from privet.cli.options import NAMES
from privet.errors import ParameterError
from privet.model import Model

PAIRS = pairs_of()


def leaking(world: World) -> int:
    return len(world.rows)


def test_runs_are_shared_as_promised_and_counted_once():
    calls = []

    def run(world):
        calls.append(len(world.rows))
        return len(world.rows)

    found = audit(run, PAIRS, 1.0, 400, name="rows")
    assert len(calls) == 2 * 400
    chosen = next(pair for pair in PAIRS if pair.name == found.pair)
    assert calls[-400:] == [len(chosen.one.rows)] * 200 + [len(chosen.other.rows)] * 200
    assert (found.runs, found.counted, found.hits, found.verdict) == (
        400,
        200,
        (200, 0),
        "violated",
    )
    assert found.bound == found.tightness > 3
    assert "with" in found.event


def test_what_says_nothing_is_not_refuted():
    found = audit(lambda world: 7, PAIRS, 0.01, 400)
    assert (found.bound, found.verdict) == (0, "not refuted")


def test_runs_may_be_done_elsewhere_and_are_watched():
    told = []
    with ThreadPoolExecutor(2) as pool, watched(lambda what, share: told.append((what, share))):
        found = audit(leaking, PAIRS[:1], 1.0, 200, name="n", executor=pool)
    assert found.verdict == "violated"
    assert told[-1] == ("n", 1.0)
    assert [share for _, share in told] == sorted(share for _, share in told)


def test_delta_forgives_what_is_rare():
    """With probability 1/10 all is told: no epsilon at all, but (0, 1/10)-private. A counter in
    place of chance: every tenth run.
    """
    counter = iter(range(10**6))

    def run(world):
        return len(world.rows) if next(counter) % 10 == 0 else -1

    assert audit(run, PAIRS[0], 1.0, 3000).verdict == "violated"
    assert audit(run, PAIRS[0], 1.0, 3000, delta=0.1).verdict == "not refuted"


def test_an_error_that_depends_on_the_rows_is_raised_or_seen():
    def run(world):
        if not world.rows:
            raise ZeroDivisionError
        return 1

    with pytest.raises(ZeroDivisionError):
        audit(run, PAIRS[:1], 1.0, 100)
    found = audit(run, PAIRS[:1], 1.0, 200, observe_failures=True)
    assert found.verdict == "violated"
    assert "failure" in found.event or "value" in found.event


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"runs": 10}, "runs must be an integer from 64 to 1000000"),
        ({"epsilon": 0}, "epsilon must be the claimed number"),
        ({"pairs": ()}, "one or several pairs"),
        ({"epsilon": "1"}, "epsilon must be the claimed number"),
        ({"delta": -0.1}, "delta must be"),
        ({"confidence": 1}, "confidence must be"),
    ],
)
def test_what_makes_no_sense_is_refused(changed, told):
    with pytest.raises(ParameterError, match=told):
        audit(**({"run": leaking, "pairs": PAIRS, "epsilon": 1.0, "runs": 100} | changed))


def test_every_learner_is_a_subject():
    """By the models that come out of them: a learner that is added to the package and not here is
    told.
    """
    listed = [getattr(learners, name) for name in learners.__all__]
    wanted = {learner._name for learner in listed if isinstance(learner, type)}
    assert wanted >= set(NAMES)
    released = [
        SubjectRun(name, Fraction(1)).released(one.pairs("replace")[0].other).what
        for name, one in SUBJECTS.items()
    ]
    assert wanted <= {what.learner for what in released if isinstance(what, Model)}
    assert {learner.__name__ for learner in listed if not isinstance(learner, type)} <= set(
        SUBJECTS
    )


def test_a_learner_that_takes_a_delta_is_audited_with_one():
    taking = {
        one._name
        for one in map(learners.__dict__.get, learners.__all__)
        if isinstance(one, type) and "delta" in one().get_params()
    }
    assert {f"{name}-delta" for name in taking} <= set(SUBJECTS)


def test_an_unknown_subject_is_refused():
    with pytest.raises(
        ParameterError, match="subject must be 'privet', 'privet-delta', 'gibbs-tree'"
    ):
        subject_named("oracle")


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_promise_is_for_the_neighbours_and_what_is_released_is_seen(name):
    """Of add-remove what was asked for, a row or two per person; of replace twice that, but for
    what people do on their own side.
    """
    subject = SUBJECTS[name]
    for asked, factor in (("add-remove", 1), ("replace", 2)):
        pair = subject.pairs(asked)[0]
        released = SubjectRun(name, Fraction(1, 2)).released(pair.other)
        if released.delta:  # in rho the factor is squared, and epsilon grows about as it does
            assert (
                float(released.epsilon) == pytest.approx(0.5, rel=1e-6)
                if factor == 1
                else 1 < released.epsilon < 1.3
            )
            assert released.rho > 0
        else:
            assert released.epsilon == Fraction(1, 2) * subject.rows_per_person * (
                1 if subject.local else factor
            )
            assert not released.parts or sum(released.parts) == pytest.approx(
                float(released.epsilon)
            )
        assert pair.schema.neighbours == subject.neighbours(asked)
        assert observed(released.what, pair.probed)


def test_a_promise_that_depends_on_the_rows_is_refused(monkeypatch):
    from privet.audit import subjects

    def release(world, epsilon, bits):
        return subjects.Released(0, epsilon * (1 + len(world.rows)))

    monkeypatch.setitem(SUBJECTS, "odd", subjects.Subject("odd", release))
    with pytest.raises(ParameterError, match="the promise of odd depends on the rows"):
        audit_subject("odd", Fraction(1), 100)


def test_a_seed_is_not_sent_to_several_processes():
    with (
        pv.testing.unlock_test_seeds(),
        ThreadPoolExecutor(1) as pool,
        pytest.raises(ParameterError, match="all would draw the same"),
    ):
        audit_subject("count", Fraction(1), 100, bits=pv.testing.SeededBits(1), executor=pool)


@pytest.mark.slow
@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_no_subject_is_refuted(name, neighbours):
    found = audit_subject(name, Fraction(1), 400, neighbours=neighbours)
    assert isinstance(found, AuditResult)
    assert 0.99 < found.claimed <= 4  # it claims something: answers from a seed would not
    assert found.verdict == "not refuted", found
