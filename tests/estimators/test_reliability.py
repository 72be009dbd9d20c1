"""What happens to a fit or a model under threads, forks, signals, odd data and changed settings."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import compute_class_weight

from randomboost import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
    RandomBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
)

MODELS = {
    "trees": RandomBoostClassifier(8, n_projections=40, random_state=0),
    "rank": RBoostRankClassifier(8, n_projections=40, random_state=0),
    "proj": RBoostProjClassifier(8, n_projections=40, random_state=0),
    "ecc": AdaBoostECCClassifier(8, random_state=0),
    "mh": AdaBoostMHClassifier(8, random_state=0),
    "shared": AdaBoostMHClassifier(8, votes="shared", random_state=0),
    "mo": AdaBoostMOClassifier(8, random_state=0),
    "multiboost": MultiBoostClassifier(8, random_state=0),
}


@pytest.fixture(params=list(MODELS))
def model(request):
    """Return a small classifier of every kind."""
    return clone(MODELS[request.param])


def in_a_new_process(program, *arguments, timeout=300):
    """Run a Python program; a dead-lock is a timeout. Return what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- threads -----------------------------------------------------------------------------------


@pytest.mark.parametrize("fresh", [True, False])
def test_many_threads_may_use_one_model(model, noisy, fresh):
    """Also the first predictions after loading, when what is kept for speed is made."""
    X, y = noisy
    expected = model.fit(X, y).predict_proba(X)
    shared = pickle.loads(pickle.dumps(model)) if fresh else model
    start = threading.Barrier(8)

    def use(number):
        start.wait()
        staged = list(shared.staged_predict_proba(X))[-1]
        return shared.predict_proba(X), staged, shared.feature_importances_

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(use, range(8)))
    for chances, staged, importances in found:
        assert_array_equal(chances, expected)
        assert_array_equal(staged, found[0][1])
        assert_array_equal(importances, model.feature_importances_)


def test_threads_may_fit_side_by_side(model, noisy):
    X, y = noisy
    expected = clone(model).fit(X, y).decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        fitted = list(pool.map(lambda _: clone(model).fit(X, y), range(4)))
    for one in fitted:
        assert_array_equal(one.decision_function(X), expected)


def test_threads_end_with_the_work(model, noisy):
    X, y = noisy
    before = threading.active_count()
    model.set_params(n_jobs=4).fit(X, y).predict(np.tile(X, (3, 1)))
    assert threading.active_count() == before


# -- processes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_grid_search_in_parallel(noisy, backend):
    X, y = noisy
    grid = {"n_estimators": [2, 8]}
    for name in ("trees", "rank", "mo"):
        alone = GridSearchCV(MODELS[name], grid, cv=2).fit(X, y)
        MODELS[name].fit(X, y)  # threads and kernels were in use before the fork
        with joblib.parallel_backend(backend):
            together = GridSearchCV(MODELS[name], grid, cv=2, n_jobs=2).fit(X, y)
        scores = "mean_test_score"
        assert_array_equal(together.cv_results_[scores], alone.cv_results_[scores])


def _threads_of_a_worker(X, y):
    from threadpoolctl import threadpool_info

    from randomboost.runtime.parallel import resolve_threads

    most = []

    def watch(make_model):
        most.append(threading.active_count())

    before = threading.active_count()
    RBoostRankClassifier(5, n_projections=200).fit(X, y, on_round=watch)
    blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return resolve_threads(None), max(most) - before, max(blas, default=1)


def test_workers_share_the_cores(noisy):
    """With n_jobs=None a worker process takes its part of the cores, in threads and in BLAS."""
    X, y = noisy
    work = joblib.delayed(_threads_of_a_worker)
    workers = 2
    part = max(1, joblib.cpu_count() // workers)
    found = joblib.Parallel(n_jobs=workers, backend="loky")(work(X, y) for _ in range(4))
    for threads, started, blas in found:
        assert threads == part
        assert started <= part
        assert blas <= part


FORK = """
import os, sys, signal
import numpy as np
from randomboost import RandomBoostClassifier, RBoostProjClassifier, RBoostRankClassifier
from threading import Thread
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 4))
y = (X[:, :2] > 0).sum(axis=1)
models = [
    RandomBoostClassifier(5, random_state=0, n_jobs=2),
    RBoostRankClassifier(5, n_projections=50, random_state=0, n_jobs=2),
    RBoostProjClassifier(5, n_projections=50, random_state=0, n_jobs=2),
]
expected = [m.fit(X, y).decision_function(X) for m in models]
busy = [Thread(target=lambda: [m.fit(X, y) for _ in range(5) for m in models]) for _ in range(2)]
for thread in busy:
    thread.start()
children = []
for _ in range(6):  # while other threads are fitting
    child = os.fork()
    if child == 0:
        signal.alarm(120)
        same = all(
            (m.fit(X, y).decision_function(X) == e).all() for m, e in zip(models, expected)
        )
        os._exit(0 if same else 3)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
for thread in busy:
    thread.join()
print(codes)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_fork_while_threads_are_fitting():
    assert in_a_new_process(FORK).split("\n")[0] == str([0] * 6)


def _predict_elsewhere(pickled, X):
    return pickle.loads(pickled).decision_function(X)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_pickle_predicts_the_same_in_another_process(noisy, method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this system")
    X, y = noisy
    fitted = [clone(model).fit(X, y) for model in MODELS.values()]
    with multiprocessing.get_context(method).Pool(1) as pool:
        for one in fitted:
            found = pool.apply(_predict_elsewhere, (pickle.dumps(one), X))
            assert_array_equal(found, one.decision_function(X))


INTERRUPTED = """
import sys, warnings
import numpy as np
from randomboost import {name} as Estimator
rng = np.random.default_rng(0)
X = rng.standard_normal((400, 5))
y = (X[:, :2] > 0).sum(axis=1)
model = Estimator(10**6, random_state=0, **{settings})
rounds = []
def after_round(make_model):
    if not rounds:
        print("fitting", flush=True)
    rounds.append(1)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model.fit(X, y, on_round=after_round)
assert any("was interrupted" in str(w.message) for w in caught), caught
assert model.stopped_ == "interrupted" and 1 <= model.n_estimators_ < 10**6
assert len(list(model.staged_predict(X[:5]))) == model.n_estimators_
assert model.score(X, y) > 0.3
"""


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("RandomBoostClassifier", {"learning_rate": 1e-6, "early_stopping": False}),
        ("RBoostRankClassifier", {"n_projections": 300, "n_jobs": 2}),
        ("RBoostProjClassifier", {"stopping": "violation", "tol": 0.0, "nu": 0.0}),
        ("AdaBoostMHClassifier", {"tol": 0.0}),
    ],
)
def test_ctrl_c_leaves_a_model(name, settings):
    program = INTERRUPTED.format(name=name, settings=settings)
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout.readline() == "fitting\n", process.stderr.read()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(3)  # some rounds, whatever the machine
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 0, errors


# -- memory ------------------------------------------------------------------------------------

REPEATED_FITS = Path(__file__).parents[2] / "benchmarks" / "repeated_fits.py"


def test_memory_of_repeated_fits_stays_flat():
    found = subprocess.run(
        [sys.executable, REPEATED_FITS, "--fits", "50"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr


# -- data --------------------------------------------------------------------------------------


def _read_only(X, path):
    X = X.copy()
    X.flags.writeable = False
    return X


def _fortran(X, path):
    return np.asfortranarray(X)


def _strided(X, path):
    return np.repeat(X, 2, axis=1)[:, ::2]


def _backwards(X, path):
    return X[::-1].copy()[::-1]


def _memory_mapped(X, path):
    np.save(path / "X.npy", X)
    return np.load(path / "X.npy", mmap_mode="r")


def _other_byte_order(X, path):
    return X.astype(X.dtype.newbyteorder())


@pytest.mark.parametrize(
    "form", [_read_only, _fortran, _strided, _backwards, _memory_mapped, _other_byte_order]
)
def test_the_layout_of_data_does_not_matter(model, noisy, tmp_path, form):
    X, y = noisy
    expected = clone(model).fit(X, y, X_val=X, y_val=y).decision_function(X)
    given = form(X, tmp_path)
    frozen_y, weight = y.copy(), np.ones(len(y))
    frozen_y.flags.writeable = weight.flags.writeable = False
    model.fit(given, frozen_y, weight, X_val=given, y_val=frozen_y)
    assert_array_equal(model.set_params(n_jobs=1).decision_function(given), expected)


def test_inputs_are_left_alone(model, noisy):
    X, y = (array.copy() for array in noisy)
    weight = np.arange(len(y)) % 3.0
    model.fit(X, y, weight, X_val=X, y_val=y)
    model.margins(X, y)
    list(model.staged_score(X, y, weight))
    assert_array_equal(X, noisy[0])
    assert_array_equal(y, noisy[1])
    assert_array_equal(weight, np.arange(len(y)) % 3.0)


ONE_SAMPLE_A_CLASS = pytest.mark.filterwarnings("ignore:The number of unique classes")


@ONE_SAMPLE_A_CLASS
@pytest.mark.parametrize(
    "model",
    [
        RandomBoostClassifier(3, n_projections=50, random_state=0),
        RBoostRankClassifier(3, n_projections=50, random_state=0),
        RBoostProjClassifier(3, n_projections=50, random_state=0),
        AdaBoostECCClassifier(3, random_state=0),
        AdaBoostMHClassifier(3, random_state=0),
        AdaBoostMOClassifier(3, code="random", code_size=20, random_state=0),
        MultiBoostClassifier(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_thousand_classes_of_one_sample_each(model):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1000, 3)), np.array([f"person {i}" for i in range(1000)])
    model = clone(model).fit(X, y)
    assert_array_equal(model.classes_, np.sort(y))
    assert_allclose(model.predict_proba(X[:20]).sum(axis=1), 1.0, rtol=1e-6)


@ONE_SAMPLE_A_CLASS
def test_too_many_classes_for_the_complete_code():
    X, y = np.random.default_rng(0).standard_normal((1000, 2)), np.arange(1000)
    with pytest.raises(ValueError, match="use code='random'"):
        AdaBoostMOClassifier(3).fit(X, y)


def test_single_rows_and_no_rows(model, noisy):
    X, y = noisy
    together = model.fit(X, y).decision_function(X)
    alone = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(10)])
    assert_allclose(alone, together[:10], rtol=1e-12, atol=1e-12)
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            getattr(model, method)(X[:0])
    with pytest.raises(ValueError, match="1D array"):
        model.predict(X[0])


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_weight_of_two_is_a_copy_and_of_zero_none(model, noisy, class_weight):
    X, y = noisy
    model.set_params(class_weight=class_weight)
    weight = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), weight)
    weighted = clone(model).fit(X, y, weight)
    copied = clone(model).fit(X[copies], y[copies])
    assert_array_equal(weighted.decision_function(X), copied.decision_function(X))


def test_balanced_classes_are_those_of_scikit_learn(noisy):
    from randomboost.preprocessing.labels import class_factors

    _, y = noisy
    y = np.sort(y)[20:]
    classes = np.unique(y)
    found = class_factors("balanced", classes, np.searchsorted(classes, y), np.ones(len(y)))
    assert_array_equal(found, compute_class_weight("balanced", classes=classes, y=y))


# -- labels ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels", [["a", 1], [1, "a"], ["a", None], [None, "a"], ["a", np.nan], [(1,), "a"]]
)
def test_labels_of_several_kinds(model, labels):
    X = np.arange(8.0).reshape(-1, 1)
    mixed = np.empty(8, dtype=object)
    mixed[:4], mixed[4:] = labels
    with pytest.raises(ValueError, match="y has labels of several kinds"):
        model.fit(X, mixed)
    with pytest.raises(ValueError, match="y has labels of several kinds"):
        MODELS["trees"].fit(pd.DataFrame({"colour": list("rgbrgbrg")}), mixed)
    model.fit(X, ["a", "b"] * 4)
    with pytest.raises(ValueError, match="y has labels of several kinds"):
        model.margins(X, mixed)
    with pytest.raises(ValueError, match="y_val has labels of several kinds"):
        model.fit(X, ["a", "b"] * 4, X_val=X, y_val=mixed)


def test_labels_of_another_kind(noisy):
    X, y = noisy
    model = clone(MODELS["trees"]).fit(X, np.array(["a", "b", "c"], dtype=object)[y])
    with pytest.raises(
        ValueError, match="labels that do not occur in the training data, such as 0"
    ):
        model.margins(X, y)


@pytest.mark.parametrize("weights", [{"a": "much"}, {"a": 1, "z": 2}, {"a": None}, {"a": -1}])
def test_wrong_weights_of_classes(weights):
    X, y = np.arange(8.0).reshape(-1, 1), ["a", "b"] * 4
    with pytest.raises(ValueError, match="class_weight"):
        AdaBoostClassifier(class_weight=weights).fit(X, y)


# -- settings ----------------------------------------------------------------------------------


class Untouchable:
    """Data that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(f"X.{name} was looked at before the parameters were checked")


@pytest.mark.parametrize("name", ["rank", "proj", "multiboost"])
@pytest.mark.parametrize(
    "options",
    [
        {"speed": 11},
        {"maxiter": 0},
        {"maxiter": 1.5},
        {"maxcor": "five"},
        {"maxls": True},
        {"ftol": -1.0},
        {"gtol": np.nan},
        {"ftol": None},
    ],
)
def test_wrong_solver_options(name, options):
    model = clone(MODELS[name]).set_params(solver_options=options)
    if name == "rank":
        model.set_params(correction="total")  # stage-wise there is no solver
    with pytest.raises(ValueError, match=f"solver_options.*{next(iter(options))}"):
        model.fit(Untouchable(), Untouchable())


@pytest.mark.parametrize(
    ("name", "first", "change"),
    [
        *[(name, {}, {"scale": False}) for name in MODELS if name != "trees"],
        ("trees", {}, {"n_landmarks": 0}),
        ("trees", {"n_landmarks": 0}, {"n_landmarks": 20}),
        ("trees", {"n_landmarks": 20}, {"n_landmarks": 19}),
        ("trees", {"n_landmarks": 20}, {"n_landmarks": 30}),
        *[(name, {}, {"random_state": 1}) for name in MODELS],
        *[(name, {}, {"n_projections": 41}) for name in ("trees", "rank", "proj")],
        *[(name, {}, {"projection": "sparse"}) for name in ("trees", "rank")],
        ("trees", {"projection": "gaussian"}, {"projection": "mixed"}),
        ("rank", {"projection": "sparse"}, {"projection": "gaussian"}),
        ("rank", {"projection": "sparse"}, {"n_projections": 41}),
        ("rank", {"projection": "sparse"}, {"projection": ("sparse", 0.9)}),
        ("trees", {"projection": ("sparse", 0.4)}, {"projection": ("sparse", 0.9)}),
        ("rank", {}, {"correction": "total"}),
        ("mo", {}, {"code": "random", "code_size": 2}),
        ("shared", {}, {"votes": "per_class"}),
        ("proj", {}, {"selection": "violation"}),
    ],
)
def test_a_warm_start_refuses_what_it_cannot_change(noisy, name, first, change):
    X, y = noisy
    model = clone(MODELS[name]).set_params(warm_start=True, **first).fit(X, y)
    before = model.decision_function(X)
    model.set_params(n_estimators=12, **change)
    with pytest.raises(ValueError, match=f"{next(iter(change))}.* differs"):
        model.fit(X, y)
    assert_array_equal(model.decision_function(X), before)


def test_a_warm_start_takes_the_same_settings_in_other_words(noisy):
    X, y = noisy
    trees = RandomBoostClassifier(3, warm_start=True, random_state=0).fit(X, y)
    trees.set_params(n_estimators=5, n_projections=550, projection="mixed")
    assert trees.fit(X, y).n_estimators_ == 5
    stumps = RBoostRankClassifier(3, warm_start=True, random_state=0)
    stumps.fit(X, y).set_params(n_estimators=5, n_projections=2000, projection="gaussian")
    assert stumps.set_params(random_state=None).fit(X, y).n_estimators_ == 5


def test_a_warm_start_adds_rounds(model, noisy):
    X, y = noisy
    model.set_params(warm_start=True).fit(X, y)
    first = model.n_estimators_
    model.set_params(n_estimators=20).fit(X, y)
    assert first < model.n_estimators_ <= 20
    assert len(model.train_history_["loss"]) == model.n_estimators_
    assert len(list(model.staged_predict(X))) == model.n_estimators_


@pytest.mark.parametrize("name", ["max_depth", "n_sketches", "leaf_classes"])
@pytest.mark.parametrize("projection", ["mixed", "gaussian"])
def test_more_than_there_can_be(noisy, projection, name):
    """It was once an allocation of as many numbers."""
    X, y = noisy
    model = clone(MODELS["trees"]).set_params(projection=projection, **{name: 10**12})
    assert model.fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize("size", [1e100, 1e-100])
@pytest.mark.parametrize("loss", ["exponential", "logistic"])
def test_sample_weights_of_any_size(model, noisy, size, loss):
    """With the logistic loss of RBoost-rank they once left the range of single precision."""
    X, y = noisy
    if "loss" in model.get_params():
        model.set_params(loss=loss)
    if isinstance(model, RBoostRankClassifier):
        model.set_params(correction="total", nu=0.0, tol=0.0)
    model.fit(X, y, size * (1.0 + np.arange(len(y)) % 3))
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 0.5


def test_numbers_of_numpy_are_parameters_too(noisy, tmp_path):
    """A model with them could once not be saved or, with bins, not be fitted."""
    import randomboost

    X, y = noisy
    numbers = {"n_estimators": np.int32(4), "n_projections": np.int64(30)}
    numbers["max_bins"] = np.int64(16)
    density = np.float32(0.5)
    for model in (
        RBoostRankClassifier(**numbers, n_jobs=np.int64(2)),
        RandomBoostClassifier(**numbers, projection=("sparse", density), random_state=np.int64(0)),
        RBoostProjClassifier(**numbers, nu=np.float32(1e-4), scale=np.True_),
    ):
        model.fit(X, y).save(tmp_path / "model.rboost")
        loaded = randomboost.load(tmp_path / "model.rboost")
        assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_margins_of_a_model_that_hardly_moves(noisy):
    """The largest margin was once rounded to 0 in single precision."""
    X, y = noisy
    for rate in (1e-200, 1e-9):
        margins = clone(MODELS["trees"]).set_params(learning_rate=rate).fit(X, y).margins(X, y)
        assert np.abs(margins).max() <= 1


def test_a_class_that_lacks_a_column_of_categories():
    """Its share of every category was once 0 / 0."""
    table = pd.DataFrame({"colour": ["red", "blue", "red", "green", None, None], "size": range(6)})
    model = clone(MODELS["trees"]).fit(table, ["a", "a", "b", "b", "c", "c"])
    assert model.score(table, ["a", "a", "b", "b", "c", "c"]) == 1


@pytest.mark.parametrize("name", ["rank", "proj", "ecc", "mh", "multiboost"])
def test_discriminants_of_values_too_large_to_square(noisy, name):
    X, y = noisy
    model = clone(MODELS[name]).set_params(weak_learner="wlda", scale=False)
    assert model.fit(X * 1e250, y).score(X * 1e250, y) > 0.4


@pytest.mark.parametrize("projection", ["lda", "mixed", "sparse", "gaussian", "axis"])
def test_trees_on_values_too_large_to_square(noisy, projection, monkeypatch):
    X, y = noisy
    monkeypatch.setattr(RandomBoostClassifier, "_scales", lambda _: False)
    model = RandomBoostClassifier(8, projection=projection, random_state=0)
    assert model.fit(X * 1e250, y).score(X * 1e250, y) > 0.4


def test_importances_of_a_model_without_weight(noisy):
    """They were once 0 / 0."""
    X, y = noisy
    model = clone(MODELS["rank"]).fit(X, y)
    model.model_.ensemble.weights[:] = 0.0
    assert_array_equal(model.feature_importances_, 0.0)


def test_parameters_in_single_precision_and_huge_weights(noisy):
    """NumPy compared the edge in the precision of the parameter."""
    X, y = noisy
    model = clone(MODELS["rank"]).set_params(
        correction="total", loss="logistic", nu=np.float32(0.5), tol=np.float32(0.5)
    )
    assert model.fit(X, y, np.full(len(y), 1e100)).score(X, y) > 0.5
