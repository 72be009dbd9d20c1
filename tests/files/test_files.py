"""Model files: what goes in comes out, and nothing else does."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from model_zoo import NAMES, SETTINGS, X, make, make_pipeline_of_table, table, y
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

import randomboost
from randomboost import (
    AdaBoostECCClassifier,
    RandomBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
    files,
)
from randomboost.ensembles import KINDS
from randomboost.files import ModelFileError, container
from randomboost.preprocessing.categories import TablePreparation

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module", params=SETTINGS)
def model(request):
    return make(request.param)


@pytest.mark.parametrize("dense", [False, True])
def test_a_loaded_model_is_the_saved_one(model, dense, tmp_path):
    path = tmp_path / "model.rboost"
    model.save(path, dense=dense)
    loaded = randomboost.load(path)
    assert type(loaded) is type(model)
    for method in ("decision_function", "predict_proba", "predict"):
        np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    np.testing.assert_array_equal(loaded.weights_, model.weights_)
    assert loaded.n_estimators_ == model.n_estimators_
    assert loaded.stopped_ == model.stopped_
    assert loaded.train_history_.keys() == model.train_history_.keys()
    for name, values in model.train_history_.items():
        np.testing.assert_array_equal(loaded.train_history_[name], values)
    for name, value in model.get_params(deep=False).items():
        kept = getattr(loaded, name)
        assert kept == value or isinstance(kept, files.NotSaved)
    again = tmp_path / "again.rboost"
    loaded.save(again, dense=dense)
    if not any(isinstance(v, files.NotSaved) for v in loaded.get_params().values()):
        assert again.read_bytes() == path.read_bytes()


def test_a_dense_file_has_all_stages(model, tmp_path):
    model.save(tmp_path / "model.rboost", dense=True)
    loaded = randomboost.load(tmp_path / "model.rboost")
    stages = zip(loaded.staged_decision_function(X), model.staged_decision_function(X), strict=True)
    for ours, theirs in stages:
        np.testing.assert_array_equal(ours, theirs)


def test_a_loaded_model_goes_on(model, tmp_path):
    used = np.isin(NAMES[y], model.classes_)
    labels = NAMES[y[used]]
    model.save(tmp_path / "model.rboost", dense=True)
    kept = pickle.loads(pickle.dumps(model)).set_params(warm_start=True, n_estimators=9)
    loaded = randomboost.load(tmp_path / "model.rboost")
    for name, value in loaded.get_params(deep=False).items():
        if isinstance(value, files.NotSaved):  # an object of the user's own, to be given again
            loaded.set_params(**{name: getattr(model, name)})
    loaded.set_params(warm_start=True, n_estimators=9)
    kept.fit(X[used], labels)
    loaded.fit(X[used], labels)
    np.testing.assert_array_equal(loaded.decision_function(X), kept.decision_function(X))


def test_stages_of_a_compact_corrective_model_are_refused_clearly(tmp_path):
    make("proj-stump").save(tmp_path / "model.rboost")
    loaded = randomboost.load(tmp_path / "model.rboost")
    with pytest.raises(ValueError, match="dense=True"):
        next(loaded.staged_predict(X))
    with pytest.raises(ValueError, match="dense=True"):
        loaded.set_params(warm_start=True, n_estimators=20).fit(X, NAMES[y])


def test_a_table_with_categories_and_gaps(tmp_path):
    model = RandomBoostClassifier(n_estimators=5, random_state=0).fit(table(), y)
    model.save(tmp_path / "model.rboost")
    loaded = randomboost.load(tmp_path / "model.rboost")
    np.testing.assert_array_equal(loaded.predict_proba(table()), model.predict_proba(table()))
    assert list(loaded.feature_names_in_) == list(table().columns)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(table().rename(columns={"ash": "cinder"}))


def test_categories_of_several_numbers_and_of_none(tmp_path):
    rng = np.random.default_rng(0)
    level, noise = rng.integers(60, size=1500), rng.integers(300, size=1500)
    frame = table().iloc[rng.integers(len(y), size=1500)].reset_index(drop=True)
    frame["level"], frame["name"] = level.astype(str), noise.astype(str)
    labels = (level + rng.integers(3, size=1500)) % 9
    pipeline = make_pipeline(TablePreparation(), AdaBoostECCClassifier(3, random_state=0))
    for fitted in (RandomBoostClassifier(3, random_state=0), pipeline):
        fitted.fit(frame, labels)
        files.save(fitted, tmp_path / "model.rboost")
        loaded = randomboost.load(tmp_path / "model.rboost")
        np.testing.assert_array_equal(loaded.predict_proba(frame), fitted.predict_proba(frame))
        assert files.describe(tmp_path / "model.rboost")["n_features"] == frame.shape[1]
        found = (
            (loaded[0].encoding_, fitted[0].encoding_)
            if fitted is pipeline
            else [each.model_.inputs.encoding for each in (loaded, fitted)]
        )
        assert found[0] == found[1]
        parts = np.bincount(found[0].sources, minlength=frame.shape[1])
        assert parts[-2] > 1
        assert parts[-1] == 0


def test_categories_in_an_array(tmp_path):
    numbers = np.round(X[:, :4])
    model = RandomBoostClassifier(5, categorical_features=[0, 3], random_state=0).fit(numbers, y)
    model.save(tmp_path / "model.rboost")
    loaded = randomboost.load(tmp_path / "model.rboost")
    np.testing.assert_array_equal(loaded.predict_proba(numbers), model.predict_proba(numbers))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)


def test_a_pipeline_with_a_preparation(tmp_path):
    pipeline = make_pipeline_of_table()
    files.save(pipeline, tmp_path / "model.rboost")
    loaded = randomboost.load(tmp_path / "model.rboost")
    np.testing.assert_array_equal(loaded.predict_proba(table()), pipeline.predict_proba(table()))
    assert files.describe(tmp_path / "model.rboost")["prepared"]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, -7, 11]),
        np.array([3, 200, 11], dtype=np.uint8),
        np.array([0.0, 1.0, -2.0]),
        np.array(["ä", "<b>", "c" * 50]),
        np.array(["x", "y", "z"], dtype=object),
    ],
)
def test_labels_keep_their_type(labels, tmp_path):
    model = AdaBoostECCClassifier(n_estimators=3).fit(X, labels[y])
    model.save(tmp_path / "model.rboost")
    loaded = randomboost.load(tmp_path / "model.rboost")
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_float32_models(tmp_path):
    model = RandomBoostClassifier(n_estimators=5, random_state=0).fit(X.astype(np.float32), y)
    model.save(tmp_path / "model.rboost")
    loaded = randomboost.load(tmp_path / "model.rboost")
    assert loaded.decision_function(X).dtype == np.float32
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_the_file_does_not_grow_with_the_classes(tmp_path):
    rng = np.random.default_rng(0)
    sizes = []
    for k in (5, 50):
        A, b = rng.normal(size=(300, 6)), np.arange(300) % k
        model = RBoostRankClassifier.paper(n_estimators=40, n_projections=100, random_state=0)
        model.fit(A, b).save(tmp_path / "model.rboost")
        sizes.append(os.path.getsize(tmp_path / "model.rboost"))
    assert sizes[1] - sizes[0] < 45 * 5  # the labels


def test_another_process_predicts_the_same_bits(tmp_path):
    model = make("trees")
    model.save(tmp_path / "model.rboost")
    np.save(tmp_path / "X.npy", X)
    code = (
        "import numpy, randomboost, sys\n"
        "model = randomboost.load(sys.argv[1] + '/model.rboost')\n"
        "scores = model.decision_function(numpy.load(sys.argv[1] + '/X.npy'))\n"
        "numpy.save(sys.argv[1] + '/scores.npy', scores)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), model.decision_function(X))


# -- what a file tells ---------------------------------------------------------------------------


def test_describe(tmp_path):
    path = tmp_path / "model.rboost"
    model = make("trees")
    model.save(path, notes={"by": "a test", "rows": 178})
    told = files.describe(path)
    assert told["class"] == "RandomBoostClassifier"
    assert told["classes"] == sorted(NAMES)
    assert (told["n_features"], told["n_rounds"]) == (13, 6)
    assert told["notes"] == {"by": "a test", "rows": 178}
    assert told["bytes"] == path.stat().st_size
    assert told["parameters"]["random_state"] == 3
    np.testing.assert_allclose(told["importances"], model.feature_importances_, rtol=1e-6)
    assert told["history"]["loss"] == list(model.train_history_["loss"])


# -- what cannot be saved ------------------------------------------------------------------------


def test_what_cannot_be_saved_says_so_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.rboost"
    path.write_bytes(b"old")
    own = AdaBoostECCClassifier(3, weak_learner=GaussianNB()).fit(X, y)
    with pytest.raises(ModelFileError, match="GaussianNB"):
        own.save(path)
    with pytest.raises(ModelFileError, match="not fitted"):
        RandomBoostClassifier().save(path)
    with pytest.raises(ModelFileError, match="no classifier of randomboost"):
        files.save(GaussianNB().fit(X, y), path)
    with pytest.raises(ModelFileError, match="notes"):
        make("trees").save(path, notes={"a": object()})
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.rboost"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.rboost"
    path.write_bytes(b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        make("trees").save(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model.rboost"]


def test_an_own_loss_predicts_after_loading_but_does_not_fit(tmp_path):
    from randomboost.losses import LogisticLoss

    class Own(LogisticLoss):
        proba_scale = 0.5

    model = RBoostProjClassifier(n_estimators=4, loss=Own(), random_state=0).fit(X, y)
    model.save(tmp_path / "model.rboost")
    loaded = randomboost.load(tmp_path / "model.rboost")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert repr(loaded.loss) == "NotSaved('Own')"
    with pytest.raises(ValueError, match="NotSaved"):
        clone(loaded).fit(X, y)


# -- damaged files -------------------------------------------------------------------------------


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def rebuilt(path: Path, change) -> bytes:
    """Return the file with a changed header and the right checksum."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    header = json.loads(data[16 : 16 + length])
    change(header)
    text = json.dumps(header).encode()
    return sealed(data[:12] + struct.pack("<I", len(text)) + text + data[16 + length : -32])


@pytest.fixture
def path(tmp_path):
    make("rank").save(tmp_path / "model.rboost")
    return tmp_path / "model.rboost"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a model file"),
        (b"PK\x03\x04" + bytes(500), "not a model file"),
        (container.SIGNATURE, "not a model file"),
        (container.SIGNATURE + struct.pack("<II", 1, 5), "damaged or cut"),
        (container.SIGNATURE + struct.pack("<II", 99, 5) + bytes(60), "newer randomboost"),
        (sealed(container.SIGNATURE + struct.pack("<II", 1, 2**31)), "longer than the file"),
        (sealed(container.SIGNATURE + struct.pack("<II", 1, 2) + b"[]"), "no object"),
        (sealed(container.SIGNATURE + struct.pack("<II", 1, 2) + b"{]"), "no JSON"),
        (sealed(container.SIGNATURE + struct.pack("<II", 1, 50000) + b"[" * 50000), "no JSON"),
        (sealed(container.SIGNATURE + struct.pack("<II", 1, 2) + b"{}"), "lists no arrays"),
    ],
)
def test_files_that_are_none(content, message, tmp_path):
    (tmp_path / "model.rboost").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        randomboost.load(tmp_path / "model.rboost")


def test_every_cut_is_noticed(path):
    data = path.read_bytes()
    for size in range(0, len(data), 37):
        path.write_bytes(data[:size])
        with pytest.raises(ModelFileError):
            randomboost.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h["arrays"][0].update(shape=[2**47]),
        lambda h: h["arrays"][0].update(shape=[-1]),
        lambda h: h["arrays"][0].update(dtype="object"),
        lambda h: h["arrays"].append({"name": "more", "dtype": "float64", "shape": [2**40, 2**40]}),
        lambda h: h.update({"class": "os.system"}),
        lambda h: h.update(n_features=2**30),
        lambda h: h.update(n_rounds=10**6),
        lambda h: h.update(classes={"dtype": "str", "values": ["a", "a", "b"]}),
        lambda h: h.update(classes={"dtype": "str", "values": ["a" * 10**6] + ["b"] * 10**5}),
        lambda h: h.update(classes={"dtype": "object", "values": [[], {}]}),
        lambda h: h["parameters"].update(n_jobs="all"),
        lambda h: h["parameters"].update(n_jobs={"object": "Threads"}),
        lambda h: h["parameters"].update(unknown=1),
        lambda h: h["parameters"].update(loss={"dict": [[[], 1]]}),
        lambda h: h["ensemble"].update(projection={"kind": "gaussian"}),
        lambda h: h["ensemble"].pop("projection"),
        lambda h: h["ensemble"]["projection"].update(n_projections=3),
        lambda h: h["ensemble"]["projection"].update(n_projections=0),
        lambda h: h["ensemble"]["projection"].update(seed=-1),
        lambda h: h["ensemble"]["projection"].update(kind="given"),
        lambda h: h["ensemble"].update(kind="forest"),
        lambda h: h["ensemble"].update(kind=["projected data"]),
        lambda h: h["ensemble"].pop("kind"),
        lambda h: h.update(ensemble=[]),
        lambda h: h.pop("ensemble"),
        lambda h: h.pop("seed"),
    ],
)
def test_a_hostile_header(path, change):
    path.write_bytes(rebuilt(path, change))
    with pytest.raises(ModelFileError):
        randomboost.load(path)


LANDMARKS = "landmarks and trees"
# names of models, and what makes ensembles of their files that must not load
HOSTILE = [
    ("trees", lambda h, a: h["ensemble"].update(counts=None), "have no families"),
    ("trees", lambda h, a: h["ensemble"].update(counts={"own": 5}), "families in disorder"),
    ("trees", lambda h, a: h["ensemble"].update(density=2), "is no share"),
    ("trees", lambda h, a: h["ensemble"]["counts"].update(sparse=303), "of its seed"),
    ("trees", lambda h, a: h["ensemble"]["counts"].update(sparse=2**30), "too many directions"),
    ("trees", lambda h, a: h["ensemble"]["counts"].update(lda=201), "has shape"),
    ("trees", lambda h, a: h["ensemble"]["counts"].update(axis=12), "direction a feature"),
    ("trees", lambda h, a: h["ensemble"].update(direction_seed=1), "not those of its seed"),
    ("trees", lambda h, a: a.pop("prior"), "no array 'prior'"),
    ("trees", lambda h, a: a.update(prior=a["prior"][:2]), "'prior' has shape"),
    ("trees", lambda h, a: a.update(prior=a["prior"] * np.inf), "not finite"),
    ("trees", lambda h, a: a.update(state=np.zeros((2, 4))), "'state' has shape"),
    ("trees", lambda h, a: a.update({"trees.columns": a["trees.columns"] + 540}), "no direction"),
    ("trees", lambda h, a: a.update({"trees.splits": a["trees.splits"][1:]}), "do not add up"),
    ("trees", lambda h, a: a["trees.splits"].__setitem__(0, 0), "has shape"),
    ("trees", lambda h, a: a.update({"leaves.classes": a["leaves.classes"] + 1}), "no class"),
    ("trees", lambda h, a: a.update({"leaves.sizes": a["leaves.sizes"] * 2}), "do not add up"),
    ("trees", lambda h, a: a.update({"leaves.sizes": a["leaves.sizes"][1:]}), "has shape"),
    ("trees", lambda h, a: a.update({"leaves.steps": a["leaves.steps"][1:]}), "has shape"),
    ("trees", lambda h, a: a.update({"leaves.units": a["leaves.units"] * np.nan}), "not finite"),
    ("trees", lambda h, a: a.update({"leaves.units": a["leaves.units"][1:]}), "has shape"),
    ("trees", lambda h, a: a.update({"dense.numbers": a["dense.numbers"] + 1}), "of its seed"),
    ("trees", lambda h, a: a.update({"dense.sizes": a["dense.sizes"][:3]}), "has shape"),
    ("trees", lambda h, a: a.pop("dense.coefficients"), "no array 'dense.coefficients'"),
    ("trees", lambda h, a: a.update(prior=np.full(3, 1e60)), "numbers that are too large"),
    ("trees", lambda h, a: a.pop("landmarks.points"), "no array 'landmarks.points'"),
    ("trees", lambda h, a: part_of(a, "landmarks.points", np.s_[:, 1:]), "has shape"),
    ("trees", lambda h, a: part_of(a, "landmarks.points", np.s_[1:]), "coefficients' has shape"),
    ("trees", lambda h, a: part_of(a, "landmarks.points", np.s_[:0]), "no landmarks"),
    ("trees", lambda h, a: part_of(a, "landmarks.weights", np.s_[1:]), "has shape"),
    ("trees", lambda h, a: part_of(a, "landmarks.coefficients", np.s_[:, :2]), "has shape"),
    ("trees", lambda h, a: part_of(a, "landmarks.about", np.s_[:1]), "has shape"),
    ("trees", lambda h, a: a["landmarks.about"].__setitem__(0, -1), "does not fall"),
    ("trees", lambda h, a: a["landmarks.about"].__setitem__(1, 2), "share of its landmarks"),
    ("trees", lambda h, a: a["landmarks.coefficients"].__setitem__(0, np.nan), "not finite"),
    ("trees", lambda h, a: h["ensemble"].update(kind="landmarks"), "no kind that its class has"),
    ("trees-no-landmarks", lambda h, a: h["ensemble"].update(kind=LANDMARKS), "no array 'landm"),
    ("rank", lambda h, a: h["ensemble"].update(kind=LANDMARKS), "no kind that its class has"),
    (
        "trees",  # sizes whose sum overflows to the right one
        lambda h, a: a.update({"trees.sizes": wrapped(a["trees.sizes"])}),
        "do not add up",
    ),
    ("trees", lambda h, a: a.update({"lda.sizes": wrapped(a["lda.sizes"])}), "do not add up"),
    ("trees", lambda h, a: a.update({"lda.sizes": -a["lda.sizes"].astype(int)}), "are negative"),
    ("trees", lambda h, a: a.update({"leaves.sizes": wrapped(a["leaves.sizes"])}), "do not add up"),
    ("trees", lambda h, a: a["trees.left"].__setitem__(1, a["trees.left"][2]), "two parents"),
    ("trees", lambda h, a: a["trees.left"].__setitem__(0, 0), "has no child"),
    ("ecc-tree", lambda h, a: a["small.right"].__setitem__(0, 1), "two parents"),
    ("ecc-tree", lambda h, a: a["small.left"].__setitem__(0, -1), "has no child"),
    ("rank-coded", lambda h, a: a.update({"dense.rows": a["dense.rows"] * 2}), "of its seed"),
    ("rank", lambda h, a: h["ensemble"].update(kind="sparse trees"), "no kind that its class has"),
    ("rank", lambda h, a: h["ensemble"].update(kind="votes"), "no kind that its class has"),
    ("rank", lambda h, a: h["ensemble"]["projection"].update(seed=1), "not those of its seed"),
    ("rank", lambda h, a: a.update({"stumps.columns": a["stumps.columns"] + 50}), "no column"),
    ("rank", lambda h, a: a.pop("stumps.columns"), "no array"),
    ("rank-total", lambda h, a: a.update({"path.sizes": a["path.sizes"][:-1]}), "has shape"),
    ("rank-total", lambda h, a: a.update({"path.sizes": a["path.sizes"][::-1]}), "too many or"),
    ("rank-total", lambda h, a: a.update({"path.sizes": -a["path.sizes"].astype(int)}), "too many"),
    ("rank-total", lambda h, a: a.pop("path.weights"), "no array 'path.weights'"),
    ("rank-total", lambda h, a: a.update({"path.weights": a["path.weights"][1:]}), "do not add up"),
    ("proj-code", lambda h, a: h["ensemble"].update(reading="free"), "chose no code"),
    ("proj-code", lambda h, a: h["ensemble"].update(reading="violation"), "has shape"),
    ("proj-code", lambda h, a: h["ensemble"].update(reading="none"), "no known way"),
    ("proj-code", lambda h, a: h["ensemble"].pop("projection"), "no projection"),
    ("proj-code", lambda h, a: a.update(chosen=a["chosen"] + 40), "chose no code"),
    ("proj-code", lambda h, a: a.update(chosen=a["chosen"].astype(float)), "whole numbers"),
    ("proj-code", lambda h, a: a.update({"dense.votes": a["dense.votes"] + 1}), "of its seed"),
    ("proj-stump", lambda h, a: a.update(weights=a["weights"][:9]), "'weights' has shape"),
    ("multi-stump", lambda h, a: a.update({"path.sizes": np.full(6, 18)}), "too many or too few"),
    ("ecc-stump", lambda h, a: h["ensemble"].update(kind="dichotomies"), "no kind that its class"),
    ("ecc-stump", lambda h, a: a.update(votes=a["votes"][:, :2]), "'votes' has shape"),
    ("ecc-stump", lambda h, a: a.update(weights=a["weights"][:2]), "weights do not fit"),
    ("mh-stump", lambda h, a: h["ensemble"].update(decoding="own"), "decoding is unknown"),
    ("mh-stump", lambda h, a: h["ensemble"].update(stumps=False), "no array 'stumps.columns'"),
    ("mh-stump", lambda h, a: a.update(code=a["code"][:, :2]), "code does not fit"),
    ("mh-stump", lambda h, a: a.update(code=a["code"][:2]), "'code' has shape"),
    ("mh-stump", lambda h, a: a.update({"rows.columns": a["rows.columns"] + 13}), "no column"),
    ("mh-wlda", lambda h, a: h["ensemble"].update(stumps=True), "no array 'rows.columns'"),
    ("mo-tree", lambda h, a: a.update({"are_trees": a["are_trees"][1:]}), "do not add up"),
]


def part_of(arrays, name, part):
    """Cut an array."""
    arrays[name] = arrays[name][part]


def wrapped(sizes):
    """Return sizes of the same sum modulo 2**64, each of them positive."""
    sizes = sizes.astype(np.int64)
    sizes[:4] += 2**62
    return sizes


@pytest.mark.parametrize(("name", "change", "message"), HOSTILE)
def test_a_hostile_ensemble(name, change, message, tmp_path):
    path = tmp_path / "model.rboost"
    make(name).save(path, dense=True)
    header, arrays = container.read(path)
    container.write(path, header, arrays)
    randomboost.load(path)
    change(header, arrays)
    container.write(path, header, arrays)
    with pytest.raises(ModelFileError, match=message):
        randomboost.load(path)


def test_a_file_of_many_projections_takes_little_memory(tmp_path):
    model = make("proj-code")
    model.save(tmp_path / "model.rboost")
    header, arrays = container.read(tmp_path / "model.rboost")
    header["ensemble"]["projection"]["n_projections"] = 2**31 - 1
    container.write(tmp_path / "model.rboost", header, arrays)
    tracemalloc.start()
    try:
        randomboost.load(tmp_path / "model.rboost").predict(X)
        assert tracemalloc.get_traced_memory()[1] < 2**28
    finally:
        tracemalloc.stop()


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        randomboost.load(tmp_path / "none.rboost")


# -- files of earlier versions ---------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(p.stem for p in GOLDEN.glob("*.rboost")))
def test_golden_files_load_for_ever(name):
    """Made by tests/files/golden/make.py; never to be changed, only added to."""
    expected = np.load(GOLDEN / "scores.npz")
    loaded = randomboost.load(GOLDEN / f"{name}.rboost")
    data = table() if "table" in name else X
    scores = loaded.decision_function(data)
    if "-mo-" in name:  # decoding takes exponentials, whose last bit is the machine's
        np.testing.assert_allclose(scores, expected[name], rtol=1e-12)
    else:
        np.testing.assert_array_equal(scores, expected[name])


def test_there_are_golden_files():
    assert len(list(GOLDEN.glob("v1-*.rboost"))) >= 20


def test_the_page_on_the_format_names_all_that_is_in_files():
    page = (Path(__file__).parents[2] / "docs/file-format.md").read_text()
    assert page.count('\n| `"') == len(KINDS)
    for path in GOLDEN.glob("*.rboost"):
        header, arrays = container.read(path)
        assert f'`"{header["ensemble"]["kind"]}"`' in page
        for key in (*header, *header["ensemble"]):
            assert f"`{key}`" in page
        for name in arrays:
            group, _, last = name.partition(".")
            listed = f"`{group}.{last}`" in page or (f"`{group}." in page and f"`.{last}`" in page)
            assert f"`{group}.*`" in page or f"`{name}`" in page or listed


# -- mutated files ---------------------------------------------------------------------------------


def test_mutated_files_are_refused_or_predict():
    """A small part of ``python tests/files/fuzz_files.py 100000``."""
    import fuzz_files

    seen = fuzz_files.main(1500, seed=7)
    assert seen["loaded and predicted"] > 50
    assert sum(seen.values()) == 1500
