"""What goes wrong with data, said in one line."""


class DataError(ValueError):
    """The data cannot be used as it is; the message says why and what to do."""
