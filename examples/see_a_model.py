"""
Plots of a model
================

`randomboost.plots` has plots of fitted models. The classes follow scikit-learn's Display
convention: ``from_estimator``, ``from_predictions``, and an ``ax`` to draw into.
"""

# %%
# Four classes; one label in twenty is wrong.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import cross_val_score, train_test_split

from randomboost import (
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    RandomBoostClassifier,
    RBoostRankClassifier,
    plots,
)

X, y = make_classification(
    1200, n_features=10, n_informative=6, n_classes=4, flip_y=0.05, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = RandomBoostClassifier(random_state=0).fit(X_train, y_train)

# %%
# Error and log loss by round, on training and test data:

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
data = {"X": X_test, "y": y_test, "X_train": X_train, "y_train": y_train}
plots.RoundsDisplay.from_estimator(model, **data, ax=left)
plots.RoundsDisplay.from_estimator(model, **data, metric="log_loss", ax=right)

# %%
# The confusion matrix, and a calibration curve:

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
plots.ConfusionDisplay.from_estimator(model, X_test, y_test, ax=left)
plots.ReliabilityDisplay.from_estimator(model, X_test, y_test, ax=right)

# %%
# Margins and feature importances:

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
plots.MarginDisplay.from_estimator(model, **data, ax=left)
plots.ImportanceDisplay.from_estimator(model, ax=right)

# %%
# Decision regions of a model of two features, length and width of the petals of irises:

# sphinx_gallery_thumbnail_number = 4
petals, species = load_iris(return_X_y=True, as_frame=True)
petals = petals[["petal length (cm)", "petal width (cm)"]]
flat = RandomBoostClassifier(random_state=0).fit(petals[::2], species[::2])
plots.RegionsDisplay.from_estimator(flat, petals[1::2], species[1::2])

# %%
# Several models on the same folds. Models joined by a bar do not differ significantly.

models = {
    "RandomBoost": RandomBoostClassifier(40, random_state=0),
    "rank": RBoostRankClassifier(100, n_projections=500, random_state=0),
    "ECC": AdaBoostECCClassifier(100, random_state=0),
    "MH": AdaBoostMHClassifier(60),
}
errors = {name: 1 - cross_val_score(each, X, y, cv=5) for name, each in models.items()}
plots.CriticalDifferenceDisplay.from_errors(pd.DataFrame(errors))
plt.show()
