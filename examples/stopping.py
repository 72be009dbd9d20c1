"""
When to stop
============

More rounds are not always better. Plot the error by round, let a held-out part choose the number of
rounds, or continue a fit.
"""

# %%
# Noisy data, where every tenth label is wrong.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from randomboost import RandomBoostClassifier

X, y = make_classification(
    3000, n_features=20, n_informative=8, n_classes=4, flip_y=0.1, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# With ``early_stopping=False`` all rounds are done. ``train_history_`` has the training loss by
# round; the ``staged_`` methods yield the predictions after every round.

model = RandomBoostClassifier(200, early_stopping=False, random_state=0).fit(X_train, y_train)
rounds = np.arange(1, 201)
error = [np.mean(labels != y_test) for labels in model.staged_predict(X_test)]
loss = [log_loss(y_test, p) for p in model.staged_predict_proba(X_test)]

figure, axes = plt.subplots(figsize=(5, 3))
axes.plot(rounds, error)
axes.set(xlabel="rounds", ylabel="test error", ylim=(0, None))

# sphinx_gallery_thumbnail_number = 2
figure, right = plt.subplots(figsize=(5, 3))
right.plot(rounds, model.train_history_["loss"], label="training")
right.plot(rounds, loss, label="test")
right.set(xlabel="rounds", ylabel="log loss", ylim=(0, None))
right.legend()

# %%
# By default a held-out part of the training data chooses the number of rounds, at which its loss
# is lowest. The model is then fitted to all samples with that number.

chosen = RandomBoostClassifier(random_state=0).fit(X_train, y_train)
print(chosen.stopped_)
chosen_loss = log_loss(y_test, chosen.predict_proba(X_test))
print(f"{chosen.n_estimators_} rounds: test log loss {chosen_loss:.3f}")
print(f"200 rounds: test log loss {loss[-1]:.3f}")

# %%
# From 10 000 samples on, or with ``early_stopping=True``, there is one fit only: it ends when
# the held-out loss has not fallen for ``n_iter_no_change`` rounds, and keeps the best round.

stopped = RandomBoostClassifier(1000, early_stopping=True, n_iter_no_change=20, random_state=0)
stopped.fit(X_train, y_train)
print(stopped.stopped_)
print(f"{len(stopped.train_history_['loss'])} rounds done, {stopped.n_estimators_} kept")

# %%
# Or with your own validation data:

X_fit, X_val, y_fit, y_val = train_test_split(X_train, y_train, test_size=0.2, random_state=1)
stopped.fit(X_fit, y_fit, X_val=X_val, y_val=y_val)
right.axvline(stopped.n_estimators_, ls="--", color="gray")
history = stopped.train_history_["validation_loss"]
print(f"lowest validation loss {history.min():.3f} in round {history.argmin() + 1}")

# %%
# A warm start continues from the fitted rounds: 50 rounds and 50 more give the same model as 100.

settings = {"early_stopping": False, "random_state": 0}
model = RandomBoostClassifier(50, warm_start=True, **settings).fit(X_train, y_train)
model.set_params(n_estimators=100).fit(X_train, y_train)
at_once = RandomBoostClassifier(100, **settings).fit(X_train, y_train)
print("the same:", np.array_equal(model.predict_proba(X_test), at_once.predict_proba(X_test)))
plt.show()
