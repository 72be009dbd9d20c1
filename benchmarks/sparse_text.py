"""Texts as a sparse matrix of words: RandomBoost, LightGBM and a linear model on the same split.

The texts are generated: words have the frequencies of a language, and a text mixes words of all
texts, of the topics of its class, and of other classes. Every number is a tf-idf weight.

    python benchmarks/sparse_text.py            # a table of error, log loss and times
    python benchmarks/sparse_text.py --seeds 3
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from randomboost import RandomBoostClassifier

N_CLASSES, N_TEXTS, N_WORDS = 20, 8_000, 30_000
_TOPICS, _SHARED, _WORDS_A_TOPIC = 3, 30, 120  # topics of a class, and those that classes share
_COMMON, _OWN = 0.72, 0.13  # shares of the words of a text: of all texts, of its class's topics


def texts(seed: int) -> tuple[sparse.csr_matrix, NDArray[np.int64]]:
    """Return counts of words, and the classes of the texts.

    Parameters
    ----------
    seed : int
        Every seed gives other texts.

    Returns
    -------
    counts : csr_matrix of shape (N_TEXTS, N_WORDS)
        How often a text has a word.
    y : ndarray of int64
        Classes 0 .. N_CLASSES - 1, unequally frequent.
    """
    rng = np.random.default_rng(seed)
    frequency = np.cumsum(1.0 / np.arange(3, N_WORDS + 3))
    frequency /= frequency[-1]
    n_topics = N_CLASSES * _TOPICS + _SHARED
    words_of = rng.integers(30, N_WORDS, (n_topics, _WORDS_A_TOPIC))
    inside = np.cumsum(1.0 / np.arange(2, _WORDS_A_TOPIC + 2))
    inside /= inside[-1]
    share = rng.uniform(0.3, 1.0, N_CLASSES)
    y = rng.choice(N_CLASSES, N_TEXTS, p=share / share.sum())
    lengths = np.maximum(rng.lognormal(4.4, 0.7, N_TEXTS).astype(np.int64), 8)
    text = np.repeat(np.arange(N_TEXTS), lengths)
    words = np.searchsorted(frequency, rng.random(len(text)))
    kind = rng.random(len(text))
    own = (kind >= _COMMON) & (kind < _COMMON + _OWN)
    other = kind >= _COMMON + _OWN
    favourite = rng.integers(0, _TOPICS, N_TEXTS)  # a text is mostly of one topic of its class
    topic = np.where(
        rng.random(len(text)) < 0.7, favourite[text], rng.integers(0, _TOPICS, len(text))
    )
    topic = y[text] * _TOPICS + topic
    stray = rng.integers(0, n_topics, (N_TEXTS, 3))  # topics of any class that it touches
    topic[other] = stray[text[other], rng.integers(0, 3, other.sum())]
    rank = np.searchsorted(inside, rng.random(len(text)))
    words = np.where(own | other, words_of[topic, rank], words)
    shape = (N_TEXTS, N_WORDS)
    counts = sparse.csr_matrix((np.ones(len(text)), (text, words)), shape=shape)
    counts.sum_duplicates()
    return counts, y.astype(np.int64)


def models(seed: int) -> dict[str, Callable[[], Any]]:
    """Return what makes the models by name, each with its default parameters and two threads."""
    return {
        "RandomBoost": lambda: RandomBoostClassifier(random_state=seed, n_jobs=2),
        "LightGBM": lambda: LGBMClassifier(random_state=seed, n_jobs=2, verbose=-1),
        "LogisticRegression, C=10": lambda: LogisticRegression(C=10, max_iter=300),
    }


def measure(seed: int) -> dict[str, tuple[float, float, float, float]]:
    """Return error in percent, log loss, seconds of the fit and of the prediction by model."""
    counts, y = texts(seed)
    first, second, y_train, y_test = train_test_split(
        counts, y, test_size=0.25, stratify=y, random_state=seed
    )
    weights = TfidfTransformer(sublinear_tf=True).fit(first)
    X, X_test = (sparse.csr_matrix(weights.transform(part)) for part in (first, second))
    found = {}
    for name, make in models(seed).items():
        start = time.perf_counter()
        model = make().fit(X, y_train)
        fitted = time.perf_counter()
        P = model.predict_proba(X_test)
        end = time.perf_counter()
        error = 100 * float((P.argmax(axis=1) != y_test).mean())
        found[name] = (error, float(log_loss(y_test, P)), fitted - start, end - fitted)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="number of draws of the texts")
    n_seeds = parser.parse_args().seeds
    counts, y = texts(0)
    warm = sparse.random_array((200, 50), density=0.1, format="csr", rng=0)
    RandomBoostClassifier(n_jobs=2).fit(warm, np.arange(200) % N_CLASSES)  # compiles the kernels
    print(f"{counts.shape[0]} texts, {counts.shape[1]} words, {counts.nnz / len(y):.0f} a text")
    every = [measure(seed) for seed in range(n_seeds)]
    print("| model | error, % | log loss | fit, s | predict, s |\n|---|---|---|---|---|")
    for name in every[0]:
        error, loss, fit, predict = np.mean([each[name] for each in every], axis=0)
        print(f"| {name} | {error:.2f} | {loss:.3f} | {fit:.2f} | {predict:.2f} |", flush=True)


if __name__ == "__main__":
    main()
