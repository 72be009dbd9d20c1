"""Tests of randomboost.theory: closed forms, Monte-Carlo checks and error messages.

A Monte-Carlo frequency over N trials has standard error at most 0.5 / sqrt(N). A frequency that
must reach a stated probability is allowed to miss it by 4 standard errors; with the fixed seeds
the outcome never changes. The bounds come from union bounds and Chernoff tails and are loose, so
a frequency alone is a weak test. Each lemma and theorem therefore also has a sharp test: in
*every* trial in which the norms named in the proof are preserved, the bound must hold.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import chi2

from randomboost.theory import (
    inner_product_bounds,
    inner_product_probability,
    margin_bound_preservation,
    margin_bound_single_vector,
    min_projections_preservation,
    min_projections_single_vector,
    multiclass_margin,
    norm_probability,
)

ROUNDING = 1e-9


def gaussian_matrices(rng, n_trials, n_projections, n_columns):
    """Draw projection matrices of shape (n_trials, n_projections, n_columns)."""
    scale = 1 / math.sqrt(n_projections)
    return rng.normal(scale=scale, size=(n_trials, n_projections, n_columns))


def unit(vectors):
    """Scale the vectors along the last axis to length 1."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def squared_norm(vectors):
    """Return the squared length of the vectors along the last axis."""
    return (vectors**2).sum(axis=-1)


def assert_at_least(frequency, probability, n_trials):
    """Assert that a frequency reaches a probability, up to 4 standard errors."""
    assert frequency >= probability - 4 * 0.5 / math.sqrt(n_trials)


def projected_margins(rng, outputs, coefficients, y, n_projections, n_trials):
    """Return the margins after projecting outputs and coefficients by common matrices."""
    margins = []
    for matrix in gaussian_matrices(rng, n_trials, n_projections, outputs.shape[1]):
        margins.append(multiclass_margin(outputs @ matrix.T, coefficients @ matrix.T, y))
    return np.array(margins)


# Closed forms


@pytest.mark.parametrize(
    ("function", "n_events"),
    [(min_projections_preservation, 6 * 10 * 1000), (min_projections_single_vector, 6 * 1000 * 9)],
)
@pytest.mark.parametrize("eps", [0.01, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.9])
def test_min_projections_is_minimal(function, n_events, eps, delta):
    """Check that n satisfies the strict inequality and n - 1 does not."""
    n_projections = function(eps, delta, n_samples=1000, n_classes=10)
    threshold = 12 / (3 * eps**2 - 2 * eps**3) * math.log(n_events / delta)
    assert isinstance(n_projections, int)
    assert n_projections > threshold
    assert n_projections - 1 <= threshold
    # The same from the failure probability of the union bound, the source of the threshold.
    decay = eps**2 / 4 - eps**3 / 6
    assert n_events * math.exp(-n_projections * decay) < delta
    assert n_events * math.exp(-(n_projections - 1) * decay) >= delta


def test_min_projections_by_hand():
    """Compare the number of projections with numbers computed by hand."""
    # 12 / (3/4 - 2/8) = 24; 24 ln(6 * 2 * 1 / 0.5) = 24 * 3.178054 = 76.27
    assert min_projections_preservation(0.5, 0.5, n_samples=1, n_classes=2) == 77
    # 24 ln(6 * 1 * 1 / 0.5) = 24 * 2.484907 = 59.64
    assert min_projections_single_vector(0.5, 0.5, n_samples=1, n_classes=2) == 60


def test_margin_bounds_by_hand():
    """Compare both margin bounds with numbers computed by hand."""
    # eps = 0.6: sqrt(1 - eps^2) = 0.8, so -2.8 / 0.64 + 0.8 / 1.6 + 4 = -4.375 + 0.5 + 4
    assert margin_bound_preservation(1.0, 0.6) == pytest.approx(0.125)
    # 2 - 4 * (2 - 1)
    assert margin_bound_preservation(1.0, 0.6, corrected=True) == pytest.approx(-2.0)
    # k = 2: -1.2 / 0.4 + 1.6 / (2 * 0.4) = -3 + 2
    assert margin_bound_single_vector(1.0, 0.6, 2) == pytest.approx(-1.0)
    assert margin_bound_single_vector(1.0, 0.6, 2, corrected=True) == pytest.approx(-1.0)
    # k = 8, eps = 0.1: (-0.2 + 1.1 * 2 / 4) / 0.9 = 0.35 / 0.9, times sqrt(0.9 / 1.1)
    assert margin_bound_single_vector(2.0, 0.1, 8) == pytest.approx(0.35 / 0.9)
    corrected = margin_bound_single_vector(2.0, 0.1, 8, corrected=True)
    assert corrected == pytest.approx(0.35 / 0.9 * math.sqrt(0.9 / 1.1))


def test_inner_product_bounds_by_hand():
    """Compare the bounds of Lemma 1 with numbers computed by hand."""
    # eps = 0.6, cosine 0.5: 1 - 4 * 0.5 and 1 - 0.8 / 1.6 + 0.6 / 1.6 + 0.4 / 1.6 * 0.5
    assert inner_product_bounds(0.5, 0.6) == pytest.approx((-1.0, 1.0))
    # Identical directions stay identical: the lower bound is exactly 1.
    assert inner_product_bounds(1.0, 0.6)[0] == 1.0


def test_probabilities_by_hand():
    """Compare the probabilities of both lemmas with numbers computed by hand."""
    # n = 240, eps = 0.5: exponent 240 / 2 * (1/8 - 1/24) = 10
    assert norm_probability(240, 0.5) == pytest.approx(1 - 2 * math.exp(-10))
    assert inner_product_probability(240, 0.5) == pytest.approx(1 - 6 * math.exp(-10))


def test_probabilities_are_clipped_at_zero_where_vacuous():
    """Check the smallest n for which the lemmas say something."""
    # 12 ln 2 / (3 eps^2 - 2 eps^3) = 16.6 and 12 ln 6 / (...) = 43.0 for eps = 0.5
    assert norm_probability(16, 0.5) == 0.0 < norm_probability(17, 0.5)
    assert inner_product_probability(43, 0.5) == 0.0 < inner_product_probability(44, 0.5)


@pytest.mark.parametrize(("margin", "largest_eps"), [(0.5, 0.167421), (1.0, 1 / math.sqrt(2))])
def test_theorem_1_is_positive_only_for_small_eps(margin, largest_eps):
    """Check the limits of eps that the docstring names."""
    assert margin_bound_preservation(margin, largest_eps - 1e-5) > 0
    assert margin_bound_preservation(margin, largest_eps + 1e-5) < 0
    limit = margin / (4 - margin)
    assert margin_bound_preservation(margin, limit - 1e-5, corrected=True) > 0
    assert margin_bound_preservation(margin, limit + 1e-5, corrected=True) < 0


@pytest.mark.parametrize(("margin", "n_classes"), [(1.0, 10), (0.5, 10), (0.2, 3)])
@pytest.mark.parametrize("corrected", [False, True])
def test_theorem_2_is_positive_only_for_small_eps(margin, n_classes, corrected):
    """Check the limits of eps that the docstring names."""
    share = margin / math.sqrt(2 * n_classes)
    limit = share / (2 - share)
    for eps, sign in [(limit - 1e-5, 1), (limit + 1e-5, -1)]:
        bound = margin_bound_single_vector(margin, eps, n_classes, corrected=corrected)
        assert np.sign(bound) == sign


def test_projections_for_a_positive_theorem_2_grow_faster_than_classes():
    """Check that 100 times the classes need over 100 times the projections."""

    def projections(n_classes):
        share = 1 / math.sqrt(2 * n_classes)
        return min_projections_single_vector(share / (2 - share), 0.1, 1000, n_classes)

    assert projections(1000) > 100 * projections(10)


# Lemma 2: norms


@pytest.mark.parametrize("eps", [0.05, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("n_projections", [1, 10, 100, 1000, 10000])
def test_norm_probability_is_below_the_exact_probability(n_projections, eps):
    """Compare Lemma 2 with the chi-square distribution of n |P x|^2 / |x|^2."""
    limits = n_projections * np.array([1 - eps, 1 + eps])
    below, not_above = chi2.cdf(limits, n_projections)
    assert norm_probability(n_projections, eps) <= not_above - below
    # The upper tail of the proof; the printed direction "<=" would be false.
    tail = math.exp(-n_projections * (eps**2 / 4 - eps**3 / 6))
    assert 1 - not_above <= tail
    if n_projections >= 1000 and eps >= 0.2:
        assert not_above > tail


@pytest.mark.parametrize(("n_projections", "eps"), [(40, 0.5), (60, 0.5), (150, 0.25)])
def test_norm_is_preserved_with_the_stated_probability(n_projections, eps):
    """Confirm Lemma 2 by simulation."""
    # The frequencies are about 0.97, 0.99 and 0.97; the stated probabilities 0.62 to 0.84.
    rng = np.random.default_rng(0)
    n_trials = 2000
    vector = rng.normal(size=5)
    projected = gaussian_matrices(rng, n_trials, n_projections, 5) @ vector
    ratios = squared_norm(projected) / squared_norm(vector)
    probability = norm_probability(n_projections, eps)
    assert probability > 0.5
    assert_at_least(np.mean(np.abs(ratios - 1) <= eps), probability, n_trials)
    # Power: a distortion three times smaller is not reached with this probability.
    assert np.mean(np.abs(ratios - 1) <= eps / 3) < probability


# Lemma 1: cosines


@pytest.mark.parametrize("cosine", [-1.0, -0.9, -0.4, 0.0, 0.1, 0.5, 0.9, 0.99, 1.0])
@pytest.mark.parametrize("eps", [0.1, 0.3, 0.6, 0.9])
def test_projected_cosine_is_within_its_bounds(cosine, eps):
    """Confirm Lemma 1 by simulation, also for cosines that the lemma leaves out."""
    # n is chosen so that the stated probability is about 1/2, but at most 200. For eps = 0.1
    # it is then 0, and only the test under preserved norms says something.
    rng = np.random.default_rng(1)
    n_trials = 1000
    n_projections = min(200, math.ceil(12 * math.log(12) / (3 * eps**2 - 2 * eps**3)))
    first = np.array([1.0, 0.0])
    second = np.array([cosine, math.sqrt(1 - cosine**2)])
    matrices = gaussian_matrices(rng, n_trials, n_projections, 2)
    first_projected, second_projected = matrices @ first, matrices @ second
    cosines = (unit(first_projected) * unit(second_projected)).sum(axis=1)
    lower, upper = inner_product_bounds(cosine, eps)
    inside = (lower - ROUNDING <= cosines) & (cosines <= upper + ROUNDING)
    assert_at_least(inside.mean(), inner_product_probability(n_projections, eps), n_trials)

    distances = squared_norm(first_projected - second_projected)
    preserved = (
        (np.abs(squared_norm(first_projected) - 1) <= eps)
        & (np.abs(squared_norm(second_projected) - 1) <= eps)
        & (np.abs(distances - 2 * (1 - cosine)) <= eps * 2 * (1 - cosine))
    )
    assert preserved.sum() >= 100
    assert inside[preserved].all()


@pytest.mark.parametrize("eps", [0.05, 0.3, 0.7, 0.95])
def test_inner_product_bounds_hold_for_all_allowed_distortions(eps):
    """Confirm Lemma 1 on a grid of everything that the preserved norms allow."""
    # All lengths within the distortion, all projected angles, and the two extreme cosines before
    # the projection that a preserved distance allows: no randomness.
    lengths = np.sqrt(np.linspace(1 - eps, 1 + eps, 9))
    lower_gaps, upper_gaps = [], []
    first_step_of_proof_fails = False
    for projected_cosine in np.linspace(-1, 1, 41):
        for first in lengths:
            for second in lengths:
                distance = first**2 + second**2 - 2 * first * second * projected_cosine
                printed_step = 2 - 2 * math.sqrt(1 - eps**2) * projected_cosine
                first_step_of_proof_fails |= distance > printed_step + ROUNDING
                for distortion in (1 - eps, 1 + eps):
                    cosine = 1 - distance / distortion / 2
                    if cosine < -1:
                        continue
                    lower, upper = inner_product_bounds(min(cosine, 1.0), eps)
                    lower_gaps.append(projected_cosine - lower)
                    upper_gaps.append(upper - projected_cosine)
    # The lower bound is attained, so it cannot be improved without more events.
    assert min(lower_gaps) == pytest.approx(0, abs=ROUNDING)
    assert min(upper_gaps) >= -ROUNDING
    assert first_step_of_proof_fails


# Theorem 1


def ensemble_with_nonnegative_cosines(n_samples=6, n_classes=3, n_learners=8):
    """Return outputs near the coefficients of their class, all cosines at least 0."""
    rng = np.random.default_rng(2)
    coefficients = np.eye(n_classes, n_learners) + 0.1
    y = np.arange(n_samples) % n_classes
    outputs = coefficients[y] + 0.1 * rng.uniform(size=(n_samples, n_learners))
    return outputs, coefficients, y


def ensemble_with_negative_cosines():
    """Return two samples and two opposite classes, margin above 1."""
    coefficients = np.array([[1.0, 0.2, 0.0], [-1.0, 0.2, 0.0]])
    return np.array([[1.0, 0.0, 0.3], [-1.0, 0.0, 0.5]]), coefficients, np.array([0, 1])


@pytest.mark.parametrize("eps", [0.3, 0.5, 0.8])
@pytest.mark.parametrize(
    ("ensemble", "corrected"),
    [
        (ensemble_with_nonnegative_cosines, False),
        (ensemble_with_nonnegative_cosines, True),
        (ensemble_with_negative_cosines, True),
    ],
)
def test_theorem_1_margin_is_preserved(ensemble, corrected, eps):
    """Confirm Theorem 1 by simulation; as printed only where its premise holds."""
    rng = np.random.default_rng(3)
    outputs, coefficients, y = ensemble()
    margin = multiclass_margin(outputs, coefficients, y)
    delta, n_trials = 0.3, 400
    n_projections = min_projections_preservation(eps, delta, len(y), len(coefficients))
    margins = projected_margins(rng, outputs, coefficients, y, n_projections, n_trials)
    bound = margin_bound_preservation(margin, eps, corrected=corrected)
    assert_at_least(np.mean(margins >= bound), 1 - delta, n_trials)
    # Power: the margin itself, a bound without slack, is missed too often.
    assert np.mean(margins >= margin) < 1 - delta


@pytest.mark.parametrize(
    ("ensemble", "corrected"),
    [
        (ensemble_with_nonnegative_cosines, False),
        (ensemble_with_nonnegative_cosines, True),
        (ensemble_with_negative_cosines, True),
    ],
)
def test_theorem_1_holds_whenever_the_norms_are_preserved(ensemble, corrected):
    """Confirm that the norms of the proof imply the bound of Theorem 1."""
    # n = 60 is far too small for the theorem; for each trial take the smallest eps for which all
    # norms of the proof are preserved, where the bound is tightest.
    rng = np.random.default_rng(4)
    outputs, coefficients, y = ensemble()
    margin = multiclass_margin(outputs, coefficients, y)
    pairs = unit(outputs)[:, None, :], unit(coefficients)[None, :, :]
    vectors = np.vstack(
        [unit(outputs), unit(coefficients)]
        + [(pairs[0] + sign * pairs[1]).reshape(-1, outputs.shape[1]) for sign in (-1, 1)]
    )
    n_checked = 0
    for matrix in gaussian_matrices(rng, 500, 60, outputs.shape[1]):
        ratios = squared_norm(vectors @ matrix.T) / squared_norm(vectors)
        eps = np.abs(ratios - 1).max()
        if eps < 1:
            projected = multiclass_margin(outputs @ matrix.T, coefficients @ matrix.T, y)
            assert projected >= margin_bound_preservation(margin, eps, corrected=corrected)
            n_checked += 1
    assert n_checked > 400


def test_theorem_1_as_printed_is_impossible_for_margins_above_1():
    """Show that Theorem 1 as printed is wrong and the corrected bound sensible."""
    # No margin exceeds 2, so a lower bound above 2 is false whatever n is.
    assert margin_bound_preservation(1.5, 0.574) > 2
    assert margin_bound_preservation(2.0, 0.01) > 2
    for margin in np.linspace(-2, 2, 17):
        for eps in np.linspace(0.01, 0.99, 25):
            assert margin_bound_preservation(margin, eps, corrected=True) <= margin + ROUNDING
            if margin <= 1:
                assert margin_bound_preservation(margin, eps) <= margin


# Theorem 2


def single_vector_margins(matrix, outputs, coefficients, y, printed_divisor):
    """Return the normalised margins of v = R u for every sample and wrong class."""
    n_classes, n_learners = coefficients.shape
    vector = matrix @ unit(coefficients).ravel()
    blocks = matrix.reshape(-1, n_classes, n_learners)  # blocks[:, r] is P_r
    projected = np.einsum("nrt,mt->mrn", blocks, outputs)
    samples = np.arange(len(y))
    true = projected[samples, y][:, None, :]
    difference = true - projected
    divisor = squared_norm(true) + squared_norm(projected)
    if not printed_divisor:
        divisor = squared_norm(difference)
    wrong = np.arange(n_classes) != y[:, None]
    return (difference @ vector)[wrong] / np.sqrt(divisor[wrong]) / np.linalg.norm(vector)


@pytest.mark.parametrize("printed_divisor", [False, True])
@pytest.mark.parametrize("eps", [0.15, 0.3, 0.6])
def test_theorem_2_margin_is_preserved(eps, printed_divisor):
    """Confirm Theorem 2 by simulation."""
    # The divisor of the proof goes with the printed bound, the printed divisor with the
    # corrected one. The bound is positive for eps = 0.15 and negative otherwise.
    rng = np.random.default_rng(5)
    outputs, coefficients, y = ensemble_with_nonnegative_cosines(n_samples=3)
    n_classes = len(coefficients)
    margin = multiclass_margin(outputs, coefficients, y)
    delta, n_trials = 0.3, 300
    n_projections = min_projections_single_vector(eps, delta, len(y), n_classes)
    bound = margin_bound_single_vector(margin, eps, n_classes, corrected=printed_divisor)
    assert (bound > 0) == (eps == 0.15)
    smallest = np.array(
        [
            single_vector_margins(
                gaussian_matrices(rng, 1, n_projections, coefficients.size)[0],
                outputs,
                coefficients,
                y,
                printed_divisor,
            ).min()
            for _ in range(n_trials)
        ]
    )
    assert_at_least(np.mean(smallest >= bound), 1 - delta, n_trials)
    # Power: the limit for eps -> 0, a bound without slack, is missed too often.
    assert np.mean(smallest >= margin / math.sqrt(2 * n_classes)) < 1 - delta


@pytest.mark.parametrize("opposite_classes", [False, True])
def test_theorem_2_holds_whenever_the_norms_are_preserved(opposite_classes):
    """Confirm that the norms of the proof imply the bound of Theorem 2."""
    rng = np.random.default_rng(6)
    outputs, coefficients, y = ensemble_with_nonnegative_cosines(n_samples=3)
    if opposite_classes:
        outputs, coefficients, y = ensemble_with_negative_cosines()
    n_classes = len(coefficients)
    margin = multiclass_margin(outputs, coefficients, y)
    blocks = np.einsum("rs,mt->mrst", np.eye(n_classes), unit(outputs))
    blocks = blocks.reshape(len(y), n_classes, -1)  # H (x) e_r
    wrong = np.arange(n_classes) != y[:, None]
    differences = unit((blocks[np.arange(len(y)), y][:, None, :] - blocks)[wrong])
    direction = unit(unit(coefficients).ravel())
    vectors = np.vstack(
        [direction, differences, differences - direction, blocks.reshape(-1, coefficients.size)]
    )
    n_positive = 0
    for matrix in gaussian_matrices(rng, 500, 250, coefficients.size):
        eps = np.abs(squared_norm(vectors @ matrix.T) / squared_norm(vectors) - 1).max()
        for printed_divisor in (False, True):
            margins = single_vector_margins(matrix, outputs, coefficients, y, printed_divisor)
            bound = margin_bound_single_vector(margin, eps, n_classes, corrected=printed_divisor)
            assert margins.min() >= bound - ROUNDING
            n_positive += bound > 0
    assert n_positive > 100


def test_theorem_2_as_printed_fails_for_opposite_classes():
    """Show that Theorem 2 as printed is wrong."""
    # w_1 = -w_2 = H: margin 2 and printed bound 1 for every eps. With the printed divisor the
    # projected margin is sqrt(1 - 2 <P_1 H, P_2 H> / divisor), below 1 with probability 1/2.
    rng = np.random.default_rng(7)
    eps, delta, n_trials = 0.5, 0.1, 1000
    outputs, coefficients, y = np.array([[1.0]]), np.array([[1.0], [-1.0]]), np.array([0])
    assert multiclass_margin(outputs, coefficients, y) == 2
    assert margin_bound_single_vector(2.0, eps, 2) == pytest.approx(1)
    n_projections = min_projections_single_vector(eps, delta, 1, 2)
    arguments = outputs, coefficients, y
    matrices = gaussian_matrices(rng, n_trials, n_projections, 2)
    printed = np.array([single_vector_margins(matrix, *arguments, True)[0] for matrix in matrices])
    proof = np.array([single_vector_margins(matrix, *arguments, False)[0] for matrix in matrices])
    # 0.5 with standard error 0.016, far below the promised 0.9
    assert np.mean(printed >= 1) == pytest.approx(0.5, abs=0.064)
    assert proof == pytest.approx(1)
    corrected = margin_bound_single_vector(2.0, eps, 2, corrected=True)
    assert_at_least(np.mean(printed >= corrected), 1 - delta, n_trials)


# Margin


def test_margin_by_hand():
    """Compare the margin with numbers computed by hand."""
    # Sample 0 has the cosines 3/5 and 0, sample 1 has 4/5 and 1: 0.6 and 0.2.
    outputs, coefficients = [[1, 0], [0, 1]], [[3, 4], [0, 2]]
    assert multiclass_margin(outputs, coefficients, [0, 1]) == pytest.approx(0.2)
    assert multiclass_margin(outputs, coefficients, [1, 1]) == pytest.approx(-0.6)


def test_margin_matches_a_plain_loop():
    """Compare the margin with its definition, written out."""
    rng = np.random.default_rng(8)
    outputs = rng.choice([-1, 1], size=(20, 7))
    coefficients = rng.uniform(size=(4, 7))
    y = rng.integers(4, size=20)
    margins = []
    for output, label in zip(outputs, y, strict=True):
        cosines = [
            row @ output / math.sqrt((row @ row) * (output @ output)) for row in coefficients
        ]
        margins.append(cosines[label] - max(np.delete(cosines, label)))
    assert multiclass_margin(outputs, coefficients, y) == pytest.approx(min(margins))


def test_margin_does_not_depend_on_scale_and_leaves_its_input_alone():
    """Check that extreme scales change nothing and no argument is overwritten."""
    outputs, coefficients, y = ensemble_with_nonnegative_cosines()
    copies = outputs.copy(), coefficients.copy(), y.copy()
    margin = multiclass_margin(outputs, coefficients, y)
    assert multiclass_margin(outputs * 1e-200, coefficients * 1e200, y) == pytest.approx(margin)
    for array, copy in zip((outputs, coefficients, y), copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_margin_never_leaves_its_range():
    """Check that rounding cannot make a margin that the bounds refuse."""
    # Without clipping, rounding gives 2.0000000000000004 for some of these.
    for n_learners in range(1, 200):
        vector = np.arange(1.0, n_learners + 1)
        margin = multiclass_margin([vector], [vector, -vector], [0])
        assert margin_bound_preservation(margin, 0.1, corrected=True) <= 2


# Errors


@pytest.mark.parametrize("eps", [0.0, 1.0, -0.1, 1.5, math.nan])
@pytest.mark.parametrize(
    "call",
    [
        lambda eps: min_projections_preservation(eps, 0.1, 10, 2),
        lambda eps: min_projections_single_vector(eps, 0.1, 10, 2),
        lambda eps: margin_bound_preservation(0.5, eps),
        lambda eps: margin_bound_single_vector(0.5, eps, 2),
        lambda eps: inner_product_probability(10, eps),
        lambda eps: norm_probability(10, eps),
        lambda eps: inner_product_bounds(0.5, eps),
    ],
)
def test_eps_outside_its_range_is_refused(call, eps):
    """Check the error of every function that takes eps."""
    with pytest.raises(ValueError, match=r"eps must be in \(0, 1\)"):
        call(eps)


@pytest.mark.parametrize("function", [min_projections_preservation, min_projections_single_vector])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.1, 0.0, 10, 2), r"delta must be in \(0, 1\)"),
        ((0.1, 1.0, 10, 2), r"delta must be in \(0, 1\)"),
        ((0.1, 0.1, 0, 2), "n_samples must be an integer >= 1"),
        ((0.1, 0.1, 2.5, 2), "n_samples must be an integer >= 1"),
        ((0.1, 0.1, 10, 1), "n_classes must be an integer >= 2"),
        ((0.1, 0.1, 10, True), "n_classes must be an integer >= 2"),
    ],
)
def test_min_projections_refuses_bad_arguments(function, arguments, message):
    """Check the errors for delta and both counts."""
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: margin_bound_preservation(2.1, 0.1), r"margin must be in \[-2, 2\]"),
        (lambda: margin_bound_single_vector(math.nan, 0.1, 2), r"margin must be in \[-2, 2\]"),
        (lambda: margin_bound_single_vector(1.0, 0.1, 1), "n_classes must be an integer >= 2"),
        (lambda: inner_product_bounds(1.1, 0.1), r"cosine must be in \[-1, 1\]"),
        (lambda: norm_probability(0, 0.1), "n_projections must be an integer >= 1"),
        (lambda: inner_product_probability(0, 0.1), "n_projections must be an integer >= 1"),
    ],
)
def test_bounds_refuse_bad_arguments(call, message):
    """Check the errors of the bounds and probabilities."""
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("outputs", "coefficients", "y", "message"),
    [
        ([1, 2], np.eye(2), [0], "outputs has shape .* pass a non-empty 2-dimensional"),
        (np.eye(2), np.ones(2), [0, 1], "coefficients has shape .* pass a non-empty"),
        (np.empty((0, 2)), np.eye(2), [], "outputs has shape .* pass a non-empty"),
        (np.eye(2), np.eye(3), [0, 1], "coefficients has 3 columns but outputs has 2; pass one"),
        (np.eye(2), [[1, 0]], [0, 0], "coefficients has 1 row; pass a row for each"),
        (np.eye(2), np.eye(2), [0], "y has shape .* pass one label"),
        (np.eye(2), np.eye(2), [1, 2], "y must hold integers from 0 to 1.* encode"),
        (np.eye(2), np.eye(2), [-1, 0], "y must hold integers from 0 to 1.* encode"),
        (np.eye(2), np.eye(2), [0.0, 1.0], "y must hold integers from 0 to 1.* encode"),
        (np.eye(2), np.eye(2), ["a", "b"], "y must hold integers from 0 to 1.* encode"),
        ([[1, 0], [0, 0]], np.eye(2), [0, 1], "outputs has norm 0 in row 1.* drop"),
        (np.eye(2), [[0, 0], [1, 0]], [0, 1], "coefficients has norm 0 in row 0.* drop"),
        ([[1, math.nan], [0, 1]], np.eye(2), [0, 1], "outputs holds NaN or infinity; remove"),
    ],
)
def test_margin_refuses_bad_arguments(outputs, coefficients, y, message):
    """Check the errors for shapes, labels, norms and values."""
    with pytest.raises(ValueError, match=message):
        multiclass_margin(outputs, coefficients, y)
