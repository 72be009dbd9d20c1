"""
Many classes
============

A round adds one tree for all classes together, so the number of trees does not depend on the number
of classes. Methods that train one weak classifier per class and round have k times as many.
"""

# %%
# Every class is a cloud around a point in 16 dimensions; 20 samples of each for training, 20 for
# testing.

import pickle

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier, RBoostRankClassifier


def error_and_size(model, n_classes):
    X, y = make_blobs(
        40 * n_classes, n_features=16, centers=n_classes, cluster_std=4.5, random_state=0
    )
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
    model.fit(X_train, y_train)
    return 1 - model.score(X_test, y_test), len(pickle.dumps(model)) / 1000


# %%
# Three models: trees of RandomBoost, whose leaves change the scores of a few classes each; stumps
# of RBoost-rank, whose size depends only on their number; and AdaBoost.MH, which has a stump per
# class and round. The trees grow here because there are more samples with more classes, and with
# them more leaves.

stumps = RBoostRankClassifier(200, n_projections=500, random_state=0)
models = {
    "60 trees": (RandomBoostClassifier(60, early_stopping=False, random_state=0), [3, 10, 30, 100]),
    "200 stumps": (stumps, [3, 10, 30]),
    "60 stumps per class": (AdaBoostMHClassifier(60), [3, 10, 30, 100]),
}
# sphinx_gallery_thumbnail_number = 2
left, right = (plt.figure(figsize=(5, 3)).subplots() for _ in range(2))
for name, (model, counts) in models.items():
    errors, sizes = zip(*[error_and_size(model, count) for count in counts], strict=True)
    left.loglog(counts, sizes, "o-", label=name)
    right.semilogx(counts, [100 * error for error in errors], "o-", label=name)
    for count, error, size in zip(counts, errors, sizes, strict=True):
        print(f"{name:18} {count:4} classes: error {100 * error:5.1f} %, {size:6.0f} kB")
left.set(xlabel="classes", ylabel="pickled model, kB")
right.set(xlabel="classes", ylabel="test error, %", ylim=(0, None))
for axes in (left, right):
    axes.set_xticks([3, 10, 30, 100], ["3", "10", "30", "100"], minor=False)
    axes.set_xticks([], minor=True)
    axes.legend()
plt.show()
