"""What `model.explain` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of features to scores; with the base value they add up to the score.

    Where the package shap is installed, `explain` returns a ``shap.Explanation`` instead, which
    the plots of shap take; it has all attributes that are listed here.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features) or (n_samples, n_features, n_outputs)
        Contributions.
    base_values : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        What the scores are on average over the training data.
    data : ndarray of shape (n_samples, n_features)
        Values of the features, with numbers in place of categories.
    feature_names : list of str
        Names of the features.
    classes : ndarray of shape (n_samples,) or (n_samples, n_outputs)
        The classes whose scores are explained.
    display_data : ndarray of shape (n_samples, n_features) or None
        Values of the features as they were given, where `data` is not the same.

    See Also
    --------
    randomboost.plots.ContributionDisplay : Draws contributions.
    """

    values: NDArray
    base_values: NDArray
    data: NDArray
    feature_names: list[str]
    classes: NDArray
    display_data: NDArray | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Explanation:
        """Return the explanation of one row (a number), or of some (a slice, numbers, flags)."""
        shown = self.display_data
        return Explanation(
            self.values[rows],
            self.base_values[rows],
            self.data[rows],
            self.feature_names,
            self.classes[rows],
            None if shown is None else shown[rows],
        )

    @property
    def scores(self) -> NDArray:
        """Scores of the classes: base values and the sums of all contributions."""
        return total(self)

    def to_shap(self) -> Any:
        """Raise: without shap there is no ``shap.Explanation``.

        Returns
        -------
        shap.Explanation
            Never by this class; where shap is installed, `explain` returns one.
        """
        raise ImportError(
            "to_shap needs the package shap: pip install randomboost[explain], then explain again"
        )


def total(explanation: Any) -> NDArray:
    """Return base values and the sums of all contributions.

    Parameters
    ----------
    explanation : Explanation or shap.Explanation
        Contributions to the scores of one row or of several.

    Returns
    -------
    ndarray
        The scores, of the shape of the base values.
    """
    features = np.ndim(explanation.data) - 1  # the axis: the first of a single row
    return explanation.base_values + explanation.values.sum(axis=features)
