"""
A loss, a projection and a weak learner of your own
===================================================

The three parts of the method that can be exchanged, each by a few lines of user code.
"""

# %%
# The data: six of scikit-learn's digits. ``measure`` fits a model and notes its test error.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from randomboost import RBoostRankClassifier

X, y = load_digits(n_class=6, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)


errors = {}


def measure(name, **settings):
    model = RBoostRankClassifier(random_state=0, **settings).fit(X_train, y_train)
    errors[name] = 100 * (1 - model.score(X_test, y_test))
    print(f"{name}: {errors[name]:.2f} % wrong")


# %%
# A loss
# ------
#
# An object with the value and the derivative of a convex function of the margin that does not
# rise. This one is the squared hinge, max(0, 1 - rho)^2: margins above 1 cost nothing. For trees
# the second derivative helps to size the steps.


class SquaredHinge:
    def value(self, margins):
        return np.maximum(0.0, 1.0 - margins) ** 2

    def derivative(self, margins):
        return -2.0 * np.maximum(0.0, 1.0 - margins)

    def second_derivative(self, margins):
        return 2.0 * (margins < 1.0)


measure("trees, squared hinge", loss=SquaredHinge())
measure("stumps, squared hinge", loss=SquaredHinge(), weak_learner="stump")
measure("stumps, exponential loss", weak_learner="stump")

# %%
# A projection
# ------------
#
# An object with the method ``matrices``, which returns one matrix for every class. These rows look
# at a 3 x 3 window of the image each, with random coefficients for every class.


class Windows:
    def __init__(self, height, width, side=3):
        self.height, self.width, self.side = height, width, side

    def matrices(self, n_classes, n_projections, n_features, seed):
        rng = np.random.default_rng(seed)
        rows = np.zeros((n_classes, n_projections, self.height, self.width))
        for v in range(n_projections):
            top = rng.integers(self.height - self.side + 1)
            left = rng.integers(self.width - self.side + 1)
            window = rows[:, v, top : top + self.side, left : left + self.side]
            window[:] = rng.normal(size=window.shape)
        return rows.reshape(n_classes, n_projections, n_features)


stumps = {"weak_learner": "stump", "n_estimators": 300, "n_projections": 2000}
measure("stumps, windows", projection=Windows(8, 8), **stumps)
measure("stumps, gaussian", projection="gaussian", **stumps)

# %%
# A weak learner
# --------------
#
# Any scikit-learn classifier or regressor whose ``fit`` takes ``sample_weight``. It is fitted to
# the signs of the points' weights, weighted by their sizes. This one looks along the line between
# the weighted means of the positive and of the negative points, and cuts it where that is best.

from sklearn.base import BaseEstimator, ClassifierMixin


class BetweenMeans(ClassifierMixin, BaseEstimator):
    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        low, high = (
            np.average(X[y == side], axis=0, weights=sample_weight[y == side])
            for side in self.classes_
        )
        self.direction_ = high - low
        values = X @ self.direction_
        order = np.argsort(values)
        sums = np.cumsum((y * sample_weight)[order])
        self.cut_ = values[order][sums.argmin()]
        return self

    def predict(self, X):
        return np.where(X @ self.direction_ > self.cut_, 1.0, -1.0)


few = {"n_estimators": 50, "n_projections": 200}
measure("50 between means", weak_learner=BetweenMeans(), **few)
measure("50 stumps", weak_learner="stump", **few)

# %%
# All errors at a glance:

figure, axes = plt.subplots(figsize=(6, 3))
axes.barh(list(errors), list(errors.values()))
axes.set(xlabel="test error, %")
axes.invert_yaxis()
plt.show()
