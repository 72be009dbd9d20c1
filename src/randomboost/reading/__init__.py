"""Tables from files: formats, kinds of columns, the target.

Nothing of this is needed to use the classifiers; the command line reads its data with it.
"""

from .columns import Column, LeftOut, choose_columns, feature_table, label_words
from .errors import DataError
from .rows import Rows, Table, open_rows, read_table
from .target import class_labels, find_target

__all__ = [
    "Column",
    "DataError",
    "LeftOut",
    "Rows",
    "Table",
    "choose_columns",
    "class_labels",
    "feature_table",
    "find_target",
    "label_words",
    "open_rows",
    "read_table",
]
