"""The HTML reports: their content, that nothing in the data becomes markup, and errors."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
pandas = pytest.importorskip("pandas")

from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import log_loss  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier, RBoostProjClassifier, files  # noqa: E402
from randomboost.preprocessing.categories import TablePreparation  # noqa: E402
from randomboost.report import ModelResult, write_comparison_report, write_training_report  # noqa: E402
from randomboost.report.summary import class_balance, data_summary  # noqa: E402

HOSTILE = '<script>window.broken=1</script><img src=x onerror="window.broken=1">&amp;"\'{{7*7}}'
VOID = {"meta", "img", "br", "link"}


class Page(HTMLParser):
    """A page taken apart; elements that are not closed in order raise an error."""

    def __init__(self, path):
        super().__init__()
        self.open, self.tags, self.ids, self.tables, self.text = [], [], [], [], ""
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
        if self.open and "table" in self.open and ("td" in self.open or "th" in self.open):
            self.tables[-1][-1][-1] += data

    def table(self, *headings):
        """Return the rows of the table with these first headings, spaces made single."""
        for table in self.tables:
            rows = [[" ".join(cell.split()) for cell in row] for row in table]
            if rows and rows[0][: len(headings)] == list(headings):
                return rows[1:]
        raise AssertionError(f"no table with the headings {headings}")


@pytest.fixture(scope="module")
def table():
    """Return a table with numbers, gaps and categories, and names that are markup."""
    random = np.random.default_rng(0)
    n = 300
    X = pandas.DataFrame(
        {
            HOSTILE: random.normal(size=n),
            "b": random.normal(size=n),
            "shape": random.choice(["round", "<b>flat</b>", "long"], n),
        }
    )
    X.iloc[::10, 0] = np.nan
    y = np.array([f"plain {HOSTILE}", "other", "third"])[
        np.digitize(X["b"] + 0.5 * random.normal(size=n), [-0.5, 0.5])
    ]
    return X, y


@pytest.fixture(scope="module")
def trained(table, tmp_path_factory):
    """Return a page about a model of that table, the model and its test part."""
    X, y = table
    model = RandomBoostClassifier(12, random_state=0).fit(X[::2], y[::2])
    path = write_training_report(
        tmp_path_factory.mktemp("report") / "training.html",
        model,
        X[1::2],
        y[1::2],
        X_train=X[::2],
        y_train=y[::2],
        title=f"About {HOSTILE}",
        facts={f"file {HOSTILE}": HOSTILE, "seconds": 3.25},
        notes=[f"Note {HOSTILE}"],
    )
    return Page(path), model, X[1::2], y[1::2]


@pytest.fixture(scope="module")
def compared(table, tmp_path_factory):
    random = np.random.default_rng(0)
    results = [
        ModelResult(
            name,
            list(0.1 * (place + 1) + 0.02 * random.random(5)),
            log_loss=[] if place == 2 else [0.3 + place] * 5,
            fit_seconds=np.full(5, 10.0**place),
            predict_seconds=[0.001] * 5,
            size=[2000.0 * (3 - place)] * 5,
            note=HOSTILE if place == 1 else "",
        )
        for place, name in enumerate(["first", f"second {HOSTILE}", "third"])
    ]
    path = write_comparison_report(
        tmp_path_factory.mktemp("report") / "comparison.html",
        results[::-1],
        X=table[0],
        y=table[1],
        title=HOSTILE,
        part_names=["one", "two", "three", "four", HOSTILE],
    )
    return Page(path), results


def test_scores_are_those_of_scikit_learn(trained):
    page, model, X, y = trained
    assert f"{100 * np.mean(model.predict(X) != y):.2f}%" in page.text
    assert f"{log_loss(y, model.predict_proba(X), labels=model.classes_):.4f}" in page.text
    from sklearn.metrics import balanced_accuracy_score, classification_report

    assert f"{100 * balanced_accuracy_score(y, model.predict(X)):.2f}%" in page.text
    expected = classification_report(y, model.predict(X), output_dict=True)
    rows = page.table("class", "precision", "recall", "F1", "rows")
    assert len(rows) == 3
    for name, *numbers in rows:
        found = expected[name]
        shown = [f"{found[key]:.3f}" for key in ("precision", "recall", "f1-score")]
        assert numbers == [*shown, f"{found['support']:.0f}"]


def test_worst_mistakes(trained):
    page, model, X, y = trained
    shares, labels = model.predict_proba(X), model.predict(X)
    rows = page.table("row", "true", "predicted", "p(predicted)", "p(true)")
    wrong = np.flatnonzero(labels != y)
    assert len(rows) == min(20, len(wrong))
    worst = wrong[np.argmax(shares[wrong].max(axis=1))]
    assert rows[0][:4] == [
        str(X.index[worst]),
        y[worst],
        labels[worst],
        f"{shares[worst].max():.3f}",
    ]
    probabilities = [float(row[3]) for row in rows]
    assert probabilities == sorted(probabilities, reverse=True)
    confusions = page.table("true", "predicted", "rows")
    assert sum(int(row[2]) for row in confusions) == len(wrong)


def test_data_summary_of_the_page(trained):
    page = trained[0]
    columns = {row[0]: row[1:] for row in page.table("column", "kind", "missing")}
    assert columns[HOSTILE][:2] == ["number", "20.0%"]  # every tenth row, all in this part
    assert columns["shape"][0] == "category"
    assert "<b>flat</b>" in columns["shape"][3]
    settings = page.table("parameter", "value")
    assert ["n_estimators", "12", "set"] in settings
    assert ["learning_rate", "None", "default"] in settings
    assert settings[0][2] == "set"


def test_comparison_has_every_number(compared):
    page, results = compared
    rows = page.table("model", "error", "log loss", "fit", "predict", "size", "mean rank")
    assert [row[0].split()[0] for row in rows] == ["first", "second", "third"]
    for row, result in zip(rows, results, strict=True):
        mean, spread = 100 * np.mean(result.error), 100 * np.std(result.error, ddof=1)
        assert row[1] == f"{mean:.2f}% ± {spread:.2f}"
    assert rows[0][2:] == ["0.3000", "1 s", "1 ms", "6 kB", "1.00", "best"]
    assert rows[2][2:6] == ["—", "1.67 min", "1 ms", "2 kB"]
    assert rows[1][-1].startswith("p ")
    assert rows[1][-1].endswith("worse")
    by_part = page.table("fold", "third")
    assert [row[0] for row in by_part] == ["one", "two", "three", "four", HOSTILE]
    assert by_part[0][3] == f"{100 * results[0].error[0]:.2f}%"


@pytest.mark.parametrize("which", ["trained", "compared"])
def test_nothing_in_the_data_becomes_markup(which, request):
    page = request.getfixturevalue(which)[0]
    # sorting of tables; the model and what uses it
    n_scripts = {"trained": 3, "compared": 1}[which]
    assert [tag for tag, _ in page.tags].count("script") == n_scripts
    assert "img" not in [tag for tag, _ in page.tags]
    assert "b" not in [tag for tag, _ in page.tags]
    assert not [name for _, attributes in page.tags for name in attributes if name[:2] == "on"]
    assert HOSTILE in page.text
    assert "49" not in re.findall(r"\d+", page.source[page.source.index("<h1>") :][:300])


@pytest.mark.parametrize("which", ["trained", "compared"])
def test_a_page_is_one_file(which, request):
    """Nothing is fetched: no address outside of namespaces, and a policy that forbids it."""
    page = request.getfixturevalue(which)[0]
    for tag, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "srcset", "action"):
            address = attributes.get(name, "#")
            assert address.startswith(("#", "data:image/png;base64,")), (tag, address)
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", page.source)
    assert "@import" not in page.source
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv"))
    assert "default-src 'none'" in policy


@pytest.mark.parametrize("which", ["trained", "compared"])
def test_figures_follow_the_page(which, request):
    """Colours are variables of the style sheet, names are text, and identifiers are unique."""
    page = request.getfixturevalue(which)[0]
    drawings = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(drawings) >= 5
    assert all(found["role"] == "img" and found["aria-label"] for found in drawings)
    assert len(set(page.ids)) == len(page.ids)
    used = set(re.findall(r"#(figure\d+-[\w-]+)", page.source))
    assert used <= set(page.ids)
    body = page.source[page.source.index("<body>") :]
    assert "#1b1f24" not in body
    assert "currentColor" in body
    assert set(re.findall(r"var\((--\w+)\)", body)) <= set(re.findall(r"(--\w+):", page.source))


def test_models_of_others_get_the_plots_they_can(tmp_path, noisy):
    X, y = noisy
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    page = Page(write_training_report(tmp_path / "page.html", model, X, y))
    titles = [" ".join(title.split()) for title in re.findall(r"<h3>(.*?)</h3>", page.source)]
    assert "Calibration" in titles
    assert "Confusion matrix" in titles
    assert "Error by round" not in titles
    assert "LogisticRegression, 3 classes" in page.text


def test_a_loaded_model_without_its_stages(tmp_path, table):
    X, y = table
    model = make_pipeline(TablePreparation(), RBoostProjClassifier(8, random_state=0))
    files.save(model.fit(X, y), tmp_path / "model.rboost")
    loaded = files.load(tmp_path / "model.rboost")
    page = Page(write_training_report(tmp_path / "page.html", loaded, X, y))
    assert "Error by round" not in page.text
    assert "Margins" in page.text
    assert f"{100 * np.mean(model.predict(X) != y):.2f}%" in page.text


def test_tables_of_polars_give_the_page_of_pandas(tmp_path, table):
    polars = pytest.importorskip("polars")
    X, y = table
    pages = []
    for place, data in enumerate((X, polars.from_pandas(X))):
        model = RandomBoostClassifier(5, random_state=0).fit(data[::2], y[::2])
        path = write_training_report(tmp_path / f"{place}.html", model, data[1::2], y[1::2])
        page = Page(path)
        pages.append((page.table("class", "precision"), page.table("column", "kind")))
        assert "try-controls" in page.source
    assert pages[0] == pages[1]


def test_two_features_give_regions(tmp_path, noisy):
    X, y = noisy
    model = AdaBoostMHClassifier(5, random_state=0).fit(X[:, :2], y)
    page = Page(write_training_report(tmp_path / "page.html", model, X[:, :2], y))
    assert "Decision regions" in page.text


def test_unknown_classes_count_as_wrong(tmp_path, noisy):
    X, y = noisy
    known = y != 2
    model = AdaBoostMHClassifier(5, random_state=0).fit(X[known], y[known])
    page = Page(write_training_report(tmp_path / "page.html", model, X, y))
    assert f"{np.sum(y == 2)} test rows have classes that the model was not trained on" in page.text
    assert f"{100 * np.mean(model.predict(X) != y):.2f}%" in page.text


def test_a_model_without_mistakes_and_one_part_only(tmp_path, wine):
    X, y = wine
    model = RandomBoostClassifier(20, random_state=0).fit(X, y)
    page = Page(write_training_report(tmp_path / "page.html", model, X.tolist(), y.tolist()))
    assert "No test row is misclassified." in page.text
    page = Page(write_comparison_report(tmp_path / "one.html", [ModelResult("only", [0.1])]))
    assert page.table("model", "error")[0][:2] == ["only", "10.00%"]
    several = [ModelResult("a", [0.1]), ModelResult("b", [0.2])]
    page = Page(write_comparison_report(tmp_path / "two.html", several))
    assert page.table("model", "error")[1][-1] == "not tested"


def test_a_page_is_the_same_for_the_same_model(tmp_path, noisy):
    X, y = noisy
    model = AdaBoostMHClassifier(5, random_state=0).fit(X, y)
    pages = [write_training_report(tmp_path / f"{n}.html", model, X, y) for n in range(2)]
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_a_failure_leaves_the_old_page(tmp_path, noisy, monkeypatch):
    X, y = noisy
    path = tmp_path / "page.html"
    path.write_text("old")
    model = AdaBoostMHClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="y_test has shape"):
        write_training_report(path, model, X, y[:-1])
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_training_report(path, model, X, y)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_test": []}, "y_test has shape"),
        ({"y_test": ["none"] * 150}, "none of the classes"),
        ({"X_train": [[0.0] * 4]}, "must be given together"),
        ({"path": "no/such/folder/page.html"}, "folder that does not exist"),
        ({"path": "."}, "is a folder"),
    ],
)
def test_bad_input_of_a_training(change, message, tmp_path, noisy, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = noisy
    model = AdaBoostMHClassifier(3, random_state=0).fit(X, y)
    arguments = {"path": "page.html", "model": model, "X_test": X, "y_test": y, **change}
    with pytest.raises(ValueError, match=message):
        write_training_report(**arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ([], {}, "results is empty"),
        ([ModelResult("a", [0.1]), ModelResult("a", [0.2])], {}, "same name"),
        ([ModelResult("a", [0.1]), ModelResult("b", [0.2, 0.3])], {}, "b has 2 errors"),
        ([ModelResult("a", [])], {}, "has 0 errors"),
        ([ModelResult("a", [12.0])], {}, r"outside \[0, 1\]"),
        ([ModelResult("a", [np.nan])], {}, r"outside \[0, 1\]"),
        ([ModelResult("a", [0.1], log_loss=[1, 2])], {}, "2 values of log_loss"),
        ([ModelResult("a", [0.1])], {"parts": "halves"}, "parts='halves'"),
        ([ModelResult("a", [0.1])], {"part_names": ["x", "y"]}, "part_names has 2"),
    ],
)
def test_bad_input_of_a_comparison(results, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_comparison_report(tmp_path / "page.html", results, **options)
    assert not list(tmp_path.iterdir())


def test_summaries():
    sparse = pytest.importorskip("scipy.sparse")
    assert data_summary(sparse.eye(4, format="csr"))["facts"]["kind"] == "sparse, 25.00% stored"
    found = data_summary(np.array([[1.0, np.nan], [2.0, 3.0]]))["facts"]
    assert found["missing"] == "1 values (25.00%)"
    empty = data_summary(pandas.DataFrame({"x": [np.nan, np.nan]}))["columns"][0]
    assert empty["values"] == "—"
    balance = class_balance([1, 1, 2], [2])
    assert [(row["name"], row["counts"]) for row in balance] == [("1", [2, 0]), ("2", [1, 1])]


def test_a_page_does_not_depend_on_the_style_of_matplotlib(tmp_path):
    import matplotlib.pyplot as plt

    results = [ModelResult("a", [0.1, 0.2], fit_seconds=[1, 2])]
    plain = write_comparison_report(tmp_path / "plain.html", results).read_bytes()
    with plt.style.context("dark_background"):
        before = dict(plt.rcParams)
        styled = write_comparison_report(tmp_path / "styled.html", results).read_bytes()
        assert dict(plt.rcParams) == before
    assert styled == plain
    assert not plt.get_fignums()


def test_the_longer_side_of_the_table_of_errors_is_down(tmp_path):
    results = [ModelResult(name, [0.5, place / 10]) for place, name in enumerate("abc")]
    page = Page(write_comparison_report(tmp_path / "page.html", results, parts="data sets"))
    assert page.table("model", "data set 1", "data set 2")[1] == ["b", "50.00%", "10.00%"]
    lowest = re.findall(r'class="lowest">([\d.]+%)', page.source)
    assert lowest == ["50.00%", "0.00%", "50.00%", "50.00%"]  # all are equal on the first
