"""Products of small matrices whose sums run in a fixed order, whatever their sizes are.

BLAS gives other bits for other numbers of rows. Here a sum begins at 0 and its terms are added one
after the other; four sums of four terms at a time, so that few of them pass through memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import kernel

_LANES = 8  # columns of a product are best a multiple of this, or few
_FEW = 3
_SIDE = 4  # sums and terms that are worked on together


@kernel
def wide(n: int) -> int:
    """Return a number of columns, at least n, that takes no longer than n."""
    return n if n <= _FEW else -(-n // _LANES) * _LANES


@kernel
def _add_few(left: NDArray, first: int, n_terms: int, right: NDArray, n: int, out: NDArray) -> None:
    """As `add_product`, column by column."""
    for v in range(0, len(out), _SIDE):
        for i in range(n):
            s, t, u, w = out[v, i], out[v + 1, i], out[v + 2, i], out[v + 3, i]
            for j in range(n_terms):
                e, x = first + j, right[j, i]
                s += left[v, e] * x
                t += left[v + 1, e] * x
                u += left[v + 2, e] * x
                w += left[v + 3, e] * x
            out[v, i], out[v + 1, i], out[v + 2, i], out[v + 3, i] = s, t, u, w


@kernel
def add_product(
    left: NDArray, first: int, n_terms: int, right: NDArray, n: int, out: NDArray
) -> None:
    """Add ``sum_j left[v, first + j] right[j, i]`` over ``j < n_terms`` to ``out[v, i < n]``.

    ``out`` has a multiple of four rows. Terms are added in the order of j.
    """
    if n <= _FEW:
        _add_few(left, first, n_terms, right, n, out)
        return
    whole = n_terms - n_terms % _SIDE
    for v in range(0, len(out), _SIDE):
        a, b, c, d = left[v], left[v + 1], left[v + 2], left[v + 3]
        s, t, u, w = out[v], out[v + 1], out[v + 2], out[v + 3]
        for j in range(0, whole, _SIDE):
            e = first + j
            a0, a1, a2, a3 = a[e], a[e + 1], a[e + 2], a[e + 3]
            b0, b1, b2, b3 = b[e], b[e + 1], b[e + 2], b[e + 3]
            c0, c1, c2, c3 = c[e], c[e + 1], c[e + 2], c[e + 3]
            d0, d1, d2, d3 = d[e], d[e + 1], d[e + 2], d[e + 3]
            row0, row1, row2, row3 = right[j], right[j + 1], right[j + 2], right[j + 3]
            for i in range(n):
                x0, x1, x2, x3 = row0[i], row1[i], row2[i], row3[i]
                s[i] = (((s[i] + a0 * x0) + a1 * x1) + a2 * x2) + a3 * x3
                t[i] = (((t[i] + b0 * x0) + b1 * x1) + b2 * x2) + b3 * x3
                u[i] = (((u[i] + c0 * x0) + c1 * x1) + c2 * x2) + c3 * x3
                w[i] = (((w[i] + d0 * x0) + d1 * x1) + d2 * x2) + d3 * x3
        for j in range(whole, n_terms):
            for q in range(v, v + _SIDE):
                c0 = left[q, first + j]
                for i in range(n):
                    out[q, i] += c0 * right[j, i]


def padded(rows: NDArray) -> NDArray:
    """Return a matrix with rows of zeros added, up to a multiple of four.

    Parameters
    ----------
    rows : ndarray of shape (n, m)
        The matrix.

    Returns
    -------
    ndarray of shape (at least n, m)
        The matrix, in C order.
    """
    out = np.zeros((-(-len(rows) // _SIDE) * _SIDE, rows.shape[1]), dtype=rows.dtype)
    out[: len(rows)] = rows
    return out
