"""Memory: what may be taken, and fits that take little."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from randomboost import RBoostRankClassifier
from randomboost.runtime import memory
from randomboost.runtime.memory import available_memory, check_memory, memory_budget
from randomboost.training import ranking as rank_trainer

GIB = 2**30


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:150], y[:150]


@pytest.fixture
def searches(monkeypatch):
    """Return the list of all searches that fits prepare from now on."""
    made = []

    class Noted(rank_trainer.ProjectedColumns):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            made.append(self)

    monkeypatch.setattr(rank_trainer, "ProjectedColumns", Noted)
    return made


@pytest.fixture
def container(monkeypatch, tmp_path):
    """Return a folder that says what a container may take."""
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    return tmp_path


# ---- what there is ------------------------------------------------------------------------------


def test_check_memory_says_numbers_and_remedy():
    with pytest.raises(MemoryError) as error:
        check_memory(3.5 * GIB, "the whole table", "buy a larger machine", 2 * GIB)
    message = str(error.value)
    for part in ("the whole table", "3.5 GiB", "2 GiB", "buy a larger machine"):
        assert part in message


def test_check_memory_lets_pass_what_fits():
    check_memory(2 * GIB, "a", "b", 2 * GIB)
    check_memory(0, "a", "b", 0)
    with pytest.raises(MemoryError):
        check_memory(2 * GIB + 1, "a", "b", 2 * GIB)


def test_check_memory_against_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10 * GIB)
    check_memory(9 * GIB, "a", "b")
    with pytest.raises(MemoryError, match=r"9\.1 GiB, and 9 GiB may be used"):
        check_memory(9.1 * GIB, "a", "b")
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    check_memory(1e30, "a", "b")


def test_memory_budget(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1001)
    assert memory_budget(None) == 500
    assert memory_budget(7) == 7
    assert memory_budget(1.5e3) == 1500
    assert isinstance(memory_budget(1.5e3), int)
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert memory_budget(None) == 4 * GIB
    assert memory_budget(7) == 7


def test_a_container_may_take_what_it_has_not_taken(container):
    (container / "memory.max").write_text("5000000\n")
    (container / "memory.current").write_text("1000000\n")
    assert available_memory() == 4_000_000
    (container / "memory.current").write_text("6000000\n")
    assert available_memory() == 0


def test_cached_files_are_free_memory_of_a_container(container):
    (container / "memory.max").write_text("5000000\n")
    (container / "memory.current").write_text("4900000\n")
    (container / "memory.stat").write_text("anon 900000\ninactive_file 3000000\n")
    assert available_memory() == 3_100_000


def test_the_groups_around_a_group_count(container, monkeypatch):
    inner = container / "system" / "job"
    inner.mkdir(parents=True)
    (container / "cgroup").write_text("1:cpu:/other\n0::/system/job\n")
    monkeypatch.setattr(memory, "_PROCESS", container)
    for folder, limit in ((inner, "7000000"), (inner.parent, "3000000"), (container, "max")):
        (folder / "memory.max").write_text(limit)
        (folder / "memory.current").write_text("1000000")
    assert available_memory() == 2_000_000


@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_count(kind):
    pytest.importorskip("resource")
    code = (
        "import resource\n"
        "from randomboost.runtime.memory import available_memory\n"
        f"resource.setrlimit(resource.{kind}, (2**31, 2**31))\n"
        "print(available_memory())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 2**28 < int(found.stdout) < 2**31


def test_a_container_without_a_limit(container):
    before = available_memory()
    (container / "memory.max").write_text("max\n")
    (container / "memory.current").write_text("1000\n")
    for limit in ("max\n", "rubbish\n"):
        (container / "memory.max").write_text(limit)
        free = available_memory()
        assert (free is None) == (before is None)
        assert free is None or free > 2**20


# ---- fits ---------------------------------------------------------------------------------------


def assert_same_model(model, other):
    np.testing.assert_array_equal(model.weights_, other.weights_)
    for name in ("columns", "thresholds", "left", "right"):
        np.testing.assert_array_equal(
            getattr(model.model_.ensemble.hypotheses, name),
            getattr(other.model_.ensemble.hypotheses, name),
        )


def test_too_little_memory_leaves_the_estimator_unfitted(digits):
    model = RBoostRankClassifier(5, weak_learner="stump", n_projections=50, max_memory=1)
    before = dict(vars(model))
    with pytest.raises(MemoryError, match=r"GiB.*max_memory"):
        model.fit(*digits)
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_too_little_memory_leaves_the_last_fit(digits):
    model = RBoostRankClassifier(5, weak_learner="stump", n_projections=50, random_state=0).fit(
        *digits
    )
    labels, weights = model.predict(digits[0]), model.weights_
    with pytest.raises(MemoryError):
        model.set_params(max_memory=1).fit(digits[0][::-1], digits[1])
    np.testing.assert_array_equal(model.weights_, weights)
    np.testing.assert_array_equal(model.predict(digits[0]), labels)


class PlainSearch(RBoostRankClassifier):
    """Searches stumps by looking at every point."""

    def _settings(self, seed):
        return replace(super()._settings(seed), plain=True)


LEAST = 3 * 10 * 150  # bytes of one thread for 150 samples of 10 classes


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_least_that_a_fit_needs(digits, searches, n_jobs):
    model = RBoostRankClassifier(
        2, weak_learner="stump", n_projections=50, n_jobs=n_jobs, max_memory=n_jobs * LEAST
    )
    model.fit(*digits)
    assert [columns.form for columns in searches] == ["streamed"]
    with pytest.raises(MemoryError):
        model.set_params(max_memory=n_jobs * LEAST - 1).fit(*digits)


@pytest.mark.parametrize(
    ("weak_learner", "part", "data"),
    [
        ("stump", None, "float64"),
        ("stump", None, "float32"),
        ("stump", None, "csr"),
        ("stump", 30, "float64"),
        ("stump", 0.5, "csr"),
        ("real_stump", None, "float64"),
        ("wlda", 30, "float32"),
    ],
)
def test_memory_does_not_change_the_model(digits, searches, weak_learner, part, data):
    X, y = digits
    X = sp.csr_matrix(X) if data == "csr" else X.astype(data)
    options = dict(n_projections=100, projections_per_round=part, weak_learner=weak_learner)
    exact = dict(random_state=0, max_bins=None, **options)
    default = RBoostRankClassifier(20, n_jobs=2, **exact).fit(X, y)
    streamed = RBoostRankClassifier(20, n_jobs=1, max_memory=LEAST, **exact).fit(X, y)
    stored = RBoostRankClassifier(20, n_jobs=1, max_memory=150_000, **exact).fit(X, y)
    forms = [columns.form for columns in searches]
    assert forms == ["kept" if part is None else "stored", "streamed", "stored"]
    plain = PlainSearch(20, random_state=0, **options).fit(X, y)
    assert len(searches) == 3
    assert default.n_estimators_ == 20
    assert_same_model(streamed, default)
    assert_same_model(stored, default)
    assert_same_model(plain, default)


@pytest.mark.parametrize("part", [None, 30])
@pytest.mark.parametrize("max_bins", [4, 256])
def test_memory_does_not_change_the_model_of_a_histogram_search(digits, searches, part, max_bins):
    options = dict(
        weak_learner="stump",
        n_projections=100,
        projections_per_round=part,
        max_bins=max_bins,
        random_state=0,
    )
    default = RBoostRankClassifier(20, **options).fit(*digits)
    streamed = RBoostRankClassifier(20, n_jobs=1, max_memory=LEAST, **options).fit(*digits)
    assert [columns.form for columns in searches] == [
        "kept" if part is None else "stored",
        "streamed",
    ]
    assert_same_model(streamed, default)
    if max_bins == 4:
        exact = RBoostRankClassifier(20, **{**options, "max_bins": None}).fit(*digits)
        thresholds = [model.model_.ensemble.hypotheses.thresholds for model in (exact, default)]
        assert (thresholds[0] != thresholds[1]).any()


@pytest.mark.parametrize("part", [None, 30, 100, 0.3])
def test_automatic_search_is_exact_for_all_dimensions_and_by_histograms_for_a_part(digits, part):
    options = dict(
        weak_learner="stump", n_projections=100, projections_per_round=part, random_state=0
    )
    automatic = RBoostRankClassifier(15, **options).fit(*digits)
    bins = None if part in (None, 100) else 64
    assert_same_model(automatic, RBoostRankClassifier(15, max_bins=bins, **options).fit(*digits))


def test_memory_does_not_change_a_corrective_fit(digits, searches):
    options = dict(
        weak_learner="stump", n_projections=60, correction="total", random_state=0, n_jobs=1
    )
    default = RBoostRankClassifier(8, **options).fit(*digits)
    streamed = RBoostRankClassifier(8, max_memory=LEAST, **options).fit(*digits)
    assert [columns.form for columns in searches] == ["kept", "streamed"]
    assert_same_model(streamed, default)


def test_a_warm_start_goes_on_in_the_same_way(digits):
    options = dict(weak_learner="stump", n_projections=60, random_state=0, n_jobs=1)
    whole = RBoostRankClassifier(14, **options).fit(*digits)
    parts = RBoostRankClassifier(7, warm_start=True, **options).fit(*digits)
    parts.set_params(n_estimators=14, max_memory=LEAST).fit(*digits)
    assert_same_model(parts, whole)


# ---- what the user is told ----------------------------------------------------------------------


@pytest.mark.parametrize("max_memory", [None, LEAST])
@pytest.mark.parametrize("search", ["exact", "histogram"])
@pytest.mark.parametrize("rich", [True, False])
def test_verbose_says_how_it_searches(
    digits, searches, capsys, monkeypatch, max_memory, search, rich
):
    monkeypatch.setenv("COLUMNS", "200")
    if not rich:
        monkeypatch.setitem(sys.modules, "rich", None)
    max_bins = None if search == "exact" else 64
    options = dict(n_projections=50, n_jobs=1, max_memory=max_memory, max_bins=max_bins)
    RBoostRankClassifier(2, verbose=1, **options).fit(*digits)
    said = capsys.readouterr()
    (columns,) = searches
    assert columns.describe().startswith(f"{search} search, 50 dimensions of 1,500 points")
    lines = said.err.splitlines()
    assert not said.out
    assert f"RBoostRankClassifier: {columns.describe()}" in [line.strip() for line in lines]
    RBoostRankClassifier(2, verbose=0, **options).fit(*digits)
    assert capsys.readouterr() == ("", "")
