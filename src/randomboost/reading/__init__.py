"""Reading tables from files: formats, kinds of columns, the target.

The command line reads its data with this package; the classifiers do not need it.
"""

from .columns import Column, LeftOut, choose_columns, feature_table, label_strings
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
    "label_strings",
    "open_rows",
    "read_table",
]
