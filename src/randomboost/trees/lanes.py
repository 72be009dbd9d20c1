"""Vectors of whole numbers: what a sample adds to a histogram, in lanes of 32 bits.

The lanes of a sample are its curvature, its count 1, and the sketches of its gradient. numba does
not vectorise loops as short as these, so they are written in LLVM's vectors, which every processor
has instructions for, or which are divided into smaller ones. The order of all floating-point
operations is fixed: results are the same everywhere.

Kernels are compiled for a number of lanes, which they know by the type of an argument `kind`: a
whole number of as many bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..runtime.compiling import Instructions, kernel

CURVATURE, COUNT, FIRST = 0, 1, 2  # lanes; that of the first sketch
_KINDS: dict[int, np.signedinteger] = {
    8: np.int8(0),
    16: np.int16(0),
    32: np.int32(0),
    64: np.int64(0),
}
MOST_SKETCHES = max(_KINDS) - FIRST
_ALIGNMENT = 64  # bytes: a row of 16 lanes is one line of the cache


def n_lanes(n_sketches: int) -> int:
    """Return how many lanes hold so many sketches, and what else is known of a sample.

    Parameters
    ----------
    n_sketches : int
        Number of sketches.

    Returns
    -------
    int
        8, 16, 32 or 64.
    """
    return next(width for width in _KINDS if width >= FIRST + n_sketches)


def lane_kind(width: int) -> np.signedinteger:
    """Return the number whose type tells kernels how many lanes there are.

    Parameters
    ----------
    width : int
        Number of lanes.

    Returns
    -------
    number of int8, int16, int32 or int64
        A zero.
    """
    return _KINDS[width]


def empty_lanes(*shape: int) -> NDArray[np.int32]:
    """Return an array of lanes whose rows do not cross lines of the cache more than they must.

    Parameters
    ----------
    *shape : int
        Its shape; the last entry is the number of lanes.

    Returns
    -------
    ndarray of int32
        The array, not filled in.
    """
    size = 4 * math.prod(shape)
    room = np.empty(size + _ALIGNMENT, dtype=np.uint8)
    first = -room.ctypes.data % _ALIGNMENT
    return room[first : first + size].view(np.int32).reshape(shape)


def _check(*arrays: Any) -> None:
    """Raise where a type is not that of an array of rows of lanes."""
    from numba.core import errors, types

    if any(each != types.Array(types.int32, 2, "C") for each in arrays):
        raise errors.TypingError(f"these are not rows of lanes: {arrays}")


def _row(context: Any, builder: Any, kind: Any, array: Any, place: Any, width: int) -> Any:
    """Return the pointer to a row of lanes of an array of rows."""
    from llvmlite import ir

    view = context.make_array(kind)(context, builder, array)
    first = builder.gep(view.data, [builder.mul(place, ir.Constant(place.type, width))])
    return builder.bitcast(first, ir.VectorType(ir.IntType(32), width).as_pointer())


def _rows_operation(name: str) -> Instructions:
    """Return instructions that make a row of lanes of it and another one."""

    def define(typing: Any, target: Any, to: Any, source: Any, place: Any, kind: Any) -> Any:
        from numba.core import types

        _check(target, source)
        width = kind.bitwidth

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            kinds = signature.args
            goal = _row(context, builder, kinds[0], arguments[0], arguments[1], width)
            row = builder.load(
                _row(context, builder, kinds[2], arguments[2], arguments[3], width), align=4
            )
            if name != "copy":
                row = getattr(builder, name)(builder.load(goal, align=4), row)
            builder.store(row, goal, align=4)
            return context.get_dummy_value()

        return types.void(target, types.intp, source, types.intp, kind), generate

    return Instructions(define, (name,))


def _define_expect(typing: Any, array: Any, row: Any, column: Any) -> Any:
    """Let the cache fetch an entry of an array of two dimensions that is read soon."""
    from llvmlite import ir
    from numba.core import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        strides = (builder.extract_value(view.strides, axis) for axis in range(2))
        steps = [builder.mul(*pair) for pair in zip(strides, arguments[1:], strict=True)]
        byte = ir.IntType(8).as_pointer()
        place = builder.gep(builder.bitcast(view.data, byte), [builder.add(*steps)])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        name = "llvm.prefetch.p0i8"
        fetch = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        builder.call(fetch, [place, *(ir.Constant(number, value) for value in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate


expect = Instructions(_define_expect)
add_lanes, subtract_lanes, copy_lanes = map(_rows_operation, ("add", "sub", "copy"))


def _sum_of(builder: Any, vector: Any, width: int) -> Any:
    """Return the sum of a vector: of its halves, until one number is left."""
    from llvmlite import ir

    index = ir.IntType(32)
    while width > 1:
        width //= 2
        halves = (
            builder.shuffle_vector(
                vector,
                vector,
                ir.Constant(
                    ir.VectorType(index, width),
                    [ir.Constant(index, first + lane) for lane in range(width)],
                ),
            )
            for first in (0, width)
        )
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, ir.Constant(index, 0))


def _define_scan(
    typing: Any, rows: Any, first: Any, places: Any, n: Any, totals: Any, node: Any, ridge: Any,
    least: Any, sums: Any, gains: Any, kind: Any,
) -> Any:  # fmt: skip
    """Find the gains of the cuts of the histogram that begins at a row, and clear it.

    ``places`` are its n bins in use, ``sums`` is filled in with the lanes left of every cut, and
    ``gains``: with L the sum of the lanes left of a cut and R that of the others, its gain is
    ``|L|**2 / (curvature of L + ridge) + |R|**2 / (curvature of R + ridge)`` of the sketches, in
    single precision, or 0 where a side has too few samples. Returns the largest gain.
    """
    from llvmlite import ir
    from numba.core import cgutils, types

    _check(rows, totals, sums)
    width = kind.bitwidth
    index, single = ir.IntType(32), ir.FloatType()
    lanes, numbers = ir.VectorType(index, width), ir.VectorType(single, width)

    def constant(*values: int) -> Any:
        kind = ir.VectorType(index, len(values))
        return ir.Constant(kind, [ir.Constant(index, value) for value in values])

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        zero, none = ir.Constant(lanes, None), ir.Constant(numbers, None)
        total = builder.load(
            _row(context, builder, kinds[4], arguments[4], arguments[5], width), align=4
        )
        order = context.make_array(kinds[2])(context, builder, arguments[2]).data
        left_sum = cgutils.alloca_once_value(builder, zero)
        best = cgutils.alloca_once_value(builder, ir.Constant(single, 0.0))
        values = context.make_array(kinds[9])(context, builder, arguments[9]).data
        pair = ir.VectorType(single, 2)
        penalties = ir.Constant(pair, ir.Undefined)
        for side in range(2):
            penalties = builder.insert_element(penalties, arguments[6], ir.Constant(index, side))
        ones = ir.Constant(pair, [ir.Constant(single, 1.0)] * 2)
        sketches = constant(width, width, *range(FIRST, width))  # the first lanes are 0

        def number(vector: Any, lane: int) -> Any:
            return builder.extract_element(vector, ir.Constant(index, lane))

        with cgutils.for_range(builder, arguments[3]) as loop:
            place = builder.load(builder.gep(order, [loop.index]))
            row = _row(
                context, builder, kinds[0], arguments[0], builder.add(arguments[1], place),
                width,
            )  # fmt: skip
            summed = builder.add(builder.load(left_sum), builder.load(row, align=4))
            builder.store(summed, left_sum)
            builder.store(zero, row, align=4)
            kept = _row(context, builder, kinds[8], arguments[8], loop.index, width)
            builder.store(summed, kept, align=4)
            sides = [
                builder.sitofp(vector, numbers) for vector in (summed, builder.sub(total, summed))
            ]
            curvatures = ir.Constant(pair, ir.Undefined)
            for side, vector in enumerate(sides):
                curvatures = builder.insert_element(
                    curvatures, number(vector, CURVATURE), ir.Constant(index, side)
                )
            shares = builder.fdiv(ones, builder.fadd(curvatures, penalties))
            gains = []
            for side, vector in enumerate(sides):
                only = builder.shuffle_vector(vector, none, sketches)
                share = builder.shuffle_vector(shares, shares, constant(*[side] * width))
                gains.append(builder.fmul(builder.fmul(only, only), share))
            gain = _sum_of(builder, builder.fadd(*gains), width)
            for vector in sides:
                enough = builder.fcmp_ordered(">=", number(vector, COUNT), arguments[7])
                gain = builder.select(enough, gain, ir.Constant(single, 0.0))
            builder.store(gain, builder.gep(values, [loop.index]))
            known = builder.load(best)
            larger = builder.fcmp_ordered(">", gain, known)
            builder.store(builder.select(larger, gain, known), best)
        return builder.load(best)

    real, whole = types.float32, types.intp
    signature = real(rows, whole, places, whole, totals, whole, real, real, sums, gains, kind)
    return signature, generate


scan_cuts = Instructions(_define_scan)


@kernel
def square_sum(lanes: NDArray, row: int) -> float:
    """Return the sum of the squared sketches of a row."""
    total = 0.0
    for lane in range(FIRST, lanes.shape[1]):
        total += np.float64(lanes[row, lane]) ** 2
    return total


@kernel
def cut_gain(totals: NDArray, node: int, sums: NDArray, cut: int, ridge: float) -> float:
    """Return the gain of a cut in double precision: what is left of it, and what is not."""
    high = 0.0
    for lane in range(FIRST, totals.shape[1]):
        high += (np.float64(totals[node, lane]) - np.float64(sums[cut, lane])) ** 2
    h = np.float64(sums[cut, CURVATURE])
    whole = np.float64(totals[node, CURVATURE])
    return square_sum(sums, cut) / (h + ridge) + high / (whole - h + ridge)
