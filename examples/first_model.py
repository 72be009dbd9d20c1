"""
A first model
=============

Fit the default to scikit-learn's digits, look at its error, its probabilities and its mistakes.
"""

# %%
# The digits are 1797 images of 8 x 8 pixels. A quarter of them is set aside.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from randomboost import RBoostRankClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# No setting is needed. ``random_state`` fixes the model: the same seed gives the same model on
# any number of threads.

model = RBoostRankClassifier(random_state=0).fit(X_train, y_train)
print(f"{model.n_estimators_} trees for {len(model.classes_)} classes")
print(f"test error {100 * (1 - model.score(X_test, y_test)):.2f} %")

# %%
# Probabilities come with the classes. The log loss is low if the sure ones are right.

probabilities = model.predict_proba(X_test)
print(f"log loss {log_loss(y_test, probabilities):.3f}")

# %%
# The images that the model gets wrong, or, where there are fewer than six, is least sure of.

doubt = 1 - probabilities[range(len(y_test)), y_test]
figure, panels = plt.subplots(1, 6, figsize=(7, 1.7))
for axes, number in zip(panels, doubt.argsort()[::-1], strict=False):
    guess = model.classes_[probabilities[number].argmax()]
    axes.imshow(X_test[number].reshape(8, 8), cmap="gray_r")
    axes.set_title(
        f"is {y_test[number]}, said {guess}\nwith {probabilities[number].max():.2f}", size=8
    )
    axes.axis("off")

# %%
# Which pixels matter: the share of every feature in what the splits gain.

figure, axes = plt.subplots(figsize=(3, 3))
axes.imshow(model.feature_importances_.reshape(8, 8), cmap="Blues")
axes.set_title("importance of the pixels", size=10)
axes.axis("off")
plt.show()
