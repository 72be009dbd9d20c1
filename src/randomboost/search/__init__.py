"""Stump search: sorted columns (exact), binned columns (histogram), all codes at once (proj)."""
