"""Every mechanism follows its exact law; the checks reject one that is 30% off; OpenDP agrees."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from privet.mechanisms.gaussian import add_gaussian, discrete_gaussian
from privet.mechanisms.laplace import add_laplace, discrete_laplace
from privet.mechanisms.randomness import SeededBits, SystemBits, unlock_test_seeds
from privet.mechanisms.response import randomized_response, response_probabilities
from privet.mechanisms.selection import exponential, permute_and_flip
from tests.conformance.check_mechanism import (
    ALPHA,
    SAMPLES,
    check_noise,
    choice_fit,
    exponential_law,
    fit,
    flip_law,
    gaussian_law,
    laplace_law,
)

SCALES = [
    F(1, 3),
    F(1),
    F(10, 7),
    F(10),
    F(100),
    F(12345, 7),
    F("10.123456789012345678"),
    F(50_000),
]
VARIANCES = [F(1, 4), F(1), F(50, 3), F(1000), F("123.4567890123456789")]
SCORES = [10, 9, 9, 6, 0]


@pytest.fixture
def bits():
    with unlock_test_seeds():
        return SeededBits(2026)


@pytest.mark.parametrize("scale", SCALES, ids=float)
def test_discrete_laplace(bits, scale):
    check_noise(lambda count: discrete_laplace(bits, count, scale), laplace_law(float(scale)))


@pytest.mark.parametrize("variance", VARIANCES, ids=float)
def test_discrete_gaussian(bits, variance):
    check_noise(
        lambda count: discrete_gaussian(bits, count, variance), gaussian_law(float(variance))
    )


@pytest.mark.parametrize("factor", [F(7, 10), F(13, 10)], ids=float)
@pytest.mark.parametrize("scale", SCALES, ids=float)
def test_a_laplace_scale_30_percent_off_is_rejected(bits, scale, factor):
    with pytest.raises(AssertionError, match=r"follow its law|never occur"):
        check_noise(
            lambda count: discrete_laplace(bits, count, scale * factor), laplace_law(float(scale))
        )


@pytest.mark.parametrize("factor", [F(7, 10), F(13, 10)], ids=float)
@pytest.mark.parametrize("variance", VARIANCES, ids=float)
def test_a_gaussian_deviation_30_percent_off_is_rejected(bits, variance, factor):
    with pytest.raises(AssertionError, match=r"follow its law|never occur"):
        check_noise(
            lambda count: discrete_gaussian(bits, count, variance * factor**2),
            gaussian_law(float(variance)),
        )


@pytest.mark.parametrize(
    "spoil",
    [
        np.abs,
        lambda noise: noise + (noise == 0),
        lambda noise: noise // 2 * 2,
        lambda noise: np.clip(noise, -20, 20),
    ],
    ids=["one-sided", "never zero", "even only", "clipped"],
)
def test_a_spoiled_law_is_rejected(bits, spoil):
    with pytest.raises(AssertionError):
        check_noise(lambda count: spoil(discrete_laplace(bits, count, F(10))), laplace_law(10))


def test_the_system_source_follows_the_law_too():
    samples = discrete_laplace(SystemBits(), SAMPLES, F(10))
    assert fit(samples, laplace_law(10)) > 1e-9


def test_noise_of_a_huge_variance_is_sampled_in_big_integers(bits):
    samples = discrete_gaussian(bits, 4000, F(10**10))
    assert stats.kstest(samples / 1e5, "norm").pvalue > ALPHA
    assert stats.kstest(samples / 1.3e5, "norm").pvalue < ALPHA


@pytest.mark.parametrize("epsilon", [F(1, 2), F(2)], ids=float)
@pytest.mark.parametrize(
    ("select", "law"), [(permute_and_flip, flip_law), (exponential, exponential_law)]
)
def test_selection(bits, select, law, epsilon):
    chosen = np.bincount(
        [select(bits, SCORES, epsilon, 2) for _ in range(20_000)], minlength=len(SCORES)
    )
    assert choice_fit(chosen, law(SCORES, float(epsilon), 2)) > ALPHA
    for wrong in (0.7, 1.3):
        assert choice_fit(chosen, law(SCORES, wrong * float(epsilon), 2)) < ALPHA


def test_selection_of_a_single_candidate(bits):
    assert permute_and_flip(bits, [-5], F(1), 1) == 0
    assert exponential(bits, [-5], F(1), 1) == 0


@pytest.mark.parametrize(
    "epsilon", [F(1, 2), F(1), F(7, 2), F("1.2345678901234567890123")], ids=float
)
def test_randomized_response(bits, epsilon):
    truth = np.full(50_000, 2, dtype=np.uint8)
    reports, cost = randomized_response(bits, truth, 5, epsilon)
    kept, other = response_probabilities(5, epsilon)
    assert kept / other == pytest.approx(np.exp(float(epsilon)))
    assert kept + 4 * other == pytest.approx(1)
    observed = np.bincount(reports, minlength=5)
    assert choice_fit(observed, [other, other, kept, other, other]) > ALPHA
    for wrong in (F(7, 10), F(13, 10)):
        kept, other = response_probabilities(5, epsilon * wrong)
        assert choice_fit(observed, [other, other, kept, other, other]) < ALPHA
    assert cost.epsilon == epsilon


class TestOracle:
    """OpenDP has these mechanisms: its samples and ours must come from one law, and not from one
    that is 30% off.
    """

    @staticmethod
    def same_law(ours, theirs) -> float:
        low, high = np.quantile(np.concatenate([ours, theirs]), [0.001, 0.999])
        edges = np.unique(np.linspace(low, high, 30).round())
        tables = [
            np.histogram(np.clip(samples, low, high), bins=np.append(edges, np.inf))[0]
            for samples in (ours, theirs)
        ]
        kept = [column for column in zip(*tables, strict=True) if sum(column) > 50]
        return stats.chi2_contingency(np.array(kept).T).pvalue

    @pytest.mark.parametrize("scale", [F(2), F(25, 2)], ids=float)
    def test_laplace(self, bits, scale):
        from opendp.domains import atom_domain, vector_domain
        from opendp.measurements import make_laplace
        from opendp.metrics import l1_distance
        from opendp.mod import enable_features

        enable_features("contrib")
        oracle = make_laplace(
            vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=float(scale)
        )
        theirs = np.array(oracle([0] * 40_000))
        assert self.same_law(discrete_laplace(bits, 40_000, scale), theirs) > 1e-9
        assert self.same_law(discrete_laplace(bits, 40_000, scale * F(13, 10)), theirs) < 1e-9
        # Its privacy map and our cost are the same function of the scale.
        assert oracle.map(1) == pytest.approx(
            float(add_laplace(bits, np.zeros(1, np.int64), 1 / scale)[1].epsilon)
        )

    def test_gaussian(self, bits):
        from opendp.domains import atom_domain, vector_domain
        from opendp.measurements import make_gaussian
        from opendp.metrics import l2_distance
        from opendp.mod import enable_features

        enable_features("contrib")
        oracle = make_gaussian(vector_domain(atom_domain(T="i64")), l2_distance(T="f64"), scale=6.0)
        theirs = np.array(oracle([0] * 30_000))
        assert self.same_law(discrete_gaussian(bits, 30_000, F(36)), theirs) > 1e-9
        assert self.same_law(discrete_gaussian(bits, 30_000, F(36) * F(169, 100)), theirs) < 1e-9
        rho = add_gaussian(bits, np.zeros(1, np.int64), F(1, 72))[1].rho
        assert oracle.map(1.0) == pytest.approx(float(rho))

    def test_permute_and_flip(self, bits):
        from opendp.domains import atom_domain, vector_domain
        from opendp.measurements import make_noisy_max
        from opendp.measures import max_divergence
        from opendp.metrics import linf_distance
        from opendp.mod import enable_features

        enable_features("contrib")
        space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64", monotonic=True)
        oracle = make_noisy_max(*space, max_divergence(), scale=2.0)
        # monotone scores of sensitivity 1: a range of 1, epsilon 1/2
        assert oracle.map(1) == pytest.approx(0.5)
        theirs = np.bincount([oracle(SCORES) for _ in range(20_000)], minlength=5)
        assert choice_fit(theirs, flip_law(SCORES, 0.5, 1)) > 1e-9
        ours = np.bincount(
            [permute_and_flip(bits, SCORES, F(1, 2), 1) for _ in range(20_000)], minlength=5
        )
        assert stats.chi2_contingency(np.array([ours, theirs])[:, :4]).pvalue > 1e-9
