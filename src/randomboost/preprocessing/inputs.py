"""What is done to checked input before an ensemble sees it: categories, precision, scaling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .categories import TableEncoding, is_table
from .scaling import StandardScaling


@dataclass(frozen=True)
class InputPreparation:
    """How input becomes the features that an ensemble sees.

    Parameters
    ----------
    encoding : TableEncoding or None
        How the categories of a table become numbers.
    scaling : StandardScaling or None
        How features are scaled.
    dtype : dtype
        Precision in which features are worked on.
    """

    encoding: TableEncoding | None
    scaling: StandardScaling | None
    dtype: np.dtype

    def encoded(self, X: Any) -> Any:
        """Return a table with numbers in place of categories; all else as it is."""
        return X if self.encoding is None or not is_table(X) else self.encoding.apply(X)

    def scaled(self, X: Any) -> Any:
        """Return checked features as the ensemble wants them."""
        X = X.astype(self.dtype, copy=False)
        if sp.issparse(X):
            X = X.sorted_indices()  # sums run in the order of the features
        return X if self.scaling is None else self.scaling.apply(X)
