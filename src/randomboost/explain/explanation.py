"""What `model.explain` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """Contributions of features to scores; with the base value they add up to the score.

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
        """Return the explanation of some rows: a slice, numbers of rows, or flags."""
        if np.ndim(rows) == 0 and not isinstance(rows, slice):
            rows = [rows]
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
        return self.base_values + self.values.sum(axis=1)

    def to_shap(self) -> Any:
        """Return the same as a ``shap.Explanation``, which the plots of shap take.

        Returns
        -------
        shap.Explanation
            With ``output_names`` where the same classes are explained in all rows.
        """
        try:
            from shap import Explanation as ShapExplanation
        except ImportError as error:
            raise ImportError(
                "to_shap needs the package shap: pip install randomboost[explain]"
            ) from error
        names = None
        if self.values.ndim == 3 and len(self) and (self.classes == self.classes[0]).all():
            names = [str(label) for label in self.classes[0]]
        return ShapExplanation(
            self.values,
            base_values=self.base_values,
            data=self.data,
            display_data=self.display_data,
            feature_names=self.feature_names,
            output_names=names,
        )
