"""
Imbalanced classes
==================

Three classes, one of which has nearly all samples. Unweighted training makes few errors in total,
but many on the rare classes; ``class_weight="balanced"`` shifts the balance.
"""

# %%
# 90 % of the samples are of class 0, 7 % of class 1, 3 % of class 2.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split

from randomboost import RandomBoostClassifier

X, y = make_classification(
    6000,
    n_features=12,
    n_informative=5,
    n_classes=3,
    weights=[0.9, 0.07],
    class_sep=0.7,
    random_state=1,
)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# A dictionary gives the weight of each class; "balanced" gives all classes the same total weight.
# The square root of the balanced weights lies in between.

counts = np.bincount(y_train)
half_way = dict(enumerate(np.sqrt(len(y_train) / (3 * counts))))
settings = {"none": None, "square root": half_way, "balanced": "balanced"}
found = {}
for name, weights in settings.items():
    model = RandomBoostClassifier(random_state=0, class_weight=weights).fit(X_train, y_train)
    labels = model.predict(X_test)
    found[name] = recall_score(y_test, labels, average=None)
    print(
        f"{name:12} accuracy {np.mean(labels == y_test):.3f}, "
        f"balanced accuracy {balanced_accuracy_score(y_test, labels):.3f}"
    )

# %%
# The recall of each class:

figure, axes = plt.subplots(figsize=(5, 3))
for place, (name, recalls) in enumerate(found.items()):
    axes.bar(np.arange(3) + 0.25 * (place - 1), recalls, width=0.23, label=name)
axes.set(xticks=range(3), ylabel="recall", ylim=(0, 1))
axes.set_xticklabels([f"class {r}: {share:.0%}" for r, share in enumerate(counts / counts.sum())])
axes.legend(title="class_weight", loc="upper right", bbox_to_anchor=(1.02, 1.04))
plt.show()

# %%
# Weights change the probabilities too: those of a weighted model are for classes as frequent as the
# weights imply. If you need probabilities, fit without weights and adjust the decision instead,
# here by dividing the probabilities by the class frequencies.

model = RandomBoostClassifier(random_state=0).fit(X_train, y_train)
labels = (model.predict_proba(X_test) / (counts / counts.sum())).argmax(axis=1)
print(f"adjusted decision: balanced accuracy {balanced_accuracy_score(y_test, labels):.3f}")
