"""What `model.explain` returns where the package shap is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import shap
from numpy.typing import NDArray

from .explanation import Explanation, total


class ShapExplanation(shap.Explanation):
    """A ``shap.Explanation`` that also knows the classes whose scores it explains."""

    classes: NDArray

    @property
    def scores(self) -> NDArray:
        """Scores of the classes: base values and the sums of all contributions."""
        return total(self)

    def to_shap(self) -> ShapExplanation:
        """Return itself, so that the same code runs with and without shap.

        Returns
        -------
        ShapExplanation
            Itself.
        """
        return self

    def __getitem__(self, item: Any) -> Any:
        """Return a part, with its classes unless they are no longer one for every score."""
        part = super().__getitem__(item)
        places = list(item) if isinstance(item, tuple) else [item]
        rows, features, outputs = places + [slice(None)] * (3 - len(places))
        if isinstance(outputs, str):
            outputs = list(self.output_names).index(outputs)
        indices = (rows, outputs)[: self.classes.ndim]
        if features != slice(None) or not all(_is_plain(index) for index in indices):
            return part
        kept = object.__new__(ShapExplanation)
        kept.__dict__.update(part.__dict__)
        kept.classes = self.classes[rows]
        if len(indices) == 2:
            kept.classes = kept.classes[..., outputs]
        return kept


def _is_plain(index: Any) -> bool:
    """Return whether NumPy takes an index, which is not one of shap's own kinds."""
    return isinstance(index, slice | list | np.ndarray | int | np.integer)


def from_plain(explanation: Explanation) -> ShapExplanation:
    """Return an explanation in the form that the plots of shap take.

    Parameters
    ----------
    explanation : Explanation
        The explanation of several rows.

    Returns
    -------
    ShapExplanation
        With ``output_names`` where the same classes are explained in all rows.
    """
    names, classes = None, explanation.classes
    if classes.ndim == 2 and len(classes) and (classes == classes[0]).all():
        names = [str(label) for label in classes[0]]
    made = ShapExplanation(
        explanation.values,
        base_values=explanation.base_values,
        data=explanation.data,
        display_data=explanation.display_data,
        feature_names=explanation.feature_names,
        output_names=names,
    )
    made.classes = classes
    return made
