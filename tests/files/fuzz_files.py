"""Throws mutated model files at the reader: ``python tests/files/fuzz_files.py 100000 [seed]``.

Files of tests/files/golden are changed at random: bytes anywhere, cuts, and, with the checksum made
right again, values of the header and of the arrays. A file may load or be refused by a
ModelFileError; a loaded model must predict. Anything else ends the run, and so does taking more
than 4 GB. The same seed throws the same files.
``python tests/files/fuzz_files.py 100000 atheris`` lets atheris (to be installed by hand) guide the
changes by the lines of the reader that they reach.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import resource
import struct
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parent / "golden"
HEAD = 16
# what atheris watches: modules that read files and have no kernels, which it must not change
READERS = [
    "randomboost.ensembles.coded_votes",
    "randomboost.ensembles.landmark_scores",
    "randomboost.ensembles.linear_scores",
    "randomboost.ensembles.path",
    "randomboost.ensembles.projected_learners",
    "randomboost.files",
    "randomboost.projections.projection_arrays",
    "randomboost.runtime.checked_arrays",
    "randomboost.weak_learners.hypothesis_arrays",
]
ODD_VALUES: list[Any] = [
    None, True, 0, 1, -1, 2**31, 2**63, 10**30, 1.5, -0.0, 1e308, "", "x", [], {}, [[]],
    {"float": "nan"}, {"object": "x"}, {"dict": []}, {"list": [1]}, "9" * 50, "gaussian", "coded",
    "given", "sparse trees", "landmarks and trees",
    "linear scores and trees", "votes", "free", "code", "violation",
]  # fmt: skip


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()


def _change_json(value: Any, rng: random.Random, depth: int = 0) -> Any:
    """Change one thing somewhere in a JSON value."""
    inner = isinstance(value, dict | list) and value and (depth < 2 or rng.random() < 0.8)
    if not inner or rng.random() < 0.1:
        return copy.deepcopy(rng.choice(ODD_VALUES))
    key = rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    act = rng.random()
    if act < 0.1:
        del value[key]
    elif act < 0.15 and isinstance(value, list):
        value.insert(key, value[key])
    elif isinstance(value[key], int) and not isinstance(value[key], bool) and act < 0.5:
        value[key] += rng.choice([-1, 1, 7, 256, 2**16, 2**32])
    else:
        value[key] = _change_json(value[key], rng, depth + 1)
    return value


def _change_bytes(data: bytearray, first: int, rng: random.Random) -> None:
    """Change some bytes after a place."""
    if first >= len(data):
        return
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(first, len(data))
        if rng.random() < 0.5:
            data[place] = rng.randrange(256)
        else:
            piece = rng.choice([b"\xff" * 8, bytes(8), struct.pack("<d", float("nan"))])
            piece = rng.choice([piece, struct.pack("<d", 1e300), struct.pack("<i", -1)])
            data[place : place + len(piece)] = piece[: len(data) - place]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return a changed file."""
    (length,) = struct.unpack_from("<I", data, 12)
    body = bytearray(data[:-32])
    act = rng.random()
    if act < 0.1:
        return data[: rng.randrange(len(data))]
    if act < 0.2:
        _change_bytes(body, 0, rng)
        return bytes(body) + data[-32:]
    if act < 0.25:
        _change_bytes(body, 0, rng)
    elif act < 0.6:
        _change_bytes(body, HEAD + length, rng)
    else:
        header = json.loads(body[HEAD : HEAD + length])
        for _ in range(rng.choice([1, 1, 2])):
            header = _change_json(header, rng)
        text = json.dumps(header).encode()
        head = data[:12] + struct.pack("<I", len(text))
        body = bytearray(head + text + data[HEAD + length : -32])
    return sealed(bytes(body))


def throw(data: bytes, path: Path, X: np.ndarray) -> str:
    """Load a file and predict; return what happened."""
    from randomboost.files import ModelFileError, load

    path.write_bytes(data)
    try:
        model = load(path)
    except ModelFileError as error:
        return str(error).split(":")[-1][:40]
    if model.n_features_in_ == X.shape[1] and not hasattr(model, "feature_names_in_"):
        model.predict(X)
        if model.model_.ensemble.has_stages:
            assert len(list(model.staged_predict(X))) == model.n_estimators_
        assert model.feature_importances_.shape == (X.shape[1],)
        if model.model_.ensemble.explains:
            assert model.explain(X).values.shape == X.shape
        return "loaded and predicted"
    return "loaded"


def main(count: int, seed: int = 0) -> Counter[str]:
    """Throw so many files."""
    from sklearn.datasets import load_wine

    rng = random.Random(seed)
    X = load_wine().data[:3]
    files = [path.read_bytes() for path in sorted(GOLDEN.glob("*.rboost"))]
    seen: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        path = Path(folder) / "model.rboost"
        for number in range(count):
            data = mutated(rng.choice(files), rng)
            try:
                seen[throw(data, path, X)] += 1
            except Exception:
                kept = Path(tempfile.gettempdir()) / f"fuzzed-{seed}-{number}.rboost"
                kept.write_bytes(data)
                print(f"file {number} of seed {seed} is kept as {kept}")
                raise
    return seen


def main_atheris(count: int) -> None:
    """Throw so many files, changed again and again where that reaches new lines."""
    import atheris

    with atheris.instrument_imports(include=READERS):
        import randomboost.files  # noqa: F401
    from sklearn.datasets import load_wine

    X = load_wine().data[:3]
    folder = Path(tempfile.mkdtemp())
    corpus = folder / "corpus"
    corpus.mkdir()
    for path in GOLDEN.glob("*.rboost"):
        (corpus / path.name).write_bytes(path.read_bytes())

    def one(data: bytes) -> None:
        with np.errstate(all="ignore"):
            throw(data, folder / "model.rboost", X)

    def change(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        try:
            changed = mutated(data, rng)
        except (ValueError, struct.error):  # no header to change: begin again
            changed = rng.choice(sorted(GOLDEN.glob("*.rboost"))).read_bytes()
        return changed if len(changed) <= most else data[:most]

    arguments = [sys.argv[0], f"-atheris_runs={count}", "-max_len=200000", str(corpus)]
    atheris.Setup(arguments, one, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[2:] == ["atheris"]:
        main_atheris(int(sys.argv[1]))
        sys.exit()
    resource.setrlimit(resource.RLIMIT_AS, (2**32 + 2**31, 2**32 + 2**31))
    result = main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for what, times in result.most_common(40):
        print(f"{times:8d}  {what}")
