"""All that a fitted classifier predicts with: prepared features, an ensemble, class labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..preprocessing.inputs import InputPreparation
from .base import Ensemble, ModelShape


@dataclass(frozen=True)
class FittedModel:
    """A fitted classifier without its parameters.

    Parameters
    ----------
    classes : ndarray
        Class labels in order.
    n_features : int
        Number of features that the ensemble sees.
    inputs : InputPreparation
        What is done to input first.
    seed : int
        Seed of the fit.
    probability_scale : float
        The factor s of the probabilities ``softmax(s F)``.
    ensemble : Ensemble
        What turns prepared features into scores.
    """

    classes: NDArray
    n_features: int
    inputs: InputPreparation
    seed: int
    probability_scale: float
    ensemble: Ensemble

    @property
    def n_columns(self) -> int:
        """The number of columns of the input."""
        encoding = self.inputs.encoding
        return self.n_features if encoding is None else encoding.n_columns

    @property
    def shape(self) -> ModelShape:
        """The sizes of the model."""
        n_rounds, dtype = self.ensemble.n_rounds, np.dtype(self.inputs.dtype)
        return ModelShape(len(self.classes), self.n_features, n_rounds, dtype)
