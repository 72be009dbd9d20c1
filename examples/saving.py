"""
Saving and exporting a model
============================

A ``.rboost`` file holds arrays and JSON; loading it runs no code. It is small, because projections
are generated from the seed, and gives the same scores, bit for bit, wherever it is loaded.
"""

# %%
import os
import pickle
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from randomboost import RandomBoostClassifier, RBoostRankClassifier, files, load
from randomboost.export.c_source import to_c
from randomboost.export.javascript import to_js
from randomboost.export.onnx import to_onnx

X, y = load_wine(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
folder = tempfile.TemporaryDirectory()
path = os.path.join(folder.name, "wine.rboost")

# %%
# Save and load. ``notes`` is for anything that should stay with the model.

model = RandomBoostClassifier(random_state=0).fit(X_train, y_train)
model.save(path, notes={"data": "scikit-learn's wine"})
again = load(path)
print("the same:", np.array_equal(model.predict_proba(X_test), again.predict_proba(X_test)))
print(
    f"file {os.path.getsize(path) / 1000:.0f} kB, pickle {len(pickle.dumps(model)) / 1000:.0f} kB"
)

# %%
# A description of the file, without building the model:

about = files.describe(path)
for key in ("class", "n_rounds", "classes", "n_features", "bytes", "notes"):
    print(f"{key}: {about[key]}")

# %%
# Stumps are smaller still: an index, a threshold and a weight each. ``dense=True`` also stores what
# follows from the seed, for readers in other languages.

stumps = RBoostRankClassifier.paper(n_estimators=300, n_projections=2000, random_state=0)
stumps.fit(X_train, y_train)
kilobytes = {f"{model.n_estimators_} trees": os.path.getsize(path) / 1000}
for name, dense in (("300 stumps", False), ("300 stumps, dense", True)):
    stumps.save(path, dense=dense)
    kilobytes[name] = os.path.getsize(path) / 1000
figure, axes = plt.subplots(figsize=(6, 2))
axes.barh(list(kilobytes), list(kilobytes.values()))
axes.set(xlabel="file, kB")
axes.invert_yaxis()
plt.show()

# %%
# A long fit can be saved while it runs: ``on_round`` is called after every round with a function
# that returns the model so far. A warm start continues from a loaded model, and gives the same
# model as an uninterrupted fit.


def save_every_25_rounds(snapshot):
    so_far = snapshot()
    if so_far.n_estimators_ % 25 == 0:
        so_far.save(path)


settings = {"early_stopping": False, "random_state": 0}
longer = RandomBoostClassifier(60, **settings)
longer.fit(X_train, y_train, on_round=save_every_25_rounds)
rest = load(path)
print(f"{rest.n_estimators_} rounds in the file")
rest.set_params(n_estimators=60, warm_start=True).fit(X_train, y_train)
print("the same:", np.array_equal(longer.predict_proba(X_test), rest.predict_proba(X_test)))

# %%
# As ONNX, for any of its runtimes: labels are the same for the same float32 numbers.

graph = to_onnx(model)
session = onnxruntime.InferenceSession(graph.SerializeToString())
numbers = X_test.to_numpy(np.float32)
labels, probabilities = session.run(None, {"X": numbers})
print("the same labels:", np.array_equal(labels, model.predict(X_test.astype(np.float32))))

# %%
# For a device without Python: the model as one C file that needs only the math library.

source = to_c(stumps)
print(f"{len(source) / 1000:.0f} kB of C")
print(source[: source.index("*/") + 2])

# %%
# For a web page or Node: one JavaScript file. It takes names of features and categories.

script = to_js(model)
print(f"{len(script) / 1000:.0f} kB of JavaScript")
folder.cleanup()
