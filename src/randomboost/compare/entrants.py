"""The models of a comparison by name: those of randomboost and those of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

import randomboost

from ..preprocessing.categories import TablePreparation
from .measuring import file_bytes, pickled_bytes
from .peers import PEERS


class UnknownModelError(ValueError):
    """There is no model of that name; the message lists the names."""


@dataclass(frozen=True)
class OwnModel:
    """A classifier of randomboost.

    Parameters
    ----------
    class_name : str
        Name of its class.
    title : str
        Name to display.
    paper : bool
        Whether it has the exact setting of the paper, whose 1000 rounds take minutes.
    """

    class_name: str
    title: str
    paper: bool = False

    def make(self) -> Any:
        """Return the classifier with its default parameters, or with those of the paper."""
        kind = getattr(randomboost, self.class_name)
        return kind.paper() if self.paper else kind()


MODELS = {
    "randomboost": OwnModel("RandomBoostClassifier", "RandomBoost"),
    "rank": OwnModel("RBoostRankClassifier", "RBoost-rank"),
    "rank-paper": OwnModel("RBoostRankClassifier", "RBoost-rank (paper)", paper=True),
    "proj": OwnModel("RBoostProjClassifier", "RBoost-proj"),
    "proj-paper": OwnModel("RBoostProjClassifier", "RBoost-proj (paper)", paper=True),
    "adaboost": OwnModel("AdaBoostClassifier", "AdaBoost"),
    "ecc": OwnModel("AdaBoostECCClassifier", "AdaBoost.ECC"),
    "mh": OwnModel("AdaBoostMHClassifier", "AdaBoost.MH"),
    "mo": OwnModel("AdaBoostMOClassifier", "AdaBoost.MO"),
    "multiboost": OwnModel("MultiBoostClassifier", "MultiBoost"),
}
_USUAL = ("randomboost", "rank", "proj")  # of ours, unless all are asked for
_TWO_CLASSES = {"adaboost"}  # models that cannot separate more
_WARM_ROWS = 5  # of every class, for a first fit of other libraries
_WARM_CLASSES = 20


def own_model(name: str) -> OwnModel:
    """Return a model of randomboost by its name.

    Parameters
    ----------
    name : str
        One of `MODELS`.

    Returns
    -------
    OwnModel
        The model.
    """
    if name not in MODELS:
        raise UnknownModelError(f"{name!r} is not one of {', '.join(MODELS)}")
    return MODELS[name]


def needs_preparation(model: Any) -> bool:
    """Return whether a classifier takes only numbers without gaps.

    Parameters
    ----------
    model : classifier
        A classifier of randomboost.

    Returns
    -------
    bool
        False for trees, which take categories and missing values.
    """
    return not get_tags(model).input_tags.allow_nan


def classifier_of(model: Any) -> Any:
    """Return the classifier of a model, which may be a pipeline.

    Parameters
    ----------
    model : classifier or Pipeline
        The model.

    Returns
    -------
    classifier
        The last step of the pipeline, or the model itself.
    """
    return model[-1] if isinstance(model, Pipeline) else model


class Entrant:
    """A model that takes part in a comparison.

    Parameters
    ----------
    key : str
        Its name, as in `MODELS` and `PEERS`.
    title : str
        Name to display.
    """

    def __init__(self, key: str, title: str) -> None:
        self.key = key
        self.title = title

    def view(self, X: Any) -> Any:
        """Return a table in the form that the model takes."""
        return X

    def make(self, X: Any, seed: int) -> Any:
        """Return the unfitted model."""
        raise NotImplementedError

    def warm_up(self, X: Any, y: Any) -> None:
        """Do what only the first fit of a process has to do, such as starting threads.

        Parameters
        ----------
        X : DataFrame
            Training rows in the form that the model takes.
        y : ndarray of int
            Class numbers.
        """

    def size(self, model: Any) -> int:
        """Return the size of a fitted model in bytes."""
        return pickled_bytes(model)


class Own(Entrant):
    """A model of randomboost.

    Parameters
    ----------
    key : str
        One of `MODELS`.
    """

    def __init__(self, key: str) -> None:
        self._model = own_model(key)
        super().__init__(key, self._model.title)

    def make(self, X: Any, seed: int) -> Any:
        """Return the unfitted model."""
        model = self._model.make().set_params(random_state=seed)
        return make_pipeline(TablePreparation(), model) if needs_preparation(model) else model

    def warm_up(self, X: Any, y: Any) -> None:
        """Fit two rounds, so that compiling and loading kernels is not part of the fit time."""
        model = self.make(X, 0)
        classifier_of(model).set_params(n_estimators=2)
        model.fit(X, y).predict(X.iloc[:2])

    def size(self, model: Any) -> int:
        """Return the size of the model file in bytes."""
        return file_bytes(model)


class Other(Entrant):
    """A model of another library.

    Parameters
    ----------
    key : str
        One of `PEERS`.
    """

    def __init__(self, key: str) -> None:
        self._peer = PEERS[key]
        super().__init__(key, self._peer.title)

    def view(self, X: Any) -> Any:
        """Return a table in the form that the model takes; some refuse certain column names."""
        renamed = X.set_axis([f"f{number}" for number in range(X.shape[1])], axis=1)
        return self._peer.view(renamed)

    def make(self, X: Any, seed: int) -> Any:
        """Return the unfitted model."""
        model = self._peer.make(X)
        seeds = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
        return model.set_params(**dict.fromkeys(seeds or ["random_state"], seed))

    def warm_up(self, X: Any, y: Any) -> None:
        """Fit a few rows, which loads the library and starts its threads."""
        rows = [np.flatnonzero(y == number)[:_WARM_ROWS] for number in range(_WARM_CLASSES)]
        few = np.concatenate(rows)
        with suppress(Exception):  # too few rows for this model: the folds have more
            self.make(X, 0).fit(X.iloc[few], y[few]).predict(X.iloc[few])


def choose_entrants(
    keys: Sequence[str] | None, n_rows: int, n_classes: int, *, everything: bool = False
) -> list[Entrant]:
    """Return the models of a comparison.

    Parameters
    ----------
    keys : sequence of str or None
        Their names; None for RandomBoost, the two methods of the paper, and the models of other
        libraries that are installed and suit the data.
    n_rows, n_classes : int
        Size of the data.
    everything : bool
        Whether the methods that the paper compares with take part too, if `keys` is None.

    Returns
    -------
    list of Entrant
        The models, those of randomboost first if `keys` is None.

    Raises
    ------
    UnknownModelError
        If a name is neither in `MODELS` nor in `PEERS`.
    ValueError
        If a library is not installed.
    """
    if keys is not None:
        return [_entrant(key) for key in dict.fromkeys(keys)]
    own = [
        key
        for key, model in MODELS.items()
        if key in _USUAL
        or (everything and not model.paper and (key not in _TWO_CLASSES or n_classes == 2))
    ]
    others = [
        key
        for key, peer in PEERS.items()
        if peer.installed and (peer.max_rows is None or n_rows <= peer.max_rows)
    ]
    return [*map(Own, own), *map(Other, others)]


def _entrant(key: str) -> Entrant:
    if key in MODELS:
        return Own(key)
    if key not in PEERS:
        raise UnknownModelError(f"{key!r} is not one of {', '.join([*MODELS, *PEERS])}")
    if not PEERS[key].installed:
        raise ValueError(f"{key} is not installed: pip install {key}")
    return Other(key)
