"""The section "Try it" in headless Chromium: the page predicts what Python predicts."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
pandas = pytest.importorskip("pandas")
pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from chromium import needs_chromium, visit  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier  # noqa: E402
from randomboost.preprocessing.categories import TablePreparation  # noqa: E402
from randomboost.report import try_it, write_training_report  # noqa: E402

pytestmark = needs_chromium
HOSTILE = "</script><img src=x onerror='window.broken=1'>"


def customers():
    """Return a table with numbers, categories, gaps, and the classes that they give."""
    random = np.random.default_rng(0)
    n = 300
    X = pandas.DataFrame(
        {
            "age": random.integers(18, 90, n).astype(float),
            HOSTILE: random.normal(0, 1000, n),
            "contract": random.choice(["monthly", "yearly", HOSTILE], n),
            "calls": random.poisson(2, n),
            "renewed": pandas.Categorical(random.choice([True, False], n)),
        }
    )
    score = X["age"] / 20 + X[HOSTILE] / 500 + 2 * (X["contract"] == "yearly") - X["calls"]
    X.loc[::9, HOSTILE] = np.nan
    X.loc[::7, "contract"] = None
    y = np.array([f"leaves{HOSTILE}", "undecided", "stays"])[np.digitize(score, [0, 2])]
    return X, y


@pytest.fixture(scope="module", params=["trees", "prepared", "array"])
def tried(request, tmp_path_factory):
    """Return a model, its test rows, and the address of its page."""
    X, y = customers()
    if request.param == "trees":
        model = RandomBoostClassifier(30, random_state=0)
    else:
        model = make_pipeline(TablePreparation(), AdaBoostMHClassifier(20))
    if request.param == "array":
        model, X = AdaBoostMHClassifier(20), X[["age", "calls"]].to_numpy(np.float32)
    model.fit(X[:200], y[:200])
    path = write_training_report(
        tmp_path_factory.mktemp("page") / "page.html",
        model,
        X[200:],
        y[200:],
        X_train=X[:200],
        y_train=y[:200],
    )
    return model, X[200:], path.as_uri()


def told(browser, table):
    """Return the numbers of a table by the name of the row."""
    return dict(
        browser.execute_script(
            """return [...document.getElementById(`try-${arguments[0]}`).rows].map(
                 (row) => [row.cells[0].dataset.name, Number(row.cells[2].dataset.value)])""",
            table,
        )
    )


def assert_predicts(browser, model, row):
    """Check the probabilities, the label and the effects that the page shows for a row."""
    shares = model.predict_proba(row)[0]
    expected = {str(label): share for label, share in zip(model.classes_, shares, strict=True)}
    shown = told(browser, "probabilities")
    assert set(shown) == set(expected)
    for name, share in shown.items():
        assert share == pytest.approx(expected[name], abs=1e-6)
    answer = browser.find_element(By.ID, "try-answer").text
    assert answer == f"{model.predict(row)[0]}, {100 * shares.max():.1f}%"


def field(browser, name):
    """Return the control of a feature that its label names."""
    label = next(
        each
        for each in browser.find_elements(By.CSS_SELECTOR, ".control label")
        if each.get_attribute("textContent") == name
    )
    return browser.find_element(By.ID, label.get_attribute("for"))


def begin(browser, model, X, address, width=1280):
    """Open a page and choose its second row of the test data; return that row."""
    assert visit(browser, address, width) == []
    chosen = Select(browser.find_element(By.ID, "try-row"))
    chosen.select_by_index(2)
    number = int(chosen.first_selected_option.text.split(":")[0])
    return X.loc[[number]].copy() if hasattr(X, "loc") else X[[number]].copy()


def type_into(element, text):
    element.send_keys(Keys.CONTROL, "a")
    element.send_keys(text or Keys.DELETE)


@pytest.mark.parametrize("width", [390, 1280])
def test_changed_values_give_the_probabilities_of_python(browser, tried, width):
    model, X, address = tried
    row = begin(browser, model, X, address, width)
    assert_predicts(browser, model, row)
    if not hasattr(row, "columns"):
        type_into(field(browser, "feature 0"), "30.5")
        row[0, 0] = 30.5
        assert_predicts(browser, model, row)
        return
    before = told(browser, "probabilities")
    changes = {HOSTILE: 1234.5, "calls": 9, "contract": "monthly", "renewed": True, "age": 20.0}
    for name, value in changes.items():
        control = field(browser, name)
        if name in ("contract", "renewed"):
            Select(control).select_by_visible_text(str(value).lower() if value is True else value)
        else:
            type_into(control, str(value))
        row[name] = value
        assert_predicts(browser, model, row)
    assert told(browser, "probabilities") != before
    assert browser.execute_script("return window.broken") is None
    type_into(field(browser, HOSTILE), "")
    Select(field(browser, "contract")).select_by_visible_text("(missing)")
    row[HOSTILE], row["contract"] = np.nan, None
    assert_predicts(browser, model, row)
    browser.find_element(By.ID, "try-reset").send_keys(Keys.ENTER)
    assert told(browser, "probabilities") == before


def test_sliders_move_with_the_keyboard(browser, tried):
    model, X, address = tried
    row = begin(browser, model, X, address)
    name = "age" if hasattr(row, "columns") else "feature 0"
    number = field(browser, name)
    slider = number.find_element(By.XPATH, "preceding-sibling::input")
    assert slider.accessible_name == name
    for _ in range(3):
        slider.send_keys(Keys.ARROW_LEFT)
    value = float(number.get_attribute("value"))
    assert value == pytest.approx(float(np.asarray(row)[0, 0]) - 3)
    if hasattr(row, "columns"):
        row["age"] = value
    else:
        row[0, 0] = value
    assert_predicts(browser, model, row)


@pytest.mark.parametrize("tried", ["trees", "prepared"], indirect=True)
def test_effects_are_the_falls_of_the_score_at_the_median(browser, tried):
    model, X, address = tried
    row = begin(browser, model, X, address)
    train = customers()[0][:200]
    usual = {name: train[name].quantile(0.5, "lower") for name in ("age", "calls", HOSTILE)}
    usual |= {name: train[name].mode()[0] for name in ("contract", "renewed")}
    best = np.flatnonzero(model.classes_ == model.predict(row)[0])[0]
    score = model.decision_function(row)[0, best]
    shown = told(browser, "effects")
    assert shown
    for name, value in usual.items():
        changed = row.copy()
        changed[name] = value
        effect = score - model.decision_function(changed)[0, best]
        assert shown.get(name, 0.0) == pytest.approx(effect, abs=1e-5)


@pytest.mark.parametrize("tried", ["array"], indirect=True)
def test_values_that_are_needed_are_asked_for(browser, tried):
    model, X, address = tried
    begin(browser, model, X, address)
    type_into(field(browser, "feature 0"), "")
    answer = browser.find_element(By.ID, "try-answer").text
    assert answer == "feature 0 is missing: the model takes no missing values"


def test_on_a_phone_the_answer_stays_in_sight(browser, tried):
    model, X, address = tried
    begin(browser, model, X, address, 390)
    last = browser.find_elements(By.CSS_SELECTOR, ".control")[-1]
    browser.execute_script("arguments[0].scrollIntoView({block: 'end'})", last)
    answer = browser.execute_script(
        "return document.getElementById('try-answer').getBoundingClientRect().top"
    )
    assert 0 <= answer < 400


def test_a_large_model_is_left_out(browser, tried, tmp_path, monkeypatch):
    model, X, _ = tried
    monkeypatch.setattr(try_it, "_MOST_BYTES", 10_000)
    labels = model.predict(X)
    path = write_training_report(tmp_path / "page.html", model, X, labels)
    assert visit(browser, path.as_uri(), 390) == []
    assert "randomboost export model.rboost --js" in browser.find_element(By.ID, "try-it").text
    assert "randomboostModel" not in path.read_text()
