"""What a fitted model computes, as plain arrays: what the exports to ONNX and C start from.

Every model of the package works in the same steps: features are scaled, mixed into values (the
same for all classes, or for every class its own), weak classifiers compare values with
thresholds, and their outputs, times votes, are summed round by round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators.base import BaseBoostingClassifier
from ..estimators.mo import AdaBoostMOClassifier
from ..estimators.rank import RBoostRankClassifier
from ..preprocessing.categories import TablePreparation
from ..preprocessing.scaling import StandardScaling
from ..projections.matrices import GaussianProjection
from ..training.side_by_side import DichotomyClassifier
from ..trees.forest import Forest
from ..trees.views import SharedView
from ..weak_learners.hypotheses import FittedEstimator, SmallTree, Stump, Stumps


@dataclass(frozen=True)
class StumpTable:
    """Stumps of all rounds, one or several a round: `high` where a value exceeds the threshold.

    Parameters
    ----------
    columns : ndarray of int64 of shape (n_rounds, n_members)
        Which value is compared.
    thresholds : ndarray of shape (n_rounds, n_members), of the model's dtype
        Thresholds.
    low, high : ndarray of float64 of shape (n_rounds, n_members)
        Outputs.
    """

    columns: NDArray[np.int64]
    thresholds: NDArray
    low: NDArray
    high: NDArray


@dataclass(frozen=True)
class TreeTable:
    """Trees of all rounds, one after the other.

    Parameters
    ----------
    starts : ndarray of int64 of shape (n_trees + 1,)
        Where the nodes of each tree begin.
    columns : ndarray of int64
        Which value a split compares, -1 for a leaf.
    thresholds : ndarray
        A value above goes right.
    left : ndarray of int64
        Left child, counted from the tree's first node, -1 for a leaf; the right one is next to it.
    values : ndarray
        Outputs of the leaves.
    codes : ndarray of int64 or None
        Number of the class code of every split.
    class_codes : ndarray of uint8 of shape (n_codes, n_classes) or None
        The codes (see `trees.codes`).
    rounded : bool
        Whether values are compared as float32.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    thresholds: NDArray
    left: NDArray[np.int64]
    values: NDArray
    codes: NDArray[np.int64] | None = None
    class_codes: NDArray[np.uint8] | None = None
    rounded: bool = False


@dataclass(frozen=True)
class PortableModel:
    """A fitted model as plain arrays.

    Parameters
    ----------
    kind : str
        Name of the class.
    classes : ndarray
        Class labels.
    feature_names : list of str
        Names of the features, empty where they have none.
    categories : dict
        For every column of categories the number of each.
    fill : ndarray of shape (n_features,) or None
        What missing values are replaced with before anything else.
    n_features : int
        Number of features.
    dtype : dtype
        Precision in which features are mixed and compared.
    scaling : StandardScaling or None
        What is done to the features first, in double precision.
    missing : bool
        Whether missing values are allowed: NaN stays NaN in a value of one feature (which is
        above nothing) and counts as 0 in a mixture, and in every value where classes see their
        own.
    n_views : int
        1, or the number of classes where every class sees values of its own.
    n_values : int
        Number of values of a view.
    rows : callable or None
        ``rows(numbers)`` returns a CSR matrix of shape (n_views * len(numbers), n_features) with
        the mixtures of some values, view after view; None where values are the features.
    gaussian : tuple of (GaussianProjection, ndarray) or None
        How all mixtures are made from a seed: the projection, and the row of each value.
    members : StumpTable or TreeTable
        The weak classifiers.
    votes : ndarray of float64 of shape (n_rounds, n_sums) or None
        What outputs are multiplied by; None: summed in float32 as they are.
    baseline : ndarray of float32 or None
        What the sums begin with, if not with 0.
    decoding : {"loss", "hamming"} or None
        How sums become scores; None where they are the scores.
    code : ndarray of shape (n_classes, n_sums) or None
        The code of `decoding`.
    probability_scale : float
        The factor s of the probabilities ``softmax(s F)``.
    """

    kind: str
    classes: NDArray
    feature_names: list[str]
    categories: dict[Any, dict[Any, float]]
    fill: NDArray | None
    n_features: int
    dtype: np.dtype
    scaling: StandardScaling | None
    missing: bool
    n_views: int
    n_values: int
    rows: Callable[[NDArray[np.int64]], Any] | None
    gaussian: tuple[GaussianProjection, NDArray[np.int64]] | None
    members: StumpTable | TreeTable
    votes: NDArray | None
    baseline: NDArray[np.float32] | None
    decoding: str | None
    code: NDArray | None
    probability_scale: float


def portable(model: Any, *, encoded: bool = False) -> PortableModel:
    """Return what a fitted model computes.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted classifier of the package, or a pipeline of a `TablePreparation` and one.
    encoded : bool, default=False
        Take a model with columns of categories too: the numbers of the categories are its input.

    Returns
    -------
    PortableModel
        The plain arrays.

    Raises
    ------
    ValueError
        If the model is none of the package, has categories, or has weak classifiers of the
        user's own.
    """
    first, fill = model, None
    if isinstance(model, Pipeline) and len(model) == 2 and isinstance(model[0], TablePreparation):
        first, model = model
        check_is_fitted(first)
        fill = first.means_
    if not isinstance(model, BaseBoostingClassifier):
        raise ValueError(
            f"model={type(model).__name__} is no classifier of randomboost: pass a fitted one, or "
            "a Pipeline of a TablePreparation and one; for other pipelines there is skl2onnx, see "
            "randomboost.export.onnx.register"
        )
    check_is_fitted(model)
    encoding = model._encoding if fill is None else first.encoding_
    categories = {} if encoding is None else encoding.places
    if categories and not encoded:
        names = ", ".join(repr(name) for name in categories)
        raise ValueError(
            f"the model has columns of categories ({names}): an export takes numbers only; pass "
            "encoded=True to export it with the numbers of the categories as its input"
        )
    common = {
        "kind": type(model).__name__,
        "classes": model.classes_,
        "feature_names": list(getattr(first, "feature_names_in_", [])),
        "categories": categories,
        "fill": fill,
        "n_features": model.n_features_in_,
        "dtype": model._dtype,
        "scaling": model._scaling,
        "missing": model._allows_missing() and fill is None,
        "gaussian": None,
        "baseline": None,
        "decoding": getattr(model, "decoding", None),
        "code": model.code_ if isinstance(model, AdaBoostMOClassifier) else None,
        "probability_scale": model._proba_scale,
    }
    if isinstance(model, RBoostRankClassifier):
        return PortableModel(**{**common, **_rank_parts(model)})
    if isinstance(model, DichotomyClassifier) and not getattr(model, "_shared", False):
        hypotheses = [row.members() for row in model._rows]
        votes = model.weights_
    else:
        hypotheses = [[hypothesis] for hypothesis in model._hypotheses]
        votes = model._effective if hasattr(model, "_effective") else model._votes
    return PortableModel(**common, **_feature_parts(model, hypotheses), votes=votes)


def _rank_parts(model: RBoostRankClassifier) -> dict[str, Any]:
    """Return the parts of a model that projects the data."""
    if not isinstance(model._hypotheses, Forest):
        return _class_wise_parts(model)
    forest, view = model._hypotheses, model._projection
    inner = forest.columns >= 0
    used = np.unique(forest.columns[inner]).astype(np.int64)
    columns = np.where(inner, np.searchsorted(used, forest.columns), -1).astype(np.int64)
    factor = np.repeat(model.weights_.astype(np.float32), np.diff(forest.starts))
    shared = isinstance(view, SharedView)
    trees = TreeTable(
        forest.starts,
        columns,
        forest.thresholds.astype(model._dtype),
        forest.left.astype(np.int64),
        (forest.values * factor).astype(np.float32),
        np.maximum(forest.codes, 0).astype(np.int64) if shared else None,
        view.codes if shared else None,
    )
    parts = {
        "members": trees,
        "votes": None,
        "baseline": model._baseline.astype(np.float32),
        "n_values": len(used),
    }
    if not shared:
        return {**parts, **_class_wise_rows(model, view.projection, used, {})}

    def rows(numbers: NDArray[np.int64]) -> Any:
        return view.directions.rows(used[numbers]).astype(model._dtype)

    return {**parts, "n_views": 1, "rows": rows}


def _class_wise_parts(model: RBoostRankClassifier) -> dict[str, Any]:
    """Return the parts of a model of stumps or small trees on projected data."""
    hypotheses: Sequence[Any] = model._hypotheses
    votes = np.asarray(model.weights_, dtype=np.float64)[:, None]
    if isinstance(hypotheses, Stumps):
        used = np.unique(hypotheses.columns[hypotheses.columns >= 0]).astype(np.int64)
        columns = np.searchsorted(used, hypotheses.columns).astype(np.int64)
        mixes = {len(used) + i: mix for i, mix in enumerate(hypotheses.combinations.values())}
        columns[list(hypotheses.combinations)] = list(mixes)
        members: StumpTable | TreeTable = StumpTable(
            columns[:, None],
            hypotheses.thresholds.astype(model._dtype)[:, None],
            hypotheses.left.astype(np.float64)[:, None],
            hypotheses.right.astype(np.float64)[:, None],
        )
    else:
        trees, mixes = _small_trees(hypotheses), {}
        used = np.unique(trees.columns[trees.columns >= 0])
        places = np.searchsorted(used, trees.columns)
        members = replace(trees, columns=np.where(trees.columns < 0, -1, places))
    parts = _class_wise_rows(model, model._projection, used, mixes)
    return {"members": members, "votes": votes, "n_values": len(used) + len(mixes), **parts}


def _class_wise_rows(
    model: RBoostRankClassifier, projection: Any, used: NDArray[np.int64], mixes: dict[int, Any]
) -> dict[str, Any]:
    """Return how the values of every class are made: rows of its matrix, and mixtures of them."""
    shape = (0, model.n_features_in_)

    def rows(numbers: NDArray[np.int64]) -> Any:
        plain = used[np.where(numbers < len(used), numbers, 0)] if len(used) else numbers * 0
        made = projection.rows(plain, shape, model._dtype)
        for place in np.flatnonzero(numbers >= len(used)):
            mix = mixes[int(numbers[place])]
            parts = projection.rows(mix.columns, shape, np.float64)
            made[:, place] = np.einsum("v,rvj->rj", mix.coefficients, parts)
        return sp.csr_array(made.reshape(-1, shape[1]))

    gaussian = isinstance(projection, GaussianProjection) and not mixes
    return {
        "n_views": projection.n_classes,
        "rows": rows,
        "gaussian": (projection, used) if gaussian else None,
    }


def _feature_parts(model: Any, hypotheses: list[Sequence[Any]]) -> dict[str, Any]:
    """Return the parts of a model whose weak classifiers look at the features themselves."""
    members = [member for row in hypotheses for member in row]
    parts: dict[str, Any] = {"n_views": 1, "n_values": model.n_features_in_, "rows": None}
    if not all(isinstance(member, Stump) for member in members):
        return {**parts, "members": _small_trees(members)}
    columns = np.array([member.column for member in members], dtype=np.int64)
    mixes = [member.combination for member in members if member.combination is not None]
    if mixes:
        used, columns = np.unique(np.maximum(columns, 0), return_inverse=True)
        mixed = [member.combination is not None for member in members]
        columns[mixed] = len(used) + np.arange(len(mixes))
        parts |= {"n_values": len(used) + len(mixes), "rows": _feature_rows(model, used, mixes)}
    shape = (len(hypotheses), -1)
    table = StumpTable(
        columns.reshape(shape),
        np.array([member.threshold for member in members]).astype(model._dtype).reshape(shape),
        np.array([member.left for member in members], dtype=np.float64).reshape(shape),
        np.array([member.right for member in members], dtype=np.float64).reshape(shape),
    )
    return {**parts, "members": table}


def _feature_rows(model: Any, used: NDArray[np.int64], mixes: list[Any]) -> Callable:
    """Return the rows of some single features and then of mixtures."""
    n_features = model.n_features_in_
    parts = [
        sp.csr_array((np.ones(len(used)), used, np.arange(len(used) + 1)), (len(used), n_features))
    ]
    for mix in mixes:
        order = np.argsort(mix.columns, kind="stable")
        place = mix.columns[order], [0, len(order)]
        parts.append(sp.csr_array((mix.coefficients[order], *place), (1, n_features)))
    every = sp.vstack(parts, format="csr").astype(model._dtype)
    return lambda numbers: every[numbers]


def _small_trees(members: Iterable[Any]) -> TreeTable:
    """Return decision trees that were taken over from scikit-learn as one table."""
    parts = [_small_tree(member) for member in members]
    sizes = [len(part[0]) for part in parts]
    columns, thresholds, left, values = (
        np.concatenate([part[i] for part in parts]) for i in range(4)
    )
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return TreeTable(starts, columns, thresholds, left, values, rounded=True)


def _small_tree(member: Any) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return columns, thresholds, left children and outputs, with children side by side."""
    if isinstance(member, Stump) and member.left == member.right:  # a constant
        return np.array([-1]), np.zeros(1), np.array([-1]), np.array([member.left])
    if not isinstance(member, FittedEstimator) or not isinstance(member.estimator, SmallTree):
        kind = type(getattr(member, "estimator", member)).__name__
        raise ValueError(
            f"the model has weak classifiers of the kind {kind} (beside others): only stumps, "
            "'wlda' and decision trees can be exported, and only one of these in a model"
        )
    tree = member.estimator
    order, left = [0], []
    for node in order:  # grows while it is walked
        inner = tree.features[node] >= 0
        left.append(len(order) if inner else -1)
        order += [int(tree.left[node]), int(tree.right[node])] if inner else []
    share = (np.clip(tree.values[order], -1.0, 1.0) + 1.0) / 2.0
    return (
        np.where(tree.features[order] < 0, -1, member.columns[tree.features[order]]).astype(
            np.int64
        ),
        tree.thresholds[order],
        np.array(left, dtype=np.int64),
        member.negative + share * (member.positive - member.negative),
    )
