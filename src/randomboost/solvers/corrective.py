"""Totally corrective weights: solves for all of w >= 0, with an l1 penalty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize

LARGEST_WEIGHT = 20.0  # bound on weights if the loss has no minimum

ROUND_TOLERANCE = 1e-6  # of the few iterations per round

# The paper's settings of L-BFGS-B: 100 iterations, 5 corrections, factr 1e7. gtol is far below
# SciPy's default of 1e-5, because nu may be smaller than that.
SOLVER_DEFAULTS: dict[str, Any] = {
    "maxiter": 100,
    "maxcor": 5,
    "ftol": 1e7 * np.finfo(np.float64).eps,
    "gtol": 1e-10,
    "problem": "primal",
}
PROBLEMS = ("primal", "dual")
_COUNTS = {"maxcor", "maxfun", "maxiter", "maxls"}
_TOLERANCES = {"ftol", "gtol"}


def solver_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the paper's settings of the solver with some of them replaced.

    Parameters
    ----------
    options : mapping or None
        Replacements.

    Returns
    -------
    dict
        Options of SciPy's L-BFGS-B, and "problem".

    Raises
    ------
    ValueError
        If a name is unknown or a value makes no sense.
    """
    for name, value in (options or {}).items():
        if name in _COUNTS:
            right, wanted = (
                isinstance(value, Integral) and int(value) >= 1,
                "an integer >= 1",
            )
        elif name == "problem":
            right, wanted = value in PROBLEMS, "'primal' or 'dual'"
        elif name in _TOLERANCES:
            right, wanted = (
                isinstance(value, Real) and 0 <= float(value) < np.inf,
                "a finite number >= 0",
            )
        else:
            raise ValueError(
                f"solver_options has the unknown entry {name!r}: use "
                f"{sorted(_COUNTS | _TOLERANCES | {'problem'})}"
            )
        if isinstance(value, bool) or not right:
            raise ValueError(f"solver_options has {name!r}: {value!r}, but it must be {wanted}")
    return {**SOLVER_DEFAULTS, **(options or {})}


def minimise(
    objective: Callable[[NDArray], tuple[float, NDArray]],
    start: NDArray,
    options: Mapping[str, Any],
    *,
    typical: float = 1.0,
    unit: float = 1.0,
) -> tuple[NDArray, float]:
    """Minimise a smooth convex function over w >= 0 by L-BFGS-B.

    The solver works on value and w relative to their typical sizes, because its first step and its
    convergence test assume a scale of about 1. No entry of w exceeds `LARGEST_WEIGHT` typical
    sizes: the logarithm in (rankPrimal) has no minimum if the margins of all pairs can grow faster
    than the penalty.

    Parameters
    ----------
    objective : callable
        Returns value and gradient at w.
    start : ndarray
        Initial w.
    options : mapping
        Options of SciPy's L-BFGS-B; "problem" is not one of them.
    typical : float
        Typical size of an entry of w.
    unit : float
        Typical size of the value.

    Returns
    -------
    tuple of (ndarray, float)
        The minimiser and the value.
    """

    def scaled(part: NDArray) -> tuple[float, NDArray]:
        value, gradient = objective(part * typical)
        return value / unit, gradient * (typical / unit)

    found = minimize(
        scaled,
        np.minimum(start / typical, LARGEST_WEIGHT),
        jac=True,
        method="L-BFGS-B",
        bounds=Bounds(np.zeros(len(start)), np.full(len(start), LARGEST_WEIGHT)),
        options={name: value for name, value in options.items() if name != "problem"},
    )
    return np.maximum(found.x * typical, 0.0), float(found.fun) * unit
