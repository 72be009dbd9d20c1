"""Newton's method for totally corrective weights, and the quadratic models of its steps."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from randomboost import RBoostProjClassifier
from randomboost.losses import LogisticLoss
from randomboost.solvers.bounded_quadratic import minimum
from randomboost.solvers.corrective import minimise, solver_options
from randomboost.solvers.newton import NewtonSolver
from randomboost.solvers.responses import Responses
from randomboost.solvers.risk import PairwiseRisk
from randomboost.training import column_generation

TIGHT = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 0.0, "gtol": 1e-14}


def model_value(hessian, gradient, weights, point):
    step = point - weights
    return gradient @ step + 0.5 * step @ hessian @ step


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("largest", [0.3, 1e3])
def test_minimum_is_that_of_bounded_least_squares(seed, largest):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    root = rng.standard_normal((n + 5, n))
    hessian, gradient = root.T @ root, 3 * rng.standard_normal(n)
    weights = np.clip(rng.standard_normal(n), 0, largest)
    # |root x - b|^2 / 2 has the gradient at `weights` if root^T b = H weights - gradient
    b = np.linalg.lstsq(root.T, hessian @ weights - gradient, rcond=None)[0]
    expected = lsq_linear(root, b, (0, largest), tol=1e-15, method="bvls").x
    found = minimum(hessian, gradient, weights, largest)
    assert found.min() >= 0
    assert found.max() <= largest
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_minimum_of_a_model_that_is_linear_in_most_directions(seed):
    rng = np.random.default_rng(seed)
    n, rank = 60, 7
    root = rng.standard_normal((rank, n))
    hessian = root.T @ root
    weights = np.abs(rng.standard_normal(n))
    gradient = 1e-3 + hessian @ (weights - np.abs(rng.standard_normal(n)))  # a penalty of 1e-3
    found = minimum(hessian, gradient, weights, 1e3)
    slope = gradient + hessian @ (found - weights)
    assert slope.min() > -1e-7
    assert np.abs(slope[found > 0]).max() < 1e-7
    assert np.count_nonzero(found) <= rank


def test_minimum_keeps_to_the_bounds_of_a_function_without_a_minimum():
    found = minimum(np.zeros((3, 3)), np.array([-1.0, 1.0, -1.0]), np.ones(3), 5.0)
    np.testing.assert_allclose(found, [5.0, 0.0, 5.0])


def problem(seed, n_weights, rank):
    """Random scores of `n_weights` weights that span `rank` directions, and their risk."""
    rng = np.random.default_rng(seed)
    k, m = 4, 60
    y = rng.integers(k, size=m)
    risk = PairwiseRisk(LogisticLoss(), y, k, rng.uniform(0.5, 2, m), "mean")
    directions = rng.standard_normal((rank, k, m)) + 0.7 * (np.arange(k)[:, None] == y)
    scores = np.tensordot(rng.standard_normal((n_weights, rank)), directions, 1)
    return risk, scores.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("nu", [1e-5, 1e-3, 1e-2])
@pytest.mark.parametrize("rank", [6, 200])
def test_newton_ends_below_lbfgsb_with_no_violated_constraint(seed, nu, rank):
    risk, scores = problem(seed, 120, rank)
    largest = 50.0

    def evaluate(weights):
        value, signed = risk.evaluate(np.tensordot(weights, scores, 1))
        gradient = nu - np.tensordot(scores, signed, 2)
        return value + nu * weights.sum(), signed, gradient

    def objective(weights):
        value, _, gradient = evaluate(weights)
        return value, gradient

    solver = NewtonSolver(risk, largest)
    found = solver.solve(
        evaluate,
        lambda which: (scores.astype(np.float32), which),
        np.zeros(len(scores)),
        slack=1e-6 * nu,
        tolerance=1e-13,
        iterations=200,
    )
    value, _, gradient = evaluate(found)
    assert gradient[found < largest].min() > -1e-4 * nu
    assert np.abs(gradient[(found > 0) & (found < largest)]).max(initial=0.0) < 1e-4 * nu
    _, other = minimise(objective, np.zeros(len(scores)), solver_options(TIGHT))
    assert value <= other * (1 + 1e-9)


def test_shifted_weights_are_those_of_the_model():
    risk, scores = problem(0, 3, 3)
    rng = np.random.default_rng(1)
    votes, outputs = rng.standard_normal(4), rng.choice([-1.0, 1.0], 60)
    at = scores[0]
    small = 1e-4
    _, before = risk.evaluate(at)
    _, after = risk.evaluate(at + small * votes[:, None] * outputs)
    found = NewtonSolver(risk, 1.0).shifted(before, small * votes, outputs)
    np.testing.assert_allclose(
        found - before, after - before, atol=1e-3 * np.abs(after - before).max()
    )


def test_responses_catch_up_in_any_order():
    rng = np.random.default_rng(0)
    n, k, m, T = 30, 3, 20, 40
    codes = rng.standard_normal((n, T * k)).astype(np.float32)
    outputs = rng.choice([-1.0, 1.0], (T, m)).astype(np.float32)
    kept = Responses(n, k, m)
    for t in range(1, T + 1):
        which = np.sort(rng.choice(n, rng.integers(1, 12), replace=False))
        scores, places = kept.at(which, t, codes, outputs)
        votes = codes[which, : t * k].reshape(-1, t, k)
        expected = np.einsum("vtr,ti->vri", votes, outputs[:t])
        np.testing.assert_allclose(scores[places], expected, atol=1e-4)
        assert len(set(places.tolist())) == len(which)


@pytest.mark.parametrize("nu", [1e-6, 1e-3])
def test_full_solves_end_where_the_dual_problem_does(nu):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(120), [-0.5, 0.5])
    settings = {"n_estimators": 6, "n_projections": 80, "nu": nu, "tol": 0.0, "random_state": 0}
    primal, dual = (
        RBoostProjClassifier.paper(**settings, solver_options={"problem": problem}).fit(X, y)
        for problem in ("primal", "dual")
    )
    losses = (model.train_history_["loss"] for model in (primal, dual))
    np.testing.assert_allclose(*losses, rtol=1e-7)


def test_large_problems_are_left_to_lbfgsb(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 3
    settings = {"n_estimators": 4, "n_projections": 30, "nu": 1e-3, "random_state": 0}
    newton = RBoostProjClassifier.paper(**settings).fit(X, y)
    monkeypatch.setattr(column_generation, "_MOST_SCORES", 60 * 3 - 1)
    monkeypatch.setattr(NewtonSolver, "solve", None)
    other = RBoostProjClassifier.paper(**settings, solver_options=TIGHT).fit(X, y)
    losses = (model.train_history_["loss"] for model in (newton, other))
    np.testing.assert_allclose(*losses, rtol=1e-6)
