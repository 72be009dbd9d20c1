"""Sorting and selecting inside kernels.

NumPy's functions of this kind take numba seconds to compile; these take a tenth of one.
"""

from __future__ import annotations

from numpy.typing import NDArray

from .compiling import kernel


@kernel
def sort_numbers(numbers: NDArray, n: int) -> None:
    """Sort the first n numbers, rising (Shell's method)."""
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(gap, n):
            number = numbers[place]
            at = place
            while at >= gap and numbers[at - gap] > number:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = number
        gap //= 3


@kernel
def kth_largest(numbers: NDArray, n: int, k: int) -> float:
    """Return the k-th largest of the first n numbers, k from 1; they change places."""
    place = k - 1
    low, high = 0, n - 1
    while low < high:
        pivot = numbers[place]
        a, b = low, high
        while a <= b:
            while numbers[a] > pivot:
                a += 1
            while pivot > numbers[b]:
                b -= 1
            if a <= b:
                larger = numbers[b]
                numbers[b] = numbers[a]
                numbers[a] = larger
                a += 1
                b -= 1
        if b < place:
            low = a
        if place < a:
            high = b
    return numbers[place]
