"""The classical boosting methods, round by round, against their published pseudo-code.

The oracles are plain loops over samples, features and thresholds. All of them choose the weak
classifier themselves; random sample weights leave no two stumps with the same edge, which
`best_stump` makes sure of.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier as SklearnAdaBoost
from sklearn.tree import DecisionTreeClassifier

from randomboost import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
)

TIE = 1e-11
FLOOR = 1e-6


def overlapping(m, d, k, seed, noise=0.2):
    """Return k classes that no few stumps separate, positive weights, and fresh points."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(k, size=m - k)])
    X = rng.normal(0.0, 1.5, (k, d))[y] + rng.standard_normal((m, d))
    y = np.where(rng.random(m) < noise, rng.integers(k, size=m), y)
    y[:k] = np.arange(k)
    return X, y, rng.uniform(0.5, 2.0, m), rng.normal(0.0, 2.0, (25, d))


# -- oracles -------------------------------------------------------------------------------------


class PlainStump:
    """``sign`` where feature j exceeds the threshold, ``-sign`` elsewhere."""

    def __init__(self, j, threshold, sign):
        self.j, self.threshold, self.sign = j, threshold, sign

    def __call__(self, X):
        return np.where(X[:, self.j] > self.threshold, self.sign, -self.sign).astype(float)


def all_cuts(X):
    """Yield every feature with every midpoint between two neighbouring values of it."""
    for j in range(X.shape[1]):
        values = np.unique(X[:, j])
        for below, above in itertools.pairwise(values):
            yield j, (below + above) / 2


def best_stump(X, *columns, ties=False):
    """Return the stump with the largest ``sum over columns of |sum_i c_i h(x_i)|`` and that sum.

    With one column of signed weights the stump is turned so that its edge is positive; with
    several it says +1 above the threshold.
    """
    scale = sum(np.abs(c).sum() for c in columns)
    found, best, second = None, -1.0, -1.0
    for j, threshold in all_cuts(X):
        h = PlainStump(j, threshold, 1)
        edges = [float(c @ h(X)) for c in columns]
        total = sum(abs(edge) for edge in edges)
        if total > best:
            sign = -1 if len(columns) == 1 and edges[0] < 0 else 1
            found, best, second = PlainStump(j, threshold, sign), total, best
        else:
            second = max(second, total)
    assert ties or best - second > TIE * scale, "two stumps are equally good: other data needed"
    return found, best


def plain_adaboost(X, y, weight, n_rounds):
    """AdaBoost (Freund and Schapire 1997), y in {-1, +1}: yields alpha and h."""
    D = weight / weight.sum()
    for _ in range(n_rounds):
        h, r = best_stump(X, D * y)
        eps = (1 - r) / 2
        if r <= 1e-10:
            return
        if eps <= 1e-12:
            yield None, h, r
            return
        alpha = 0.5 * np.log((1 - eps) / eps)
        yield alpha, h, r
        D = D * np.exp(-alpha * y * h(X))
        D = D / D.sum()


def plain_ecc(X, y, weight, partitions):
    """AdaBoost.ECC (Guruswami and Sahai 1999): yields alpha, beta, h and the weights D(i, l)."""
    m, k = len(y), len(partitions[0])
    D = np.zeros((m, k))
    for i in range(m):
        for label in range(k):
            D[i, label] = weight[i] if label != y[i] else 0.0
    D /= D.sum()
    for mu in partitions:
        D_t = np.zeros(m)
        for i in range(m):
            for label in range(k):
                if mu[label] != mu[y[i]]:
                    D_t[i] += D[i, label]
        D_t /= D_t.sum()
        side = np.array([mu[y[i]] for i in range(m)])
        h, _ = best_stump(X, D_t * side)
        mass = {(a, b): 0.0 for a in (-1, 1) for b in (-1, 1)}
        for i, output in enumerate(h(X)):
            mass[int(output), int(side[i])] += D_t[i]
        mass = {key: max(value, FLOOR) for key, value in mass.items()}
        alpha = 0.5 * np.log(mass[1, 1] / mass[1, -1])
        beta = 0.5 * np.log(mass[-1, -1] / mass[-1, 1])
        yield alpha, beta, h, D.copy()
        for i, output in enumerate(h(X)):
            g = alpha if output == 1 else -beta
            for label in range(k):
                D[i, label] *= np.exp(0.5 * (mu[label] - mu[y[i]]) * g)
        D /= D.sum()


def plain_columns(X, Y, weight, n_rounds):
    """AdaBoost.MH with a weak classifier and a weight for each column of Y, (m, J) of +-1.

    Yields the list of weak classifiers and of weights: MH with Y_il = +-1 for own and other
    labels, the binary problems of AdaBoost.MO with Y_ij = code[y_i, j].
    """
    m, n_columns = Y.shape
    D = np.repeat(weight[:, None], n_columns, axis=1) / (n_columns * weight.sum())
    for _ in range(n_rounds):
        stumps, alphas = [], []
        for j in range(n_columns):
            h, _ = best_stump(X, D[:, j] * Y[:, j])
            right = sum(D[i, j] for i in range(m) if Y[i, j] * h(X)[i] > 0)
            wrong = sum(D[i, j] for i in range(m) if Y[i, j] * h(X)[i] < 0)
            floor = FLOOR * (right + wrong)
            stumps.append(h)
            alphas.append(0.5 * np.log(max(right, floor) / max(wrong, floor)))
        yield stumps, np.array(alphas)
        for j in range(n_columns):
            D[:, j] *= np.exp(-alphas[j] * Y[:, j] * stumps[j](X))
        D /= D.sum()


def plain_shared_mh(X, Y, weight, n_rounds):
    """AdaBoost.MH with one stump phi and votes v a round: yields phi, v, alpha and r."""
    k = Y.shape[1]
    D = np.repeat(weight[:, None], k, axis=1) / (k * weight.sum())
    for _ in range(n_rounds):
        phi, r = best_stump(X, *(D * Y).T)
        votes = np.array([np.sign((D[:, label] * Y[:, label]) @ phi(X)) for label in range(k)])
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        yield phi, votes, alpha, r
        for label in range(k):
            D[:, label] *= np.exp(-alpha * Y[:, label] * votes[label] * phi(X))
        D /= D.sum()


def one_against_rest(y, k):
    return np.array([[1.0 if label == own else -1.0 for label in range(k)] for own in y])


# -- the oracles by themselves -------------------------------------------------------------------


def test_best_stump_tries_all():
    X, y, weight, _ = overlapping(12, 2, 2, 0)
    c = weight * (2 * y - 1)
    edges = []
    for bits in range(1 << 12):  # all labelings, kept where they are a cut of one feature
        h = np.array([1.0 if bits >> i & 1 else -1.0 for i in range(12)])
        for x in X.T:
            upper, lower = x[h > 0], x[h < 0]
            one_sided = len(upper) == 0 or len(lower) == 0
            if not one_sided and (upper.min() > lower.max() or lower.min() > upper.max()):
                edges.append(c @ h)
    h, edge = best_stump(X, c)
    assert_allclose(edge, max(edges))
    assert_allclose(c @ h(X), edge)


def test_plain_adaboost_keeps_its_promises():
    """The last hypothesis has edge 0 under the next weights; the error is below prod Z."""
    X, y, weight, _ = overlapping(40, 3, 2, 1)
    sign = 2 * y - 1
    f, bound = np.zeros(40), 1.0
    for alpha, h, r in plain_adaboost(X, sign, weight, 10):
        f += alpha * h(X)
        D = weight * np.exp(-sign * f)
        assert_allclose(D @ (sign * h(X)) / D.sum(), 0.0, atol=1e-12)
        bound *= np.sqrt(1 - r**2)
        assert_allclose(D.sum() / weight.sum(), bound)
        assert weight[np.sign(f) != sign].sum() / weight.sum() <= bound


def test_plain_ecc_weights_are_exponential_in_the_scores():
    X, y, weight, _ = overlapping(40, 3, 4, 2)
    partitions = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [-1, 1, 1, -1]] * 3)
    F = np.zeros((40, 4))
    for mu, (alpha, beta, h, D) in zip(
        partitions, plain_ecc(X, y, weight, partitions), strict=True
    ):
        expected = weight[:, None] * np.exp(F - F[np.arange(40), y][:, None])
        expected[np.arange(40), y] = 0.0
        assert_allclose(D, expected / expected.sum())
        F += 0.5 * np.outer(np.where(h(X) > 0, alpha, -beta), mu)


def test_plain_columns_and_shared_mh_lower_the_exponential_loss():
    X, y, weight, _ = overlapping(40, 3, 3, 3)
    Y = one_against_rest(y, 3)
    before, F = 1.0, np.zeros((40, 3))
    for stumps, alphas in plain_columns(X, Y, weight, 6):
        F += np.stack([a * h(X) for a, h in zip(alphas, stumps, strict=True)], axis=1)
        loss = (weight @ np.exp(-Y * F)).sum() / (3 * weight.sum())
        assert loss < before
        before = loss
    bound, F = 1.0, np.zeros((40, 3))
    for phi, votes, alpha, r in plain_shared_mh(X, Y, weight, 6):
        F += alpha * np.outer(phi(X), votes)
        bound *= np.sqrt(1 - r**2)
        assert_allclose((weight @ np.exp(-Y * F)).sum() / (3 * weight.sum()), bound)


# -- AdaBoost ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_adaboost(seed, n_jobs):
    X, y, weight, fresh = overlapping(45, 4, 2, seed)
    model = AdaBoostClassifier(12, n_jobs=n_jobs).fit(X, y, sample_weight=weight)
    assert model.weights_.shape == (12,)
    stages = zip(
        model.staged_decision_function(X), model.staged_decision_function(fresh), strict=True
    )
    f, f_fresh = np.zeros(len(X)), np.zeros(len(fresh))
    rounds = plain_adaboost(X, 2 * y - 1, weight, 12)
    for t, ((alpha, h, _), staged) in enumerate(zip(rounds, stages, strict=True)):
        f, f_fresh = f + alpha * h(X), f_fresh + alpha * h(fresh)
        assert_allclose(model.weights_[t], alpha, rtol=1e-9)
        assert_allclose(staged[0], f, atol=1e-9)
        assert_allclose(staged[1], f_fresh, atol=1e-9)
    assert model.decision_function(fresh).shape == (len(fresh),)
    assert_allclose(model.decision_function(fresh), f_fresh, atol=1e-9)
    assert_array_equal(model.predict(fresh), model.classes_[(f_fresh > 0).astype(int)])


def test_adaboost_without_weights_starts_uniform():
    X, y, _, _ = overlapping(45, 4, 2, 11)
    _, r = best_stump(X, (2 * y - 1) / 45, ties=True)
    model = AdaBoostClassifier(3).fit(X, y)
    assert_allclose(model.weights_[0], 0.5 * np.log((1 + r) / (1 - r)))


def test_adaboost_stops_at_a_perfect_hypothesis():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = (X[:, 1] > 0.2).astype(int)
    model = AdaBoostClassifier(10).fit(X, y)
    assert model.n_estimators_ == 1
    assert np.isfinite(model.weights_).all()
    assert (model.weights_ > 0).all()
    assert model.score(X, y) == 1.0


def test_adaboost_stops_without_an_edge():
    # XOR: every stump is right on half of the weight
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="no weak learner"):
        AdaBoostClassifier(5).fit(X, [0, 1, 1, 0])
    # one feature, two points: after the lone stump of edge 1/2 there are only edges of 0
    X, y = np.array([[0.0], [0.0], [0.0], [0.0], [1.0]]), [0, 0, 0, 1, 1]
    model = AdaBoostClassifier(5).fit(X, y)
    assert model.n_estimators_ == 1
    assert_allclose(model.weights_, 0.5 * np.log(4))


def test_adaboost_names_the_others_for_more_classes():
    X, y, _, _ = overlapping(30, 3, 3, 0)
    with pytest.raises(ValueError, match="class") as raised:
        AdaBoostClassifier(5).fit(X, y)
    for name in ("ECC", "MH", "MO"):
        assert f"AdaBoost{name}Classifier" in str(raised.value)
    assert "MultiBoostClassifier" in str(raised.value)
    assert "RandomBoostClassifier" in str(raised.value)


@pytest.mark.parametrize("seed", range(4))
def test_adaboost_of_trees_is_that_of_scikit_learn(seed):
    X, y, weight, fresh = overlapping(60, 4, 2, seed, noise=0.3)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    ours = AdaBoostClassifier(30, weak_learner=tree, random_state=0, scale=False)
    theirs = SklearnAdaBoost(tree, n_estimators=30, random_state=0)
    ours.fit(X, y, sample_weight=weight)
    theirs.fit(X, y, sample_weight=weight)
    assert ours.n_estimators_ == len(theirs.estimators_) == 30
    assert_allclose(2 * ours.weights_, theirs.estimator_weights_, rtol=1e-6)
    for points in (X, fresh):
        pairs = zip(ours.staged_predict(points), theirs.staged_predict(points), strict=True)
        for our_labels, their_labels in pairs:
            assert_array_equal(our_labels, their_labels)


class LargestEdgeStump(ClassifierMixin, BaseEstimator):
    """Our stump as scikit-learn sees it, by brute force."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.stump_, _ = best_stump(X, sample_weight * np.where(y == self.classes_[1], 1.0, -1.0))
        return self

    def predict(self, X):
        return self.classes_[(self.stump_(X) > 0).astype(int)]


@pytest.mark.parametrize("seed", range(3))
def test_adaboost_of_stumps_is_that_of_scikit_learn(seed):
    X, y, weight, fresh = overlapping(40, 3, 2, seed, noise=0.3)
    ours = AdaBoostClassifier(12, weak_learner="stump").fit(X, y, sample_weight=weight)
    theirs = SklearnAdaBoost(LargestEdgeStump(), n_estimators=12)
    theirs.fit(X, y, sample_weight=weight)
    assert_allclose(2 * ours.weights_, theirs.estimator_weights_, rtol=1e-9)
    for points in (X, fresh):
        pairs = zip(ours.staged_predict(points), theirs.staged_predict(points), strict=True)
        for our_labels, their_labels in pairs:
            assert_array_equal(our_labels, their_labels)


# -- AdaBoost.ECC --------------------------------------------------------------------------------

CODE_4 = np.array([[1, 1, -1], [1, -1, 1], [-1, 1, 1], [-1, -1, -1]])


def as_decision(F):
    return F[:, 1] - F[:, 0] if F.shape[1] == 2 else F


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("partition", "k"),
    [("random-half", 3), ("random-half", 5), ("max-cut", 4), (CODE_4, 4), ("random-half", 2)],
)
def test_ecc(partition, k, seed):
    X, y, weight, fresh = overlapping(50, 3, k, seed)
    model = AdaBoostECCClassifier(10, partition=partition, random_state=seed)
    model.fit(X, y, sample_weight=weight)
    assert model.partitions_.shape == (10, k)
    assert model.weights_.shape == (10, 2)
    staged = list(model.staged_decision_function(fresh))
    F = np.zeros((len(fresh), k))
    rounds = plain_ecc(X, y, weight, model.partitions_)
    for t, (alpha, beta, h, _) in enumerate(rounds):
        assert_allclose(model.weights_[t], (alpha, beta), rtol=1e-8, atol=1e-10)
        F += 0.5 * np.outer(np.where(h(fresh) > 0, alpha, -beta), model.partitions_[t])
        assert_allclose(staged[t], as_decision(F), atol=1e-8)
    assert_allclose(model.decision_function(fresh), as_decision(F), atol=1e-8)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_random_halves(k):
    X, y, weight, _ = overlapping(40, 3, k, k)
    model = AdaBoostECCClassifier(12, partition="random-half", random_state=0)
    partitions = model.fit(X, y, sample_weight=weight).partitions_
    assert set(np.unique(partitions)) == {-1, 1}
    assert set((partitions == 1).sum(axis=1)) <= {k // 2, k - k // 2}
    if k > 2:
        assert len(np.unique(partitions * partitions[:, :1], axis=0)) > 1


def cut_weight(W, mu):
    k = len(mu)
    pairs = itertools.combinations(range(k), 2)
    return sum(W[a, b] + W[b, a] for a, b in pairs if mu[a] != mu[b])


@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_max_cut_is_a_local_optimum(k, seed):
    X, y, weight, _ = overlapping(50, 3, k, seed)
    model = AdaBoostECCClassifier(10, partition="max-cut", random_state=seed)
    model.fit(X, y, sample_weight=weight)
    F = np.zeros((50, k))
    for mu, after in zip(model.partitions_, model.staged_decision_function(X), strict=True):
        D = weight[:, None] * np.exp(F - F[np.arange(50), y][:, None])
        D[np.arange(50), y] = 0.0
        D /= D.sum()
        W = np.array([D[y == own].sum(axis=0) for own in range(k)])
        reached = cut_weight(W, mu)
        for label in range(k):
            moved = mu.copy()
            moved[label] = -moved[label]
            assert cut_weight(W, moved) <= reached + 1e-9
        F = after


def test_given_partitions_go_round():
    X, y, weight, _ = overlapping(40, 3, 4, 0)
    model = AdaBoostECCClassifier(8, partition=CODE_4).fit(X, y, sample_weight=weight)
    for t, mu in enumerate(model.partitions_):
        assert_array_equal(mu, CODE_4[:, t % 3])


# -- AdaBoost.MH ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 4, 7])
def test_mh_per_class(k, seed):
    X, y, weight, fresh = overlapping(45, 3, k, seed)
    model = AdaBoostMHClassifier(10, votes="per_class").fit(X, y, sample_weight=weight)
    assert model.weights_.shape == (10, k)
    staged = list(model.staged_decision_function(fresh))
    F = np.zeros((len(fresh), k))
    for t, (stumps, alphas) in enumerate(plain_columns(X, one_against_rest(y, k), weight, 10)):
        assert_allclose(model.weights_[t], alphas, rtol=1e-8, atol=1e-10)
        F += np.stack([a * h(fresh) for a, h in zip(alphas, stumps, strict=True)], axis=1)
        assert_allclose(staged[t], as_decision(F), atol=1e-8)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", [0, 4, 7])
def test_mh_shared(k, seed):
    X, y, weight, fresh = overlapping(45, 3, k, seed)
    model = AdaBoostMHClassifier(10, votes="shared").fit(X, y, sample_weight=weight)
    assert model.weights_.shape == (10,)
    staged = list(model.staged_decision_function(fresh))
    F = np.zeros((len(fresh), k))
    rounds = plain_shared_mh(X, one_against_rest(y, k), weight, 10)
    for t, (phi, votes, alpha, _) in enumerate(rounds):
        assert_allclose(model.weights_[t], alpha, rtol=1e-8)
        F += alpha * np.outer(phi(fresh), votes)
        assert_allclose(staged[t], as_decision(F), atol=1e-8)


# -- AdaBoost.MO ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_complete_code(k):
    X, y, weight, _ = overlapping(40, 3, k, k)
    code = AdaBoostMOClassifier(2, code="complete").fit(X, y, sample_weight=weight).code_
    assert code.shape == (k, 2 ** (k - 1) - 1)
    assert set(np.unique(code)) == {-1, 1}
    turned = {tuple(column * column[0]) for column in code.T}
    assert len(turned) == code.shape[1]
    assert (1,) * k not in turned


def test_random_code():
    X, y, weight, _ = overlapping(40, 3, 5, 0)
    model = AdaBoostMOClassifier(3, code="random", code_size=7, random_state=0)
    code = model.fit(X, y, sample_weight=weight).code_
    assert code.shape == (5, 7)
    assert set(np.unique(code)) == {-1, 1}
    assert (np.abs(code.sum(axis=0)) < 5).all()  # no dichotomy has all classes on one side


def loss_of_classes(f, code):
    return np.array([[np.exp(-row * f_i).sum() for row in code] for f_i in f])


def disagreements(f, code):
    return np.array([[(np.sign(f_i) != row).sum() for row in code] for f_i in f])


@pytest.mark.parametrize("decoding", ["loss", "hamming"])
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("settings", [{"code": "complete"}, {"code": "random", "code_size": 6}])
def test_mo(decoding, k, settings):
    seed = 10 + k
    X, y, weight, fresh = overlapping(45, 3, k, seed)
    model = AdaBoostMOClassifier(8, decoding=decoding, random_state=seed, **settings)
    model.fit(X, y, sample_weight=weight)
    code = model.code_
    staged = list(model.staged_predict(fresh))
    assert len(staged) == 8
    f = np.zeros((len(fresh), code.shape[1]))
    for t, (stumps, alphas) in enumerate(plain_columns(X, code[y].astype(float), weight, 8)):
        assert_allclose(model.weights_[t], alphas, rtol=1e-8, atol=1e-10)
        f += np.stack([a * h(fresh) for a, h in zip(alphas, stumps, strict=True)], axis=1)
        if decoding == "loss":
            cost, slack = loss_of_classes(f, code), 1e-9
        else:
            cost, slack = disagreements(f, code), 0.5
        lowest = cost.min(axis=1)
        sure = (cost <= (lowest * (1 + 1e-9) + slack)[:, None]).sum(axis=1) == 1
        assert_array_equal(staged[t][sure], cost.argmin(axis=1)[sure])
        chosen = cost[np.arange(len(fresh)), staged[t]]
        assert (chosen <= lowest * (1 + 1e-9) + slack).all()  # and one of the best elsewhere


@pytest.mark.parametrize(
    "other",
    [
        AdaBoostMHClassifier(12),
        AdaBoostMHClassifier(12, votes="shared"),
        AdaBoostMOClassifier(12),
    ],
    ids=str,
)
def test_on_two_classes_all_are_adaboost(other):
    X, y, weight, fresh = overlapping(45, 4, 2, 0)
    other.fit(X, y, sample_weight=weight)
    plain = AdaBoostClassifier(12).fit(X, y, sample_weight=weight)
    stages = zip(
        other.staged_decision_function(fresh), plain.staged_decision_function(fresh), strict=True
    )
    for stage, plain_stage in stages:
        assert_allclose(stage, 2 * plain_stage, rtol=1e-9, atol=1e-10)


# -- the history ---------------------------------------------------------------------------------


def pair_loss(F, y):
    losses = np.exp(F - F[np.arange(len(y)), y][:, None])
    losses[np.arange(len(y)), y] = 0.0
    return losses.sum(axis=1) / (F.shape[1] - 1)


@pytest.mark.parametrize(
    ("model", "loss_of_samples"),
    [
        (AdaBoostClassifier(10), lambda f, y: np.exp(-(2 * y - 1) * f)),
        (AdaBoostECCClassifier(10, random_state=0), pair_loss),
        (
            AdaBoostMHClassifier(10),
            lambda F, y: np.exp(-one_against_rest(y, 3) * F).mean(axis=1),
        ),
        (
            AdaBoostMHClassifier(10, votes="shared"),
            lambda F, y: np.exp(-one_against_rest(y, 3) * F).mean(axis=1),
        ),
    ],
    ids=["adaboost", "ecc", "mh", "mh-shared"],
)
def test_history_is_the_logarithm_of_the_mean_loss(model, loss_of_samples):
    X, y, weight, _ = overlapping(45, 4, 2 if isinstance(model, AdaBoostClassifier) else 3, 0)
    model.fit(X, y, sample_weight=weight)
    losses = [
        np.average(loss_of_samples(stage, y), weights=weight)
        for stage in model.staged_decision_function(X)
    ]
    assert_allclose(model.train_history_["loss"], np.log(losses), atol=1e-9)
    assert (np.diff(losses) < 0).all()


def test_complete_code_of_too_many_classes():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 20
    with pytest.raises(ValueError, match=r"524,?287") as raised:
        AdaBoostMOClassifier(code="complete").fit(X, y)
    assert "random" in str(raised.value)
    assert "code_size" in str(raised.value)


# -- MultiBoost ----------------------------------------------------------------------------------

# min over W >= 0 of loss(W) + nu sum W, with margins rho_ir = sum_t (W_{y_i t} - W_rt) h_t(x_i):
# logistic: sum_{i, r != y_i} s_i log(1 + exp(-rho_ir)) / (k S) + log(2) / k, S = sum s
# exponential: log sum_{i, r != y_i} s_i exp(-rho_ir)
# hinge: sum_i s_i max(0, max_{r != y_i} 1 - rho_ir) / S
TIGHT = {"maxiter": 5000, "ftol": 0.0, "gtol": 1e-12}


def plain_margins(W, H, y):
    """Margins (m, k) of weights W (k, T) and outputs H (m, T); own classes are infinite."""
    m, k = len(y), len(W)
    rho = np.full((m, k), np.inf)
    for i in range(m):
        for r in range(k):
            if r != y[i]:
                rho[i, r] = (W[y[i]] - W[r]) @ H[i]
    return rho


def plain_objective(W, H, y, weight, loss, nu):
    m, k = len(y), len(W)
    rho = plain_margins(W, H, y)
    share = weight / weight.sum()
    if loss == "hinge":
        value = sum(share[i] * max(0.0, (1.0 - rho[i]).max()) for i in range(m))
    elif loss == "logistic":
        value = (share @ np.log1p(np.exp(-rho))).sum() / k + np.log(2) / k
    else:
        value = np.log((weight @ np.exp(-rho)).sum())
    return value + nu * W.sum()


def plain_dual_weights(F, y, weight, loss):
    """u_ir >= 0 (m, k) of the KKT conditions at scores F (m, k)."""
    m, k = F.shape
    u = np.zeros((m, k))
    for i in range(m):
        for r in range(k):
            rho = F[i, y[i]] - F[i, r]
            if r != y[i] and loss == "logistic":
                u[i, r] = weight[i] / (k * weight.sum()) / (1.0 + np.exp(rho))
            elif r != y[i]:
                u[i, r] = weight[i] * np.exp(-rho)
    return u if loss == "logistic" else u / u.sum()


def plain_constraints(u, H, y):
    """Left-hand sides (k, T) of the dual's constraints <= nu, for weights u and outputs H."""
    left = np.zeros((u.shape[1], H.shape[1]))
    for i in range(len(y)):
        left[y[i]] += u[i].sum() * H[i]
        for r in range(u.shape[1]):
            left[r] -= u[i, r] * H[i]
    return left


def plain_program(H, y, k, weight, nu):
    """Value of the hinge loss's linear program over outputs H (m, T)."""
    m, n = H.shape
    rows = []
    for i in range(m):
        for r in range(k):
            if r != y[i]:
                row = np.zeros((k, n))
                row[y[i]] -= H[i]
                row[r] += H[i]
                rows.append(np.concatenate([row.ravel(), -np.eye(m)[i]]))
    cost = np.concatenate([np.full(k * n, nu), weight / weight.sum()])
    return linprog(cost, A_ub=np.array(rows), b_ub=-np.ones(len(rows))).fun


def all_outputs(X):
    """Outputs of all stumps, of either sign and the constant ones too, (m, N)."""
    stumps = [PlainStump(j, threshold, 1)(X) for j, threshold in all_cuts(X)]
    H = np.array([*stumps, np.ones(len(X))]).T
    return np.hstack([H, -H])


def outputs_of(model, X):
    """Outputs of a model's stumps, (m, T); the model does not scale."""
    stumps = model.model_.ensemble.hypotheses
    return np.array([np.where(X[:, s.column] > s.threshold, s.right, s.left) for s in stumps]).T


MULTIBOOST_CASES = [
    (loss, nu, k, seed)
    for loss, nus in [("logistic", (5e-3, 0.02)), ("exponential", (0.15,)), ("hinge", (0.01, 0.05))]
    for nu in nus
    for k, seed in [(2, 0), (3, 1)]
]


@pytest.fixture(scope="module", params=MULTIBOOST_CASES, ids=str)
def solved(request):
    """Return a model trained until no constraint is violated, with its problem."""
    loss, nu, k, seed = request.param
    X, y, weight, fresh = overlapping(36, 2, k, seed)
    full = {"iterations_per_round": None, "solver_options": TIGHT}  # hinge solves a program
    model = MultiBoostClassifier(
        200, loss=loss, nu=nu, scale=False, **({} if loss == "hinge" else full)
    )
    model.fit(X, y, sample_weight=weight)
    return model, loss, nu, X, y, weight, fresh


def test_multiboost_scores_and_objective(solved):
    model, loss, nu, X, y, weight, fresh = solved
    W, H = model.weights_, outputs_of(model, X)
    assert W.shape == (len(model.classes_), model.n_estimators_)
    assert (W >= 0).all()
    F = outputs_of(model, fresh) @ W.T
    assert_allclose(model.decision_function(fresh), as_decision(F), atol=1e-9)
    value = plain_objective(W, H, y, weight, loss, nu)
    assert_allclose(model.train_history_["loss"][-1], value, rtol=1e-9)


def test_multiboost_stops_at_the_optimum_over_all_stumps(solved):
    model, loss, nu, X, y, weight, _ = solved
    assert model.n_estimators_ < 200
    assert model.stopped_.startswith("no constraint is violated")
    H, k = all_outputs(X), len(model.classes_)
    reached = plain_objective(model.weights_, outputs_of(model, X), y, weight, loss, nu)
    if loss == "hinge":
        assert_allclose(reached, plain_program(H, y, k, weight, nu), rtol=1e-7)
        return

    def objective(w):
        W = w.reshape(k, -1)
        left = plain_constraints(plain_dual_weights(H @ W.T, y, weight, loss), H, y)
        return plain_objective(W, H, y, weight, loss, nu), (nu - left).ravel()

    bounds = [(0.0, None)] * (k * H.shape[1])
    start = np.zeros(k * H.shape[1])
    best = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).fun
    assert_allclose(reached, best, rtol=1e-4)
    assert reached <= best + 1e-6 * abs(best)  # the other solver is the rougher one


def test_multiboost_conditions_of_the_optimum(solved):
    model, loss, nu, X, y, weight, _ = solved
    if loss == "hinge":
        return  # its dual weights are not unique: see the test below
    W, H = model.weights_, outputs_of(model, X)
    F = H @ W.T
    u = plain_dual_weights(F, y, weight, loss)
    left = plain_constraints(u, H, y)
    assert_allclose(left[W > 1e-6], nu, rtol=1e-3)
    assert plain_constraints(u, all_outputs(X), y).max() <= nu * (1 + 2e-3) + 1e-8
    # the gap between the primal and the dual objective at u
    k = F.shape[1]
    wrong = np.arange(k) != y[:, None]
    scale = (weight[:, None] / weight.sum() / k if loss == "logistic" else weight[:, None]) + 0 * u
    v = (u / scale)[wrong]
    if loss == "logistic":
        entropy = v * np.log(v) + (1 - v) * np.log1p(-v)
        dual = -(scale[wrong] @ entropy) + np.log(2) / k
    else:
        dual = -(u[wrong] @ np.log(v))
    primal = plain_objective(W, H, y, weight, loss, nu)
    assert_allclose(primal, dual, atol=2e-3 * nu * W.sum() + 1e-9)


def test_multiboost_takes_the_most_violated_constraint(solved):
    model, loss, nu, X, y, weight, _ = solved
    edges = model.train_history_["edge"]
    assert (edges > nu + 1e-8).all()
    H, k = outputs_of(model, X), len(model.classes_)
    if loss == "hinge":  # the value after each round is that of the program over the rounds so far
        losses = model.train_history_["loss"]
        for t in range(0, model.n_estimators_, 5):
            assert_allclose(losses[t], plain_program(H[:, : t + 1], y, k, weight, nu), rtol=1e-7)
        assert (np.diff(losses) <= 1e-9).all()
        return
    pool, F = all_outputs(X), np.zeros((len(X), k))
    for t, stage in enumerate(model.staged_decision_function(X)):
        u = plain_dual_weights(F, y, weight, loss)
        largest = plain_constraints(u, pool, y).max()
        chosen = plain_constraints(u, H[:, t : t + 1], y).max()
        assert chosen >= 0.999 * largest - 1e-9  # a constant stump may be that much weaker
        assert_allclose(edges[t], chosen, rtol=1e-6)
        F = stage if stage.ndim == 2 else np.stack([-stage / 2, stage / 2], axis=1)


@pytest.mark.parametrize(("k", "nu"), [(2, 0.02), (3, 0.01), (4, 0.05)])
def test_dual_weights_of_the_hinge_loss(k, nu, monkeypatch):
    """The multipliers of every round are optimal, and decide what the next round takes."""
    X, y, weight, _ = overlapping(36, 2, k, k)
    seen, used = [], []
    make_trainer = MultiBoostClassifier._make_trainer

    def recording(self, data, *args):
        seen.append(data)
        trainer = make_trainer(self, data, *args)
        step = trainer.step

        def recorded():
            used.append(trainer._signed.T.copy())
            return step()

        trainer.step = recorded
        return trainer

    monkeypatch.setattr(MultiBoostClassifier, "_make_trainer", recording)
    model = MultiBoostClassifier(200, loss="hinge", nu=nu, scale=False)
    model.fit(X, y, sample_weight=weight)
    X, y, weight = seen[0].X, seen[0].y, seen[0].sample_weight  # in the order of the training
    assert len(used) == model.n_estimators_ + 1
    H, pool = outputs_of(model, X), all_outputs(X)
    share = weight / weight.sum()
    wrong = np.arange(k) != y[:, None]
    for t, signed in enumerate(used):
        u = np.where(wrong, -signed, 0.0)
        assert_allclose(signed[~wrong], u.sum(axis=1), atol=1e-12)
        assert u.min() >= -1e-9
        assert (u.sum(axis=1) <= share + 1e-9).all()
        left = plain_constraints(u, pool, y).max()
        if t:
            assert_allclose(u.sum(), model.train_history_["loss"][t - 1], rtol=1e-7)  # no gap
            assert plain_constraints(u, H[:, :t], y).max() <= nu + 1e-7
        if t == len(used) - 1:
            assert left <= nu + 1e-7
        else:
            assert_allclose(model.train_history_["edge"][t], left, rtol=1.1e-3)
            assert_allclose(plain_constraints(u, H[:, [t]], y).max(), left, rtol=1.1e-3)
