"""The targets of the library, measured in one run: ratios, memory, sizes, start-up.

Every question is a function of the results so far; it makes the measurements that are missing
and returns checks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from data import split
from measure import Results, digest, measure, measure_warm, prediction_times, warm_up
from numpy.typing import NDArray
from peers import PAPER_PROJECTIONS, PEERS, lightgbm, rank_part, table_key, xgboost
from scipy.optimize import minimize
from scipy.special import expit
from sets import SETS, Split, encoded, generated

from randomboost import RBoostProjClassifier, RBoostRankClassifier
from randomboost.projections.points import FeaturePoints
from randomboost.training import stopwatch
from randomboost.training.ranking import RankSettings

GB = 2**30


@dataclass(frozen=True)
class Check:
    """One line of the table of targets.

    Parameters
    ----------
    what : str
        What is measured.
    value : float, bool or str
        What came out.
    unit : str
        Unit of the value.
    limit : float or None
        The target; None for a value that is shown only. A bool or a text has to be True, or
        "none".
    most : bool
        Whether the limit is the largest value allowed, or the smallest.
    """

    what: str
    value: float | bool | str
    unit: str = ""
    limit: float | None = None
    most: bool = True


class PlainScan(RBoostRankClassifier):
    """RBoost-rank whose stump search looks at every point."""

    def _settings(self, seed: int) -> RankSettings:
        return replace(super()._settings(seed), plain=True)


def _paper_rank(
    kind: type[RBoostRankClassifier] = RBoostRankClassifier, **parameters: Any
) -> RBoostRankClassifier:
    """Return RBoost-rank in the paper's setting, or close to it."""
    paper = {"n_projections": PAPER_PROJECTIONS, "scale": False, "random_state": 0}
    return kind.paper(**{**paper, **parameters})


def _paper_split(name: str, repeat: int = 0) -> Split:
    return encoded(*split(name, repeat))


# -- a: exact search beside the plain scan ---------------------------------------------------------


def _searched(results: Results, name: str, search: str) -> dict[str, Any]:
    """Return the measurements of rank with one kind of search, and the model's digest."""

    def make() -> dict[str, Any]:
        kind = {"exact": RBoostRankClassifier, "plain": PlainScan}[search]
        model, data = _paper_rank(kind), _paper_split(name)
        return {**measure_warm(model, data), "digest": digest(model)}

    return results.once(f"asked/a/{name}/{search}", make)


def exact_search(results: Results) -> list[Check]:
    checks = []
    for name, times in (("pendigits", 4.0), ("vowel", 2.5), ("dna", 2.5)):
        exact, plain = (_searched(results, name, search) for search in ("exact", "plain"))
        ratio = plain["fit_s"] / exact["fit_s"]
        what = f"exact rank search, n = 20000, 1000 rounds, {name}"
        checks += [
            Check(f"{what}: times as fast as the plain scan", ratio, "", times, most=False),
            Check(f"{what}: same model", exact["digest"] == plain["digest"]),
        ]
    return checks


# -- b: part search beside LightGBM and beside exact search ---------------------------------------


def part_search(results: Results) -> list[Check]:
    records: dict[str, list[dict[str, Any]]] = {"part": [], "exact": [], "LightGBM": []}
    for repeat in range(5):
        data = _paper_split("pendigits", repeat)
        models = {
            "part": _paper_rank(projections_per_round=400, random_state=repeat),
            "LightGBM": lightgbm(1000).set_params(random_state=repeat),
            "exact": _paper_rank(random_state=repeat),
        }
        fits = [(name, run) for run in range(3) for name in ("part", "LightGBM")]  # take turns
        for name, run in [*fits, ("exact", 0)]:
            key = f"asked/b/{name}/{repeat}/{run}"
            records[name].append(results.once(key, partial(measure_warm, models[name], data)))
    fit = {name: np.median([r["fit_s"] for r in found]) for name, found in records.items()}
    errors = {name: np.array([r["error"] for r in found]) for name, found in records.items()}
    what = "rank, 400 of 20000 dimensions a round, 1000 rounds, pendigits"
    return [
        Check(
            f"{what}: fit time / LightGBM's, medians of 15", fit["part"] / fit["LightGBM"], "", 1.5
        ),
        Check(
            f"{what}: test error, mean of 5 splits (exact search: {errors['exact'].mean():.2f} %)",
            errors["part"].mean(),
            "%",
            errors["exact"].mean() + errors["exact"].std(),
        ),
    ]


# -- c: proj beside the plain scan, and its objective beside a full solve -------------------------


def full_solve(model: Any, X: NDArray, y: NDArray) -> tuple[float, float]:
    """Return the objective (logPrimal) at the model's w and its minimum on the same stumps.

    Written without the library's solver: the mean of log(1 + exp(-rho)) over samples and classes
    plus nu times the sum of w >= 0, with ``F_r(x) = sum_t A_tr h_t(x)`` and
    ``A_tr = sum_v w_v P^(r)_vt``.
    """
    points, ensemble = FeaturePoints(X), model.model_.ensemble
    outputs = np.stack([h.outputs(points) for h in ensemble.hypotheses]).astype(np.float64)
    n_rounds = len(outputs)
    codes = ensemble.projection.rows(np.arange(len(model.weights_)), (0, n_rounds), np.float32)
    n_classes, n_projections, _ = codes.shape
    codes = codes.transpose(1, 2, 0).reshape(n_projections, -1).astype(np.float64)
    own = (np.searchsorted(model.classes_, y), np.arange(len(y)))
    size = np.sqrt(n_projections)  # of a typical weight: codes have the inverse

    def objective(scaled: NDArray) -> tuple[float, NDArray]:
        votes = (size * scaled @ codes).reshape(n_rounds, n_classes)
        scores = votes.T @ outputs
        margins = scores[own] - scores
        value = np.logaddexp(0.0, -margins).mean() + model.nu * size * scaled.sum()
        signed = -expit(-margins) / margins.size
        signed[own] = 0.0
        signed[own] = -signed.sum(axis=0)
        moments = (outputs @ signed.T).reshape(-1)
        return value, size * (model.nu - codes @ moments)

    start = model.weights_ / size
    options = {"maxiter": 3000, "maxfun": 5000, "maxcor": 20, "ftol": 1e-12, "gtol": 1e-9}
    bounds = [(0.0, None)] * n_projections
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return float(objective(start)[0]), float(found.fun)


def proj_speed(results: Results) -> list[Check]:
    def make() -> dict[str, Any]:
        model = RBoostProjClassifier(
            1000, n_projections=1000, selection="violation", scale=False, tol=0, random_state=0
        )
        data = _paper_split("pendigits")
        measured = measure_warm(model, data)
        reached, minimum = full_solve(model, data.X, data.y)
        loss = float(model.train_history_["loss"][-1])
        return {**measured, "loss": loss, "reached": reached, "minimum": minimum}

    plain = _searched(results, "pendigits", "plain")
    found = results.once("asked/c/proj", make)
    what = "proj, n = 1000, 1000 rounds, pendigits"
    above = 100 * (found["loss"] / found["minimum"] - 1)
    return [
        Check(
            f"{what}: fit time / plain exact rank scan's", found["fit_s"] / plain["fit_s"], "", 0.6
        ),
        Check(f"{what}: objective above a full solve on the same stumps", above, "%", 0.1),
    ]


# -- d: prediction ---------------------------------------------------------------------------------


def prediction(results: Results) -> list[Check]:
    def make() -> dict[str, Any]:
        data = _paper_split("pendigits")
        models = {
            "rank": _paper_rank(projections_per_round=400),
            "LightGBM": lightgbm(1000),
            "XGBoost": xgboost(1000),
        }
        for model in models.values():
            model.fit(data.X, data.y)
        return prediction_times(models, data.X_test)

    found = results.once("asked/d", make)
    what = "rank, 1000 rounds, 10 classes, times as fast as"
    targets = (("predict_s", "10 000 rows", 5.0, 1.0), ("single_ms", "one row", 1.0, 1.0))
    return [
        Check(f"{what} {peer}, {rows}", found[peer][field] / found["rank"][field], "", limit, False)
        for field, rows, *limits in targets
        for peer, limit in zip(("LightGBM", "XGBoost"), limits, strict=True)
    ]


# -- e, f: large data ------------------------------------------------------------------------------


def _of_table(results: Results, name: str, model: str, rounds: int, data: Split) -> dict[str, Any]:
    """Return the measurement that the table of a set begins with, made now if it is not there."""
    fitted = PEERS[model].model(rounds, data, 0)
    key = f"{table_key(name, model, rounds)}/0"
    return results.once(key, partial(measure_warm, fitted, data))


def many_rows(results: Results) -> list[Check]:
    name = "mnist-60k-hog"
    data = SETS[name](0)
    model = rank_part(1000, data).set_params(random_state=0)
    rank = results.once("asked/e/rank", partial(measure_warm, model, data))
    tree = _of_table(results, name, "LightGBM", 100, data)
    if 10 * tree["fit_s"] < 300:
        tree = results.once("asked/e/LightGBM/1000", partial(measure, lightgbm(1000), data))
    what = f"rank, {rank['rounds']} rounds, 60 000 digits, HOG+PCA"
    beside = f"LightGBM with {tree['rounds']} rounds"
    return [
        Check(f"{what}: peak memory of the fit", rank["peak_bytes"] / GB, "GB", 4.0),
        Check(f"{what}: fit ({beside}: {tree['fit_s']:.0f} s)", rank["fit_s"], "s"),
        Check(f"{what}: test error ({beside}: {tree['error']:.2f} %)", rank["error"], "%"),
    ]


def many_classes(results: Results) -> list[Check]:
    name = "generated-1000"
    data = SETS[name](0)
    beside = _of_table(results, name, "LightGBM", 100, data)
    tree_round = beside["fit_s"] / beside["rounds"]
    checks = []
    for model, called in (("rank part", "rank"), ("RandomBoost", "RandomBoost")):
        rank = _of_table(results, name, model, 100, data)
        what = f"{called}, 1000 classes, 20 000 rows, 32 features"
        ratio = rank["fit_s"] / rank["rounds"] / tree_round
        checks += [
            Check(f"{what}: 100 rounds finish", rank["rounds"] == 100),
            Check(f"{what}: peak memory of the fit", rank["peak_bytes"] / GB, "GB", 4.0),
            Check(f"{what}: time a round / LightGBM's ({tree_round:.2f} s)", ratio, "", 1.0),
        ]
    return checks


# -- g: size of the model --------------------------------------------------------------------------


def model_size(results: Results) -> list[Check]:
    checks = []
    for n_classes in (10, 100, 1000):
        data = generated(n_classes, 0, n_train=1000, n_test=100)
        model = _paper_rank(projections_per_round=2)
        key = f"asked/g/{n_classes}"
        found = results.once(key, partial(measure, model, data))
        what = f"pickled rank model, {found['rounds']} rounds, {n_classes} classes"
        checks.append(Check(what, found["bytes"], "bytes", 65536))
    return checks


# -- h: the totally corrective step ----------------------------------------------------------------

# seconds of the step in the paper's table randomRankTC: exponential loss, logistic loss
PAPER_STEP = {
    "australian": (11.7, 6.3),
    "heart": (6.5, 1.9),
    "wine": (13.7, 1.4),
    "glass": (10.6, 4.8),
    "segment": (145.0, 45.2),
}
STEP_SPLITS = 3


def _step(name: str, loss: str, repeat: int) -> dict[str, Any]:
    """Return the measurements of a totally corrective fit with the seconds of its solver.

    nu = 1e-4 lies in the middle of the paper's grid and was not chosen from any result.
    """
    data = _paper_split(name, repeat)
    model = _paper_rank(
        n_estimators=500,
        n_projections=100 * data.X.shape[1],
        correction="total",
        loss=loss,
        nu=1e-4,
        random_state=repeat,
    )
    warm_up(model, data)
    with stopwatch.measured() as spent:
        return {**measure(model, data), "step_s": spent["weights"]}


def corrective_step(results: Results) -> list[Check]:
    checks = []
    for name, seconds in PAPER_STEP.items():
        for loss, paper in zip(("exponential", "logistic"), seconds, strict=True):
            found = [
                results.once(f"asked/h/{name}/{loss}/{r}", partial(_step, name, loss, r))
                for r in range(STEP_SPLITS)
            ]
            step = np.mean([record["step_s"] for record in found])
            error = np.mean([record["error"] for record in found])
            rounds = np.mean([record["rounds"] for record in found])
            what = (
                f"totally corrective step, {loss} loss, {name}: CPU time, mean of "
                f"{STEP_SPLITS} splits (paper: {paper:g} s; {rounds:.0f} rounds, "
                f"test error {error:.1f} %)"
            )
            checks.append(Check(what, step, "s", paper / 10))
    return checks


# -- i: start-up -----------------------------------------------------------------------------------

UNWANTED = ("numba", "pandas", "matplotlib", "dask")
IMPORT = f"""
import sys, time
{{before}}
loaded = set(sys.modules)
began = time.perf_counter()
{{statement}}
took = time.perf_counter() - began
print(took, *(m for m in {UNWANTED} if m in sys.modules and m not in loaded))
"""
FIRST_FIT = """
import time
from sklearn.datasets import load_iris
from randomboost import {name}
X, y = load_iris(return_X_y=True)
began = time.perf_counter()
{name}(random_state=0).fit(X, y)
print(time.perf_counter() - began)
"""


def _new_process(code: str, **variables: str) -> list[str]:
    """Run code in a new process; return the words it prints."""
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout.split()


def _imported(statement: str, before: str = "") -> dict[str, Any]:
    """Return the seconds of a statement in a new process, and the unwanted packages it loads."""
    code = IMPORT.format(statement=statement, before=before)
    runs = [_new_process(code) for _ in range(5)]
    return {"seconds": float(np.median([float(words[0]) for words in runs])), "found": runs[0][1:]}


def _first_fits() -> dict[str, float]:
    """Return the seconds by which the first fits exceed those of processes with a warm cache."""
    names = ("RandomBoostClassifier", "RBoostProjClassifier")
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (
            [
                float(_new_process(FIRST_FIT.format(name=name), NUMBA_CACHE_DIR=cache)[-1])
                for name in names
            ]
            for _ in range(2)
        )
    return {name: c - w for name, c, w in zip(names, cold, warm, strict=True)}


def start_up(results: Results) -> list[Check]:
    checks = []
    classifier, base = "from randomboost import RandomBoostClassifier", "import sklearn.base"
    for statement, before in (("import randomboost", ""), (classifier, ""), (classifier, base)):
        key = f"asked/i/{before} {statement}".replace("/ ", "/")
        found = results.once(key, partial(_imported, statement, before))
        what = f"`{statement}`, new process" + (f" after `{before}`" if before else "")
        checks.append(Check(what, found["seconds"], "s"))
        if before or statement != classifier:  # what scikit-learn loads is not for us to choose
            loaded = ", ".join(found["found"]) or "none"
            checks.append(Check(f"of {', '.join(UNWANTED)} loaded by it", loaded))
    extra = results.once("asked/i/first fits", _first_fits)
    what = "compiling at the first fit on this machine, RandomBoost and then proj"
    return [*checks, Check(what, sum(extra.values()), "s", 15.0)]


# -- all -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Question:
    """A question and what answering it costs.

    Parameters
    ----------
    answer : callable
        Makes what is missing in the results, and returns the checks.
    cost : float
        Seconds on two cores, roughly.
    """

    answer: Callable[[Results], list[Check]]
    cost: float


QUESTIONS = {
    "asked-a": Question(exact_search, 300),
    "asked-b": Question(part_search, 170),
    "asked-c": Question(proj_speed, 160),
    "asked-d": Question(prediction, 40),
    "asked-e": Question(many_rows, 480),
    "asked-f": Question(many_classes, 350),
    "asked-g": Question(model_size, 150),
    "asked-h": Question(corrective_step, 500),
    "asked-i": Question(start_up, 60),
}


def answer(results: Results, name: str) -> dict[str, Any]:
    """Return the checks of one question as they are kept."""
    return {"checks": [asdict(check) for check in QUESTIONS[name].answer(results)]}
