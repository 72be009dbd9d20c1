"""Margin bounds for random projections (Theorems 1 and 2, Lemmas 1 and 2 of the paper).

Every projection here is a Gaussian matrix ``P`` with ``n`` rows and entries ``N(0, 1/n)``.
The functions compute the formulas as printed. Where a printed claim does not hold, the
docstring says so, and ``corrected=True`` gives a bound that does hold for the same ``n``.
Bounds are not clipped to the values a margin or a cosine can take; probabilities are.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

__all__ = [
    "inner_product_bounds",
    "inner_product_probability",
    "margin_bound_preservation",
    "margin_bound_single_vector",
    "min_projections_preservation",
    "min_projections_single_vector",
    "multiclass_margin",
    "norm_probability",
]


def min_projections_preservation(eps: float, delta: float, n_samples: int, n_classes: int) -> int:
    """Compute the smallest number of projections that Theorem 1 accepts.

    It is the smallest integer ``n > 12 / (3 eps^2 - 2 eps^3) * ln(6 k m / delta)``.

    Parameters
    ----------
    eps : float
        Distortion, in (0, 1).
    delta : float
        Probability with which the margin bound may fail, in (0, 1).
    n_samples : int
        Number of samples ``m``, at least 1.
    n_classes : int
        Number of classes ``k``, at least 2.

    Returns
    -------
    int
        Number of rows ``n`` of the projection matrix.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    margin_bound_preservation : The margin that this many projections guarantee.

    Examples
    --------
    >>> min_projections_preservation(0.1, 0.05, n_samples=1000, n_classes=10)
    6000
    """
    _check_count("n_samples", n_samples, 1)
    _check_count("n_classes", n_classes, 2)
    return _min_projections(eps, delta, 6 * n_classes * n_samples)


def min_projections_single_vector(eps: float, delta: float, n_samples: int, n_classes: int) -> int:
    """Compute the smallest number of projections that Theorem 2 accepts.

    It is the smallest integer ``n > 12 / (3 eps^2 - 2 eps^3) * ln(6 m (k - 1) / delta)``.

    Parameters
    ----------
    eps : float
        Distortion, in (0, 1). The paper also admits 1, where its margin bound divides by 0.
    delta : float
        Probability with which the margin bound may fail, in (0, 1).
    n_samples : int
        Number of samples ``m``, at least 1.
    n_classes : int
        Number of classes ``k``, at least 2.

    Returns
    -------
    int
        Number of rows ``n`` of the projection matrix.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    See Also
    --------
    margin_bound_single_vector : The margin that this many projections guarantee.

    Notes
    -----
    The paper concludes that ``n`` grows only with ``ln k``. That is so for a fixed `eps`, but
    the bound of Theorem 2 is positive only for `eps` below about ``margin / sqrt(8 k)``. For the
    theorem to guarantee a positive margin, ``n`` must therefore exceed about
    ``32 k / margin^2 ln(6 m (k - 1) / delta)``, which grows faster than ``k``.

    Examples
    --------
    >>> min_projections_single_vector(0.1, 0.05, n_samples=1000, n_classes=10)
    5954
    """
    _check_count("n_samples", n_samples, 1)
    _check_count("n_classes", n_classes, 2)
    return _min_projections(eps, delta, 6 * n_samples * (n_classes - 1))


def margin_bound_preservation(margin: float, eps: float, *, corrected: bool = False) -> float:
    """Bound the margin after projecting outputs and coefficients (Theorem 1) from below.

    With ``g`` the margin before the projection, the printed bound is
    ``-(1 + 3 eps) / (1 - eps^2) + sqrt(1 - eps^2) / (1 + eps) + (1 + eps) / (1 - eps) g``.

    Parameters
    ----------
    margin : float
        Margin before the projection, in [-2, 2]; see `multiclass_margin`.
    eps : float
        Distortion, in (0, 1).
    corrected : bool, default=False
        Whether to return ``2 - (1 + eps) / (1 - eps) (2 - g)`` instead, which holds always.

    Returns
    -------
    float
        Lower bound on the margin after the projection, not clipped to [-2, 2].

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    The bound is about ``g - 2 eps (2 - g)`` for small `eps`, so it says little unless `eps` is
    small. As printed it is positive only for ``eps < 0.167`` if ``g = 0.5`` and for
    ``eps < 1 / sqrt(2)`` if ``g = 1``; for ``g = 0.5`` and ``eps > 0.617`` it is below -2, which
    no margin can be. The corrected bound is positive for ``eps < g / (4 - g)``.

    The paper's proof replaces ``-(1 - eps) / (1 + eps) c`` by ``-(1 + eps) / (1 - eps) c``, where
    ``c`` is the largest cosine with a wrong class. This needs ``c >= 0`` for every sample, a
    premise the theorem does not state, and which implies ``g <= 1``. For ``g > 1`` the theorem is
    wrong: the factor of ``g`` exceeds 1, and the bound exceeds ``g`` itself (``g = 1.5``:
    ``eps > 0.374``) and then 2 (``eps > 0.574``; ``g = 2``: every `eps`). For ``g <= 1`` the bound
    is below ``g``; with ``c < 0`` it is unproven, but simulation found no counterexample.

    The corrected bound applies the lower bound of Lemma 1 to ``w_y`` and to ``-w_r`` of each
    wrong class ``r``. It needs no premise, holds for the ``n`` of Theorem 1 and never
    exceeds ``g``.

    Examples
    --------
    >>> round(margin_bound_preservation(0.5, 0.1), 4)
    0.2025
    >>> round(margin_bound_preservation(0.5, 0.1, corrected=True), 4)
    0.1667
    """
    _check_margin(margin)
    _check_fraction("eps", eps)
    stretch = (1 + eps) / (1 - eps)
    if corrected:
        return 2 - stretch * (2 - margin)
    offset = -(1 + 3 * eps) / (1 - eps**2) + math.sqrt(1 - eps**2) / (1 + eps)
    return offset + stretch * margin


def margin_bound_single_vector(
    margin: float, eps: float, n_classes: int, *, corrected: bool = False
) -> float:
    """Bound the margin of a single-vector classifier (Theorem 2) from below.

    With ``g`` the margin before the projection, the printed bound is
    ``-2 eps / (1 - eps) + (1 + eps) / (sqrt(2 k) (1 - eps)) g``.

    Parameters
    ----------
    margin : float
        Margin before the projection, in [-2, 2]; see `multiclass_margin`.
    eps : float
        Distortion, in (0, 1).
    n_classes : int
        Number of classes ``k``, at least 2.
    corrected : bool, default=False
        Whether to multiply a positive bound by ``sqrt((1 - eps) / (1 + eps))``.

    Returns
    -------
    float
        Lower bound on the normalised margin of ``v``, not clipped to [-1, 1].

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    ``v = R u`` where ``u`` is the concatenation of the unit vectors ``w_r / |w_r|``: its norm
    is ``sqrt(k)``, and the difference of two blocks has norm ``sqrt(2) |H|``, hence
    ``sqrt(2 k)``. Even for ``eps -> 0`` no more than ``g / sqrt(2 k)`` is left. The bound is
    positive only for ``eps < s / (2 - s)`` with ``s = g / sqrt(2 k)``: for ``k = 10``,
    ``eps < 0.126`` if ``g = 1`` and ``eps < 0.0592`` if ``g = 0.5``.

    The proof bounds ``<v, P_y H - P_r H> / (|v| |P_y H - P_r H|)``, and for this normalisation
    the bound holds. The theorem states it with ``sqrt(|P_y H|^2 + |P_r H|^2)`` as the divisor
    instead, which may be larger, so that a positive bound can fail: for ``k = 2`` and
    ``w_1 = -w_2 = H`` (``g = 2``) the bound is 1 and holds with probability 1/2 for every
    ``n``. The corrected bound holds for the printed divisor and the ``n`` of Theorem 2.

    Examples
    --------
    >>> round(margin_bound_single_vector(1.0, 0.05, n_classes=10), 4)
    0.1419
    >>> round(margin_bound_single_vector(1.0, 0.05, n_classes=10, corrected=True), 4)
    0.135
    """
    _check_margin(margin)
    _check_fraction("eps", eps)
    _check_count("n_classes", n_classes, 2)
    bound = (-2 * eps + (1 + eps) * margin / math.sqrt(2 * n_classes)) / (1 - eps)
    if corrected and bound > 0:
        bound *= math.sqrt((1 - eps) / (1 + eps))
    return bound


def inner_product_probability(n_projections: int, eps: float) -> float:
    """Compute the probability with which Lemma 1 bounds a projected cosine.

    It is ``1 - 6 exp(-n / 2 (eps^2 / 2 - eps^3 / 3))``, clipped at 0: the lemma is vacuous up to
    ``n = 12 ln 6 / (3 eps^2 - 2 eps^3)``.

    Parameters
    ----------
    n_projections : int
        Number of rows ``n`` of the projection matrix, at least 1.
    eps : float
        Distortion, in (0, 1).

    Returns
    -------
    float
        Probability, at least, of `inner_product_bounds`.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> round(inner_product_probability(2000, 0.1), 4)
    0.9436
    >>> inner_product_probability(100, 0.1)
    0.0
    """
    return _probability(n_projections, eps, 6)


def norm_probability(n_projections: int, eps: float) -> float:
    """Compute the probability with which a projection preserves a norm (Lemma 2).

    It is ``1 - 2 exp(-n / 2 (eps^2 / 2 - eps^3 / 3))``, clipped at 0: the lemma is vacuous up to
    ``n = 12 ln 2 / (3 eps^2 - 2 eps^3)``.

    Parameters
    ----------
    n_projections : int
        Number of rows ``n`` of the projection matrix, at least 1.
    eps : float
        Distortion, in (0, 1).

    Returns
    -------
    float
        Probability, at least, of ``1 - eps <= |P x|^2 / |x|^2 <= 1 + eps``.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    The second tail bound in the paper's proof has its inequality reversed: the exponential
    bounds the probability of ``|P x|^2 >= (1 + eps) |x|^2``, not of ``<=``. The lemma is right.

    Examples
    --------
    >>> round(norm_probability(2000, 0.1), 4)
    0.9812
    """
    return _probability(n_projections, eps, 2)


def inner_product_bounds(cosine: float, eps: float) -> tuple[float, float]:
    """Bound the cosine of two projected vectors (Lemma 1, eq:inner).

    With ``c`` the cosine before the projection, the bounds are
    ``1 - (1 + eps) / (1 - eps) (1 - c)`` and
    ``1 - sqrt(1 - eps^2) / (1 + eps) + eps / (1 + eps) + (1 - eps) / (1 + eps) c``.

    Parameters
    ----------
    cosine : float
        Cosine ``c`` of the angle between the two vectors, in [-1, 1].
    eps : float
        Distortion, in (0, 1).

    Returns
    -------
    lower : float
        Lower bound on the cosine after the projection, not clipped to [-1, 1].
    upper : float
        Upper bound, likewise.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Both bounds hold whenever the squared norms of the two vectors and of the difference of their
    unit vectors are preserved up to `eps`. The lemma asks for ``c`` in (0, 1], but this holds
    for all of [-1, 1]. The first inequality of eq:r2 in the proof is false unless the
    projected cosine is at least ``eps / (1 + eps - sqrt(1 - eps^2))``, close to 1; the outer
    inequality, and so the upper bound, is true.

    The lower bound says nothing for ``c <= (3 eps - 1) / (1 + eps)``, the upper for
    ``c >= (sqrt(1 - eps^2) - eps) / (1 - eps)``.

    Examples
    --------
    >>> lower, upper = inner_product_bounds(0.5, 0.1)
    >>> round(lower, 4), round(upper, 4)
    (0.3889, 0.5955)
    """
    if not -1 <= cosine <= 1:
        raise ValueError(f"cosine must be in [-1, 1], got {cosine!r}; divide by both norms.")
    _check_fraction("eps", eps)
    lower = 1 - (1 + eps) / (1 - eps) * (1 - cosine)
    upper = 1 + (eps - math.sqrt(1 - eps**2) + (1 - eps) * cosine) / (1 + eps)
    return lower, upper


def multiclass_margin(
    outputs: npt.ArrayLike, coefficients: npt.ArrayLike, y: npt.ArrayLike
) -> float:
    """Compute the multi-class margin of a boosted ensemble (Definition 1).

    It is the smallest value over the samples of ``cos(w_y, H(x)) - max_{r != y} cos(w_r, H(x))``.

    Parameters
    ----------
    outputs : array-like of shape (n_samples, n_learners)
        Outputs ``H`` of the weak learners.
    coefficients : array-like of shape (n_classes, n_learners)
        Coefficients ``W`` of the weak learners, a row for each class.
    y : array-like of shape (n_samples,)
        Class of each sample, as integers from 0 to ``n_classes - 1``.

    Returns
    -------
    float
        Margin in [-2, 2]; positive if and only if the cosine of the true class is the largest
        one for every sample.

    Raises
    ------
    ValueError
        If a shape, a label or a value does not fit, or a row has norm 0.

    Examples
    --------
    >>> round(multiclass_margin([[1, 0], [0, 1]], [[3, 4], [0, 2]], [0, 1]), 4)
    0.2
    """
    output_directions = _unit_rows("outputs", outputs)
    class_directions = _unit_rows("coefficients", coefficients)
    labels = np.asarray(y)
    n_samples, n_learners = output_directions.shape
    n_classes = class_directions.shape[0]
    if class_directions.shape[1] != n_learners:
        raise ValueError(
            f"coefficients has {class_directions.shape[1]} columns but outputs has {n_learners}; "
            "pass one column for each weak learner in both."
        )
    if n_classes < 2:
        raise ValueError("coefficients has 1 row; pass a row for each of at least 2 classes.")
    if labels.shape != (n_samples,):
        raise ValueError(
            f"y has shape {labels.shape}; pass one label for each of the {n_samples} outputs."
        )
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= n_classes:
        raise ValueError(
            f"y must hold integers from 0 to {n_classes - 1}, the row numbers of coefficients; "
            "encode other labels with np.unique(y, return_inverse=True)."
        )
    cosines = np.clip(output_directions @ class_directions.T, -1, 1)
    samples = np.arange(n_samples)
    true_cosines = cosines[samples, labels]
    cosines[samples, labels] = -np.inf
    return float(np.min(true_cosines - cosines.max(axis=1)))


def _min_projections(eps: float, delta: float, n_events: int) -> int:
    _check_fraction("eps", eps)
    _check_fraction("delta", delta)
    log_term = math.log(n_events) - math.log(delta)
    return math.floor(12 / (3 * eps**2 - 2 * eps**3) * log_term) + 1


def _probability(n_projections: int, eps: float, n_events: int) -> float:
    _check_count("n_projections", n_projections, 1)
    _check_fraction("eps", eps)
    return max(0.0, 1 - n_events * math.exp(-n_projections / 2 * (eps**2 / 2 - eps**3 / 3)))


def _unit_rows(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"{name} has shape {rows.shape}; pass a non-empty 2-dimensional array.")
    if not np.isfinite(rows).all():
        raise ValueError(f"{name} holds NaN or infinity; remove or replace these values.")
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise ValueError(
            f"{name} has norm 0 in row {int(np.argmin(largest))}, so its angles are undefined; "
            "drop this row or train longer."
        )
    scaled = rows / largest  # keeps the squares from overflow and underflow
    unit: npt.NDArray[np.float64] = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit


def _check_fraction(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must be in (0, 1), got {value!r}; 0.1 is a usual choice.")


def _check_margin(margin: float) -> None:
    if not -2 <= margin <= 2:
        raise ValueError(
            f"margin must be in [-2, 2], as a difference of two cosines, got {margin!r}; "
            "compute it with multiclass_margin."
        )


def _check_count(name: str, value: int, lowest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < lowest:
        raise ValueError(f"{name} must be an integer >= {lowest}, got {value!r}; pass a count.")
