"""Counter-based standard normals, fixed to the last bit by this file.

A value is a pure function of ``(seed, stream, class, row, column)``: Philox-4x32-10 turns the
counter into 32 random bits, and the inverse normal distribution function (Wichura's AS 241,
with its own logarithm) turns those into a normal. Only IEEE additions, multiplications,
divisions and square roots are used, so the bits are the same on every machine and with every
version of NumPy. Changing anything here breaks every saved model: the golden values in
``tests/runtime/test_random_stream.py`` must never change.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiling import kernel

# Streams keep the uses of one seed apart.
DATA_STREAM = 0  # projections of the data (RBoost-rank)
OUTPUT_STREAM = 1  # projections of the weak learners' outputs (RBoost-proj)
CODE_STREAM = 2  # class codes
DIRECTION_STREAM = 3  # directions that trees compare with cuts
CHOICE_STREAM = 4  # features and classes of a direction
SKETCH_STREAM = 5  # projections of gradients

_MASK = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_MULTIPLIER_0 = np.uint64(0xD2511F53)
_MULTIPLIER_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint64(0x9E3779B9)
_WEYL_1 = np.uint64(0xBB67AE85)
_LOG_2 = 0.6931471805599453
_LOG_TERMS = 17  # the series in s^2 <= 1/9 is exact to double precision after 17 terms


@kernel
def _philox(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> tuple[Any, Any, Any, Any]:
    """Ten rounds of Philox-4x32 (Salmon et al. 2011) on words held in uint64."""
    for _ in range(10):
        product_0 = _MULTIPLIER_0 * c0
        product_1 = _MULTIPLIER_1 * c2
        c0 = ((product_1 >> _SHIFT) ^ c1 ^ k0) & _MASK
        c1 = product_1 & _MASK
        c2 = ((product_0 >> _SHIFT) ^ c3 ^ k1) & _MASK
        c3 = product_0 & _MASK
        k0 = (k0 + _WEYL_0) & _MASK
        k1 = (k1 + _WEYL_1) & _MASK
    return c0, c1, c2, c3


@kernel
def _log_fraction(numerator: int) -> float:
    """Natural logarithm of ``numerator / 2**33`` for an integer in [1, 2**33)."""
    exponent = 0
    while numerator < 2**32:
        numerator = numerator * 2
        exponent += 1
    fraction = numerator / 2.0**33  # in [0.5, 1)
    s = (fraction - 1.0) / (fraction + 1.0)
    square = s * s
    series = 0.0
    for term in range(_LOG_TERMS, -1, -1):
        series = series * square + 1.0 / (2.0 * term + 1.0)
    return 2.0 * s * series - exponent * _LOG_2


@kernel
def _normal(word: Any) -> float:
    """Inverse normal distribution function (AS 241) at ``(word + 1/2) / 2**32``."""
    bits = np.int64(word)
    q = (2 * bits + 1 - 2**32) / 2.0**33
    if abs(q) <= 0.425:
        r: Any = 0.180625 - q * q
        top = (
            (
                (
                    (
                        (
                            (2509.0809287301226727 * r + 33430.575583588128105) * r
                            + 67265.770927008700853
                        )
                        * r
                        + 45921.953931549871457
                    )
                    * r
                    + 13731.693765509461125
                )
                * r
                + 1971.5909503065514427
            )
            * r
            + 133.14166789178437745
        ) * r + 3.387132872796366608
        bottom = (
            (
                (
                    (
                        (
                            (5226.495278852545925 * r + 28729.085735721942674) * r
                            + 39307.89580009271061
                        )
                        * r
                        + 21213.794301586595867
                    )
                    * r
                    + 5394.1960214247511077
                )
                * r
                + 687.1870074920579083
            )
            * r
            + 42.313330701600911252
        ) * r + 1.0
        return q * top / bottom
    tail = 2 * bits + 1 if q < 0 else 2**33 - (2 * bits + 1)
    r = math.sqrt(-_log_fraction(tail)) - 1.6  # at most 3.2: AS 241's far tail is out of reach
    top = (
        (
            (
                (
                    (
                        (7.7454501427834140764e-4 * r + 0.0227238449892691845833) * r
                        + 0.24178072517745061177
                    )
                    * r
                    + 1.27045825245236838258
                )
                * r
                + 3.64784832476320460504
            )
            * r
            + 5.7694972214606914055
        )
        * r
        + 4.6303378461565452959
    ) * r + 1.42343711074968357734
    bottom = (
        (
            (
                (
                    (
                        (1.05075007164441684324e-9 * r + 5.475938084995344946e-4) * r
                        + 0.0151986665636164571966
                    )
                    * r
                    + 0.14810397642748007459
                )
                * r
                + 0.68976733498510000455
            )
            * r
            + 1.6763848301838038494
        )
        * r
        + 2.05319162663775882187
    ) * r + 1.0
    value = top / bottom
    return -value if q < 0 else value


@kernel
def _fill(
    out: NDArray,
    seed_low: Any,
    seed_high: Any,
    stream: int,
    rows: NDArray,
    column_start: int,
    scale: float,
) -> None:
    n_classes, n_rows, n_columns = out.shape
    stop = column_start + n_columns
    first_block = column_start // 4
    last_block = (stop + 3) // 4
    for k in range(n_classes):
        for i in range(n_rows):
            for block in range(first_block, last_block):
                words = _philox(
                    np.uint64(block),
                    np.uint64(rows[i]),
                    np.uint64(k),
                    np.uint64(stream),
                    seed_low,
                    seed_high,
                )
                for lane in range(4):
                    column = block * 4 + lane
                    if column_start <= column < stop:
                        out[k, i, column - column_start] = _normal(words[lane]) * scale


@kernel
def _fill_uniform(out: NDArray, seed_low: Any, seed_high: Any, stream: int) -> None:
    n_rows, n_columns = out.shape
    for i in range(n_rows):
        for block in range((n_columns + 3) // 4):
            words = _philox(
                np.uint64(block),
                np.uint64(i),
                np.uint64(0),
                np.uint64(stream),
                seed_low,
                seed_high,
            )
            for lane in range(min(4, n_columns - 4 * block)):
                out[i, 4 * block + lane] = words[lane] / 2.0**32


def uniforms(seed: int, stream: int, n_rows: int, n_columns: int) -> NDArray:
    """Return uniform numbers in [0, 1); a row does not depend on the number of rows or columns.

    Parameters
    ----------
    seed : int
        Seed, 0 <= seed < 2**64.
    stream : int
        Stream, one for every use of the seed.
    n_rows, n_columns : int
        Shape of the result.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_columns)
        The numbers.
    """
    out = np.empty((n_rows, n_columns))
    _fill_uniform(out, np.uint64(seed & 0xFFFFFFFF), np.uint64(seed >> 32), stream)
    return out


@kernel
def scrambled(number: Any) -> Any:
    """Scramble 64 bits by the finaliser of SplitMix64: cheap random bits from a counter."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


def normals(
    seed: int,
    stream: int,
    n_classes: int,
    rows: NDArray[np.int64],
    columns: tuple[int, int],
    *,
    scale: float = 1.0,
    dtype: np.dtype | type = np.float64,
) -> NDArray:
    """Return scaled standard normals of the given rows and column range for every class.

    Parameters
    ----------
    seed : int
        Seed, 0 <= seed < 2**64.
    stream : int
        Stream, one for every use of the seed.
    n_classes : int
        Number of classes k; the result holds the classes 0 .. k - 1.
    rows : ndarray of int64
        Row numbers, in any order.
    columns : tuple of int
        First column and the one past the last.
    scale : float
        Every value is multiplied by this.
    dtype : dtype
        Type of the result; the values are computed in float64 and then rounded.

    Returns
    -------
    ndarray of shape (n_classes, len(rows), columns[1] - columns[0])
        The values.
    """
    start, stop = columns
    out = np.empty((n_classes, len(rows), stop - start))
    _fill(
        out,
        np.uint64(seed & 0xFFFFFFFF),
        np.uint64(seed >> 32),
        stream,
        np.ascontiguousarray(rows, dtype=np.int64),
        start,
        scale,
    )
    return out.astype(dtype, copy=False)
