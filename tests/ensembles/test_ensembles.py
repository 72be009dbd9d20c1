"""Ensembles of every kind: what they promise whoever predicts, saves, exports or explains."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from model_zoo import SETTINGS, X, make, y
from scipy.special import logsumexp

from randomboost import MultiBoostClassifier
from randomboost.ensembles import KINDS
from randomboost.runtime.checked_arrays import Taken
from randomboost.runtime.parallel import ThreadTeam

ALONE = ThreadTeam(1)
NAMES = [*SETTINGS, "multi-hinge"]


@pytest.fixture(scope="module", params=NAMES)
def fitted(request):
    """Return what predicts, and the features as its ensemble wants them."""
    if request.param == "multi-hinge":
        model = MultiBoostClassifier(5, loss="hinge").fit(X, y)
    else:
        model = make(request.param)
    return model.model_, model.model_.inputs.scaled(X)


def test_the_models_have_every_kind():
    assert {type(make(name, 2).model_.ensemble) for name in NAMES[:-1]} == set(KINDS.values())
    for name, kind in KINDS.items():
        assert kind.kind == name


# -- scores --------------------------------------------------------------------------------------


def test_scores_are_those_of_the_last_stage(fitted):
    model, data = fitted
    ensemble = model.ensemble
    scores = ensemble.scores(data, ALONE)
    assert scores.shape == (len(model.classes), len(data))
    assert ensemble.has_stages
    stages = list(ensemble.staged_scores(data, ALONE))
    assert len(stages) == ensemble.n_rounds == model.shape.n_rounds
    assert {stage.shape for stage in stages} == {scores.shape}
    precision = 1e-6 if scores.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(stages[-1], scores, rtol=precision, atol=precision)
    assert len(stages) == 1 or not np.array_equal(stages[0], stages[-1])


def test_threads_and_other_samples_change_no_bit(fitted):
    model, data = fitted
    scores = model.ensemble.scores(data, ALONE)
    with ThreadTeam(2) as two:
        np.testing.assert_array_equal(model.ensemble.scores(data, two), scores)
    np.testing.assert_array_equal(model.ensemble.scores(data[50:57], ALONE), scores[:, 50:57])


def test_no_margin_exceeds_the_largest(fitted):
    model, data = fitted
    scores = model.ensemble.scores(data, ALONE)
    found = float((scores.max(axis=0) - scores.min(axis=0)).max())
    assert 0 < found <= model.ensemble.largest_margin() * (1 + 1e-6)


def test_importances_are_shares(fitted):
    model, data = fitted
    shares = model.ensemble.importances(model.n_features)
    assert shares.shape == (model.n_features,)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(), 1.0)
    unused = np.flatnonzero(shares == 0)
    changed = data.copy()
    changed[:, unused] = -7.0  # what has no share moves no two scores apart
    expected, found = (model.ensemble.scores(each, ALONE) for each in (data, changed))
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=1e-12)


# -- arrays and pickles ----------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [False, True])
def test_from_arrays_gives_what_to_arrays_was_given(fitted, dense):
    model, data = fitted
    ensemble = model.ensemble
    described, arrays = ensemble.to_arrays(dense=dense)
    again = type(ensemble).from_arrays(described, Taken(arrays), model.shape)
    np.testing.assert_array_equal(again.scores(data, ALONE), ensemble.scores(data, ALONE))
    np.testing.assert_array_equal(again.weights, ensemble.weights)
    np.testing.assert_array_equal(
        again.importances(model.n_features), ensemble.importances(model.n_features)
    )
    assert again.largest_margin() == ensemble.largest_margin()
    if dense:
        stages = zip(
            again.staged_scores(data, ALONE), ensemble.staged_scores(data, ALONE), strict=True
        )
        for ours, theirs in stages:
            np.testing.assert_array_equal(ours, theirs)
    described_again, arrays_again = again.to_arrays(dense=dense)
    assert described_again == described
    assert list(arrays_again) == list(arrays)
    for name, values in arrays.items():
        np.testing.assert_array_equal(arrays_again[name], values)
    assert dense or not any(name.startswith(("dense.", "path.")) for name in arrays)


def test_pickles_hold_no_caches(fitted):
    model, data = fitted
    fresh = pickle.loads(pickle.dumps(model.ensemble))
    kept, size = set(vars(fresh)), len(pickle.dumps(fresh))
    scores = fresh.scores(data, ALONE)
    np.testing.assert_array_equal(scores, model.ensemble.scores(data, ALONE))
    fresh.importances(model.n_features)
    again = pickle.loads(pickle.dumps(fresh))
    assert set(vars(again)) == kept
    assert len(pickle.dumps(fresh)) == size
    np.testing.assert_array_equal(again.scores(data, ALONE), scores)


@pytest.mark.parametrize("name", ["trees-no-landmarks", "rank", "proj-stump"])
def test_some_ensembles_have_caches(name):
    ensemble = pickle.loads(pickle.dumps(make(name).model_.ensemble))
    before = set(vars(ensemble))
    ensemble.scores(np.zeros((2, X.shape[1])), ALONE)
    assert set(vars(ensemble)) > before


# -- tables ----------------------------------------------------------------------------------------


def values_of(tables, data):
    """Return the values of every view, (n_views, n_values, n_samples)."""
    if tables.rows is None:
        return data.T[None]
    rows = tables.rows(np.arange(tables.n_values)).toarray().astype(np.float64)
    return (rows @ data.T).reshape(tables.n_views, tables.n_values, -1)


def stump_outputs(table, values):
    """Return the outputs of all stumps, (n_rounds, n_members, n_samples)."""
    value = values[table.columns]
    above = value > table.thresholds[:, :, None]
    return np.where(above, table.high[:, :, None], table.low[:, :, None])


def tree_outputs(table, values, r):
    """Return the outputs of all trees for class r, (n_trees, n_samples), walking node by node."""
    if table.rounded:
        values = values.astype(np.float32).astype(np.float64)
    outputs = np.empty((len(table.starts) - 1, values.shape[1]))
    for t, start in enumerate(table.starts[:-1]):
        for i in range(values.shape[1]):
            node = start
            while table.columns[node] >= 0:
                right = values[table.columns[node], i] > table.thresholds[node]
                node = start + table.left[node] + (1 if right else 0)
            assert start <= node < table.starts[t + 1]
            outputs[t, i] = leaf_value(table, node, r)
    return outputs


def leaf_value(table, node, r):
    """Return what a leaf gives class r."""
    if table.leaf_starts is None:
        return table.values[node]
    begin, end = table.leaf_starts[np.count_nonzero(table.columns[:node] < 0) :][:2]
    return table.leaf_values[begin:end][table.leaf_classes[begin:end] == r].sum()


def landmark_sums(table, data):
    """Return the weighted sums of similarities, (n_classes, n_samples)."""
    Z = data / np.sqrt(1 + (data / 3) ** 2) * table.weights.astype(np.float64)
    distances = ((Z[:, None] - table.points.astype(np.float64)) ** 2).sum(axis=2)
    return (np.exp(-table.width * distances) @ table.coefficients.astype(np.float64)).T


def table_scores(tables, data, n_classes):
    """Compute in plain NumPy what `PlainTables` says."""
    views = values_of(tables, data)
    vectors = tables.trees is not None and tables.trees.leaf_starts is not None
    by_class = tables.n_views > 1 or vectors
    sums = []
    for r in range(n_classes if by_class else 1):
        values = views[r if tables.n_views > 1 else 0]
        if tables.stumps is not None:
            outputs = stump_outputs(tables.stumps, values)
        else:
            outputs = tree_outputs(tables.trees, values, r)
            n_rounds = len(outputs) if tables.votes is None else len(tables.votes)
            outputs = outputs.reshape(n_rounds, -1, len(data))
        if tables.votes is None:
            sums.append(outputs.sum(axis=(0, 1)))
        else:
            sums.extend((tables.votes[:, :, None] * outputs).sum(axis=0))
    sums = np.array(sums)
    if tables.baseline is not None:
        sums = sums + tables.baseline[:, None]
    for landmarks in tables.landmarks:
        sums = sums + landmark_sums(landmarks, data)
    if tables.linear is not None:
        limits = tables.linear.limits.astype(np.float64)
        limited = np.clip(data, -limits, limits) @ tables.linear.coefficients.astype(np.float64)
        sums = sums + (limited - tables.linear.base).T
    if tables.decoding == "hamming":
        return tables.code @ np.sign(sums) / tables.code.shape[1]
    if tables.decoding == "loss":
        return np.stack([-logsumexp(-row[:, None] * sums, axis=0) for row in tables.code])
    return sums


def test_tables_give_the_scores(fitted):
    model, data = fitted
    part = data[::7]
    tables = model.ensemble.tables(model.shape)
    found = table_scores(tables, part, len(model.classes))
    scores = model.ensemble.scores(part, ALONE)
    precision = 1e-5 if scores.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(found, scores, rtol=precision, atol=precision)
