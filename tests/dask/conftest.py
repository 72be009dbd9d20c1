"""One cluster for all tests of Dask, which grows from one worker to five."""

from __future__ import annotations

import signal
import time
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.dataframe")

LIMIT = 120  # seconds of a test
CLOSING = 30  # seconds that a client or a cluster may take to close


@contextmanager
def closing(made):
    """Close a client or a cluster in the end, and only warn if that fails.

    Tests kill workers and schedulers, and what is left of them may not answer. The error would
    count against the last test of the session, which need not be one of Dask.
    """
    try:
        yield made
    finally:
        try:
            made.close(timeout=CLOSING)
        except Exception as error:
            warnings.warn(f"{type(made).__name__} did not close: {error!r}", stacklevel=2)


@pytest.fixture(scope="session")
def new_cluster():
    """Return a function that starts a cluster on this machine, for a with statement."""

    def start(n_workers):
        return closing(
            distributed.LocalCluster(
                n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
            )
        )

    return start


@pytest.fixture(scope="session")
def new_client():
    """Return a function that connects a client to a cluster, for a with statement."""

    def connect(cluster, **options):
        return closing(distributed.Client(cluster, **options))

    return connect


@pytest.fixture(scope="session")
def cluster(new_cluster):
    with new_cluster(1) as made:
        yield made


@pytest.fixture(scope="session")
def shared_client(cluster, new_client):
    with new_client(cluster) as made:
        yield made


@pytest.fixture
def client(shared_client, cluster, monkeypatch):
    """Return the client of a cluster; every worker gets a shard, however few rows there are."""
    from randomboost.dask import distributed_classifier

    monkeypatch.setattr(distributed_classifier, "ROWS_OF_A_SHARD", 1)
    return shared_client


@pytest.fixture
def workers(client, cluster):
    """Return a function that sets the number of workers."""

    def scale(n):
        if len(client.scheduler_info(n_workers=-1)["workers"]) == n:
            return
        cluster.scale(n)
        for _ in range(5):  # a nanny may give up a worker that was killed
            try:
                client.wait_for_workers(n, timeout=15)
                break
            except TimeoutError:
                cluster.scale(len(cluster.worker_spec) + 1)
        while len(client.scheduler_info(n_workers=-1)["workers"]) > n:
            time.sleep(0.1)

    return scale


@pytest.fixture(autouse=True)
def time_limit():
    """Let a test that hangs fail."""

    def stop(*_):
        raise TimeoutError(f"the test took more than {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Return a function that returns the bytes of a model's file."""
    folder = tmp_path_factory.mktemp("models")

    def read(model):
        path = folder / "model.rboost"
        model.save(path)
        return path.read_bytes()

    return read


@pytest.fixture(scope="session")
def task():
    """Return samples of four classes with gaps, repeated rows and weights."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 5)).round(2)
    y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int) + 2 * (X[:, 2] > 0.3)
    X[rng.random(X.shape) < 0.05] = np.nan
    rows = np.concatenate([np.arange(900), rng.integers(0, 900, 200)])
    return X[rows], y[rows], rng.integers(1, 4, len(rows)) / 2
