"""Models as C, compiled and compared with Python: the same labels, and mostly the same bits."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from export_models import (
    NAMES,
    TRAIN,
    TREES,
    X,
    fitted,
    labels,
    only_a_leaf,
    own_scores,
    with_trees,
    without_class_0,
    y,
)
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier, RBoostRankClassifier
from randomboost.ensembles.sparse_trees import SparseTrees
from randomboost.ensembles.started_trees import LandmarkTrees
from randomboost.export.c_source import to_c
from randomboost.preprocessing.categories import TablePreparation

COMPILER = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
STORED = ("rank-stumps", "rank-real-stumps", "rank-decision-trees")
# sums by BLAS, and logarithms of the C library
NEARLY = ("mo-real_stump", "mo-stump", "mo-tree", "mo-wlda", "mo-random", "rank-decision-trees")


class Library:
    """Exported models, compiled."""

    def __init__(self, text, folder, *flags):
        source, library = folder / "model.c", folder / "model.so"
        source.write_text(text)
        command = [COMPILER, *FLAGS, *flags, "-shared", "-fPIC", "-o", library, source, "-lm"]
        subprocess.run([str(part) for part in command], check=True)
        self._library = ctypes.CDLL(str(library))

    def labels(self, name, n_classes):
        return [text.decode() for text in (ctypes.c_char_p * n_classes).in_dll(self._library, name)]

    def call(self, name, data, n_classes):
        """Return the numbers of the classes, and scores or probabilities."""
        function = self._library[name]
        pointer = ctypes.POINTER(ctypes.c_double)
        function.argtypes = [pointer, pointer]
        data, out = np.ascontiguousarray(data, dtype=np.float64), np.empty((len(data), n_classes))
        best = [
            function(row.ctypes.data_as(pointer), result.ctypes.data_as(pointer))
            for row, result in zip(data, out, strict=True)
        ]
        return np.array(best, dtype=int), out


def assert_same(model, library, name, data, *, same_bits=True):
    n_classes = len(model.classes_)
    best, scores = library.call(name, data, n_classes)
    np.testing.assert_array_equal(model.classes_[best], model.predict(data))
    if same_bits:
        np.testing.assert_array_equal(scores, own_scores(model, data))
    else:
        np.testing.assert_allclose(scores, own_scores(model, data), rtol=1e-12, atol=1e-12)
    best, probabilities = library.call(f"{name}_probabilities", data, n_classes)
    np.testing.assert_array_equal(model.classes_[best], model.predict(data))
    in_floats = model.model_.inputs.dtype == np.float32
    if n_classes == 2:  # of the scores of trees, in single precision, Python takes the difference
        in_floats |= isinstance(model.model_.ensemble, SparseTrees | LandmarkTrees)
    precision = 1e-6 if in_floats else 1e-14
    np.testing.assert_allclose(probabilities, model.predict_proba(data), atol=precision, rtol=0)


def c_name(name):
    return name.replace("-", "_")


@pytest.fixture(scope="module", params=["float64", "float32"])
def everything(request, tmp_path_factory):
    """Compile all models into one library: their names do not clash."""
    if COMPILER is None:
        pytest.skip("there is no C compiler")
    parts = [to_c(fitted(name, request.param), name=c_name(name)) for name in NAMES]
    for name in STORED:
        model = fitted(name, request.param)
        parts.append(to_c(model, name=f"{c_name(name)}_stored", directions="table"))
    return request.param, Library("\n".join(parts), tmp_path_factory.mktemp("c"))


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_probabilities_are_the_same(name, everything):
    dtype, library = everything
    model, same_bits = fitted(name, dtype), name not in NEARLY
    assert_same(model, library, c_name(name), X, same_bits=same_bits)
    if name in STORED:
        assert_same(model, library, f"{c_name(name)}_stored", X, same_bits=same_bits)
    expected = [str(label) for label in model.classes_.tolist()]
    assert library.labels(f"{c_name(name)}_labels", len(model.classes_)) == expected


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TREES)
def test_missing_values(name, dtype, tmp_path):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X).astype(dtype)
    model = type(fitted(name))(**fitted(name).get_params()).fit(holes[TRAIN], labels(name)[TRAIN])
    library = Library(to_c(model), tmp_path, "-O3")
    assert_same(model, library, "predict", holes)
    assert_same(model, library, "predict", np.full((1, X.shape[1]), np.nan))


@needs_compiler
@pytest.mark.parametrize("change", [without_class_0, only_a_leaf])
def test_leaves_without_entries_and_trees_without_splits(change, tmp_path):
    model = with_trees(change)
    assert_same(model, Library(to_c(model), tmp_path), "predict", X)


@needs_compiler
@pytest.mark.parametrize("name", ["trees", "trees-two-classes", "mh-stump"])
def test_values_far_from_the_training_data(name, tmp_path):
    model = fitted(name)
    far = X[:3] * np.array([[1e9], [-1e160], [1e300]])
    assert_same(model, Library(to_c(model), tmp_path), "predict", far)


def test_without_landmarks_there_are_none_in_the_file():
    assert "predict_points" in to_c(fitted("trees"))
    assert "landmarks" not in to_c(fitted("trees-without-landmarks"))


def test_single_features_are_compared_as_they_are():
    assert "predict_coefficients" not in to_c(fitted("trees-axis"))
    assert "predict_coefficients" in to_c(fitted("trees-sparse"))


@needs_compiler
def test_categories_and_missing_values_of_tables(tmp_path):
    table = pd.DataFrame(X[:, :3].copy(), columns=["alcohol", "acid */ ?? /*", "@ash $"])
    table["colour"] = np.array(["red", "wh*/ite", "rosé"])[y]
    table.loc[::7, "colour"] = None
    table.loc[::5, "@ash $"] = np.nan
    for place, model in enumerate(
        [
            RandomBoostClassifier(5, random_state=0),
            make_pipeline(TablePreparation(), AdaBoostMHClassifier(5)),
        ]
    ):
        model.fit(table, y)
        with pytest.raises(ValueError, match="columns of categories"):
            to_c(model)
        text = to_c(model, encoded=True)
        folder = tmp_path / str(place)
        folder.mkdir()
        columns = [table[name] for name in table.columns[:3]]
        for found in re.findall(r"^ *colour(?: \d)?: (.*)$", text, re.MULTILINE)[-2:]:
            listed = {name: float(text) for name, text in re.findall(r"(\S+) = ([^ ,]+)", found)}
            given = {"red": listed["red"], "wh*/ite": listed["ite"], "rosé": listed["ros\\xe9"]}
            columns.append(table["colour"].map(given).astype(float))
        numbers = np.stack(columns, axis=1)
        best, _ = Library(text, folder).call("predict", numbers, 3)
        np.testing.assert_array_equal(model.classes_[best], model.predict(table))


@needs_compiler
def test_labels_with_any_characters(tmp_path):
    names = ['a "quoted" \\ label ??/', "é @ $x\n*/", "%d\t"]
    model = AdaBoostMHClassifier(3).fit(X, np.array(names)[y])
    library = Library(to_c(model), tmp_path)
    assert library.labels("predict_labels", 3) == list(model.classes_)
    assert_same(model, library, "predict", X)


@needs_compiler
def test_many_threads_may_call_it(tmp_path):
    library = Library(to_c(fitted("trees")), tmp_path)
    rows = X[np.random.default_rng(0).permutation(np.repeat(np.arange(len(X)), 10))]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda part: library.call("predict", part, 3)[1], [rows] * 4))
    for part in parts:
        np.testing.assert_array_equal(part, own_scores(fitted("trees"), rows))


def test_there_is_no_state_and_no_allocation():
    for name in ("trees", "rank-stumps", "rank-decision-trees", "mo-wlda", "ecc-tree"):
        text = to_c(fitted(name))
        assert "alloc" not in text.replace("No memory is allocated", "")
        kept = re.findall(r"^ *(?:static )?(?:\w+ )+\*?\w+(?:\[\w*\])? = ", text, re.MULTILINE)
        outside = [line for line in kept if not line.startswith(" ") or "static" in line]
        assert all("const" in line for line in outside)


def test_from_the_seed_a_file_hardly_grows_with_the_classes():
    data, target = load_digits(return_X_y=True)
    sizes = {}
    for n_classes in (3, 10):
        used = target < n_classes
        model = RBoostRankClassifier(20, n_projections=50, max_bins=64, random_state=0).fit(
            data[used][:300], target[used][:300]
        )
        sizes[n_classes] = len(to_c(model)), len(to_c(model, directions="table"))
    assert sizes[10][0] - sizes[3][0] < 500
    assert sizes[10][1] - sizes[3][1] > 100_000


@pytest.mark.parametrize("name", ["", "2fast", "a-b", "while", "é", "f()"])
def test_names_that_c_does_not_take(name):
    with pytest.raises(ValueError, match="cannot name a C function"):
        to_c(fitted("mh-stump"), name=name)


def test_what_cannot_be_exported_is_said():
    own = AdaBoostMHClassifier(2, weak_learner=LogisticRegression()).fit(X / X.max(axis=0), y)
    with pytest.raises(ValueError, match="weak classifiers of the kind LogisticRegression"):
        to_c(own)
    with pytest.raises(ValueError, match="directions='none' is unknown"):
        to_c(fitted("rank-stumps"), directions="none")
