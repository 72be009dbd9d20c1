"""``python -m randomboost.paper`` does what ``randomboost paper`` does."""

from .commands import app

app()
