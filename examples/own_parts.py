"""
A loss, a projection and a weak learner of your own
===================================================

Three parts of RBoost-rank can be replaced, each with a few lines of user code.
"""

# %%
# The data: six of scikit-learn's digits. ``measure`` fits a model and prints its test error.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from randomboost import RBoostRankClassifier

X, y = load_digits(n_class=6, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)


errors = {}


def measure(name, model):
    model.set_params(random_state=0).fit(X_train, y_train)
    errors[name] = 100 * (1 - model.score(X_test, y_test))
    print(f"{name}: {errors[name]:.2f} % wrong")


# %%
# A loss
# ------
#
# An object with the value and the derivative of a convex, non-increasing function of the margin.
# This one is the squared hinge, max(0, 1 - rho)^2: margins above 1 cost nothing.


class SquaredHinge:
    def value(self, margins):
        return np.maximum(0.0, 1.0 - margins) ** 2

    def derivative(self, margins):
        return -2.0 * np.maximum(0.0, 1.0 - margins)


measure("stumps, squared hinge", RBoostRankClassifier(120, loss=SquaredHinge()))
measure("stumps, exponential loss", RBoostRankClassifier(120))

# %%
# A projection
# ------------
#
# An object with the method ``matrices``, which returns one matrix per class. Each row has random
# coefficients on a 3 x 3 window of the image.


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


measure("stumps, windows", RBoostRankClassifier(300, projection=Windows(8, 8)))
measure("stumps, gaussian", RBoostRankClassifier(300))

# %%
# A weak learner
# --------------
#
# Any scikit-learn classifier or regressor whose ``fit`` takes ``sample_weight``. It is fitted to
# the signs of the points' weights, weighted by their absolute values. This one projects on the line
# between the weighted means of the positive and the negative points, and takes the best threshold.

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


between = RBoostRankClassifier(50, weak_learner=BetweenMeans(), n_projections=200)
measure("50 between means", between)
measure("50 stumps", RBoostRankClassifier(50, n_projections=200))

# %%
# All errors:

figure, axes = plt.subplots(figsize=(5, 3))
axes.barh(list(errors), list(errors.values()))
axes.set(xlabel="test error, %")
axes.invert_yaxis()
plt.show()
