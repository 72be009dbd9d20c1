"""
A first model
=============

Fit `RandomBoostClassifier` to scikit-learn's digits; look at its error, its probabilities and its
mistakes.
"""

# %%
# The digits are 1797 images of 8 x 8 pixels. A quarter of them is set aside.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from randomboost import RandomBoostClassifier

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

# %%
# No parameter needs to be set. The same ``random_state`` gives the same model on any number of
# threads.

model = RandomBoostClassifier(random_state=0).fit(X_train, y_train)
print(f"{model.n_estimators_} trees for {len(model.classes_)} classes")
print(f"test error {100 * (1 - model.score(X_test, y_test)):.2f} %")

# %%
# The log loss measures the probabilities.

probabilities = model.predict_proba(X_test)
print(f"log loss {log_loss(y_test, probabilities):.3f}")

# %%
# The six images whose true class gets the lowest probability:

doubt = 1 - probabilities[range(len(y_test)), y_test]
figure, panels = plt.subplots(2, 3, figsize=(5, 4), layout="constrained")
for axes, number in zip(panels.flat, doubt.argsort()[::-1], strict=False):
    guess = model.classes_[probabilities[number].argmax()]
    axes.imshow(X_test[number].reshape(8, 8), cmap="gray_r")
    axes.set_title(
        f"true {y_test[number]}, predicted {guess}\nwith {probabilities[number].max():.2f}", size=9
    )
    axes.axis("off")

# %%
# The importance of each pixel: its share in the gain of the splits.

# sphinx_gallery_thumbnail_number = 2
figure, axes = plt.subplots(figsize=(4, 2.8), layout="constrained")
axes.imshow(model.feature_importances_.reshape(8, 8), cmap="Blues")
axes.set_title("importance of the pixels", size=10)
axes.axis("off")
plt.show()
