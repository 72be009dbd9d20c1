"""Lost workers, a lost scheduler, interrupted fits."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest
from test_same_bits import SMALL, divided

distributed = pytest.importorskip("distributed")

from randomboost import RandomBoostClassifier  # noqa: E402
from randomboost.dask import DaskRandomBoostClassifier, group  # noqa: E402
from randomboost.estimators.base import FitInterruptedWarning  # noqa: E402


def killing(monkeypatch, client, when):
    """Kill the worker of a shard with SIGKILL at the given calls; return those that were made."""
    pids = client.run(os.getpid)
    made, lock, ask = [], threading.Lock(), group.Group.ask_all

    def ask_all(self, call, following):
        name = call.arguments[1] if call.method == "call" else call.method
        with lock:
            made.append(name)
            doomed = made.count(name) == when.get(name)
            pid = pids.pop(self._places[-1].address, None) if doomed else None
        if pid is not None:
            kill = threading.Timer(0.002, os.kill, (pid, signal.SIGKILL))
            kill.start()
        return ask(self, call, following)

    monkeypatch.setattr(group.Group, "ask_all", ask_all)
    return made


@pytest.mark.parametrize(
    "when",
    [{"column_sums": 1}, {"begin_round": 3}, {"advance": 9}, {"sum_leaves": 4, "advance": 20}],
    ids=str,
)
def test_a_killed_worker_costs_time_only(workers, client, saved, task, monkeypatch, when):
    workers(3)
    local = RandomBoostClassifier(**SMALL).fit(*task)
    made = killing(monkeypatch, client, when)
    fitted = DaskRandomBoostClassifier(**SMALL).fit(*(divided(each, 6) for each in task))
    assert set(when) <= set(made)
    assert saved(fitted) == saved(local)


def test_ctrl_c_keeps_the_rounds(workers, task, saved):
    workers(3)
    rounds = []

    def interrupt(fitted):
        rounds.append(1)
        if len(rounds) == 2:
            raise KeyboardInterrupt

    model = DaskRandomBoostClassifier(**SMALL | {"n_estimators": 50})
    with pytest.warns(FitInterruptedWarning):
        model.fit(*(divided(each, 6) for each in task), on_round=interrupt)
    assert model.n_estimators_ == 2
    local = RandomBoostClassifier(**SMALL | {"n_estimators": 2}).fit(*task)
    np.testing.assert_array_equal(
        model.to_local().predict_proba(task[0]), local.predict_proba(task[0])
    )


def test_a_lost_scheduler_is_a_clear_error(new_cluster, new_client, task, monkeypatch):
    from randomboost.dask import distributed_classifier

    monkeypatch.setattr(distributed_classifier, "ROWS_OF_A_SHARD", 1)
    ask = group.Group.ask_all
    with new_cluster(2) as cluster, new_client(cluster, set_as_default=False) as client:

        def ask_all(self, call, following):
            if call.method == "call" and cluster.status == distributed.Status.running:
                cluster.close()
            return ask(self, call, following)

        monkeypatch.setattr(group.Group, "ask_all", ask_all)
        model = DaskRandomBoostClassifier(**SMALL, client=client)
        with pytest.raises(RuntimeError, match="scheduler was lost"):
            model.fit(*(divided(each, 6) for each in task))


def test_a_late_worker_takes_over(workers, client, cluster, saved, task, monkeypatch):
    """The only worker is killed after another one has joined."""
    workers(1)
    local = RandomBoostClassifier(**SMALL).fit(*task)
    made = killing(monkeypatch, client, {"begin_round": 3})
    rounds = []

    def grow(_):
        if not rounds:
            cluster.scale(2)
            client.wait_for_workers(2, timeout=60)
        rounds.append(1)

    fitted = DaskRandomBoostClassifier(**SMALL)
    fitted.fit(*(divided(each, 3) for each in task), on_round=grow)
    assert made.count("begin_round") >= 3
    assert saved(fitted) == saved(local)


def test_a_restart_of_all_workers_costs_time_only(workers, cluster, client, saved, task):
    workers(2)
    local = RandomBoostClassifier(**SMALL).fit(*task)
    rounds = []

    def restart(_):
        rounds.append(1)
        if len(rounds) == 2:
            client.restart(wait_for_workers=False)
            cluster.scale(len(cluster.worker_spec) + 1)  # nannies may give up such workers

    fitted = DaskRandomBoostClassifier(**SMALL)
    fitted.fit(*(divided(each, 3) for each in task), on_round=restart)
    assert saved(fitted) == saved(local)


def test_workers_that_are_lost_again_and_again_end_the_fit(workers, client, task, monkeypatch):
    """As where the data is too large for their memory."""
    workers(2)
    puts = []

    class Lost:
        status = "lost"

    def put(self, shards):
        puts.append(shards)
        return [(Lost(), "tcp://nowhere") for _ in shards]

    monkeypatch.setattr(group.Group, "_put", put)
    model = DaskRandomBoostClassifier(**SMALL)
    with pytest.raises(RuntimeError, match="enough memory"):
        model.fit(*(divided(each, 3) for each in task))
    assert 1 < len(puts) < 20
