"""The command line: what its commands do."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, log_loss
from sklearn.metrics import precision_recall_fscore_support as by_class
from sklearn.pipeline import make_pipeline

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
pytest.importorskip("typer")

from typer.testing import CliRunner  # noqa: E402

import randomboost  # noqa: E402
from randomboost import files  # noqa: E402
from randomboost.cli import app  # noqa: E402
from randomboost.preprocessing.categories import TablePreparation  # noqa: E402

ROUNDS = "n_estimators=8"


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    return result


@pytest.fixture(scope="module")
def flowers():
    """A table with columns of every kind, gaps and an identifier."""
    rng = np.random.default_rng(0)
    n = 240
    species = rng.choice(["lily", "rose", "tulip"], n)
    return pd.DataFrame(
        {
            "id": [f"plant {i}" for i in range(n)],
            "height": rng.normal(size=n) + 2 * (species == "rose"),
            "colour": np.where(
                rng.random(n) < 0.8, np.where(species == "lily", "white", "red"), "?"
            ),
            "wild": rng.random(n) < 0.5,
            "seen": pd.date_range("2020-01-01", periods=n).astype(str),
            "width": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "species": species,
        }
    )


@pytest.fixture(scope="module")
def files_of(flowers, tmp_path_factory):
    folder = tmp_path_factory.mktemp("flowers")
    flowers[:180].to_csv(folder / "train.csv", index=False)
    flowers[180:].to_csv(folder / "test.csv", index=False)
    for name in ("randomboost", "ecc"):
        run("train", folder / "train.csv", "-t", "species", "-m", name, "--set", ROUNDS,
            "--seed", 1, "-o", folder / f"{name}.rboost", "-q")  # fmt: skip
    return folder


# -- train -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["randomboost", "rank", "proj", "ecc", "mh", "mo", "multiboost", "rank-paper", "proj-paper"],
)
def test_every_model_is_trained_saved_and_loaded(name, files_of, tmp_path):
    out = tmp_path / "m.rboost"
    settings = ["--set", ROUNDS]
    if name.endswith("-paper"):
        settings += ["--set", "n_projections=1e2"]
    result = run("train", files_of / "train.csv", "--target", "species", "--model", name, *settings,
                 "--test-size", 0.25, "--seed", 0, "--out", out, "--json")  # fmt: skip
    found = json.loads(result.stdout)
    notes = files.describe(out)["notes"]
    assert found["rounds"] == 8
    assert notes["rows"] == 135
    assert notes["rows_held_out"] == 45
    assert notes["scores"]["held_out"]["error"] < 0.6
    assert {column["name"]: column["kind"] for column in notes["columns"]} == {
        "height": "number",
        "colour": "category",
        "wild": "flag",
        "seen": "date",
        "width": "number",
    }
    assert [column["name"] for column in notes["left_out"]] == ["id"]
    assert not (tmp_path / "m.rboost.checkpoint").exists()
    assert list(randomboost.load(out).classes_) == ["lily", "rose", "tulip"]


def test_two_classes_and_adaboost(tmp_path):
    out = tmp_path / "m.rboost"
    run("train", "sklearn:breast_cancer", "-m", "adaboost", "--set", ROUNDS, "-o", out, "-q")
    result = run("evaluate", out, "sklearn:breast_cancer", "--json")
    assert json.loads(result.stdout)["error"] < 0.1


def test_messages_go_to_standard_error(files_of, tmp_path):
    arguments = ["train", files_of / "train.csv", "-t", "species", "--set", ROUNDS, "--force"]
    loud = run(*arguments, "-o", tmp_path / "m.rboost")
    assert loud.stdout == ""
    for words in ("colour (2)", "identifier", "missing values", "8 rounds", "3 classes"):
        assert words in loud.stderr
    quiet = run(*arguments, "-o", tmp_path / "m.rboost", "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")


def test_cross_validation_is_noted(files_of, tmp_path):
    out = tmp_path / "m.rboost"
    result = run("train", files_of / "train.csv", "-t", "species", "--set", ROUNDS, "--cv", 3,
                 "--seed", 0, "-o", out, "--json")  # fmt: skip
    scores = json.loads(result.stdout)["scores"]["cross_validation"]
    assert scores["folds"] == len(scores["errors"]) == 3
    assert scores["error"] == pytest.approx(np.mean(scores["errors"]))
    assert files.describe(out)["notes"]["scores"]["cross_validation"] == scores


def test_the_seed_decides(files_of, tmp_path):
    for name in ("a", "b"):
        run("train", files_of / "train.csv", "-t", "species", "--set", ROUNDS, "--seed", 7,
            "-o", tmp_path / name, "-q")  # fmt: skip
    first, second = (run("predict", tmp_path / name, files_of / "test.csv", "--proba").stdout
                     for name in ("a", "b"))  # fmt: skip
    assert first == second


def test_options_about_columns(files_of, tmp_path):
    out = tmp_path / "m.rboost"
    run("train", files_of / "train.csv", "--target", "-1", "--set", ROUNDS, "-o", out, "-q",
        "--keep", "id", "--drop", "seen", "--drop", "width", "--category", "wild")  # fmt: skip
    columns = {entry["name"]: entry["kind"] for entry in files.describe(out)["notes"]["columns"]}
    assert columns == {
        "id": "category",
        "height": "number",
        "colour": "category",
        "wild": "category",
    }


def test_labels_stay_numbers(tmp_path):
    out = tmp_path / "m.rboost"
    run("train", "sklearn:digits", "--set", "n_estimators=3", "-o", out, "-q")
    assert randomboost.load(out).classes_.dtype == np.int64
    result = run("evaluate", out, "sklearn:digits", "--json")
    assert json.loads(result.stdout)["rows"] == 1797


def test_rows_without_a_target_are_left_out(flowers, tmp_path):
    table = flowers.copy()
    table.loc[[3, 9], "species"] = None
    table.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.rboost"
    result = run("train", tmp_path / "t.csv", "-t", "species", "--set", ROUNDS, "-o", out)
    assert "left out because the target is missing: 2 rows" in result.stderr
    assert files.describe(out)["notes"]["rows"] == 238


def test_settings_are_parsed_by_their_kind(files_of, tmp_path):
    out = tmp_path / "m.rboost"
    run("train", files_of / "train.csv", "-t", "species", "-o", out, "-q",
        "--set", "n_estimators=1e1", "--set", "learning_rate=1",
        "--set", "max_leaf_nodes=none", "--set", "early_stopping=FALSE",
        "--set", "projection=axis", "--set", "class_weight=balanced")  # fmt: skip
    parameters = files.describe(out)["parameters"]
    assert parameters["n_estimators"] == 10
    assert isinstance(parameters["n_estimators"], int)
    assert parameters["learning_rate"] == 1
    assert parameters["max_leaf_nodes"] is None
    assert parameters["early_stopping"] is False
    assert parameters["projection"] == "axis"
    assert parameters["class_weight"] == "balanced"


# -- predict -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["randomboost", "ecc"])
def test_predictions_are_those_of_the_model(name, files_of, flowers, tmp_path):
    out = tmp_path / "p.csv"
    run("predict", files_of / f"{name}.rboost", files_of / "test.csv", "--proba", "-o", out)
    found = pd.read_csv(out)
    model = randomboost.load(files_of / f"{name}.rboost")
    X = flowers[180:].drop(columns=["id", "species"])
    X["colour"] = X["colour"].where(X["colour"] != "?")
    X["wild"] = X["wild"].astype(float)
    X["seen"] = (pd.to_datetime(X["seen"]) - pd.Timestamp(0)) / pd.Timedelta(days=1)
    assert found["prediction"].tolist() == model.predict(X).tolist()
    columns = ["probability_lily", "probability_rose", "probability_tulip"]
    np.testing.assert_allclose(found[columns], model.predict_proba(X), rtol=1e-15)


@pytest.mark.parametrize("name", ["randomboost", "ecc"])
def test_pieces_of_any_size_and_any_format_give_the_same(name, files_of, tmp_path, monkeypatch):
    model = files_of / f"{name}.rboost"
    whole = run("predict", model, files_of / "test.csv", "--proba", "--copy", "id").stdout
    assert len(whole.splitlines()) == 61
    monkeypatch.setattr("randomboost.reading.delimited._BLOCK", 400)
    assert run("predict", model, files_of / "test.csv", "--proba", "--copy", "id").stdout == whole
    table = pd.read_csv(files_of / "test.csv")
    table.sample(frac=1, axis=1, random_state=0).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("randomboost.reading.rows._CELLS", 40)
    monkeypatch.setattr("randomboost.cli.predict._PROBABILITIES", 10)
    result = run("predict", model, tmp_path / "t.parquet", "--proba", "--copy", "id")
    assert result.stdout == whole


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_output_files(ending, files_of, tmp_path):
    out = tmp_path / f"p{ending}"
    result = run(
        "predict", files_of / "randomboost.rboost", files_of / "test.csv", "-o", out, "--json"
    )
    found = pd.read_parquet(out) if ending == ".parquet" else pd.read_csv(out)
    assert len(found) == json.loads(result.stdout)["rows"] == 60
    assert found["prediction"].value_counts().to_dict() == {
        label: count for label, count in json.loads(result.stdout)["predicted"].items() if count
    }
    assert list(tmp_path.iterdir()) == [out]


def test_extra_columns_and_unknown_categories_are_reported(files_of, flowers, tmp_path):
    table = flowers[180:].assign(extra=1).reset_index(drop=True)
    table.loc[:4, "colour"] = "mauve"
    table.to_csv(tmp_path / "t.csv", index=False)
    for name in ("randomboost", "ecc"):
        result = run("predict", files_of / f"{name}.rboost", tmp_path / "t.csv")
        assert "not used by the model: id, species, extra" in result.stderr
        assert "column 'colour': 5 cells have a category that was not in" in result.stderr
        assert len(result.stdout.splitlines()) == 61


def test_a_missing_column_is_named(files_of, flowers, tmp_path):
    flowers.drop(columns=["wild", "width"]).to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "p.csv"
    result = run("predict", files_of / "randomboost.rboost", tmp_path / "t.csv", "-o", out, code=1)
    assert "lacks 2 of the 5 columns that the model was trained on: wild, width" in result.stderr
    assert not out.exists()


def test_a_wrong_cell_leaves_the_old_output(files_of, flowers, tmp_path):
    table = flowers.astype({"height": object})
    table.loc[200:220, "height"] = "tall"
    table.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "p.csv").write_text("old")
    model = files_of / "randomboost.rboost"
    result = run("predict", model, tmp_path / "t.csv", "-o", tmp_path / "p.csv", code=1)
    assert "'height'" in result.stderr
    assert "'tall'" in result.stderr
    assert (tmp_path / "p.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_models_from_python_are_used_by_names_or_by_order(wine, tmp_path):
    X, y = wine
    table = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    table.assign(target=y).to_csv(tmp_path / "t.csv", index=False)
    prepared = make_pipeline(TablePreparation(), randomboost.AdaBoostMHClassifier(10))
    for name, data, kind in (
        ("names", table, randomboost.AdaBoostMHClassifier(10)),
        ("prepared", table, prepared),
        ("order", X, randomboost.AdaBoostMHClassifier(10)),
    ):
        model = kind.fit(data, y)
        files.save(model, tmp_path / name)
        result = run("evaluate", tmp_path / name, tmp_path / "t.csv", "--json")
        assert json.loads(result.stdout)["error"] == pytest.approx(1 - model.score(data, y))
    table.iloc[:, :5].to_csv(tmp_path / "few.csv", index=False)
    assert "5 columns" in run("predict", tmp_path / "order", tmp_path / "few.csv", code=1).stderr


def test_libsvm_from_end_to_end(wine, tmp_path):
    from sklearn.datasets import dump_svmlight_file

    X, y = wine
    dump_svmlight_file(X[::2], y[::2], str(tmp_path / "train.libsvm"), zero_based=False)
    dump_svmlight_file(X[1::2], y[1::2], str(tmp_path / "test.libsvm"), zero_based=False)
    run(
        "train", tmp_path / "train.libsvm", "--set", ROUNDS, "-o", tmp_path / "m", "-q", "--seed", 0
    )
    result = run("evaluate", tmp_path / "m", tmp_path / "test.libsvm", "--json")
    assert json.loads(result.stdout)["error"] < 0.2
    assert len(run("predict", tmp_path / "m", tmp_path / "test.libsvm").stdout.split()) == 90


def test_numbers_that_name_categories(tmp_path):
    rng = np.random.default_rng(0)
    code = rng.choice([1.5, 2.0, 30.25], 90)
    table = pd.DataFrame({"code": code, "x": rng.normal(size=90), "class": (code == 2).astype(int)})
    table.to_csv(tmp_path / "t.csv", index=False)
    run("train", tmp_path / "t.csv", "--category", "code", "--set", ROUNDS, "-o", tmp_path / "m",
        "-q", "--seed", 0)  # fmt: skip
    table["code"] = table["code"].map("{:.3f}".format)
    table.to_csv(tmp_path / "other.csv", index=False)
    for name in ("t.csv", "other.csv"):
        result = run("evaluate", tmp_path / "m", tmp_path / name, "--json")
        assert json.loads(result.stdout)["error"] == 0
        assert "have a category that was not in" not in result.stderr


# -- evaluate, info ----------------------------------------------------------------------------


def test_scores_are_those_of_scikit_learn(files_of, flowers, tmp_path):
    result = run("evaluate", files_of / "randomboost.rboost", files_of / "test.csv", "--json")
    found = json.loads(result.stdout)
    out = tmp_path / "p.csv"
    run(
        "predict",
        files_of / "randomboost.rboost",
        files_of / "test.csv",
        "--proba",
        "-o",
        out,
        "-q",
    )
    predicted = pd.read_csv(out)
    truth = flowers["species"][180:]
    assert found["error"] == pytest.approx(np.mean(predicted["prediction"] != truth.to_numpy()))
    assert found["log_loss"] == pytest.approx(log_loss(truth, predicted.iloc[:, 1:]))
    labels = predicted["prediction"]
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, labels))
    assert found["confusion"] == confusion_matrix(truth, labels).tolist()
    precision, recall, f1, rows = by_class(truth, labels)
    for place, entry in enumerate(found["classes"]):
        assert entry["precision"] == pytest.approx(precision[place])
        assert entry["recall"] == pytest.approx(recall[place])
        assert entry["f1"] == pytest.approx(f1[place])
        assert entry["rows"] == rows[place]
    shown = run("evaluate", files_of / "randomboost.rboost", files_of / "test.csv").stdout
    assert "true \\ predicted" in shown
    assert f"error {100 * found['error']:.2f} %" in shown


def test_classes_that_the_model_does_not_know_are_errors(files_of, flowers, tmp_path):
    table = flowers[180:].assign(species="orchid")
    pd.concat([flowers[180:], table]).to_csv(tmp_path / "t.csv", index=False)
    known = json.loads(
        run("evaluate", files_of / "randomboost.rboost", files_of / "test.csv", "--json").stdout
    )
    found = json.loads(
        run("evaluate", files_of / "randomboost.rboost", tmp_path / "t.csv", "--json").stdout
    )
    assert found["rows_of_unknown_class"] == 60
    assert found["error"] == pytest.approx((1 + known["error"]) / 2)
    assert found["log_loss"] == pytest.approx(known["log_loss"])


def test_info(files_of):
    shown = run("info", files_of / "ecc.rboost").stdout
    for words in ("AdaBoostECCClassifier", "8 (all rounds", "lily, rose, tulip", "seen (date)",
                  "train.csv, 180 rows", "ecc, n_estimators=8, seed 1"):  # fmt: skip
        assert words in shown
    found = json.loads(run("info", files_of / "randomboost.rboost", "--json").stdout)
    assert found["class"] == randomboost.RandomBoostClassifier.__name__
    assert found["notes"]["target"] == "species"
    assert found["bytes"] == (files_of / "randomboost.rboost").stat().st_size


# -- export ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["randomboost", "ecc"])
def test_exported_models_predict_the_same(name, files_of, flowers, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    arguments = ["export", files_of / f"{name}.rboost", "--onnx", tmp_path / "m.onnx"]
    assert "--encoded" in run(*arguments, code=1).stderr
    result = run(*arguments, "--c", tmp_path / "m.c", "--encoded", "--json")
    inputs = json.loads(result.stdout)["inputs"]
    assert "predict" in (tmp_path / "m.c").read_text()
    table = flowers[180:]
    columns = []
    for entry in inputs:
        values = table[entry["column"]]
        if entry["kind"] == "category":
            values = values.map(entry["categories"])
        elif entry["kind"] == "date":
            values = (pd.to_datetime(values) - pd.Timestamp(0)) / pd.Timedelta(days=1)
        columns.append(values.astype(float).fillna(entry.get("missing", np.nan)))
    X = np.stack(columns, axis=1).astype(np.float32)
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    labels = session.run(None, {session.get_inputs()[0].name: X})[0]
    expected = run("predict", files_of / f"{name}.rboost", files_of / "test.csv").stdout
    assert np.mean(labels.astype(str) == expected.split()[1:]) > 0.97


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("name", ["randomboost", "ecc"])
def test_models_in_javascript_take_categories(name, files_of, tmp_path):
    told = run("export", files_of / f"{name}.rboost", "--js", tmp_path / "m.mjs", "--json").stdout
    assert json.loads(told)["js"] == str(tmp_path / "m.mjs")
    model = randomboost.load(files_of / f"{name}.rboost")
    inputs = json.loads(told)["inputs"]
    row = [next(iter(each["categories"])) if "categories" in each else 1.5 for each in inputs]
    script = 'import model from "./m.mjs"; console.log(model.predict(JSON.parse(process.argv[1])))'
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script, json.dumps(row)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    frame = pd.DataFrame([row], columns=[each["name"] for each in inputs])
    assert done.stdout.strip() == str(model.predict(frame)[0])


@pytest.mark.parametrize("command", ["train", "predict", "evaluate", "compare", "info", "export"])
def test_help_has_an_example_for_every_command(command):
    text = " ".join(run(command, "--help").stdout.split())
    assert f"Example: randomboost {command}" in text
    assert "--quiet" in text
    assert "--json" in text


def test_the_commands_are_light():
    import subprocess
    import sys

    code = "import sys, randomboost.cli; randomboost.cli.app; print([m for m in ('numba', 'pandas',"
    code += " 'sklearn', 'scipy', 'matplotlib', 'pyarrow') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_without_typer_it_says_what_to_install(monkeypatch, capsys):
    import sys

    from randomboost import cli

    monkeypatch.delitem(sys.modules, "randomboost.cli.application", raising=False)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 1
    assert "pip install randomboost[all]" in capsys.readouterr().err
