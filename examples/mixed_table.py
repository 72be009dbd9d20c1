"""
Missing values and categories
=============================

`RandomBoostClassifier` takes tables with numbers, categories, and missing values in both.
"""

# %%
# A made-up table of a shop's deliveries. The vehicle depends on the town, the weight, the distance
# and the day. The town is text, the day a pandas category.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from randomboost import RandomBoostClassifier

rng = np.random.default_rng(0)
n = 3000
towns = np.array([f"town {number:02}" for number in range(30)])
hills = rng.random(30) < 0.4
town = rng.integers(0, 30, n)
weight = rng.gamma(2.0, 4.0, n)
distance = rng.gamma(2.0, 3.0, n)
day = rng.integers(0, 7, n)
way = np.where(weight > 12, "van", np.where(hills[town] | (distance > 9), "scooter", "bicycle"))
way = np.where((day == 6) & (weight < 20), "bicycle", way)
table = pd.DataFrame(
    {
        "town": towns[town],
        "weight": weight,
        "distance": distance,
        "day": pd.Categorical.from_codes(day, ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"]),
    }
)
for name in table:  # a tenth of the values is missing
    table[name] = table[name].mask(rng.random(n) < 0.1)
print(table.head())

# %%
# No preprocessing is needed.

X_train, X_test, y_train, y_test = train_test_split(table, way, random_state=0)
model = RandomBoostClassifier(random_state=0).fit(X_train, y_train)
print(f"error without preprocessing: {100 * (1 - model.score(X_test, y_test)):.1f} %")

# %%
# For comparison, the usual pipeline: imputation, one-hot encoding, a linear model.

numbers = make_column_selector(dtype_include="number")
words = make_column_selector(dtype_exclude="number")
linear = make_pipeline(
    make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore"), words),
    ),
    LogisticRegression(max_iter=1000),
)
linear.fit(X_train, y_train)
print(f"error of a linear model in a pipeline: {100 * (1 - linear.score(X_test, y_test)):.1f} %")

# %%
# Categories that did not occur in training count as missing values.

new = pd.DataFrame(
    {
        "day": ["Mo", "Su"],
        "town": ["town 03", "a new one"],
        "weight": [3.0, np.nan],
        "distance": [2, 4],
    }
)
print(model.predict(new[table.columns]))

# %%
# The importance of each column:

figure, axes = plt.subplots(figsize=(5, 2.2))
axes.barh(table.columns, model.feature_importances_)
axes.set(xlabel="importance")
plt.show()
