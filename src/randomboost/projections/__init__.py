"""Random projections: class-wise matrices, shared directions with class codes, projected points."""
