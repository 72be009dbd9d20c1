"""The scikit-learn classifiers of the package."""
