"""A warm start with labels that the first fit did not have."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier, RBoostRankClassifier, load

X, NUMBERS = load_digits(return_X_y=True)
X, X_TEST, NUMBERS, NUMBERS_TEST = X[:900], X[900:], NUMBERS[:900], NUMBERS[900:]
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
Y, Y_TEST = NAMES[NUMBERS], NAMES[NUMBERS_TEST]
LATE = ("three", "five", "two")  # in and behind the order of the others
KNOWN = ~np.isin(Y, LATE)


def start(**settings):
    settings = {"early_stopping": False, "random_state": 0} | settings
    return RandomBoostClassifier(25, warm_start=True, **settings).fit(X[KNOWN], Y[KNOWN])


@pytest.fixture(scope="module")
def continued():
    return start().set_params(n_estimators=50).fit(X, Y)


def test_new_classes_are_learned_and_known_ones_kept(continued):
    assert continued.classes_.tolist() == sorted(NAMES)
    assert continued.n_estimators_ == 50
    known = ~np.isin(Y_TEST, LATE)
    before = start().score(X_TEST[known], Y_TEST[known])
    assert continued.score(X_TEST[known], Y_TEST[known]) > before - 0.04
    assert continued.score(X_TEST[~known], Y_TEST[~known]) > 0.8


def test_known_classes_have_their_scores_until_new_rounds_come(continued):
    first = start()
    numbers = np.searchsorted(continued.classes_, first.classes_)
    stages = list(continued.staged_decision_function(X_TEST))
    assert len(stages) == 50
    shift = stages[24][:, numbers] - first.decision_function(X_TEST)
    np.testing.assert_allclose(shift, shift[0, 0], atol=1e-5)  # the prior makes room for others
    new = np.setdiff1d(np.arange(10), numbers)
    shares = np.isin(Y, LATE).mean()
    assert np.exp(stages[24][0, new]).sum() == pytest.approx(shares, rel=1e-5)
    probabilities = list(continued.staged_predict_proba(X_TEST))[24]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)


def test_a_continued_model_is_saved_and_continues_again(continued, tmp_path):
    continued.save(tmp_path / "model.rboost")
    again = load(tmp_path / "model.rboost")
    np.testing.assert_array_equal(
        again.decision_function(X_TEST), continued.decision_function(X_TEST)
    )
    again.set_params(n_estimators=55).fit(X, Y)
    assert again.n_estimators_ == 55
    explained = again.explain(X_TEST[:20])
    np.testing.assert_allclose(
        explained.scores, again.decision_function(X_TEST[:20]).max(axis=1), atol=1e-5
    )


def test_early_stopping_judges_the_new_rounds_only():
    model = start(early_stopping=True, n_iter_no_change=5)
    rounds = model.n_estimators_
    model.set_params(n_estimators=60).fit(X, Y)
    assert model.n_estimators_ > rounds
    assert model.score(X_TEST, Y_TEST) > 0.8


def test_two_classes_become_many():
    two = np.isin(Y, ["one", "two"])
    model = RandomBoostClassifier(10, warm_start=True, random_state=0, early_stopping=False)
    assert model.fit(X[two], Y[two]).decision_function(X).ndim == 1
    model.set_params(n_estimators=40).fit(X, Y)
    assert model.score(X_TEST, Y_TEST) > 0.8


def test_what_a_warm_start_cannot_do_leaves_the_model_as_it_is():
    model = start()
    before = model.decision_function(X_TEST)
    model.set_params(n_estimators=40)
    with pytest.raises(ValueError, match="no sample of the fitted model's class eight, which"):
        model.fit(X[Y != "eight"], Y[Y != "eight"])
    model.set_params(n_estimators=25)
    with pytest.raises(ValueError, match="n_estimators=25 leaves no round for the new classes"):
        model.fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X_TEST), before)


@pytest.mark.parametrize("kind", [AdaBoostMHClassifier, RBoostRankClassifier])
def test_other_classifiers_refuse_new_classes(kind):
    model = kind(3, warm_start=True, random_state=0).fit(X[KNOWN], Y[KNOWN])
    model.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="class that the fitted model does not know, five"):
        model.fit(X, Y)
