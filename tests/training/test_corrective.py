"""Totally corrective weights: KKT conditions and duality gaps, rebuilt with plain NumPy."""

import sys

import numpy as np
import pytest
from scipy.optimize import minimize, nnls
from scipy.special import expit, logsumexp, xlogy
from sklearn.datasets import make_blobs

from randomboost import RBoostProjClassifier, RBoostRankClassifier
from randomboost.losses import ExponentialLoss, LogisticLoss
from randomboost.solvers import dual
from randomboost.solvers.corrective import (
    LARGEST_WEIGHT,
    SOLVER_DEFAULTS,
    minimise,
    solver_options,
)
from randomboost.solvers.dual import DualProblem
from randomboost.solvers.risk import PairwiseRisk

TIGHT = {"maxiter": 5000, "ftol": 0, "gtol": 1e-12, "maxfun": 100000}
CASES = [(3, 0), (4, 1)]  # classes and seed
RANK_NU = [("exponential", 1e-3), ("exponential", 0.05), ("logistic", 1e-2), ("logistic", 2.0)]
PROJ_NU = [("logistic", 1e-3), ("logistic", 0.03), ("exponential", 0.02), ("exponential", 0.1)]


def data(k, seed):
    """40 samples, six of them once more in another class: no w separates them, so w is finite."""
    X, y = make_blobs(34, 4, centers=k, cluster_std=4.0, random_state=seed)
    return np.concatenate([X, X[:6]]), np.concatenate([y, (y[:6] + 1) % k])


def rank_model(k, seed, **rest):
    rest = {"n_estimators": 8, "n_projections": 50, "correction": "total", **rest}
    model = RBoostRankClassifier(scale=False, random_state=seed, n_jobs=1, **rest)
    return model.fit(*data(k, seed))


def proj_model(k, seed, **rest):
    rest = {"n_estimators": 8, "n_projections": 50, "tol": 0.0, "selection": "violation", **rest}
    model = RBoostProjClassifier(scale=False, random_state=seed, n_jobs=1, **rest)
    return model.fit(*data(k, seed))


def differences(responses, y):
    """Rows ``response of y_i - response of r`` of all pairs with r != y_i.

    `responses` has shape (k, m, number of weights).
    """
    k, m = responses.shape[:2]
    return np.array(
        [responses[y[i], i] - responses[r, i] for i in range(m) for r in range(k) if r != y[i]]
    )


def rank_matrix(model, X, y):
    """Delta H: one row a pair, one column a weak learner (rank1)."""
    stumps, projection = model.model_.ensemble.hypotheses, model.model_.ensemble.projection
    rows = projection.rows(stumps.columns.astype(np.int64), (0, X.shape[1]), np.float64)
    values = np.stack([X @ rows_of_class.T for rows_of_class in rows])
    outputs = np.where(values > stumps.thresholds, stumps.right, stumps.left)
    return differences(outputs.astype(float), y)


def proj_matrix(model, X, y):
    """P^(y_i) H_i - P^(r) H_i: one row a pair, one column a projected dimension v.

    With ``selection="code"`` one column a round, of the code that the round chose.
    """
    ensemble = model.model_.ensemble
    stumps = ensemble.hypotheses
    H = np.where(X[:, stumps.columns] > stumps.thresholds, stumps.right, stumps.left).astype(float)
    n, T = ensemble.projection.n_projections, len(stumps)
    if model.selection == "code":
        P = ensemble.projection.rows(np.arange(n), (0, T), np.float64)
        return differences(
            np.stack([H * of_class[ensemble.chosen, np.arange(T)] for of_class in P]),
            y,
        )
    P = ensemble.projection.rows(np.arange(n), (0, T), np.float32).astype(float)
    return differences(np.stack([H @ of_class.T for of_class in P]), y)


class PlainProblem:
    """One of (rankPrimal), (App2), (logPrimal) over the rows of a matrix of differences."""

    def __init__(self, matrix, form, nu, k):
        self.matrix, self.form, self.nu, self.k = matrix, form, nu, k
        self.share = 1.0 / (k * len(matrix) / (k - 1)) if form == "mean" else 1.0  # 1 / (mk)

    def primal(self, w):
        margins = self.matrix @ w
        if self.form == "log-sum-exp":
            risk = logsumexp(-margins)
        else:
            risk = self.share * np.logaddexp(0, -margins).sum()
            risk += np.log(2) / self.k if self.form == "mean" else 0.0
        return risk + self.nu * w.sum()

    def dual_weights(self, w):
        margins = self.matrix @ w
        if self.form == "log-sum-exp":
            return np.exp(-margins - logsumexp(-margins))
        return self.share * expit(-margins)

    def constraints(self, w):
        """Left sides of the dual constraints, to be at most nu."""
        return self.dual_weights(w) @ self.matrix

    def dual(self, u):
        if self.form == "log-sum-exp":
            return -xlogy(u, u).sum()
        p = u / self.share
        entropy = -self.share * (xlogy(p, p) + xlogy(1 - p, 1 - p)).sum()
        return entropy + (np.log(2) / self.k if self.form == "mean" else 0.0)

    def gap(self, w):
        """Relative duality gap, with u scaled to be feasible where that keeps it a dual point."""
        u = self.dual_weights(w)
        if self.form != "log-sum-exp":
            u = u * min(1.0, self.nu / (u @ self.matrix).max())
        value = self.primal(w)
        return (value - self.dual(u)) / max(abs(value), 1.0)

    def optimum(self, start):
        """The least value, by SciPy alone from `start`, with its own gap as the proof."""
        w = start
        for maxcor in (50, 20, 5):  # a solver that is stuck goes on with another memory
            w = minimize(
                self.primal,
                w,
                method="L-BFGS-B",
                jac=lambda w: self.nu - self.constraints(w),
                bounds=[(0, None)] * len(w),
                options={**TIGHT, "maxcor": maxcor},
            ).x
        assert abs(self.gap(w)) <= 1e-5
        return self.primal(w)

    def check_kkt(self, w):
        assert (w >= 0).all()
        slack = self.nu - self.constraints(w)
        assert slack.min() >= -1e-3 * self.nu - 1e-7
        used = w > 1e-8
        assert used.any()
        np.testing.assert_allclose(slack[used], 0, atol=1e-4 * self.nu + 1e-7)
        assert abs(w @ slack) <= 1e-6
        assert abs(self.gap(w)) <= 1e-5
        best = self.optimum(w)
        assert self.primal(w) - best <= 1e-7 * max(1.0, abs(best))


def rank_problem(model, k, seed):
    X, y = data(k, seed)
    form = "log-sum-exp" if model.loss == "exponential" else "sum"
    return PlainProblem(rank_matrix(model, X, y), form, model.nu, k)


def proj_problem(model, k, seed):
    X, y = data(k, seed)
    form = "log-sum-exp" if model.loss == "exponential" else "mean"
    return PlainProblem(proj_matrix(model, X, y), form, model.nu, k)


@pytest.mark.parametrize(("k", "seed"), CASES)
@pytest.mark.parametrize(("loss", "nu"), RANK_NU)
def test_rank_reaches_the_kkt_point(loss, nu, k, seed):
    model = rank_model(k, seed, loss=loss, nu=nu, solver_options=TIGHT)
    problem = rank_problem(model, k, seed)
    assert problem.matrix.shape == (40 * (k - 1), model.n_estimators_)
    problem.check_kkt(model.weights_)
    # the plain problem is the one that the model scores with
    X, y = data(k, seed)
    margins = model.decision_function(X)
    margins = margins[np.arange(40), y][:, None] - margins
    np.testing.assert_allclose(
        problem.matrix @ model.weights_, margins[np.arange(k) != y[:, None]], atol=1e-10
    )


@pytest.mark.parametrize(("k", "seed"), CASES)
@pytest.mark.parametrize(("loss", "nu"), PROJ_NU)
@pytest.mark.parametrize("selection", ["violation", "code"])
def test_proj_reaches_the_kkt_point(loss, nu, k, seed, selection):
    rest = {"solver_options": TIGHT, "iterations_per_round": None, "selection": selection}
    model = proj_model(k, seed, loss=loss, nu=nu, **rest)
    problem = proj_problem(model, k, seed)
    n_weights = 50 if selection == "violation" else model.n_estimators_
    assert problem.matrix.shape == (40 * (k - 1), n_weights)
    problem.check_kkt(model.weights_)
    X, y = data(k, seed)
    margins = model.decision_function(X)
    margins = margins[np.arange(40), y][:, None] - margins
    np.testing.assert_allclose(
        problem.matrix @ model.weights_, margins[np.arange(k) != y[:, None]], atol=1e-8
    )
    # the objective noted in the last round is that of the plain problem
    value = problem.primal(model.weights_)
    assert model.train_history_["loss"][-1] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize(("k", "seed"), CASES)
@pytest.mark.parametrize(("loss", "nu"), RANK_NU)
def test_the_default_solver_of_rank_comes_close(loss, nu, k, seed):
    model = rank_model(k, seed, loss=loss, nu=nu)
    problem = rank_problem(model, k, seed)
    best = problem.optimum(model.weights_)
    assert problem.primal(model.weights_) - best <= 1e-3 * max(1.0, abs(best))


@pytest.mark.parametrize(("k", "seed"), CASES)
@pytest.mark.parametrize(("loss", "nu"), PROJ_NU)
@pytest.mark.parametrize("iterations_per_round", [10, None])
@pytest.mark.parametrize("selection", ["violation", "code"])
def test_the_default_solver_of_proj_comes_close(loss, nu, k, seed, iterations_per_round, selection):
    rest = {"iterations_per_round": iterations_per_round, "selection": selection}
    model = proj_model(k, seed, loss=loss, nu=nu, **rest)
    problem = proj_problem(model, k, seed)
    best = problem.optimum(model.weights_)
    assert problem.primal(model.weights_) - best <= 1e-3 * max(1.0, abs(best))


@pytest.mark.parametrize("iterations_per_round", [10, None])
def test_proj_shrinks_w_when_nu_grows(iterations_per_round):
    # going on with a larger penalty must lower the weights that are too large for it
    model = proj_model(3, 0, nu=1e-5, iterations_per_round=iterations_per_round)
    X, y = data(3, 0)
    model.set_params(nu=0.05, n_estimators=9, warm_start=True).fit(X, y)
    problem = proj_problem(model, 3, 0)
    best = problem.optimum(model.weights_)
    assert problem.primal(model.weights_) - best <= 1e-3 * best


@pytest.mark.parametrize(("first", "second"), [("violation", "code"), ("code", "violation")])
@pytest.mark.parametrize("n_projections", [8, 50])  # 8 is also the number of rounds
def test_proj_does_not_go_on_with_another_selection(first, second, n_projections):
    model = proj_model(3, 0, nu=1e-3, selection=first, n_projections=n_projections)
    model.set_params(selection=second, n_estimators=9, warm_start=True)
    with pytest.raises(ValueError, match="selection differs"):
        model.fit(*data(3, 0))


@pytest.mark.parametrize(
    "model",
    [
        RBoostRankClassifier(30, n_projections=100, correction="total"),
        RBoostRankClassifier(30, n_projections=100, correction="total", loss="logistic"),
        RBoostProjClassifier(30, n_projections=100, loss="exponential"),
        RBoostProjClassifier(30, n_projections=100),
    ],
    ids=["rank exponential", "rank logistic", "proj exponential", "proj logistic"],
)
def test_separable_data_does_not_let_w_run_away(model):
    # (rankPrimal) has no minimum once a w >= 0 with 1^T w = 1 gives every pair a margin above nu
    X, y = make_blobs(60, 4, centers=3, cluster_std=1.0, random_state=0)
    model.set_params(random_state=0, n_jobs=1).fit(X, y)
    assert model.score(X, y) == 1
    assert model.weights_.sum() < 1e6
    assert np.abs(model.train_history_["loss"]).max() < 1e6


@pytest.mark.parametrize("kind", ["rank", "proj"])
def test_the_objective_falls_with_every_round(kind):
    # with one weight a round; as printed, Algorithm 2 gives a new h the code that w happens to make
    if kind == "rank":
        model = rank_model(4, 2, nu=1e-2, n_estimators=15)
        penalty = 1e-2 * np.array([w.sum() for w in model.model_.ensemble.path])
    else:
        model = proj_model(4, 2, nu=1e-3, n_estimators=15, selection="code")
        penalty = 0.0  # is in the noted value already
    objective = model.train_history_["loss"] + penalty
    assert len(objective) == 15
    assert (np.diff(objective) <= 1e-9).all()
    assert objective[-1] < 0.9 * objective[0]


@pytest.fixture
def calls(monkeypatch):
    """Starting point and result of every call of the solver."""
    noted = []

    def record(objective, start, options, **rest):
        found = minimise(objective, start, options, **rest)
        noted.append((start.copy(), found[0]))
        return found

    for module in [m for name, m in sys.modules.items() if name.startswith("randomboost.")]:
        if getattr(module, "minimise", None) is minimise:
            monkeypatch.setattr(module, "minimise", record)
    return noted


def test_rank_starts_the_solver_from_the_last_weights(calls):
    model = rank_model(3, 0, nu=1e-3, iterations_per_round=None)
    assert len(calls) == model.n_estimators_ == len(model.model_.ensemble.path)
    assert calls[0][0].tolist() == [0.0]
    for (start, _), (_, before) in zip(calls[1:], calls[:-1], strict=True):
        np.testing.assert_array_equal(start, [*before, 0.0])
    np.testing.assert_array_equal(calls[-1][1], model.weights_)


def test_proj_starts_the_solver_from_the_last_weights(calls):
    # as printed, w is solved for by Newton's method (tests/solvers/test_newton.py)
    model = proj_model(3, 0, nu=1e-3, iterations_per_round=None, selection="code")
    assert len(calls) >= 8  # one a round, and those after the last round
    assert not calls[0][0].any()
    for (start, _), (_, before) in zip(calls[1:], calls[:-1], strict=True):
        np.testing.assert_array_equal(start[start > 0], before[before > 0])
    np.testing.assert_array_equal(
        calls[-1][1][calls[-1][1] > 0], model.weights_[model.weights_ > 0]
    )


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_rank_stops_at_the_smallest_edge(loss):
    nu = 0.3 if loss == "exponential" else 12.0
    model = rank_model(3, 0, loss=loss, nu=nu, n_estimators=200, solver_options=TIGHT)
    assert 1 <= model.n_estimators_ < 200
    assert model.stopped_ == f"no weak learner has an edge above nu + tol = {nu + 1e-6:g}"
    edges = model.train_history_["edge"]
    assert (edges > nu + model.tol).all()
    # indeed no stump on any projected dimension violates its constraint
    X, y = data(3, 0)
    problem = rank_problem(model, 3, 0)
    u = problem.dual_weights(model.weights_).reshape(40, 2)
    signed = np.zeros((3, 40))
    for i in range(40):
        signed[np.arange(3) != y[i], i] = -u[i]
        signed[y[i], i] = u[i].sum()
    P = model.model_.ensemble.projection.rows(np.arange(50), (0, 4), np.float64)
    largest = 0.0
    for v in range(50):
        values = P[:, v] @ X.T
        for threshold in np.unique(values.round(9)) + 1e-6:  # equal samples stay together
            largest = max(largest, abs(signed[values > threshold].sum() * 2))
    assert largest <= nu + 2e-6
    assert largest > 0.5 * nu


def test_a_large_tol_stops_rank_earlier():
    few = rank_model(3, 0, nu=0.1, tol=0.3, n_estimators=100)
    many = rank_model(3, 0, nu=0.1, n_estimators=100)
    assert few.n_estimators_ < many.n_estimators_
    assert "nu + tol = 0.4" in few.stopped_
    assert (few.train_history_["edge"] > 0.4).all()


# a few steps that hardly move are no sign of the end: what counts is the objective when w is solved
@pytest.mark.parametrize("iterations_per_round", [1, 10, None])
def test_proj_stops_when_the_objective_settles(iterations_per_round):
    settings = {"nu": 1e-3, "n_estimators": 100, "iterations_per_round": iterations_per_round}
    model = proj_model(3, 0, tol=0.01, **settings)
    loss = model.train_history_["loss"]
    assert 2 <= model.n_estimators_ < 100
    assert model.stopped_ == "the objective changed by less than tol = 0.01"
    change = np.abs(np.diff(loss)) / loss[:-1]
    assert change[-1] < 0.01
    if iterations_per_round is None:
        assert (change[:-1] >= 0.01).all()
    assert proj_model(3, 0, tol=0.001, **settings).n_estimators_ > len(loss)


def test_few_steps_a_round_do_not_end_where_full_solves_go_on():
    # with one step, the objective of a round is often nearly that of the round before
    for k, seed in CASES:
        settings = {"nu": 1e-3, "n_estimators": 60, "tol": 1e-2}
        quick = proj_model(k, seed, iterations_per_round=1, **settings)
        full = proj_model(k, seed, iterations_per_round=None, **settings)
        assert quick.n_estimators_ >= full.n_estimators_
        assert quick.train_history_["loss"][-1] < 1.02 * full.train_history_["loss"][-1]


@pytest.mark.parametrize("iterations_per_round", [10, None])
def test_proj_stops_when_nothing_is_violated(iterations_per_round):
    rest = {"nu": 0.03, "stopping": "violation", "n_estimators": 100, "solver_options": TIGHT}
    model = proj_model(3, 0, tol=1e-3, iterations_per_round=iterations_per_round, **rest)
    assert 1 <= model.n_estimators_ < 100
    assert model.stopped_ == "no constraint is violated by more than tol = 0.001"
    assert (model.train_history_["edge"] > 0.03 + 1e-3).all()
    problem = proj_problem(model, 3, 0)
    assert problem.constraints(model.weights_).max() <= 0.03 + 1e-3
    # full solves that go on from there find nothing to add
    n_rounds = model.n_estimators_
    model.set_params(iterations_per_round=None, warm_start=True).fit(*data(3, 0))
    assert model.n_estimators_ == n_rounds
    # an objective that settles does not end it
    settled = proj_model(3, 0, tol=1e-2, nu=0.03, n_estimators=100)
    assert "objective" in settled.stopped_


@pytest.mark.parametrize("make", [rank_model, proj_model])
def test_unknown_solver_options_are_refused(make):
    with pytest.raises(ValueError, match=r"unknown entry 'factr'.*ftol.*maxiter"):
        make(3, 0, solver_options={"factr": 1e7})


def test_solver_options_replace_the_papers():
    assert solver_options(None) == SOLVER_DEFAULTS
    assert solver_options(None)["maxiter"] == 100
    assert solver_options(None)["maxcor"] == 5
    assert solver_options(None)["ftol"] == pytest.approx(2.2e-9, rel=0.01)
    assert solver_options({"maxiter": 7, "maxls": 3}) == {
        **SOLVER_DEFAULTS,
        "maxiter": 7,
        "maxls": 3,
    }
    with pytest.raises(ValueError, match="unknown entry"):
        solver_options({"disp": True})


def test_solver_options_reach_the_solver():
    one = rank_model(4, 1, nu=1e-3, solver_options={"maxiter": 1})
    full = rank_model(4, 1, nu=1e-3)
    assert not np.allclose(one.weights_, full.weights_, rtol=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_minimise_solves_least_squares_over_nonnegative_weights(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(12, 6)), rng.normal(size=12)

    def objective(w):
        rest = A @ w - b
        return 0.5 * rest @ rest, A.T @ rest

    expected, norm = nnls(A, b)
    w, value = minimise(objective, np.ones(6), solver_options(TIGHT))
    np.testing.assert_allclose(w, expected, atol=1e-6)
    assert value == pytest.approx(0.5 * norm**2)
    assert (w >= 0).all()


@pytest.mark.parametrize("make", [rank_model, proj_model])
@pytest.mark.parametrize("solve", [None, 3])
def test_a_warm_start_with_another_nu_solves_for_it(make, solve):
    """Also where no rounds are left."""
    X, y = data(3, 0)
    settings = {"iterations_per_round": solve, "solver_options": TIGHT, "warm_start": True}
    model = make(3, 0, nu=0.05, **settings)
    stumps = model.model_.ensemble.hypotheses
    matrix = (rank_matrix if make is rank_model else proj_matrix)(model, X, y)

    def value(weights):
        if make is rank_model:
            return logsumexp(-matrix @ weights) + 0.01 * weights.sum()
        return np.logaddexp(0, -matrix @ weights).sum() / (3 * len(y)) + 0.01 * weights.sum()

    before = value(model.weights_)
    model.set_params(nu=0.01).fit(X, y)
    assert model.model_.ensemble.n_rounds == len(stumps)
    bounds = [(0, None)] * matrix.shape[1]
    best = minimize(value, np.zeros(matrix.shape[1]), bounds=bounds, options={"maxfun": 10**6})
    assert value(model.weights_) < before - 1e-4
    assert value(model.weights_) <= best.fun + 1e-5
    weights = model.weights_.copy()
    np.testing.assert_array_equal(model.fit(X, y).weights_, weights)  # they are solved for already


# -- the dual problem --------------------------------------------------------------------------


class SquaredHinge:
    """A loss of a user, with its conjugate."""

    def value(self, margins):
        return np.maximum(0.0, 1.0 - margins) ** 2

    def derivative(self, margins):
        return -2.0 * np.maximum(0.0, 1.0 - margins)

    def conjugate(self, dual):
        return dual + dual**2 / 4


DUAL = {"problem": "dual", "ftol": 1e-9}


@pytest.mark.parametrize(("k", "seed"), CASES)
@pytest.mark.parametrize(("loss", "nu"), RANK_NU)
def test_rank_by_its_dual_reaches_the_same_value(loss, nu, k, seed):
    model = rank_model(
        k, seed, loss=loss, nu=nu, solver_options=DUAL, iterations_per_round=None, n_estimators=4
    )
    problem = rank_problem(model, k, seed)
    best = problem.optimum(model.weights_)
    assert problem.primal(model.weights_) - best <= 1e-6 * max(1.0, abs(best))


@pytest.mark.parametrize(("loss", "nu"), PROJ_NU)
@pytest.mark.parametrize("selection", ["violation", "code"])
def test_proj_by_its_dual_reaches_the_same_value(loss, nu, selection):
    settings = {"solver_options": DUAL, "selection": selection, "n_estimators": 4}
    model = proj_model(3, 0, loss=loss, nu=nu, **settings)
    problem = proj_problem(model, 3, 0)
    best = problem.optimum(model.weights_)
    assert problem.primal(model.weights_) - best <= 1e-6 * max(1.0, abs(best))


@pytest.mark.parametrize("nu", [0.003, 0.1])
@pytest.mark.parametrize(
    ("loss", "form"),
    [
        (ExponentialLoss(), "log-sum-exp"),
        (LogisticLoss(), "sum"),
        (LogisticLoss(), "mean"),
        (SquaredHinge(), "sum"),
        (SquaredHinge(), "mean"),
    ],
)
def test_strong_duality_by_two_solvers(loss, form, nu):
    """L-BFGS-B on the primal and Newton's method on the dual meet at the same value."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    responses = rng.choice([-1.0, 1.0], (6, 3, 30)) + 0.5 * (np.arange(3)[:, None] == y)
    weight = rng.uniform(0.5, 2.0, 30)
    risk = PairwiseRisk.of(loss, y, 3, weight, form)

    def objective(w):
        value, signed = risk.evaluate(np.tensordot(w, responses, 1))
        return value + nu * w.sum(), nu - np.tensordot(responses, signed, 2)

    _, primal = minimise(objective, np.zeros(6), {**solver_options(TIGHT)})
    found = DualProblem(risk, responses, nu, LARGEST_WEIGHT).solve(1e-9 * abs(primal))
    assert found.primal_value == pytest.approx(primal, rel=1e-6)
    assert found.dual_value == pytest.approx(primal, rel=1e-6)
    assert found.dual_value <= primal + 1e-12 * abs(primal)  # weak duality
    # the dual point is feasible and, by (KKT), the slope of the loss at the primal point
    matrix = differences(responses.transpose(1, 2, 0), y)
    samples = np.broadcast_to(np.arange(30), (3, 30))[np.arange(3)[:, None] != y]
    order = np.argsort(samples, kind="stable")  # pairs of a sample one after the other
    u = found.dual[order]
    assert (u >= 0).all()
    assert (u @ matrix).max() <= nu + 1e-6
    slopes = -loss.derivative(matrix @ found.weights) * np.repeat(weight, 2)
    slopes *= risk.factor if form != "log-sum-exp" else 1 / slopes.sum()
    np.testing.assert_allclose(u, slopes, atol=1e-4 * slopes.max())


def test_the_dual_needs_a_conjugate_and_a_small_problem(monkeypatch):
    class Plain:
        def value(self, margins):
            return np.exp(-margins)

        def derivative(self, margins):
            return -np.exp(-margins)

    with pytest.raises(ValueError, match="needs a loss with conjugate"):
        rank_model(3, 0, loss=Plain(), solver_options=DUAL, iterations_per_round=None)
    monkeypatch.setattr(dual, "MOST_ENTRIES", 100)
    with pytest.raises(ValueError, match="is for small problems"):
        proj_model(3, 0, solver_options=DUAL, iterations_per_round=None)
    with pytest.raises(ValueError, match="'primal' or 'dual'"):
        solver_options({"problem": "both"})
