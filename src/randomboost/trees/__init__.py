"""Trees shared by all classes: the weak learner of RBoost-rank's default (see docs/beyond.md)."""
