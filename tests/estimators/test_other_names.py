"""Words of other libraries, and validation data in pipelines."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from randomboost import AdaBoostClassifier, RandomBoostClassifier
from randomboost.estimators.other_names import _OURS

X, y = load_wine(return_X_y=True)
TRAIN, VAL, LABELS, VAL_LABELS = train_test_split(X, y, random_state=0)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("num_leaves", "max_leaf_nodes"),
        ("n_iter", "n_estimators"),
        ("max_iter", "n_estimators"),
        ("iterations", "n_estimators"),
        ("early_stopping_rounds", "n_iter_no_change"),
        ("reg_lambda", "l2_regularization"),
        ("colsample_bytree", "max_features"),
        ("cat_features", "categorical_features"),
        ("eval_set", "X_val=, y_val="),
        ("callbacks", "on_round"),
        ("eval_sample_weight", "sample_weight_val"),
        ("objective", "found in y"),
    ],
)
def test_words_of_other_libraries_are_translated(name, ours):
    message = f"no parameter '{name}': .*{ours}"
    with pytest.raises(TypeError, match=message):
        RandomBoostClassifier(**{name: 3})
    with pytest.raises(ValueError, match=message):
        RandomBoostClassifier().set_params(**{name: 3})
    with pytest.raises(TypeError, match=message):
        RandomBoostClassifier().fit(X, y, **{name: 3})


def test_parameters_of_ours_given_to_fit():
    with pytest.raises(TypeError, match=r"fit has no parameter 'verbose': set verbose of the clas"):
        RandomBoostClassifier().fit(X, y, verbose=1)


def test_misspelt_parameters():
    message = "no parameter 'max_depht': did you mean max_depth of the classifier"
    with pytest.raises(TypeError, match=message):
        RandomBoostClassifier(max_depht=3)
    with pytest.raises(ValueError, match=message):
        RandomBoostClassifier().set_params(max_depht=3)


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        (X, np.where(y == 2, np.nan, y), "y contains NaN; leave out samples"),
        (np.where(X > 1000, np.inf, X), y, "X contains infinity.*; replace .* or by NaN"),
        (np.full(X.shape, "red"), y, "X has text: pass numbers, or a table such as a DataFrame"),
    ],
)
def test_errors_about_the_input_name_a_remedy(data, labels, message):
    with pytest.raises(ValueError, match=message):
        RandomBoostClassifier().fit(data, labels)


def test_infinite_values_may_not_be_missing_elsewhere():
    with pytest.raises(ValueError, match=r"infinity.*; replace such values by finite numbers$"):
        AdaBoostClassifier().fit(np.where(X > 1000, np.inf, X), y > 0)


def test_words_without_a_counterpart_are_refused_as_usual():
    with pytest.raises(TypeError, match="unexpected keyword argument 'flavour'"):
        RandomBoostClassifier(flavour=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'flavour'"):
        RandomBoostClassifier().fit(X, y, flavour=1)
    with pytest.raises(ValueError, match="Invalid parameter 'flavour'"):
        RandomBoostClassifier().set_params(flavour=1)
    with pytest.raises(TypeError, match="unexpected keyword argument 'num_leaves'"):
        AdaBoostClassifier(num_leaves=3)  # its weak learners have none


def test_our_words_exist():
    known = set(inspect.signature(RandomBoostClassifier).parameters)
    known |= set(inspect.signature(RandomBoostClassifier.fit).parameters)
    assert set(_OURS.values()) <= known
    assert not set(_OURS) & known


def test_signatures_and_clones_are_as_before():
    assert "kwargs" not in inspect.signature(RandomBoostClassifier).parameters
    model = RandomBoostClassifier(7, max_depth=3)
    assert clone(model).get_params() == model.get_params()


def fit_on_validation_data(steps, weight=None, **settings):
    """Return a pipeline fitted with validation data."""
    requests = {"X_val": True, "y_val": True, "sample_weight_val": weight is not None}
    given = {"X_val": VAL, "y_val": VAL_LABELS}
    if weight is not None:
        given["sample_weight_val"] = weight
    with sklearn.config_context(enable_metadata_routing=True):
        model = RandomBoostClassifier(15, random_state=0).set_fit_request(**requests)
        return Pipeline([*steps, ("model", model)], **settings).fit(TRAIN, LABELS, **given)


def test_validation_data_goes_through_a_pipeline():
    steps = [("scale", StandardScaler())]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fit_on_validation_data(steps, transform_input=["X_val"])
    scaler = StandardScaler().fit(TRAIN)
    by_hand = RandomBoostClassifier(15, random_state=0).fit(
        scaler.transform(TRAIN), LABELS, X_val=scaler.transform(VAL), y_val=VAL_LABELS
    )
    np.testing.assert_array_equal(
        found[-1].train_history_["validation_error"], by_hand.train_history_["validation_error"]
    )


def test_weights_of_validation_data_go_through_a_pipeline():
    weight = np.random.default_rng(0).integers(1, 9, len(VAL)).astype(float)
    found = fit_on_validation_data([], weight)
    by_hand = RandomBoostClassifier(15, random_state=0).fit(
        TRAIN, LABELS, X_val=VAL, y_val=VAL_LABELS, sample_weight_val=weight
    )
    plain = fit_on_validation_data([])
    name = "validation_loss"
    ours = found[-1].train_history_[name]
    np.testing.assert_array_equal(ours, by_hand.train_history_[name])
    assert not np.array_equal(ours, plain[-1].train_history_[name])


def test_validation_data_on_another_scale_is_warned_about():
    with pytest.warns(UserWarning, match=r"X_val is on another scale.*transform_input"):
        fit_on_validation_data([("scale", StandardScaler())])
    model = RandomBoostClassifier(3, random_state=0)
    with pytest.warns(UserWarning, match="X_val is on another scale"):
        model.fit(TRAIN, LABELS, X_val=StandardScaler().fit_transform(VAL), y_val=VAL_LABELS)
    drifted = VAL.copy()
    drifted[:, 0] += 100  # one column may well move, as a date does
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(TRAIN, LABELS, X_val=drifted, y_val=VAL_LABELS)
