"""Reading tables from files: formats, kinds of columns, the target.

The command line reads its data with this package; the classifiers do not need it.
"""

from .account import Account
from .choosing import choose_columns
from .column_cells import feature_table, label_strings
from .columns import Column, LeftOut
from .decisions import (
    Decision,
    Override,
    decisions_text,
    features_of,
    left_out_of,
    read_overrides,
)
from .errors import DataError
from .leaks import Leak, find_leaks, leak_rows, leaks_among
from .rows import Rows, Table, open_rows, read_table
from .stored import StoredTable, open_stored, table_size
from .target import class_codes, class_labels, find_target, target_strings

__all__ = [
    "Account",
    "Column",
    "DataError",
    "Decision",
    "Leak",
    "LeftOut",
    "Override",
    "Rows",
    "StoredTable",
    "Table",
    "choose_columns",
    "class_codes",
    "class_labels",
    "decisions_text",
    "feature_table",
    "features_of",
    "find_leaks",
    "find_target",
    "label_strings",
    "leak_rows",
    "leaks_among",
    "left_out_of",
    "open_rows",
    "open_stored",
    "read_overrides",
    "read_table",
    "table_size",
    "target_strings",
]
