"""
When to stop
============

More rounds are not always better. Plot the error by round, stop early, or continue a fit.
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
# ``train_history_`` has the training loss by round; the ``staged_`` methods yield the predictions
# after every round.

model = RandomBoostClassifier(200, random_state=0).fit(X_train, y_train)
rounds = np.arange(1, 201)
error = [np.mean(labels != y_test) for labels in model.staged_predict(X_test)]
loss = [log_loss(y_test, p) for p in model.staged_predict_proba(X_test)]

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
left.plot(rounds, error)
left.set(xlabel="rounds", ylabel="test error")
right.plot(rounds, model.train_history_["loss"], label="training")
right.plot(rounds, loss, label="test")
right.set(xlabel="rounds", ylabel="log loss", ylim=(0, None))
right.legend()

# %%
# With ``early_stopping=True`` a part of the training data is set aside for validation, and the fit
# ends when the validation loss has not fallen for ``n_iter_no_change`` rounds. The model keeps the
# best round. (The default, "auto", does so from 20 000 samples on, or if X_val is passed.)

stopped = RandomBoostClassifier(1000, early_stopping=True, n_iter_no_change=20, random_state=0)
stopped.fit(X_train, y_train)
print(stopped.stopped_)
print(f"{len(stopped.train_history_['loss'])} rounds done, {stopped.n_estimators_} kept")
stopped_loss = log_loss(y_test, stopped.predict_proba(X_test))
print(f"test log loss {stopped_loss:.3f}, with 200 rounds {loss[-1]:.3f}")

# %%
# Or with your own validation data:

X_fit, X_val, y_fit, y_val = train_test_split(X_train, y_train, test_size=0.2, random_state=1)
stopped.fit(X_fit, y_fit, X_val=X_val, y_val=y_val)
right.axvline(stopped.n_estimators_, ls="--", color="gray")
history = stopped.train_history_["validation_loss"]
print(f"lowest validation loss {history.min():.3f} in round {history.argmin() + 1}")

# %%
# A warm start continues from the fitted rounds: 50 rounds and 50 more give the same model as 100.

model = RandomBoostClassifier(50, warm_start=True, random_state=0).fit(X_train, y_train)
model.set_params(n_estimators=100).fit(X_train, y_train)
at_once = RandomBoostClassifier(100, random_state=0).fit(X_train, y_train)
print("the same:", np.array_equal(model.predict_proba(X_test), at_once.predict_proba(X_test)))
plt.show()
