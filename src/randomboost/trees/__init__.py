"""Sketched trees: bins, sketches of the gradients, growth, sparse vector leaves."""
