"""What ``shap.TreeExplainer`` says of our models.

It takes the libraries that it knows by the names of their classes, and refuses all others with
``str(type(model))``. It looks at nothing else of a model, so a metaclass is the only place from
which a model can name the remedy in that error.
"""

from __future__ import annotations

import sys
from abc import ABCMeta

HINT = "use model.explain(X), which returns a shap.Explanation"


class NamesExplain(ABCMeta):
    """The type of classes with `explain`, which they name in the messages of shap."""

    def __str__(cls) -> str:
        """Return what ``type`` does, followed by the hint if shap asks."""
        caller = sys._getframe(1).f_globals.get("__name__", "")
        return f"{cls!r}; {HINT}" if caller.startswith("shap.") else repr(cls)
