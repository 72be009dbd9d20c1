"""
All classifiers side by side
============================

All of them on two small problems: test error, fit time and size of the model.
"""

# %%
# Six of the ten digits (k = 6) and breast cancer (k = 2). AdaBoost is for two classes only.

import pickle
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from randomboost import (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    MultiBoostClassifier,
    RandomBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
)

digits = load_digits(n_class=6, return_X_y=True)
problems = {"digits 0 to 5": digits, "breast cancer": load_breast_cancer(return_X_y=True)}
models = {
    "RandomBoost": RandomBoostClassifier(random_state=0),
    "RBoost-rank": RBoostRankClassifier(200, random_state=0),
    "RBoost-proj": RBoostProjClassifier(100, random_state=0),
    "AdaBoost": AdaBoostClassifier(200),
    "AdaBoost.ECC": AdaBoostECCClassifier(200, random_state=0),
    "AdaBoost.MH": AdaBoostMHClassifier(200),
    "AdaBoost.MO": AdaBoostMOClassifier(100),
    "MultiBoost": MultiBoostClassifier(100),
}

# %%
# One split each: differences of a percent mean little on a few hundred test samples.

errors = {}
for problem, (X, y) in problems.items():
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
    print(f"{problem}: {len(y_train)} training and {len(y_test)} test samples")
    for name, model in models.items():
        if name == "AdaBoost" and len(np.unique(y)) > 2:
            continue
        began = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - began
        error = errors[problem, name] = 100 * (1 - model.score(X_test, y_test))
        kilobytes = len(pickle.dumps(model)) / 1000
        print(f"  {name:20} error {error:5.2f} %   fit {seconds:5.2f} s   {kilobytes:7.1f} kB")

# %%
figure, axes = plt.subplots(figsize=(5, 3.6))
places = np.arange(len(models))
for shift, problem in ((-0.2, "digits 0 to 5"), (0.2, "breast cancer")):
    heights = [errors.get((problem, name), np.nan) for name in models]
    axes.barh(places + shift, heights, height=0.36, label=problem)
axes.set(xlabel="test error, %", xlim=(0, 1.5 * max(errors.values())))
axes.set_yticks(places, list(models))
axes.invert_yaxis()
axes.legend()
plt.show()
