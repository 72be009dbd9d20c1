"""The classical multi-class boosting algorithms that the paper compares with."""
