"""
The paper's setting
===================

Stumps on random projections, one weight vector for all classes: RBoost-rank and RBoost-proj as in
the paper.
"""

# %%
# The paper scales features to [-1, 1] and uses 1000 rounds; rank searches n = 20000 projected
# dimensions, proj n = 1000. Smaller numbers keep this example fast.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from randomboost import RBoostProjClassifier, RBoostRankClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
scaler = MinMaxScaler((-1, 1)).fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

rank = RBoostRankClassifier.paper(
    n_estimators=300, n_projections=2000, scale=False, random_state=0
).fit(X_train, y_train)
proj = RBoostProjClassifier(
    100, n_projections=500, selection="violation", scale=False, random_state=0
).fit(X_train, y_train)
print(f"rank: {rank.weights_.shape} weights, proj: {proj.weights_.shape}, both for 10 classes")

# %%
# Error by round, and the edge: how well the best weak classifier of a round ranks the weighted
# pairs. It falls, because boosting increases the weights of hard pairs.

figure, left = plt.subplots(figsize=(5, 3))
for name, model in (("rank", rank), ("proj", proj)):
    errors = [100 * np.mean(labels != y_test) for labels in model.staged_predict(X_test)]
    left.semilogy(np.arange(1, len(errors) + 1), errors, label=f"RBoost-{name}: {errors[-1]:.1f} %")
left.set(xlabel="rounds", ylabel="test error, %")
left.yaxis.set_major_formatter("{x:g}")
left.yaxis.set_minor_formatter(lambda x, _: f"{x:g}" if x in (3, 5, 20, 30, 50) else "")
left.legend()

figure, right = plt.subplots(figsize=(5, 3))
right.plot(rank.train_history_["edge"])
right.set(xlabel="rounds", ylabel="edge of rank's stumps", ylim=(0, None))

# %%
# Margins keep growing after the training error is zero. A margin is the score of the true class
# minus the highest other score, divided by the largest value that this difference can have.

early = clone(rank).set_params(n_estimators=50).fit(X_train, y_train)
figure, axes = plt.subplots(figsize=(5, 3))
for model in (early, rank):
    margins = np.sort(model.margins(X_train, y_train))
    axes.plot(margins, np.linspace(0, 1, len(margins)), label=f"{model.n_estimators_} rounds")
axes.axvline(0, ls="--", color="gray", lw=1)
axes.set(xlabel="margin", ylabel="cumulative share of the samples")
axes.legend()
plt.show()
