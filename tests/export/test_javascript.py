"""Models as JavaScript, run in Node and compared with Python: the same labels and probabilities."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from export_models import (
    NAMES,
    TRAIN,
    TREES,
    X,
    fitted,
    labels,
    only_a_leaf,
    own_scores,
    with_trees,
    without_class_0,
    y,
)
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier
from randomboost.export.javascript import to_js
from randomboost.preprocessing.categories import TablePreparation

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
ALL_ROWS = """
const { readFileSync } = require("fs");
const told = {};
for (const [name, rows] of Object.entries(JSON.parse(readFileSync("rows.json")))) {
  const model = require(`./${name}.js`);
  told[name] = {
    scores: rows.map((row) => [...model.scores(row)]),
    probabilities: rows.map((row) => [...model.predictProba(row)]),
    labels: rows.map((row) => model.predict(row)),
    classes: model.classes, featureNames: model.featureNames, categories: model.categories,
  };
}
console.log(JSON.stringify(told));
"""


def node(folder, script, *options):
    """Run a script in Node; return what it prints."""
    done = subprocess.run(
        [NODE, *options, "-e", script], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def as_rows(data):
    """Return rows for JSON: NaN, which it has not, as null."""
    cells = np.asarray(data, dtype=object)
    return [[None if value != value else value for value in row] for row in cells.tolist()]


def predicted(folder, models, rows):
    """Write models and rows, and return what Node predicts, by name."""
    for name, model in models.items():
        (folder / f"{name}.js").write_text(to_js(model), encoding="utf-8")
    (folder / "rows.json").write_text(json.dumps({name: rows[name] for name in models}))
    return json.loads(node(folder, ALL_ROWS))


def assert_same(model, told, data, *, same_bits=True):
    assert told["labels"] == model.predict(data).tolist()
    assert told["classes"] == model.classes_.tolist()
    np.testing.assert_allclose(told["probabilities"], model.predict_proba(data), atol=1e-6, rtol=0)
    if same_bits:
        np.testing.assert_array_equal(told["scores"], own_scores(model, data))


@pytest.fixture(scope="module", params=["float64", "float32"])
def everything(request, tmp_path_factory):
    """Predict with all models in one process."""
    if NODE is None:
        pytest.skip("Node is not installed")
    models = {name: fitted(name, request.param) for name in NAMES}
    rows = dict.fromkeys(NAMES, as_rows(X))
    return request.param, predicted(tmp_path_factory.mktemp("js"), models, rows)


@pytest.mark.parametrize("name", NAMES)
def test_scores_and_probabilities_are_the_same(name, everything):
    dtype, told = everything
    # logarithms of the decoding of AdaBoost.MO, and sums by BLAS
    decoded = name.startswith("mo-") and name != "mo-hamming"
    same_bits = not decoded and name != "rank-decision-trees"
    assert_same(fitted(name, dtype), told[name], X, same_bits=same_bits)
    assert told[name]["featureNames"] == [f"x{j}" for j in range(X.shape[1])]


@needs_node
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_missing_values(dtype, tmp_path):
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X).astype(dtype)
    data = np.vstack([holes, np.full((1, X.shape[1]), np.nan)]).astype(dtype)
    models = {
        name: type(fitted(name))(**fitted(name).get_params()).fit(holes[TRAIN], labels(name)[TRAIN])
        for name in TREES
    }
    told = predicted(tmp_path, models, dict.fromkeys(TREES, as_rows(data.astype(float))))
    for name, model in models.items():
        assert_same(model, told[name], data)


@needs_node
def test_leaves_without_entries_and_trees_without_splits(tmp_path):
    models = {change.__name__: with_trees(change) for change in (without_class_0, only_a_leaf)}
    told = predicted(tmp_path, models, dict.fromkeys(models, as_rows(X)))
    for name, model in models.items():
        assert_same(model, told[name], X)


@needs_node
def test_values_far_from_the_training_data(tmp_path):
    far = X[:3] * np.array([[1e9], [-1e160], [1e300]])
    models = {name: fitted(name) for name in ("trees", "trees-two-classes")}
    told = predicted(tmp_path, models, dict.fromkeys(models, as_rows(far)))
    for name, model in models.items():
        assert_same(model, told[name], far)


@pytest.fixture(scope="module")
def table():
    """Return a table with categories of several types, gaps, and a name that is markup."""
    table = pd.DataFrame(X[:, :3].copy(), columns=["alcohol", "length", "</script>"])
    table["colour"] = np.array(["red", "wh</script>ite", "rosé"])[y]
    table.loc[::7, "colour"] = None
    table.loc[::5, "length"] = np.nan
    table["sweet"] = pd.Categorical(np.array([True, False])[(X[:, 3] > 18).astype(int)])
    table["year"] = pd.Categorical(np.array([2019, 2020, 2021])[np.digitize(X[:, 4], [90, 110])])
    return table


@needs_node
def test_categories_and_missing_values_of_tables(table, tmp_path):
    names = np.array(["Barolo", "Grig</script>nolino\u2028", "Barbera"])[y]
    models = {
        "trees": RandomBoostClassifier(9, random_state=0).fit(table, names),
        "prepared": make_pipeline(TablePreparation(), AdaBoostMHClassifier(5)).fit(table, names),
    }
    unknown = table.iloc[:3].copy()
    unknown["colour"] = "green"
    data = pd.concat([table, unknown])
    cells = as_rows(data)
    objects = [dict(zip(table.columns, row, strict=True)) for row in cells]
    for rows in (cells, objects):
        told = predicted(tmp_path, models, dict.fromkeys(models, rows))
        for name, model in models.items():
            assert_same(model, told[name], data, same_bits=False)
            assert told[name]["featureNames"] == list(table.columns)
            assert set(told[name]["categories"]["colour"]) == {"red", "wh</script>ite", "rosé"}
            assert set(told[name]["categories"]["sweet"]) == {True, False}
            assert set(told[name]["categories"]["year"]) == {2019, 2020, 2021}
    assert "</script>" not in to_js(models["trees"])


@needs_node
def test_every_kind_of_import(tmp_path):
    model, row = fitted("trees"), X[3].tolist()
    expected = model.predict_proba(X[3:4])[0]
    (tmp_path / "wine.js").write_text(to_js(model, name="wine"))
    (tmp_path / "wine.mjs").write_text(to_js(model, name="wine", module=True))
    called = f"console.log(JSON.stringify([...wine.predictProba({row})]))"
    script = f"{(tmp_path / 'wine.js').read_text()}\n"
    found = {
        "require": node(tmp_path, f'const wine = require("./wine.js"); {called}'),
        "import of a script": node(
            tmp_path, f'import wine from "./wine.js"; {called}', "--input-type=module"
        ),
        "default import": node(
            tmp_path, f'import wine from "./wine.mjs"; {called}', "--input-type=module"
        ),
        "import of names": node(
            tmp_path,
            f'import {{ predictProba }} from "./wine.mjs"; {called.replace("wine.", "")}',
            "--input-type=module",
        ),
        "no modules": node(tmp_path, f"{script}{called}", "--input-type=module"),
    }
    for text in found.values():
        np.testing.assert_allclose(json.loads(text), expected, atol=1e-12)


@needs_node
def test_rows_that_cannot_be_used_are_refused(tmp_path):
    models = {"trees": fitted("trees"), "stumps": fitted("mh-stump")}
    for name, model in models.items():
        (tmp_path / f"{name}.js").write_text(to_js(model))
    row = json.dumps(X[0].tolist())
    cases = {
        "the row has 2 values, the model takes 13": "trees.predict([1, 2])",
        "x0 is many: pass a finite number": f"trees.predict(['many', ...{row}.slice(1)])",
        "x0 is Infinity: pass a finite number": f"trees.predict([Infinity, ...{row}.slice(1)])",
        "the row lacks x1: pass null": "trees.predict({x0: 1})",
        "x0 is missing: the model takes no missing": f"stumps.predict([null, ...{row}.slice(1)])",
    }
    loaded = 'const trees = require("./trees.js"), stumps = require("./stumps.js");'
    for message, call in cases.items():
        script = f"{loaded} try {{ {call} }} catch (error) {{ console.log(error.message) }}"
        assert node(tmp_path, script).startswith(message)


def test_the_file_is_hardly_larger_than_the_model(tmp_path):
    model = RandomBoostClassifier(30, random_state=0).fit(*load_digits(return_X_y=True))
    model.save(tmp_path / "digits.rboost", dense=True)
    code = len(to_js(fitted("trees-few-features")))
    assert len(to_js(model)) - code < 1.5 * (tmp_path / "digits.rboost").stat().st_size


@pytest.mark.parametrize("name", ["", "2fast", "a-b", "while", "é", "load", "f()"])
def test_names_that_javascript_does_not_take(name):
    with pytest.raises(ValueError, match="cannot name a variable"):
        to_js(fitted("mh-stump"), name=name)


def test_what_cannot_be_exported_is_reported():
    own = AdaBoostMHClassifier(2, weak_learner=LogisticRegression()).fit(X / X.max(axis=0), y)
    with pytest.raises(ValueError, match="weak classifiers of the kind LogisticRegression"):
        to_js(own)
