"""The models of the page on defaults, in the form in which their users would call them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import randomboost
from randomboost import RandomBoostClassifier
from randomboost.compare import peers as rivals

OURS, BASE = "RandomBoost", "LightGBM"
THREADS = 2
SVM_COSTS = (1.0, 10.0, 100.0)
SVM_GAMMAS = (0.3, 1.0, 3.0)  # times scikit-learn's "scale"


class TunedSVM(ClassifierMixin, BaseEstimator):
    """An RBF SVM on standardised features, which has no useful default.

    C and gamma are the best of nine by three-fold cross-validation inside the training part.
    Probabilities are Platt's, of a model with the same C and gamma.

    Parameters
    ----------
    random_state : int or None
        Seed; nothing is random.
    """

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: NDArray, y: NDArray) -> TunedSVM:
        """Choose C and gamma, and fit on all samples."""
        from joblib import parallel_config

        self.scaler_ = StandardScaler().fit(X)
        Z = self.scaler_.transform(X)
        scale = 1 / (Z.shape[1] * Z.var())
        grid = {"C": SVM_COSTS, "gamma": [factor * scale for factor in SVM_GAMMAS]}
        with parallel_config("threading", n_jobs=THREADS):  # libsvm releases the GIL
            self.search_ = GridSearchCV(SVC(cache_size=400), grid, cv=3).fit(Z, y)
            self.calibrated_ = CalibratedClassifierCV(
                SVC(cache_size=400, **self.search_.best_params_), ensemble=False, cv=3
            ).fit(Z, y)
        self.classes_ = self.search_.classes_
        return self

    def predict(self, X: NDArray) -> NDArray:
        """Return labels."""
        return self.search_.predict(self.scaler_.transform(X))

    def predict_proba(self, X: NDArray) -> NDArray:
        """Return probabilities."""
        return self.calibrated_.predict_proba(self.scaler_.transform(X))


def one_hot(model: Any, columns: list[str]) -> Any:
    """Return a model whose categories become columns of zeros and ones."""
    if not columns:
        return model
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(
        make_column_transformer((encoder, columns), remainder="passthrough"), model
    )


def _ours(columns: list[str], seed: int, effort: str | None = None) -> Any:
    model = RandomBoostClassifier(n_jobs=THREADS, random_state=seed)
    return model if effort is None else model.set_params(effort=effort)


def _lightgbm(columns: list[str], seed: int) -> Any:
    return rivals.lightgbm().set_params(n_jobs=THREADS, random_state=seed)


def _xgboost(columns: list[str], seed: int) -> Any:
    return rivals.xgboost().set_params(
        n_jobs=THREADS, random_state=seed, enable_categorical=bool(columns)
    )


def _xgboost_vector_leaves(columns: list[str], seed: int) -> Any:
    model = rivals.xgboost().set_params(
        n_jobs=THREADS, random_state=seed, tree_method="hist", multi_strategy="multi_output_tree"
    )
    return one_hot(model, columns)


def _catboost(columns: list[str], seed: int) -> Any:
    return rivals.catboost().set_params(
        thread_count=THREADS, random_state=seed, cat_features=columns or None
    )


def _chimeraboost(columns: list[str], seed: int) -> Any:
    from chimeraboost import ChimeraBoostClassifier

    return ChimeraBoostClassifier(
        thread_count=THREADS, random_state=seed, cat_features=columns or None
    )


def _hist_gradient_boosting(columns: list[str], seed: int) -> Any:
    return rivals.hist_gradient_boosting().set_params(random_state=seed)


def _random_forest(columns: list[str], seed: int) -> Any:
    return one_hot(rivals.random_forest().set_params(n_jobs=THREADS, random_state=seed), columns)


def _extra_trees(columns: list[str], seed: int) -> Any:
    return one_hot(ExtraTreesClassifier(n_jobs=THREADS, random_state=seed), columns)


def _svm(columns: list[str], seed: int) -> Any:
    return one_hot(TunedSVM(), columns)


def _tuned_defaults(name: str, columns: list[str], seed: int) -> Any:
    from pytabkit.models.sklearn import sklearn_interfaces

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
    make = getattr(sklearn_interfaces, f"{name}_Classifier")
    device = {"device": "cpu"} if name == "RealMLP_TD" else {}
    return make(random_state=seed, n_threads=THREADS, **device)


@dataclass(frozen=True)
class Model:
    """A model of a library.

    Parameters
    ----------
    packages : tuple of str
        What it is made of, as pip names it; the first has its name as a module.
    make : callable
        Takes the columns of categories and a seed.
    times : float
        The time of a fit in multiples of LightGBM's, roughly.
    slow : bool
        Whether it comes last.
    effort : str or None
        The value of the parameter `effort` of ours; None for the default.
    """

    packages: tuple[str, ...]
    make: Callable[[list[str], int], Any]
    times: float
    slow: bool = False
    effort: str | None = None

    @property
    def installed(self) -> bool:
        """Whether it can be run here."""
        module = self.packages[0].replace("scikit-learn", "sklearn")
        known = self.effort is None or "effort" in RandomBoostClassifier().get_params()
        return known and find_spec(module) is not None

    @property
    def versions(self) -> str:
        """The packages and their versions."""
        own = {"randomboost": randomboost.__version__}  # it may be on the path only
        return " ".join(f"{name} {own.get(name) or version(name)}" for name in self.packages)


MODELS = {
    OURS: Model(("randomboost",), _ours, 1.0),
    **{
        f"{OURS}, {effort}": Model(
            ("randomboost",), partial(_ours, effort=effort), times, False, effort
        )
        for effort, times in (("fast", 0.5), ("best", 10.0))
    },
    BASE: Model(("lightgbm",), _lightgbm, 1.0),
    "XGBoost": Model(("xgboost",), _xgboost, 1.5),
    "XGBoost, vector leaves": Model(("xgboost",), _xgboost_vector_leaves, 1.5),
    "RandomForest": Model(("scikit-learn",), _random_forest, 0.5),
    "ExtraTrees": Model(("scikit-learn",), _extra_trees, 0.4),
    "HistGradientBoosting": Model(("scikit-learn",), _hist_gradient_boosting, 2.5),
    "ChimeraBoost": Model(("chimeraboost", "numba"), _chimeraboost, 8.0),
    "SVM, tuned": Model(("scikit-learn",), _svm, 10.0),
    "LGBM-TD": Model(("pytabkit", "lightgbm"), partial(_tuned_defaults, "LGBM_TD"), 8.0, True),
    "CatBoost": Model(("catboost",), _catboost, 15.0, True),
    "CatBoost-TD": Model(
        ("pytabkit", "catboost"), partial(_tuned_defaults, "CatBoost_TD"), 15.0, True
    ),
    "RealMLP-TD": Model(("pytabkit", "torch"), partial(_tuned_defaults, "RealMLP_TD"), 30.0, True),
}
LARGE_MODELS = (*(name for name in MODELS if name.startswith(OURS)), BASE, "XGBoost")
