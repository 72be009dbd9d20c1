"""Classifiers of other libraries with their default parameters, for comparison.

The libraries are imported when a classifier is made. The functions take a number of rounds
(trees), or None for the default of the library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ..preprocessing.categories import TablePreparation, category_columns
from ..runtime.parallel import resolve_threads


def lightgbm(rounds: int | None = None) -> Any:
    """Return LightGBM."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=rounds or 100, n_jobs=resolve_threads(None), verbose=-1)


def xgboost(rounds: int | None = None) -> Any:
    """Return XGBoost."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=rounds or 100, n_jobs=resolve_threads(None), verbosity=0)


def catboost(rounds: int | None = None) -> Any:
    """Return CatBoost, which has 1000 rounds by default."""
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        iterations=rounds,
        thread_count=resolve_threads(None),
        verbose=False,
        allow_writing_files=False,
    )


def hist_gradient_boosting(rounds: int | None = None) -> Any:
    """Return scikit-learn's histogram boosting; by default it stops early above 10 000 rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    if rounds is None:
        return HistGradientBoostingClassifier()
    return HistGradientBoostingClassifier(max_iter=rounds, early_stopping=False)


def random_forest(rounds: int | None = None) -> Any:
    """Return a random forest; its rounds are trees."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(rounds or 100, n_jobs=-1)


def svm(rounds: int | None = None) -> Any:
    """Return a support vector machine; it has no rounds, threads or probabilities."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler
    from sklearn.svm import SVC

    return make_pipeline(MinMaxScaler((-1, 1)), SVC(C=10))


def logistic_regression(rounds: int | None = None) -> Any:
    """Return logistic regression on scaled features; it has no rounds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _prepared(make: Callable[[], Any]) -> Callable[[Any], Any]:
    """Return a function that makes a model that takes only numbers without gaps."""
    from sklearn.pipeline import make_pipeline

    return lambda X: make_pipeline(TablePreparation(), make())


def _xgboost_for(X: Any) -> Any:
    return xgboost().set_params(enable_categorical=bool(category_columns(X)))


def _catboost_for(X: Any) -> Any:
    return catboost().set_params(cat_features=category_columns(X))


def _string_categories(X: Any) -> Any:
    """Return a table whose categories are strings, missing ones too, as CatBoost expects."""
    strings = {str(name): X[name].astype(object).fillna("missing") for name in category_columns(X)}
    return X.assign(**strings)


@dataclass(frozen=True)
class Peer:
    """A classifier of another library.

    Parameters
    ----------
    title : str
        Name to display.
    package : str
        Package to import.
    make : callable
        Takes a table and returns the classifier for it.
    view : callable
        Takes a table and returns it in the form that the classifier takes.
    max_rows : int or None
        Number of rows above which it takes part only if it is named.
    """

    title: str
    package: str
    make: Callable[[Any], Any]
    view: Callable[[Any], Any] = lambda X: X
    max_rows: int | None = None

    @property
    def installed(self) -> bool:
        """Whether the package is installed."""
        return find_spec(self.package) is not None


PEERS = {
    "lightgbm": Peer("LightGBM", "lightgbm", lambda X: lightgbm()),
    "xgboost": Peer("XGBoost", "xgboost", _xgboost_for),
    "histgb": Peer("HistGradientBoosting", "sklearn", lambda X: hist_gradient_boosting()),
    "forest": Peer("RandomForest", "sklearn", _prepared(random_forest)),
    "logistic": Peer("LogisticRegression", "sklearn", _prepared(logistic_regression)),
    "svm": Peer("SVM", "sklearn", _prepared(svm), max_rows=20_000),
    "catboost": Peer("CatBoost", "catboost", _catboost_for, _string_categories),
}
