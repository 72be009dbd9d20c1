"""Whole fits against plain NumPy versions of AdaBoost and of the paper's two algorithms."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from randomboost import RBoostProjClassifier, RBoostRankClassifier
from randomboost.projections.matrices import GaussianProjection
from randomboost.projections.points import FeaturePoints, ProjectedPoints
from randomboost.runtime.parallel import ThreadTeam
from randomboost.runtime.random_stream import DATA_STREAM
from randomboost.search.projected import ProjectedColumns
from randomboost.search.sorted import SortedColumns
from randomboost.weak_learners import StumpLearner, WLDALearner
from randomboost.weak_learners.hypotheses import FittedEstimator

TIE = 1e-9


def noisy(m, d, k, seed, noise=0.15):
    """Overlapping classes with wrong labels, and weights that leave no two edges equal."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(m, d, centers=k, cluster_std=4.0, random_state=seed)
    y = np.where(rng.random(m) < noise, rng.integers(k, size=m), y)
    return X, y, rng.uniform(0.5, 2.0, m)


def projected(model, X):
    """``P^(r) x_i``, shape (k, m, n), of a model that does not scale."""
    projection = model.model_.ensemble.projection
    n = projection.n_projections
    rows = projection.rows(np.arange(n), (0, X.shape[1]), np.float64)
    return np.stack([X @ rows_of_class.T for rows_of_class in rows])


def all_cuts(values):
    """One threshold between every two neighbouring values."""
    values = np.unique(values)
    return (values[1:] + values[:-1]) / 2


# -- Algorithm 1 with two classes is AdaBoost ---------------------------------------------------


def adaboost(first, second, sign, distribution, follow):
    """AdaBoost (Schapire and Singer, 1999) with abstaining stumps, in plain NumPy.

    The weak hypotheses are ``g(x) = (h(P1 x) - h(P2 x)) / 2`` in {-1, 0, 1}. `follow` holds the
    hypotheses of another program: where several have the largest edge, its choice is taken.
    Yields how many share the largest edge, alpha, the edge, and the combined scores.
    """
    candidates = []
    for v in range(first.shape[1]):
        for cut in all_cuts(np.concatenate([first[:, v], second[:, v]])):
            g = (np.where(first[:, v] > cut, 1, -1) - np.where(second[:, v] > cut, 1, -1)) // 2
            candidates += [g, -g]
    candidates = np.array(candidates)
    D = distribution / distribution.sum()
    f = np.zeros(len(sign))
    for g_followed in follow:
        edges = candidates @ (D * sign)
        best = candidates[edges >= edges.max() - TIE]
        same = (best == g_followed).all(axis=1)
        assert same.any(), "the other program chose a weaker hypothesis"
        g = best[same.argmax()]
        gained, lost = D[sign * g == 1].sum(), D[sign * g == -1].sum()
        assert lost > 1e-3  # else the weight is smoothed, see test_stagewise
        alpha = 0.5 * np.log(gained / lost)
        D = D * np.exp(-alpha * sign * g)
        D /= D.sum()
        f = f + alpha * g
        yield len(np.unique(best, axis=0)), alpha, gained - lost, f


@pytest.mark.parametrize("seed", [0, 1, 3, 10])
@pytest.mark.parametrize("weighted", [True, False])
def test_two_classes_are_adaboost(seed, weighted):
    X, y, weight = noisy(40, 3, 2, seed, noise=0.25)
    weight = weight if weighted else np.ones(40)
    model = RBoostRankClassifier(15, n_projections=10, scale=False, random_state=seed, n_jobs=1)
    model.fit(X, y, sample_weight=weight)
    assert model.n_estimators_ == 15
    first, second = projected(model, X)
    stumps = model.model_.ensemble.hypotheses

    def chosen(t):
        v, cut = stumps.columns[t], stumps.thresholds[t]
        g = (np.where(first[:, v] > cut, 1, -1) - np.where(second[:, v] > cut, 1, -1)) // 2
        return g * stumps.right[t]

    sign = np.where(y == 0, 1, -1)  # P1 belongs to class 0
    rounds = adaboost(first, second, sign, weight, [chosen(t) for t in range(15)])
    staged = list(model.staged_decision_function(X))
    labels = list(model.staged_predict(X))
    for t, (n_best, alpha, edge, f) in enumerate(rounds):
        if weighted:
            assert n_best == 1  # so there was nothing to follow
        np.testing.assert_allclose(2 * model.weights_[t], alpha, rtol=1e-9)
        np.testing.assert_allclose(model.train_history_["edge"][t], 2 * edge, rtol=1e-9)
        np.testing.assert_allclose(staged[t], -f, atol=1e-9)
        sure = np.abs(f) > 1e-9
        np.testing.assert_array_equal(labels[t][sure], np.where(f > 0, 0, 1)[sure])
    np.testing.assert_array_equal(model.predict(X), labels[-1])


# -- Algorithm 1, stage-wise ---------------------------------------------------------------------


def plain_algorithm_1(values, y, sample_weight, n_rounds):
    """Algorithm 1 with (stagewise3), by brute force over pairs, dimensions and thresholds.

    `values` is (k, m, n). Yields the dimension, the outputs (k, m), the edge, and the weight.
    """
    k, m, n = values.shape
    pairs = [(i, y[i], r) for i in range(m) for r in range(k) if r != y[i]]
    u = np.array([sample_weight[i] for i, _, _ in pairs])
    u = u / u.sum()
    learners = []
    for v in range(n):
        for cut in all_cuts(values[:, :, v]):
            h = np.where(values[:, :, v] > cut, 1, -1)
            delta = np.array([h[own, i] - h[r, i] for i, own, r in pairs])
            learners += [(v, h, delta), (v, -h, -delta)]
    deltas = np.array([delta for _, _, delta in learners])
    for _ in range(n_rounds):
        edges = deltas @ u
        v, h, delta = learners[int(edges.argmax())]
        w = 0.25 * np.log(u[delta == 2].sum() / u[delta == -2].sum())
        yield v, h, edges.max(), w
        u = u * np.exp(-delta * w)
        u /= u.sum()


@pytest.mark.parametrize("seed", range(3))
def test_stagewise_rank_is_algorithm_1(seed):
    X, y, weight = noisy(30, 4, 4, seed)
    model = RBoostRankClassifier(12, n_projections=8, scale=False, random_state=seed, n_jobs=1)
    model.fit(X, y, sample_weight=weight)
    staged = list(model.staged_decision_function(X))
    values = projected(model, X)
    scores = np.zeros((4, 30))
    for t, (v, h, edge, w) in enumerate(plain_algorithm_1(values, y, weight, 12)):
        assert model.model_.ensemble.hypotheses[t].column == v
        np.testing.assert_allclose(model.train_history_["edge"][t], edge, rtol=1e-9)
        np.testing.assert_allclose(model.weights_[t], w, rtol=1e-8)
        scores += w * h
        np.testing.assert_allclose(staged[t], scores.T, atol=1e-8)
    assert t == 11
    np.testing.assert_allclose(model.decision_function(X), scores.T, atol=1e-8)


def test_unit_weights_start_uniform():
    # u_ir = 1 / (m (k - 1)): the first edge is a whole number of such steps of 2
    X, y, _ = noisy(30, 4, 4, 5)
    model = RBoostRankClassifier(3, n_projections=8, scale=False, random_state=5, n_jobs=1)
    model.fit(X, y)
    _, _, edge, _ = next(plain_algorithm_1(projected(model, X), y, np.ones(30), 1))
    np.testing.assert_allclose(model.train_history_["edge"][0], edge, rtol=1e-12)
    steps = edge * 30 * 3 / 2
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


# -- Algorithm 2 ---------------------------------------------------------------------------------


def log_kkt(scores, y, sample_weight):
    """Dual weights u_ir of (logKKT) for (m, k) scores, by two loops."""
    m, k = scores.shape
    share = sample_weight / (k * sample_weight.sum())
    u = np.zeros((m, k))
    for i in range(m):
        for r in range(k):
            if r != y[i]:
                u[i, r] = share[i] * expit(scores[i, r] - scores[i, y[i]])
    return u


def plain_choice(X, y, sample_weight, P, H, scores, *, with_earlier, most=np.inf):
    """(logWeak) by brute force over codes v and stumps h, constant ones too.

    `P` is (k, n, t + 1), `H` the (m, t) outputs and `scores` the (m, k) scores so far; earlier
    weak classifiers count up to `most`. Returns a dict from (v, feature or None, tuple of outputs)
    to the value.
    """
    k, n, _ = P.shape
    m = len(y)
    u = log_kkt(scores, y, sample_weight)
    earlier, newest = np.zeros(n), np.zeros((n, m))
    for i in range(m):
        for r in range(k):
            change = P[y[i]] - P[r]  # (n, t + 1)
            if with_earlier:
                earlier += u[i, r] * (change[:, :-1] @ H[i])
            newest[:, i] += u[i, r] * change[:, -1]
    values = {}
    stumps = [(None, np.ones(m))]
    for j in range(X.shape[1]):
        stumps += [(j, np.where(X[:, j] > cut, 1.0, -1.0)) for cut in all_cuts(X[:, j])]
    for j, h in stumps:
        for outputs in (h, -h):
            for v, value in enumerate(np.minimum(earlier, most) + newest @ outputs):
                values[v, j, tuple(outputs)] = value
    return values


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("iterations_per_round", [10, None])
@pytest.mark.parametrize("selection", ["violation", "code"])
def test_proj_chooses_as_algorithm_2(seed, iterations_per_round, selection):
    X, y, weight = noisy(30, 4, 4, seed)
    model = RBoostProjClassifier(
        8,
        n_projections=12,
        nu=1e-3,
        tol=0.0,
        scale=False,
        random_state=seed,
        n_jobs=1,
        iterations_per_round=iterations_per_round,
        selection=selection,
    )
    model.fit(X, y, sample_weight=weight)
    assert model.n_estimators_ == 8
    ensemble = model.model_.ensemble
    P = ensemble.projection.rows(np.arange(12), (0, 8), np.float32).astype(np.float64)
    H = np.empty((30, 0))
    scores = np.zeros((30, 4))
    # a few steps leave constraints above nu, which a full solve does not: those count as nu
    rest = {
        "with_earlier": selection == "violation",
        "most": np.inf if iterations_per_round is None else model.nu,
    }
    for t in range(8):
        values = plain_choice(X, y, weight, P[:, :, : t + 1], H, scores, **rest)
        best = max(values.values())
        stump = ensemble.hypotheses[t]
        constant = np.isneginf(stump.threshold)
        outputs = np.where(X[:, stump.column] > stump.threshold, stump.right, stump.left)
        noted = model.train_history_["edge"][t]
        key = (ensemble.chosen[t], None if constant else stump.column, tuple(outputs))
        np.testing.assert_allclose(noted, values[key], rtol=1e-6)
        if constant:  # taken where a cut would gain less than a thousandth
            assert noted >= best - 1e-3 * abs(best)
        else:
            np.testing.assert_allclose(noted, best, rtol=1e-6)
            assert max(values, key=values.get) == key
        H = np.column_stack([H, outputs])
        w = ensemble.path[t]
        if selection == "violation":
            scores = np.einsum("v,rvt,it->ir", w, P[:, :, : t + 1], H)
        else:
            assert len(w) == t + 1
            scores = np.einsum("t,rt,it->ir", w, P[:, ensemble.chosen[: t + 1], range(t + 1)], H)
    assert len({stump.column for stump in ensemble.hypotheses}) > 1
    np.testing.assert_array_equal(ensemble.path[-1], model.weights_)
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-5)


def test_the_first_choice_of_proj_starts_from_equal_weights():
    # u_ir = 1 / (2 mk) at w = 0, so the value is half of what u_ir = 1 / (mk) gives
    X, y, _ = noisy(30, 4, 3, 2)
    model = RBoostProjClassifier(1, n_projections=12, scale=False, random_state=2, n_jobs=1)
    model.fit(X, y)
    projection = model.model_.ensemble.projection
    P = projection.rows(np.arange(12), (0, 1), np.float32).astype(np.float64)[:, :, 0]
    c = np.array(
        [[sum(P[y[i], v] - P[r, v] for r in range(3)) for v in range(12)] for i in range(30)]
    ) / (2 * 30 * 3)
    best = max(
        np.abs(np.where(X[:, j] > cut, 1, -1) @ c).max()
        for j in range(4)
        for cut in [-np.inf, *all_cuts(X[:, j])]
    )
    np.testing.assert_allclose(model.train_history_["edge"][0], best, rtol=1e-6)


# -- weak learners -------------------------------------------------------------------------------

MODELS = {
    "rank": RBoostRankClassifier(12, n_projections=25),
    "rank total": RBoostRankClassifier(8, n_projections=25, correction="total", nu=1e-3),
    "proj": RBoostProjClassifier(12, n_projections=40, selection="violation"),
    "proj code": RBoostProjClassifier(12, n_projections=40, selection="code"),
}
LEARNERS = {
    "stump": "stump",
    "real_stump": "real_stump",
    "wlda": "wlda",
    "tree": DecisionTreeClassifier(max_depth=2),
    "linear svm": LinearSVC(),
    "rbf svm": SVC(kernel="rbf"),
    "regression tree": DecisionTreeRegressor(max_depth=2),
}


def made(kind, learner, **rest):
    model = clone(MODELS[kind])
    return model.set_params(weak_learner=clone_of(learner), random_state=0, n_jobs=1, **rest)


def clone_of(learner):
    return learner if isinstance(learner, str) else clone(learner)


def outputs_of(model, X):
    """Outputs of all weak learners on the points of X, one row a round."""
    X, ensemble = model.model_.inputs.scaled(X), model.model_.ensemble
    if isinstance(model, RBoostProjClassifier):
        points = FeaturePoints(X)
    else:
        points = ProjectedPoints(X, ensemble.projection, merge=False)
    return np.stack([h.outputs(points) for h in ensemble.hypotheses])


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_weak_learners(kind, learner):
    X, y = make_blobs(60, 4, centers=4, cluster_std=2.5, random_state=0)
    model = made(kind, learner).fit(X, y)
    assert model.score(X, y) > 0.6  # chance is 0.25

    staged = list(model.staged_decision_function(X))
    assert len(staged) == model.n_estimators_
    np.testing.assert_allclose(staged[-1], model.decision_function(X), atol=1e-9)
    labels = list(model.staged_predict(X))
    np.testing.assert_array_equal(labels[-1], model.predict(X))
    loss = model.train_history_["loss"]
    assert loss[-1] < loss[0]
    assert (model.train_history_["edge"] > 0).all()

    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    fresh = clone(model).fit(X, y)
    np.testing.assert_array_equal(fresh.decision_function(X), model.decision_function(X))
    np.testing.assert_allclose(model.feature_importances_.sum(), 1)

    outputs = outputs_of(model, X)
    assert np.abs(outputs).max() <= 1
    discrete = (np.abs(outputs) == 1).all()
    assert discrete == (not (learner == "real_stump" or isinstance(learner, DecisionTreeRegressor)))


def test_real_stumps_say_how_sure_they_are():
    X, y, weight = noisy(30, 4, 3, 0)
    model = RBoostRankClassifier(
        1, n_projections=10, weak_learner="real_stump", scale=False, random_state=0, n_jobs=1
    ).fit(X, y, sample_weight=weight)
    discrete = clone(model).set_params(weak_learner="stump").fit(X, y, sample_weight=weight)
    stump = model.model_.ensemble.hypotheses[0]
    assert stump.column == discrete.model_.ensemble.hypotheses[0].column
    assert stump.threshold == discrete.model_.ensemble.hypotheses[0].threshold
    # (sum of c) / (sum of |c|) on either side, with c of the uniform dual weights
    above = projected(model, X)[:, :, stump.column] > stump.threshold
    c = np.where(np.arange(3)[:, None] == y, 2.0, -1.0) * weight
    right, left = c[above], c[~above]
    np.testing.assert_allclose(stump.right, right.sum() / np.abs(right).sum())
    np.testing.assert_allclose(stump.left, left.sum() / np.abs(left).sum())
    assert model.train_history_["edge"][0] < discrete.train_history_["edge"][0]


def plain_lda(values, weights, ridge=1e-4):
    """``(S1 + S2)^-1 (mu1 - mu2)`` of columns (D, points), by plain sums over the points."""
    means, scatter = [], np.zeros((len(values), len(values)))
    for part in (np.maximum(weights, 0), np.maximum(-weights, 0)):
        part = part / part.sum()
        mean = sum(p * x for p, x in zip(part, values.T, strict=True))
        scatter += sum(
            p * np.outer(x - mean, x - mean) for p, x in zip(part, values.T, strict=True)
        )
        means.append(mean)
    scatter += ridge * np.trace(scatter) / len(values) * np.eye(len(values))
    return np.linalg.solve(scatter, means[0] - means[1])


def signed_weights(rng, k, m):
    """C for classes y: -u for the wrong classes, their sum for the right one."""
    u = rng.exponential(size=(k, m))
    y = rng.integers(k, size=m)
    u[y, np.arange(m)] = 0
    signed = -u
    signed[y, np.arange(m)] = u.sum(axis=0)
    return signed.reshape(-1)


@pytest.mark.parametrize("n_columns", [3, 15, 20])
@pytest.mark.parametrize("n_samples", [5, 40])  # both ways of taking the moments
@pytest.mark.parametrize("plain", [False, True])
def test_wlda_direction_on_projected_points(n_samples, n_columns, plain):
    rng = np.random.default_rng(n_samples)
    X = rng.normal(size=(n_samples, 6))
    points = ProjectedPoints(X, GaussianProjection(7, DATA_STREAM, 3, 20))
    weights = signed_weights(rng, 3, n_samples)
    columns = np.sort(rng.choice(20, n_columns, replace=False))
    learner = WLDALearner(points, None, plain=plain)
    found = learner._direction(weights, columns)
    ridge = n_columns / min(n_columns, 3 * 6)  # 3 classes, 6 features
    ridge *= 1e-4 if plain else 1.0
    expected = plain_lda(points.block(columns), weights, ridge)
    np.testing.assert_allclose(found, expected / np.abs(expected).max(), atol=1e-7)


def test_wlda_direction_on_features_separates_what_no_stump_can():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    weights = np.where(X[:, 0] + X[:, 1] - X[:, 2] > 0, 1.0, -1.0) * rng.uniform(0.5, 2, 80)
    points = FeaturePoints(X)
    with ThreadTeam(1) as team:
        stumps = StumpLearner(SortedColumns(points, team))
        columns = np.arange(3)
        plain, plain_edge = stumps.fit(weights, columns, rng)
        joined, edge = WLDALearner(points, stumps).fit(weights, columns, rng)
    expected = plain_lda(X.T, weights)
    np.testing.assert_allclose(
        joined.combination.coefficients, expected / np.abs(expected).max(), atol=1e-9
    )
    assert plain.combination is None
    assert edge > plain_edge
    assert edge > 0.9 * np.abs(weights).sum()
    np.testing.assert_allclose(edge, weights @ joined.outputs(points))


@pytest.mark.parametrize("n_columns", [2, 10])
@pytest.mark.parametrize("n_samples", [4, 60])
def test_wlda_takes_weights_on_two_points(n_samples, n_columns):
    # both covariances vanish, which rounding must not turn into an error
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(n_samples, 3))
    points = ProjectedPoints(X, GaussianProjection(7, DATA_STREAM, 2, n_columns))
    for first, second in [(0, 1), (2, n_samples + 1), (n_samples, 0)]:
        weights = np.zeros(points.n_points)
        weights[[first, second]] = 0.5, -0.5
        with ThreadTeam(1) as team:
            stumps = StumpLearner(SortedColumns(points, team))
            hypothesis, edge = WLDALearner(points, stumps).fit(weights, np.arange(n_columns), rng)
        assert edge == pytest.approx(1.0)
        assert np.isfinite(hypothesis.threshold)


@pytest.mark.parametrize("kind", ["rank", "proj"])
def test_wlda_uses_combinations_where_they_help(kind):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 4))
    y = np.digitize(X @ [1.0, -1.0, 1.0, 1.0], [-1, 1])
    model = made(kind, "wlda").fit(X, y)
    combined = [h for h in model.model_.ensemble.hypotheses if h.combination is not None]
    assert len(combined) >= 1
    assert {h.column for h in combined} == {-1}
    plain = made(kind, "stump").fit(X, y)
    assert model.train_history_["loss"][-1] < plain.train_history_["loss"][-1]
    # staged scores, made round by round, agree with the packed form
    last = list(model.staged_decision_function(X))[-1]
    np.testing.assert_allclose(last, model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("kind", ["rank", "proj"])
def test_an_estimator_sees_signs_and_sizes_of_the_weights(kind):
    X, y, weight = noisy(40, 3, 3, 0)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = made(kind, tree, n_estimators=1, scale=False).fit(X, y, sample_weight=weight)
    (hypothesis,) = model.model_.ensemble.hypotheses
    assert isinstance(hypothesis, FittedEstimator)
    assert set(hypothesis.estimator.values) <= {-1.0, 0.0, 1.0}  # 0 where it splits
    if kind == "rank":
        c = np.where(np.arange(3)[:, None] == y, 2.0, -1.0) * weight
        c = c.reshape(-1) / (2 * weight.sum())
        values = projected(model, X).reshape(-1, 25)
        mine = clone(tree).fit(values, np.sign(c), sample_weight=np.abs(c))
        outputs = mine.predict(values)
        edge = abs(c @ outputs)
        np.testing.assert_allclose(model.train_history_["edge"][0], edge, rtol=1e-9)


@pytest.mark.parametrize("kind", MODELS)
def test_an_estimator_without_sample_weight_is_refused(kind):
    X, y = make_blobs(30, 3, centers=3, random_state=0)
    model = made(kind, KNeighborsClassifier())
    with pytest.raises(ValueError, match=r"KNeighborsClassifier\(\).*takes no sample_weight"):
        model.fit(X, y)
    assert not hasattr(model, "n_estimators_")


# -- approximate searches ------------------------------------------------------------------------


@pytest.mark.parametrize(("part", "n_searched"), [(5, 5), (0.25, 10), (1.0, 40), (1000, 40)])
def test_projections_per_round(part, n_searched, monkeypatch):
    X, y, _ = noisy(60, 4, 3, 0)
    searched = []
    search = ProjectedColumns.search

    def record(self, weights, columns):
        searched.append(columns)
        return search(self, weights, columns)

    monkeypatch.setattr(ProjectedColumns, "search", record)
    model = RBoostRankClassifier(
        20,
        n_projections=40,
        projections_per_round=part,
        random_state=0,
        n_jobs=1,
    ).fit(X, y)
    assert model.n_estimators_ == 20
    for columns, stump in zip(searched, model.model_.ensemble.hypotheses, strict=True):
        assert len(np.unique(columns)) == n_searched
        assert stump.column in columns
    every = RBoostRankClassifier(20, n_projections=40, random_state=0, n_jobs=1).fit(X, y)
    if n_searched == 40:
        np.testing.assert_array_equal(model.weights_, every.weights_)
    else:
        assert len({tuple(columns) for columns in searched}) > 15  # drawn again every round
        assert model.train_history_["edge"][0] <= every.train_history_["edge"][0] + 1e-12
        assert model.train_history_["loss"][-1] > every.train_history_["loss"][-1]
        assert model.score(X, y) > 0.5


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("weak_learner", ["stump", "real_stump", "wlda"])
def test_few_bins_come_close_to_the_exact_search(kind, weak_learner):
    X, y, _ = noisy(150, 4, 4, 0)
    exact = made(kind, weak_learner, n_estimators=15).fit(X, y)
    binned = made(kind, weak_learner, n_estimators=15, max_bins=16).fit(X, y)
    first, binned_first = exact.train_history_["edge"][0], binned.train_history_["edge"][0]
    if weak_learner == "stump":
        assert binned_first <= first * (1 + 1e-6)
    assert binned_first > 0.85 * first
    assert binned.score(X, y) == pytest.approx(exact.score(X, y), abs=0.1)
    first, second = exact.model_.ensemble.hypotheses, binned.model_.ensemble.hypotheses
    assert not np.array_equal(first.thresholds, second.thresholds)


def test_as_many_bins_as_values_are_exact():
    X, y, weight = noisy(40, 4, 3, 1)
    exact = made("proj", "stump").fit(X, y, sample_weight=weight)
    binned = made("proj", "stump", max_bins=256).fit(X, y, sample_weight=weight)
    first, second = exact.model_.ensemble.hypotheses, binned.model_.ensemble.hypotheses
    np.testing.assert_array_equal(first.columns, second.columns)
    np.testing.assert_allclose(exact.weights_, binned.weights_, rtol=1e-9)
