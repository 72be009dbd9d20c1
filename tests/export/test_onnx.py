"""Models in onnxruntime: the labels of ``predict``, and probabilities to the last bits."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from export_models import (
    NAMES,
    TRAIN,
    TREES,
    WITHOUT_LANDMARKS,
    X,
    fitted,
    labels,
    only_a_leaf,
    with_trees,
    without_class_0,
    y,
)
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from randomboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    RandomBoostClassifier,
    RBoostRankClassifier,
)
from randomboost.preprocessing.categories import TablePreparation

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
from randomboost.export.onnx import register, scoring, to_onnx  # noqa: E402

FLOATS = X.astype(np.float32)


def run(proto, *arrays, threads=0, **inputs):
    """Return the outputs of an ONNX model; threads=0 is for as many as onnxruntime likes."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    if arrays:
        inputs = {session.get_inputs()[0].name: arrays[0]}
    return session.run(None, inputs)


def assert_same(model, proto, data, tolerance=1e-6):
    """Check labels and probabilities against the package's own."""
    found, probabilities = run(proto, data)
    np.testing.assert_array_equal(found, model.predict(data))
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities, model.predict_proba(data), atol=tolerance, rtol=0)


SINGLE = [name for name in NAMES if name.startswith(("trees", "rank", "mh", "ecc"))]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, "float64") for name in NAMES] + [(name, "float32") for name in SINGLE],
)
def test_labels_and_probabilities_are_the_same(name, dtype):
    model = fitted(name, dtype)
    proto = to_onnx(model)
    onnx.checker.check_model(proto, full_check=True)
    assert_same(model, proto, FLOATS)


@pytest.mark.parametrize("version", [13, 21])
def test_versions_of_the_operators(version):
    for name in ("trees", "mh-tree", "mo-wlda"):
        proto = to_onnx(fitted(name), target_opset=version)
        onnx.checker.check_model(proto, full_check=True)
        assert {each.version for each in proto.opset_import} == {version, 3}
        assert_same(fitted(name), proto, FLOATS)


@pytest.mark.parametrize("name", ["trees", "trees-gaussian", "rank-stumps", "ecc-tree"])
def test_one_sample_and_none(name):
    model, proto = fitted(name), to_onnx(fitted(name))
    for place in (0, 70, 177):
        assert_same(model, proto, FLOATS[place : place + 1])
    found, probabilities = run(proto, FLOATS[:0])
    assert found.shape == (0,)
    assert probabilities.shape == (0, 3)


@pytest.mark.parametrize(
    "name", ["rank-stumps", "rank-wlda", "ecc-stump", "mh-tree", "mo-stump", "trees-mixed"]
)
def test_models_of_many_blocks(name, monkeypatch):
    monkeypatch.setattr(scoring, "_ROWS", 5)
    monkeypatch.setattr(scoring, "_PRODUCTS", 5)
    assert_same(fitted(name), to_onnx(fitted(name)), FLOATS)
    monkeypatch.setattr(scoring, "_SHORT", 100)  # no matrix products
    assert_same(fitted(name), to_onnx(fitted(name)), FLOATS)


@pytest.mark.parametrize("name", ["ecc-stump", "multiboost-real_stump", "adaboost-wlda"])
def test_scores_have_the_same_bits(name):
    model = fitted(name)
    scores = run(to_onnx(model, raw_scores=True), FLOATS)[1]
    prepared = model.model_.inputs.scaled(FLOATS)
    expected = model.model_.ensemble.scores(prepared, _alone()).T.astype(np.float32)
    np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("name", TREES)
def test_scores_of_trees_in_single_precision_have_the_same_bits(name):
    model = fitted(name, "float32")
    scores = run(to_onnx(model, raw_scores=True), FLOATS, threads=1)[1]
    prepared = model.model_.inputs.scaled(FLOATS)
    expected = model.model_.ensemble.scores(prepared, _alone()).T
    if name in WITHOUT_LANDMARKS:
        np.testing.assert_array_equal(scores, expected)
    else:  # matrix products may differ in the last bit before and after sums are rounded
        np.testing.assert_array_max_ulp(scores, expected, maxulp=2)
        assert (scores == expected).mean() > 0.99


@pytest.mark.parametrize("name", ["trees", "trees-two-classes"])
def test_values_far_from_the_training_data(name):
    far = FLOATS[:3] * np.array([[1e9], [-1e30], [1e34]], dtype=np.float32)
    assert_same(fitted(name), to_onnx(fitted(name)), far)


def _alone():
    from randomboost.runtime.parallel import ThreadTeam

    return ThreadTeam(1)


def _lattice():
    """Return whole numbers, where values often lie on a cut, and three classes."""
    grid = np.stack(np.meshgrid(*[np.arange(5)] * 4), axis=-1).reshape(-1, 4)
    return grid.astype(np.float64), (grid @ [3, 1, 2, 4] // 4) % 3


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "model",
    [
        RandomBoostClassifier(20, random_state=1),
        RandomBoostClassifier(20, projection="sparse", random_state=1),
        RandomBoostClassifier(20, projection=("sparse", 0.5), random_state=1),
        RBoostRankClassifier(20, n_projections=60, projection="sparse", random_state=1),
        RBoostRankClassifier(20, n_projections=60, random_state=1),
        AdaBoostMHClassifier(20, weak_learner="wlda", random_state=1),
    ],
    ids=["trees", "sparse-trees", "dense-trees", "sparse-stumps", "stumps", "wlda"],
)
def test_samples_that_lie_on_cuts(model, dtype):
    data, target = _lattice()
    data = data.astype(dtype)
    model.fit(data[::2], target[::2])
    assert_same(model, to_onnx(model), data.astype(np.float32))


def test_ties_of_scores_go_to_the_first_class():
    digits, target = load_digits(return_X_y=True)
    model = AdaBoostECCClassifier(4, random_state=0).fit(digits[:300], target[:300])
    scores = np.sort(model.decision_function(digits), axis=1)
    assert (scores[:, -1] == scores[:, -2]).mean() > 0.1
    assert_same(model, to_onnx(model), digits.astype(np.float32))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", TREES)
def test_missing_values(name, dtype):
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(X.shape) < 0.2, np.nan, X).astype(dtype)
    model = type(fitted(name))(**fitted(name).get_params()).fit(holes[TRAIN], labels(name)[TRAIN])
    assert_same(model, to_onnx(model), holes.astype(np.float32))
    assert_same(fitted(name), to_onnx(fitted(name)), holes.astype(np.float32))
    nothing = np.full((1, X.shape[1]), np.nan, dtype=np.float32)
    assert_same(model, to_onnx(model), nothing)


def test_a_class_that_no_leaf_concerns():
    model = with_trees(without_class_0)
    scores = run(to_onnx(model, raw_scores=True), FLOATS)[1]
    assert (scores[:, 0] == model.model_.ensemble.prior[0]).all()
    np.testing.assert_allclose(scores, model.decision_function(FLOATS), rtol=1e-6, atol=1e-6)


def test_trees_without_splits():
    model = with_trees(only_a_leaf)
    assert_same(model, to_onnx(model), FLOATS)


def test_a_file_does_not_have_a_tree_for_every_class():
    model = fitted("trees-many-classes")
    proto = to_onnx(model)
    found = [node for node in proto.graph.node if node.op_type == "TreeEnsembleRegressor"]
    assert len(found) == 1
    parts = {each.name: onnx.helper.get_attribute_value(each) for each in found[0].attribute}
    assert parts["n_targets"] == 40
    trees = model.model_.ensemble.trees
    assert len(set(parts["nodes_treeids"])) == 1 + trees.n_trees  # and the prior
    assert len(parts["target_ids"]) == 40 + len(trees.classes)


def test_single_features_are_compared_as_they_are():
    used = {node.op_type for node in to_onnx(fitted("trees-without-landmarks-axis")).graph.node}
    assert not used & {"MatMul", "ReduceSum", "Concat"}
    used = {node.op_type for node in to_onnx(fitted("trees-without-landmarks-mixed")).graph.node}
    assert {"MatMul", "ReduceSum", "Concat"} <= used


@pytest.mark.parametrize("name", ["trees-gaussian", "trees-lda", "trees-mixed"])
def test_mixtures_in_single_precision_are_summed_in_order(name):
    used = [node.op_type for node in to_onnx(fitted(name, "float32")).graph.node]
    assert used.count("MatMul") == 2  # those of the landmarks


def test_labels_of_many_kinds():
    names = np.array(["low", "mittel é", "high"])
    for target in (names[y], names.astype(object)[y], y * 10 - 7, y.astype(np.float64), y > 0):
        model = AdaBoostMHClassifier(3).fit(X, target)
        found = run(to_onnx(model), FLOATS)[0]
        np.testing.assert_array_equal(found, model.predict(FLOATS))
    model = AdaBoostMHClassifier(3).fit(X, y)
    model.model_ = replace(model.model_, classes=np.array([0.5, 1.0, 2.0]))
    with pytest.raises(ValueError, match=r"0\.5.*whole numbers or strings"):
        to_onnx(model)


def _table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(X[:, :3].copy(), columns=["alcohol", "acid", "ash"])
    table["colour"] = np.array(["red", "white", "rosé"])[(y + (rng.random(len(y)) < 0.2)) % 3]
    table.loc[::7, "colour"] = None
    table.loc[::5, "ash"] = np.nan
    return table


def _numbers(table, proto):
    """Return a table as the metadata of its ONNX model says."""
    properties = {each.key: json.loads(each.value) for each in proto.metadata_props}
    found = []
    for name, column in zip(properties["feature_names"], properties["columns"], strict=True):
        values = table.iloc[:, column]
        if name in properties["categories"]:
            values = values.map(dict(properties["categories"][name])).astype(float)
        found.append(values)
    return np.stack(found, axis=1).astype(np.float32)


@pytest.mark.parametrize(
    "model",
    [
        RandomBoostClassifier(10, random_state=0),
        make_pipeline(TablePreparation(), AdaBoostMHClassifier(10)),
        make_pipeline(TablePreparation(), RandomBoostClassifier(10, random_state=0)),
    ],
    ids=["trees", "prepared-stumps", "prepared-trees"],
)
def test_categories_are_given_by_their_numbers(model):
    table = _table()
    model.fit(table, y)
    with pytest.raises(ValueError, match=r"columns of categories \('colour'\).*encoded=True"):
        to_onnx(model)
    proto = to_onnx(model, encoded=True)
    found, probabilities = run(proto, _numbers(table, proto))
    exact = table.astype({name: np.float32 for name in ["alcohol", "acid", "ash"]})
    np.testing.assert_array_equal(found, model.predict(exact))
    np.testing.assert_allclose(probabilities, model.predict_proba(exact), atol=1e-6)


def test_models_of_sparse_data():
    data = sp.csr_array(np.where(X.mean(axis=0) < X, X, 0.0))
    for model in (
        RandomBoostClassifier(5, random_state=0),
        RBoostRankClassifier(5, n_projections=30, random_state=0),
    ):
        model.fit(data, y)
        assert_same(model, to_onnx(model), data.toarray().astype(np.float32))


def test_a_model_that_was_saved_and_loaded(tmp_path):
    from randomboost import load

    for name in ("trees", "rank-stumps-loss", "mh-tree", "mo-stump"):
        fitted(name).save(tmp_path / "model.rboost")
        again = to_onnx(load(tmp_path / "model.rboost"))
        assert again.SerializeToString() == to_onnx(fitted(name)).SerializeToString()


def test_what_cannot_be_exported_is_said():
    with pytest.raises(NotFittedError):
        to_onnx(AdaBoostMHClassifier())
    with pytest.raises(ValueError, match="LogisticRegression is no classifier of randomboost"):
        to_onnx(LogisticRegression().fit(X[:, :2], y))
    own = AdaBoostMHClassifier(2, weak_learner=LogisticRegression()).fit(X / X.max(axis=0), y)
    with pytest.raises(ValueError, match="weak classifiers of the kind LogisticRegression"):
        to_onnx(own)
    with pytest.raises(ValueError, match="target_opset=11 is too old"):
        to_onnx(fitted("mh-stump"), target_opset=11)


# -- pipelines ---------------------------------------------------------------------------------


@pytest.fixture
def skl2onnx():
    module = pytest.importorskip("skl2onnx")
    register()
    return module


@pytest.mark.parametrize("name", ["trees", "rank-stumps", "ecc-tree", "mo-stump"])
def test_pipelines(name, skl2onnx):
    model = make_pipeline(StandardScaler(), type(fitted(name))(**fitted(name).get_params()))
    model.fit(X, np.array(["a", "b", "c"])[y])
    # skl2onnx scales in double precision for such an input, as scikit-learn does
    proto = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    found, probabilities = run(proto, X)
    np.testing.assert_array_equal(found, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-6)
    found, probabilities = run(skl2onnx.to_onnx(model, FLOATS[:1]), FLOATS)
    assert (found == model.predict(FLOATS)).mean() > 0.98
    assert sorted(probabilities[0]) == ["a", "b", "c"]


def test_options_of_skl2onnx(skl2onnx):
    model = AdaBoostMHClassifier(5).fit(X, np.array(["a", "b", "c"])[y])
    options = {id(model): {"zipmap": False, "nocl": True, "raw_scores": True}}
    found, scores = run(skl2onnx.to_onnx(model, FLOATS[:1], options=options), FLOATS)
    np.testing.assert_array_equal(model.classes_[found], model.predict(FLOATS))
    np.testing.assert_allclose(scores, model.decision_function(FLOATS), rtol=1e-6, atol=1e-6)


def test_column_transformers(skl2onnx):
    from skl2onnx.common.data_types import DoubleTensorType, StringTensorType

    table = _table().drop(columns="ash").fillna({"colour": "none"})
    columns = ColumnTransformer(
        [("numbers", StandardScaler(), ["alcohol", "acid"]), ("kinds", OneHotEncoder(), ["colour"])]
    )
    model = make_pipeline(columns, RandomBoostClassifier(5, random_state=0)).fit(table, y)
    kinds = {"alcohol": DoubleTensorType, "acid": DoubleTensorType, "colour": StringTensorType}
    proto = skl2onnx.convert_sklearn(
        model,
        initial_types=[(name, kind([None, 1])) for name, kind in kinds.items()],
        options={"zipmap": False},
    )
    found, probabilities = run(proto, **{name: table[[name]].to_numpy() for name in kinds})
    np.testing.assert_array_equal(found, model.predict(table))
    np.testing.assert_allclose(probabilities, model.predict_proba(table), atol=1e-6)


# -- the shared sets -----------------------------------------------------------------------------

FOLDER = Path(os.environ.get("RANDOMBOOST_DATA", "nowhere"))
SETS = sorted(path.name.split(".csv")[0] for path in FOLDER.glob("*.csv.gz"))
SETS += sorted(path.stem for path in FOLDER.glob("*.npz"))


def _shared(name):
    if (FOLDER / f"{name}.npz").exists():
        arrays = np.load(FOLDER / f"{name}.npz")
        return arrays["X"][:2500], arrays["y"][:2500]
    table = pd.read_csv(FOLDER / f"{name}.csv.gz").drop(columns="split", errors="ignore")
    return table.drop(columns="class").to_numpy(np.float64), table["class"].to_numpy()


@pytest.mark.skipif(not SETS, reason="RANDOMBOOST_DATA names no folder with the shared sets")
@pytest.mark.parametrize("name", [name for name in SETS if "categorical" not in name])
def test_shared_sets(name):
    data, target = _shared(name)
    train = np.random.default_rng(0).permutation(len(data))[:800]
    for model in (
        RandomBoostClassifier(6, random_state=0),
        RBoostRankClassifier(6, n_projections=50, random_state=0),
        AdaBoostMHClassifier(6),
    ):
        model.fit(data[train], target[train])
        assert_same(model, to_onnx(model), data.astype(np.float32))
