"""Why mistakes were made, and what can be promised where the model is not sure."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
pandas = pytest.importorskip("pandas")

from sklearn.datasets import load_digits  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from test_report import Page  # noqa: E402

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier  # noqa: E402
from randomboost.report import write_training_report  # noqa: E402
from randomboost.report.mistakes import explain_mistakes  # noqa: E402
from randomboost.report.promises import answers_by_threshold, prediction_sets  # noqa: E402


@pytest.fixture(scope="module")
def task():
    X, y = load_digits(return_X_y=True)
    table = pandas.DataFrame(X, columns=[f"pixel {place}" for place in range(64)])
    labels = np.array([f"digit {number}" for number in y])
    model = RandomBoostClassifier(10, random_state=0).fit(table[:600], labels[:600])
    return model, table[600:], labels[600:]


def reasons(model, X, y, index=None):
    index = X.index if index is None else index
    return explain_mistakes(model, X, y, model.predict(X), model.predict_proba(X), index)


def test_the_most_confident_mistakes_come_first_and_add_up(task):
    model, X, y = task
    found = reasons(model, X, y)
    shares, wrong = model.predict_proba(X), model.predict(X) != y
    assert len(found) == 4
    assert [reason["classes"][0]["share"] for reason in found] == pytest.approx(
        np.sort(shares[wrong].max(axis=1))[::-1][:4]
    )
    for reason in found:
        row = X.loc[[int(reason["row"])]]
        names = [entry["name"] for entry in reason["classes"]]
        assert names == [model.predict(row)[0], y[int(reason["row"]) - 600]]
        scores = model.decision_function(row)[0][np.searchsorted(model.classes_, names)]
        assert reason["scores"] == [f"{score:+.2f}" for score in scores]
        parts = [feature["contributions"] for feature in reason["features"]]
        total = np.array([*parts, reason["others"], reason["bases"]], dtype=float).sum(axis=0)
        np.testing.assert_allclose(total, scores, atol=0.05)
        explained = model.explain(row, classes=names).values[0]
        difference = np.abs(explained[:, 0] - explained[:, 1])
        first = reason["features"][0]
        assert first["name"] == X.columns[difference.argmax()]
        assert first["share"] == 1


def test_two_classes_have_one_column_of_contributions(task):
    _, X, y = task
    odd = np.where([int(label[-1]) % 2 for label in y], "odd", "even")
    model = RandomBoostClassifier(5, random_state=0).fit(X[:300], odd[:300])
    found = reasons(model, X[300:], odd[300:])
    assert {len(reason["scores"]) for reason in found} == {1}
    assert all(float(reason["scores"][0]) > 0 for reason in found)  # for the predicted class


def test_models_without_explanations_and_without_mistakes_give_no_reasons(task):
    model, X, y = task
    assert not reasons(model, X, model.predict(X))
    other = AdaBoostMHClassifier(3, random_state=0).fit(X[:200], y[:200])
    assert not reasons(other, X, y)
    assert not reasons(LogisticRegression(max_iter=500).fit(X / 16, y), X / 16, y)


def test_the_page_shows_reasons_sets_and_thresholds(task, tmp_path):
    model, X, y = task
    page = Page(write_training_report(tmp_path / "page.html", model, X, y))
    assert "Why the most confident mistakes were made" in page.text
    rows = page.table("feature", "value")
    assert [row[0] for row in rows[-3:]] == ["58 other features", "average score", "score"]
    assert page.table("threshold", "answered", "right")
    pytest.importorskip("mapie")
    assert page.table("wanted", "coverage")[-1][0] == "99%"
    last = RandomBoostClassifier(10, random_state=0)
    pipeline = make_pipeline(StandardScaler(), last).fit(X[:300], y[:300])
    page = Page(write_training_report(tmp_path / "page.html", pipeline, X[300:], y[300:]))
    assert page.table("feature", "value")[0][0].startswith("pixel")


def test_sets_have_the_wanted_coverage():
    pytest.importorskip("mapie")
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(6, 0.5), size=4000)
    y = np.array([rng.choice(6, p=share) for share in shares])
    found = prediction_sets(shares**2 / (shares**2).sum(axis=1, keepdims=True), y)  # overconfident
    assert [entry["level"] for entry in found] == [0.8, 0.9, 0.95, 0.99]
    for entry in found:
        assert entry["coverage"] == pytest.approx(entry["level"], abs=0.02)
    sizes = [entry["size"] for entry in found]
    assert sizes == sorted(sizes)
    assert not prediction_sets(shares[:30], y[:30])
    assert [entry["level"] for entry in prediction_sets(shares[:100], y[:100])] == [0.8, 0.9, 0.95]
    certain = np.eye(6)[y]
    assert not prediction_sets(certain, y)


def test_answers_above_a_threshold():
    shares = np.array([[0.97, 0.03], [0.6, 0.4], [0.1, 0.9], [0.45, 0.55]])
    found = answers_by_threshold(shares, np.array([0, 1, 1, 1]))
    assert found[0] == {"threshold": 0.5, "answered": 1.0, "accuracy": 0.75}
    assert found[2] == {"threshold": 0.8, "answered": 0.5, "accuracy": 1.0}
    assert [entry["threshold"] for entry in found] == [0.5, 0.7, 0.8, 0.9, 0.95]
