"""What a fitted model computes, as plain arrays: what all exports start from.

Every model of the package works in the same steps: features are scaled, mixed into values (the
same for all classes, or for every class its own), weak classifiers compare values with
thresholds, and their outputs, times votes, are summed round by round. Leaves of trees may also add
to the scores of several classes.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from ..ensembles.plain_tables import PlainTables
from ..estimators import CLASSIFIERS
from ..preprocessing.categories import TablePreparation
from ..preprocessing.encoding import Codebook
from ..preprocessing.scaling import StandardScaling


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
        Names of the features, empty where they have none; a column of categories may give
        several, which are numbered.
    column_names : list of str
        Names of the columns of the input, numbered where they have none.
    codebooks : dict of int to Codebook
        The numbers of the categories of a column, by its position in the input.
    columns : list of int
        The column of the input that every feature comes from.
    categories : dict of str to dict
        For every feature that stands for a column of categories, by name, the number of each
        category.
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
    probability_scale : float
        The factor s of the probabilities ``softmax(s F)``.
    tables : PlainTables
        What the ensemble computes.
    """

    kind: str
    classes: NDArray
    feature_names: list[str]
    column_names: list[str]
    codebooks: dict[int, Codebook]
    columns: list[int]
    categories: dict[str, dict[Any, float]]
    fill: NDArray | None
    n_features: int
    dtype: np.dtype
    scaling: StandardScaling | None
    missing: bool
    probability_scale: float
    tables: PlainTables

    @property
    def title(self) -> str:
        """What the model is, for the first line of a file."""
        return (
            f"{self.kind} of randomboost {__version__}: {self.n_features} features, "
            f"{len(self.classes)} classes."
        )


def check_name(name: str, what: str, reserved: Collection[str], signs: str = "") -> None:
    """Raise an error if the name of an exported function or object cannot be one.

    Parameters
    ----------
    name : str
        The name.
    what : str
        What it names.
    reserved : collection of str
        Words that have another meaning.
    signs : str
        Further signs that a name may begin with or have; digits and ``_`` may follow a letter.
    """
    first, following = rf"[A-Za-z{signs}]", rf"[\w{signs}]*"
    if not re.fullmatch(first + following, name, re.ASCII) or name in reserved:
        raise ValueError(
            f"name={name!r} cannot name {what}: use letters, digits and _, and no reserved word"
        )


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
    if type(model).__name__ not in CLASSIFIERS:
        raise ValueError(
            f"model={type(model).__name__} is no classifier of randomboost: pass a fitted one, or "
            "a Pipeline of a TablePreparation and one; for other pipelines there is skl2onnx, see "
            "randomboost.export.onnx.register"
        )
    check_is_fitted(model)
    fitted = model.model_
    encoding = fitted.inputs.encoding if fill is None else first.encoding_
    books = {} if encoding is None else encoding.codebooks
    if books and not encoded:
        listed = ", ".join(repr(book.name) for book in books.values())
        raise ValueError(
            f"the model has columns of categories ({listed}): an export takes numbers only; pass "
            "encoded=True to export it with the numbers of the categories as its input"
        )
    given = list(getattr(first, "feature_names_in_", []))
    names = given if encoding is None else encoding.names(given)
    return PortableModel(
        kind=type(model).__name__,
        classes=fitted.classes,
        feature_names=names,
        column_names=given or [f"x{place}" for place in range(first.n_features_in_)],
        codebooks=books,
        columns=list(range(fitted.n_features)) if encoding is None else encoding.sources.tolist(),
        categories={
            names[place] if names else str(place): each
            for place, each in ({} if encoding is None else encoding.numbers()).items()
        },
        fill=fill,
        n_features=fitted.n_features,
        dtype=fitted.inputs.dtype,
        scaling=fitted.inputs.scaling,
        missing=fitted.ensemble.takes_missing and fill is None,
        probability_scale=fitted.probability_scale,
        tables=_on_features(fitted.ensemble.tables(fitted.shape), fitted.n_features),
    )


def _on_features(tables: PlainTables, n_features: int) -> PlainTables:
    """Return trees with vector leaves on the features themselves where they mix none."""
    trees = tables.trees
    if trees is None or trees.leaf_starts is None or tables.rows is None:
        return tables
    columns = trees.columns
    if tables.n_values:
        rows = tables.rows(np.arange(tables.n_values))
        if (np.diff(rows.indptr) != 1).any() or (rows.data != 1).any():
            return tables
        columns = np.where(columns < 0, -1, rows.indices[columns]).astype(np.int64)
    trees = replace(trees, columns=columns)
    return replace(tables, trees=trees, n_values=n_features, rows=None)
