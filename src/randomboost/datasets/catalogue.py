"""The data sets of the paper: size, digest of the values, and OpenML number."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TWO_CLASS = (
    "australian",
    "breast-cancer",
    "colon-cancer",
    "diabetes",
    "german.numer",
    "heart",
    "ionosphere",
    "liver-disorders",
    "mushrooms",
    "sonar",
    "splice",
)
MULTI_CLASS = (
    "dna",
    "svmguide2",
    "wine",
    "vehicle",
    "glass",
    "satimage",
    "svmguide4",
    "segment",
    "usps",
    "pendigits",
    "vowel",
)


@dataclass(frozen=True)
class OpenML:
    """A data set at OpenML.

    Parameters
    ----------
    data_id : int
        Its number there.
    drop : sequence of str
        Columns that are not features.
    form : {"numbers", "one-hot", "bases"}
        "numbers": rows without missing values. "one-hot": categorical columns become
        indicators. "bases": A, G, C, T become 1 to 4; two classes.
    """

    data_id: int
    drop: Sequence[str] = ()
    form: str = "numbers"


@dataclass(frozen=True)
class Entry:
    """Description of a data set.

    Parameters
    ----------
    rows, features, classes : int
        Size of the set.
    digest : str or None
        `digest` of the features.
    openml : OpenML or None
        Its place at OpenML.
    """

    rows: int
    features: int
    classes: int
    digest: str | None = None
    openml: OpenML | None = None


SETS: dict[str, Entry] = {
    "australian": Entry(690, 14, 2, "dc5e3e9b27c79130", OpenML(40981)),
    "breast-cancer": Entry(683, 9, 2, "9a18a46a395b86de", OpenML(15)),
    "colon-cancer": Entry(62, 2000, 2, "586e71e25df88a1b"),
    "diabetes": Entry(768, 8, 2, "ddf5004bd382b814", OpenML(37)),
    "german.numer": Entry(1000, 24, 2, "f3a7aed3201d87fc"),
    "heart": Entry(270, 13, 2, "6d701f9fb1b0fbbc", OpenML(53)),
    "ionosphere": Entry(351, 34, 2, "45d075e8d50424ef", OpenML(59)),
    "liver-disorders": Entry(345, 6, 2, "364663e7499cfd0b"),
    "mushrooms": Entry(
        8124, 112, 2, "b0bf2201dade5921", OpenML(24, ["stalk-root"], form="one-hot")
    ),
    "sonar": Entry(208, 60, 2, "47791282772462d3", OpenML(40)),
    "splice": Entry(3175, 60, 2, "7a126869f5a8f28a", OpenML(46, ["Instance_name"], form="bases")),
    "dna": Entry(3186, 180, 3, "16ccc8c61187ee80", OpenML(40670)),
    "svmguide2": Entry(391, 20, 3, "d08e06491491ac96"),
    "wine": Entry(178, 13, 3, "3ac4aeddabdade0e", OpenML(187)),
    "vehicle": Entry(846, 18, 4, "b04f45b62f30a820", OpenML(54)),
    "glass": Entry(214, 9, 6, "3ad7240bef28117f", OpenML(41)),
    "satimage": Entry(6435, 36, 6, "d8e98cd13c8c8fe1", OpenML(182)),
    "svmguide4": Entry(612, 10, 6, "a78e0f394e8dc65f"),
    "segment": Entry(2310, 19, 7, "b29267901cc815e2", OpenML(36)),
    "usps": Entry(9298, 256, 10, "8f257f9e049b3e7a", OpenML(41082)),
    "pendigits": Entry(10992, 16, 10, "18bad70e99024e2c", OpenML(32)),
    "vowel": Entry(
        990,
        10,
        11,
        "baf6631b140ddb68",
        OpenML(307, ["Train_or_Test", "Speaker_Number", "Sex"]),
    ),
    "mnist": Entry(70000, 784, 10, "a58e6ef3af9ff0ce", OpenML(554)),
    "mnist-5k": Entry(5000, 784, 10),
    "digits": Entry(1797, 64, 10),
    "breast-cancer-wdbc": Entry(569, 30, 2),
}


def digest(X: NDArray) -> str:
    """Return a digest of the rows of a table that does not depend on their order.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features; rounded to five decimals.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    rows = []
    for begin in range(0, len(X), 1000):
        part = np.round(np.asarray(X[begin : begin + 1000], dtype=np.float64), 5) + 0.0
        rows += [hashlib.blake2b(row.tobytes(), digest_size=16).digest() for row in part]
    return hashlib.blake2b(b"".join(sorted(rows)), digest_size=8).hexdigest()
