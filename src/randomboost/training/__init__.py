"""Trainers: the rounds of every method. They take settings and data, and return ensembles."""
