"""skops takes our estimators, by themselves and in pipelines, and gives back the same ones."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from export_models import NAMES, X, fitted, labels, y
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from randomboost import RandomBoostClassifier
from randomboost.preprocessing.categories import TablePreparation
from randomboost.skops import TRUSTED

sio = pytest.importorskip("skops.io")
# parameters of the user's own have types of the user's own
OWN = [name for name in NAMES if name.endswith(("-given", "-loss"))]


def again(model):
    """Return a model that was written and read."""
    content = sio.dumps(model)
    assert set(sio.get_untrusted_types(data=content)) <= set(TRUSTED)
    return sio.loads(content, trusted=TRUSTED)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OWN])
def test_predictions_are_the_same(name):
    model = fitted(name)
    loaded = again(model)
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize("name", ["trees", "rank-stumps-total", "mh-tree", "mo-stump"])
def test_a_loaded_model_goes_on(name):
    more = {"warm_start": True, "n_estimators": 12}
    loaded = again(fitted(name)).set_params(**more).fit(X, labels(name))
    fresh = type(loaded)(**fitted(name).get_params())
    fresh.fit(X[::2], labels(name)[::2]).set_params(**more).fit(X, labels(name))
    np.testing.assert_array_equal(loaded.predict_proba(X), fresh.predict_proba(X))


@pytest.mark.parametrize("name", OWN)
def test_objects_of_the_users_own_must_be_trusted_by_name(name):
    content = sio.dumps(fitted(name))
    unknown = set(sio.get_untrusted_types(data=content)) - set(TRUSTED)
    assert len(unknown) == 1
    assert unknown.pop().startswith("export_models.")


def test_pipelines_precision_and_labels():
    target = np.array(["a", "b", "c"], dtype=object)[y]
    model = make_pipeline(StandardScaler(), RandomBoostClassifier(4, random_state=0))
    model.fit(X.astype(np.float32), target)
    loaded = again(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(
        loaded.decision_function(X.astype(np.float32)),
        model.decision_function(X.astype(np.float32)),
    )
    assert loaded[-1].decision_function(X).dtype == np.float32


@pytest.mark.parametrize(
    "categories", [["u", "v", "w"], [False, True], [1, 2, 3], [0.5, 1.5], [(1, 2), (3, 4)]]
)
def test_categories_of_any_kind(categories):
    table = pd.DataFrame({"number": X[:, 0]})
    values = pd.Series([categories[i % len(categories)] for i in y], dtype=object)
    table["kind"] = pd.Categorical(values)
    table.loc[3, "kind"] = np.nan
    for model in (
        RandomBoostClassifier(4, random_state=0),
        make_pipeline(TablePreparation(), RandomBoostClassifier(4, random_state=0)),
    ):
        model.fit(table, y)
        np.testing.assert_array_equal(again(model).predict_proba(table), model.predict_proba(table))


def test_models_of_sparse_data_and_unfitted_ones():
    data = sp.csr_array(np.where(X.mean(axis=0) < X, X, 0.0))
    model = RandomBoostClassifier(4, random_state=0).fit(data, y)
    np.testing.assert_array_equal(again(model).predict_proba(data), model.predict_proba(data))
    assert repr(again(RandomBoostClassifier(3))) == "RandomBoostClassifier(n_estimators=3)"


def test_the_trusted_types_exist():
    for name in TRUSTED:
        module, kind = name.rsplit(".", 1)
        assert isinstance(getattr(import_module(module), kind), type)
    others = [name for name in TRUSTED if not name.startswith("randomboost.")]
    assert others == ["numpy.dtype", "scipy.sparse._csr.csr_array"]
