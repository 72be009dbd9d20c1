"""Shards on the workers of a cluster: asking all of them, and replacing those that are lost.

What a shard was told is written down. One that is lost is made again from the collections on
another worker, and is told the same again; all of it is a function of the data, so the fit goes on
with the same bits.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from distributed import Client, wait
from distributed.protocol import to_serialize

from .shard import Shard

_PATIENCE = 120  # seconds without any worker after which a fit fails
_MOST_LOSSES = 8  # workers in a row that are lost while they get their data
_LOOK = 5  # seconds after which to look whether a worker that does not answer is there still


class LostShard(Exception):
    """The worker of a shard is gone: its number and generation."""


class Call(NamedTuple):
    """A call of a method of every shard, with arguments for all and one for each.

    With `together`, the shards ask each other: each gets its number and where the others are, and
    returns None where it does not reach one of them.
    """

    method: str
    arguments: tuple[Any, ...]
    each: Sequence[Any] | None = None
    together: bool = False

    def of(self, shard: int) -> tuple[Any, ...]:
        """Return the arguments of a shard."""
        return self.arguments if self.each is None else (*self.arguments, self.each[shard])


class Place(NamedTuple):
    """Where a shard is: the key of its actor, its worker, and how often it was made again.

    A place is never changed, only put in the stead of the last one when its shard knows all that
    it has to: members of an ensemble ask from threads of their own while another one replaces it.
    """

    key: str
    address: str
    generation: int = 0


class Group:
    """The shards of a fit.

    Parameters
    ----------
    client : Client
        The client.
    make_pieces : callable
        ``make_pieces(shards)`` returns futures of the pieces of some shards, a list for each.
    make_arguments : callable
        Returns the arguments of `Shard` after its pieces, for a worker's number of threads.
    n_shards : int
        Number of shards.
    clean_up : callable
        Called when shards were made of pieces, or could not be.
    """

    def __init__(
        self,
        client: Client,
        make_pieces: Callable[[list[int]], list[list[Any]]],
        make_arguments: Callable[[int], tuple[Any, ...]],
        n_shards: int,
        clean_up: Callable[[], None] = lambda: None,
    ) -> None:
        self.client, self.n_shards = client, n_shards
        self._clean_up = clean_up
        self._make_pieces, self._make_arguments = make_pieces, make_arguments
        self._told: list[Call] = []
        self._lock = threading.Lock()
        self._direct: dict[str, bool] = {}
        self.replaced = 0
        self._places: list[Place] = []
        found = self._made(list(range(n_shards)))
        self._futures: list[Any] = [future for future, _ in found]  # Dask keeps what has one
        self._places = [Place(future.key, address) for future, address in found]

    # -- placing -----------------------------------------------------------------------------

    def _workers(self) -> dict[str, int]:
        """Return the threads of every worker that is there."""
        self._check_scheduler()
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return {address: each["nthreads"] for address, each in workers.items()}

    def _some_workers(self) -> dict[str, int]:
        """Return the threads of every worker, and wait for one if there is none."""
        began = time.monotonic()
        while not (found := self._workers()):
            if time.monotonic() - began > _PATIENCE:
                raise RuntimeError(
                    f"the cluster has had no worker for {_PATIENCE} seconds: start workers and fit "
                    "again"
                )
            time.sleep(0.2)
        return found

    def _check_scheduler(self) -> None:
        if self.client.status != "running":
            raise RuntimeError(
                "the connection to Dask's scheduler was lost during the fit: start the cluster "
                "again, make a new Client and fit again; save rounds with on_round to go on from "
                "them with warm_start=True"
            )

    def _made(self, shards: list[int]) -> list[tuple[Any, str]]:
        """Place shards until all of them are there; return actors and addresses."""
        for _ in range(_MOST_LOSSES):
            try:
                found = self._put(shards)
            finally:
                self._clean_up()
            if all(future.status == "finished" for future, _ in found):
                return found
            self._raise_failure([future for future, _ in found])
        raise RuntimeError(
            f"workers were lost {_MOST_LOSSES} times in a row while they got their data: is there "
            "enough memory for it? Use more workers, or out_of_core=True with those of one machine"
        )

    def _put(self, shards: list[int]) -> list[tuple[Any, str]]:
        """Place shards on the workers that have fewest; return actors and addresses."""
        pieces = self._make_pieces(shards)
        threads = self._some_workers()
        load = Counter(place.address for place in self._places)
        together = Counter({address: load[address] for address in threads})
        found = []
        for own in pieces:
            address = min(threads, key=lambda each: (together[each], each))
            together[address] += 1
            n_threads = max(1, threads[address])
            future = self.client.submit(
                Shard,
                own,
                *self._make_arguments(n_threads),
                actor=True,
                pure=False,
                workers=[address],
                key=f"randomboost-shard-{uuid.uuid4().hex}",
            )
            found.append((future, address))
        self._wait_for([future for future, _ in found], {address for _, address in found})
        return found

    def _wait_for(self, futures: list[Any], addresses: set[str]) -> None:
        """Wait until actors are made or cannot be, because their workers are gone."""
        while True:
            try:
                with self.client.as_current():
                    wait(futures, timeout=_LOOK)
                return
            except TimeoutError:
                if not addresses <= set(self._workers()):
                    return

    def _raise_failure(self, futures: list[Any]) -> None:
        """Raise where a shard failed by itself, and not because its worker is gone."""
        for future in futures:
            if future.status == "error":
                error = future.exception()
                if type(error).__name__ not in {"KilledWorker", "LostShard", "NoWorker"}:
                    raise error

    def _replace(self, shard: int, generation: int) -> None:
        """Make a shard again on another worker, and tell it what it was told."""
        with self._lock:
            while self._places[shard].generation == generation:
                self.replaced += 1
                self._futures[shard] = None  # or Dask would make the old one again
                (future, address) = self._made([shard])[0]
                place = Place(future.key, address, generation + 1)
                try:
                    for call in self._told:
                        self.ask_one(shard, place, call.method, call.of(shard))
                except LostShard:
                    continue
                self._futures[shard], self._places[shard] = future, place

    # -- asking ------------------------------------------------------------------------------

    def ask(self, method: str, *arguments: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """Call a method of all shards, which does not change them.

        Parameters
        ----------
        method : str
            Its name.
        *arguments : object
            Arguments for all shards.
        each : sequence or None
            A last argument for every shard.

        Returns
        -------
        list
            What the shards return.
        """
        return self.ask_all(Call(method, arguments, each), Following(self))

    def tell(self, method: str, *arguments: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """Call a method of all shards, which changes them: it is called again for new ones."""
        call = Call(method, arguments, each)
        found = self.ask_all(call, Following(self))
        self._told.append(call)
        return found

    def ask_all(self, call: Call, following: Following) -> list[Any]:
        """Call a method of all shards, and again of those that are lost meanwhile.

        Parameters
        ----------
        call : Call
            The call.
        following : Following
            What new shards have to be told before.

        Returns
        -------
        list
            What the shards return.
        """
        results: dict[int, Any] = {}
        self._check_scheduler()
        while len(results) < self.n_shards:
            left = [shard for shard in range(self.n_shards) if shard not in results]
            places = self.places()
            try:
                for shard in left:
                    following.catch_up(shard, places[shard])
            except LostShard as lost:
                self._replace(*lost.args)
                continue
            peers: tuple[Any, ...] = ()
            if call.together:
                peers = ([(place.address, place.key) for place in places],)
            calls = [
                (places[shard], call.method, (*call.of(shard), *((shard, *peers) if peers else ())))
                for shard in left
            ]
            found = self.client.sync(self._send_all, calls)
            for shard, (is_there, answer) in zip(left, found, strict=True):
                if not is_there:
                    self._replace(shard, places[shard].generation)
                elif not call.together or answer is not None:
                    results[shard] = answer
            if call.together and len(results) < self.n_shards:
                self._look_after_all(following)
        return [results[shard] for shard in range(self.n_shards)]

    def places(self) -> list[Place]:
        """Return where the shards are now."""
        return list(self._places)

    def _look_after_all(self, following: Following) -> None:
        """Replace all shards that are lost."""
        for shard, place in enumerate(self.places()):
            try:
                following.catch_up(shard, place)
                self.ask_one(shard, place, "is_there", ())
            except LostShard as lost:
                self._replace(*lost.args)

    def ask_one(self, shard: int, place: Place, method: str, arguments: tuple[Any, ...]) -> Any:
        """Call a method of a shard; raises `LostShard` where its worker is gone.

        Parameters
        ----------
        shard : int
            Number of the shard.
        place : Place
            Where it is.
        method : str
            Name of the method.
        arguments : tuple
            Its arguments.

        Returns
        -------
        object
            What the shard returns.
        """
        is_there, answer = self.client.sync(self._send_all, [(place, method, arguments)])[0]
        if not is_there:
            raise LostShard(shard, place.generation)
        return answer

    async def _send_all(self, calls: list[tuple[Place, str, tuple[Any, ...]]]) -> list[Any]:
        return await asyncio.gather(*(self._send(*call) for call in calls))

    async def _send(
        self, place: Place, method: str, arguments: tuple[Any, ...]
    ) -> tuple[bool, Any]:
        """Return whether a shard is there, and what it answers."""
        message = {
            "actor": place.key,
            "function": method,
            "args": [to_serialize(argument) for argument in arguments],
        }
        task = asyncio.ensure_future(self._execute(place.address, message))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=_LOOK)
                if not task.done() and not await self._is_there(place.address):
                    return False, None
            answer = task.result()
        except (OSError, KeyError):  # the worker, or the actor on it, is gone
            self._check_scheduler()
            return False, None
        except RuntimeError:  # a closed pool of connections
            self._check_scheduler()
            raise
        finally:
            task.cancel()
        if answer["status"] != "OK":
            raise answer["exception"]
        return True, answer["result"]

    async def _is_there(self, address: str) -> bool:
        self._check_scheduler()
        info = await self.client.scheduler.identity()
        return address in info["workers"]

    async def _execute(self, address: str, message: dict[str, Any]) -> Any:
        """Send a message to a worker, through the scheduler where there is no direct way."""
        if address not in self._direct:
            try:
                await asyncio.wait_for(self.client.rpc(address).identity(), _LOOK)
                self._direct[address] = True
            except (OSError, TimeoutError):
                self._direct[address] = False
        if self._direct[address]:
            return await self.client.rpc(address).actor_execute(**message)
        return await self.client.scheduler.proxy(
            worker=address, msg={"op": "actor_execute", **message}
        )

    def close(self) -> None:
        """Let the shards go."""
        self._places, self._futures = [], []  # Dask releases what has no future


class Following:
    """What a caller told the shards by itself; new shards are told the same before the next call.

    Parameters
    ----------
    group : Group
        The shards.
    """

    def __init__(self, group: Group) -> None:
        self._group = group
        self._known = [place.generation for place in group.places()]

    def again(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Return the calls that a new shard is told."""
        return []

    def catch_up(self, shard: int, place: Place) -> None:
        """Tell a shard, if it is new, what others were told.

        Parameters
        ----------
        shard : int
            Number of the shard.
        place : Place
            Where it is.
        """
        if self._known[shard] != place.generation:
            for method, arguments in self.again():
                self._group.ask_one(shard, place, method, arguments)
            self._known[shard] = place.generation
