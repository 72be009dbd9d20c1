"""The data sets of the paper, read from a folder, from installed packages or from OpenML.

from randomboost import datasets
vowel = datasets.load("vowel")
part = datasets.split(vowel, repeat=0)  # 75/25, scaled as in the paper
"""

from .catalogue import MULTI_CLASS, TWO_CLASS
from .dataset import DataFormError, DataNotFoundError, Dataset
from .loading import load, names
from .preparation import Split, split

__all__ = [
    "MULTI_CLASS",
    "TWO_CLASS",
    "DataFormError",
    "DataNotFoundError",
    "Dataset",
    "Split",
    "load",
    "names",
    "split",
]
