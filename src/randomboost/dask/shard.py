"""A shard: the training samples of a range of hashes, in the memory of a worker or on its disk."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
from distributed import get_worker
from numpy.typing import NDArray

from ..ensembles.landmark_average import start_of
from ..ensembles.sparse_trees import SparseTrees
from ..preprocessing.encoding import put_together
from ..preprocessing.level_means import Cells, Column, Rows, find_folds
from ..preprocessing.merging import canonical_order, sample_keys
from ..preprocessing.row_choice import at_most, draw
from ..preprocessing.scaling import ColumnSpan, StandardScaling, column_range, column_sums
from ..projections.directions import Directions
from ..runtime.exact_sums import as_whole, group_sums
from ..runtime.parallel import ThreadTeam
from ..training.binned_data import BinnedData
from ..training.shared_rows import ShardRows
from ..trees.sparse_scores import Prior
from .intake import Piece, Tables
from .storage import Storage


def merged_pieces(
    pieces: list[Piece], storage: Storage
) -> tuple[NDArray, NDArray[np.int64], NDArray, NDArray[np.uint64]]:
    """Merge equal samples of all pieces, and put them in the canonical order.

    Parameters
    ----------
    pieces : list of Piece
        The rows. Those in files are in ranges of hashes, of which one is read at a time.
    storage : Storage
        Where the features are kept.

    Returns
    -------
    tuple
        Features, class numbers, weights and hashes of the distinct samples.
    """
    n_ranges = len(pieces[0].ends)
    if n_ranges == 1 and not storage.on_disk:
        return _merged([piece.range(0) for piece in pieces])
    n_rows, first = sum(piece.n_rows for piece in pieces), 0
    out: NDArray | None = None
    others = []
    for number in range(n_ranges):
        X, *rest = _merged([piece.range(number) for piece in pieces])
        if out is None:
            out = storage.empty((n_rows, X.shape[1]), X.dtype)
        out[first : first + len(X)] = X
        first += len(X)
        others.append(rest)
    assert out is not None
    labels, weight, hashes = (np.concatenate(each) for each in zip(*others, strict=True))
    return out[:first], labels, weight, hashes


def _merged(parts: list[Piece]) -> tuple[NDArray, NDArray[np.int64], NDArray, NDArray[np.uint64]]:
    """Merge equal samples of some rows in memory."""
    each = [(part.values, part.labels, part.weight, part.hashes) for part in parts]
    X, labels, weight, hashes = (np.concatenate(column) for column in zip(*each, strict=True))
    if len(labels):
        order, begins = canonical_order(X, hashes, labels, weight)
        chosen = order[begins]
        weight = np.add.reduceat(weight[order], np.flatnonzero(begins))
        X, labels, hashes = X[chosen], labels[chosen], hashes[chosen]
    return X, labels, weight, hashes


class Shard:
    """Samples of a range of hashes: equal ones are merged, and they are in the canonical order.

    Parameters
    ----------
    pieces : list of Piece
        The rows, from all partitions.
    tables : Tables
        What is known of all partitions.
    n_threads : int
        Threads to use.
    folder : str or None
        Folder for features and bins; None to keep them in memory.
    """

    def __init__(
        self, pieces: list[Piece], tables: Tables, n_threads: int, folder: str | None = None
    ) -> None:
        self._storage = Storage(folder)
        self._n_classes = len(tables.classes)
        self._X, labels, self._weight, hashes = merged_pieces(pieces, self._storage)
        self._y, self._hashes = labels, hashes
        self._keys = sample_keys(hashes, labels)
        self._held = np.zeros(len(labels), dtype=bool)
        self._team = ThreadTeam(n_threads)
        self._bins: NDArray[np.uint8]
        self._begins: list[NDArray[np.float32]] = []
        self._n_turns = 1
        self._members: dict[int, ShardRows] = {}

    def __del__(self) -> None:
        if hasattr(self, "_team"):
            self._team.__exit__(None, None, None)  # its threads end

    # -- samples as a whole ------------------------------------------------------------------

    def facts(self) -> tuple[Rows, NDArray[np.int64]]:
        """Return what is known of the samples, and their numbers by class."""
        counts = np.bincount(self._y, minlength=self._n_classes)
        return Rows.of(self._hashes, self._weight), counts

    def cells(self, columns: list[int], rows: Rows) -> list[Cells]:
        """Return the cells of columns of categories."""
        folds = find_folds(self._hashes)
        return [
            Cells.of(self._X[:, column], self._y, self._weight, folds, self._n_classes, rows)
            for column in columns
        ]

    def encode(self, columns: dict[int, Column]) -> int:
        """Encode categories; return the number of features."""
        folds, X = find_folds(self._hashes), self._X

        def encoded(rows: slice) -> NDArray:
            numbers = X[rows]
            parts = {
                place: each.encode(numbers[:, place], folds[rows])
                for place, each in columns.items()
            }
            return put_together(numbers, parts)

        self._X = self._storage.made(X, encoded)
        return self._X.shape[1]

    def weigh(self, factors: NDArray) -> None:
        """Multiply the weights by factors of the classes."""
        self._weight = self._weight * factors[self._y]

    def peak(self, member: int | None) -> float:
        """Return the largest weight."""
        return float(self._weight[self._part(member)].max(initial=0.0))

    def class_totals(self, member: int | None, unit: float) -> NDArray[np.int64]:
        """Return the total weight of every class in whole units."""
        part = self._part(member)
        return group_sums(as_whole(self._weight[part], unit), self._y[part], self._n_classes)

    def class_counts(self, member: int | None) -> NDArray[np.int64]:
        """Return the number of samples of every class."""
        return np.bincount(self._y[self._part(member)], minlength=self._n_classes)

    def _part(self, member: int | None) -> NDArray[np.int64] | slice:
        """Return the samples of a member, or all of them."""
        return slice(None) if member != 0 or not self._held.any() else np.flatnonzero(~self._held)

    # -- choices -----------------------------------------------------------------------------

    def below(
        self, member: int | None, seed: int, stratified: bool, limits: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """Return draws and classes of the samples whose draws are at most the limits."""
        part = self._part(member)
        draws, labels = draw(self._keys[part], seed), self._y[part]
        labels = labels if stratified else np.zeros_like(labels)
        found = np.flatnonzero(at_most(draws, labels, limits))
        return draws[found], labels[found]

    def sample(
        self, member: int | None, seed: int, stratified: bool, limits: NDArray[np.uint64]
    ) -> tuple[NDArray, NDArray[np.int64], NDArray]:
        """Return the samples whose draws are at most the limits."""
        part = self._part(member)
        labels = self._y[part] if stratified else np.zeros_like(self._y[part])
        chosen = np.flatnonzero(at_most(draw(self._keys[part], seed), labels, limits))
        rows = chosen if isinstance(part, slice) else part[chosen]
        return self._X[rows], self._y[rows], self._weight[rows]

    def hold_out(
        self, seed: int, stratified: bool, limits: NDArray[np.uint64], remove: bool
    ) -> None:
        """Hold out samples: remove them, or keep them from the first member."""
        labels = self._y if stratified else np.zeros_like(self._y)
        held = at_most(draw(self._keys, seed), labels, limits)
        if remove:
            self._X, self._y = self._storage.chosen(self._X, ~held), self._y[~held]
            self._weight, self._keys = self._weight[~held], self._keys[~held]
            held = np.zeros(len(self._y), dtype=bool)
        self._held = held

    def every(self, offset_and_step: tuple[int, int]) -> NDArray:
        """Return every so many-th sample, counted over all shards."""
        offset, step = offset_and_step
        return self._X[-offset % step :: step]

    # -- features ----------------------------------------------------------------------------

    def column_range(self) -> NDArray:
        """Return the ends of every column."""
        return column_range(self._X)

    def column_sums(self, unit: float, span: ColumnSpan, means: NDArray | None) -> NDArray:
        """Return weighted sums of every column."""
        return column_sums(self._X, self._weight, unit, span, means)

    def scale(self, scaling: StandardScaling) -> None:
        """Scale the features."""
        X = self._X
        self._X = self._storage.made(X, lambda rows: scaling.apply(X[rows]))

    def missing(self) -> NDArray[np.bool_]:
        """Return which features have missing values."""
        found = [np.isnan(self._X[rows]).any(axis=0) for rows in self._storage.blocks(self._X)]
        return np.any(found, axis=0)

    def start(
        self, scores: Any, seed: int, draws: NDArray[np.uint64], own: NDArray[np.float32]
    ) -> None:
        """Note scores that members start from, beside those that were noted before.

        The samples with the given draws, which rise, have scores of their own.
        """
        X = self._X
        begin = self._storage.made(X, lambda rows: scores.scores(X[rows], self._team).T)
        mine = draw(self._keys, seed)
        places = np.searchsorted(draws, mine)
        known = places < len(draws)
        known[known] = draws[places[known]] == mine[known]
        begin[known] = own[places[known]]
        self._begins.append(begin)

    def take_turns(self, n_starts: int, n_turns: int) -> None:
        """Have the members take turns among the first of the starts."""
        self._begins, self._n_turns = self._begins[:n_starts], n_turns

    def bin(self, directions: Directions, edges: NDArray) -> None:
        """Find the bins of all samples."""
        X, n_bins = self._X, edges.shape[1] + 1

        def binned(rows: slice) -> NDArray[np.uint8]:
            return BinnedData(X[rows], directions, n_bins, self._team, edges).bins

        self._bins = self._storage.made(X, binned)

    def held_rows(self) -> tuple[NDArray[np.uint8], NDArray[np.float32] | None]:
        """Return the bins of the samples that are held out, and what they start from."""
        return self._bins[self._held], self._first(0, self._held)

    def _first(self, member: int, part: NDArray | slice) -> NDArray[np.float32] | None:
        """Return what is added to the prior of a member's samples."""
        number = start_of(member, len(self._begins), self._n_turns)
        return None if number is None else self._begins[number][part]

    # -- members -----------------------------------------------------------------------------

    def add_member(self, number: int, mean: float, prior: Prior, n_sketches: int) -> None:
        """Begin with the samples of a member, for weights of this mean."""
        part = self._part(number)
        weight = self._weight[part] / mean
        self._members[number] = ShardRows(
            self._storage.chosen(self._bins, part),
            self._y[part],
            weight,
            self._keys[part],
            prior,
            n_sketches,
            self._team,
            self._first(number, part),
        )

    def go_on_from(self, start: SparseTrees) -> None:
        """Add the trees of a model to all scores."""
        for number, rows in self._members.items():
            X = self._storage.chosen(self._X, self._part(number))
            start.member(number).add_to(rows.scores, X, self._team)

    async def part(self, member: int, place: int, n_places: int) -> NDArray[np.int32]:
        """Return the histograms of the nodes that another shard searches."""
        return self._members[member].part(place, n_places)

    async def search(
        self, member: int, totals: NDArray[np.int32], place: int, peers: list[tuple[str, str]]
    ) -> NDArray | None:
        """Search nodes in the histograms of all shards; None where another shard is lost."""
        worker = get_worker()

        async def fetch(address: str, key: str) -> NDArray:
            answer = await worker.rpc(address).actor_execute(
                actor=key, function="part", args=[member, place, len(peers)]
            )
            if answer["status"] != "OK":
                raise answer["exception"]
            return answer["result"]

        others = [peer for number, peer in enumerate(peers) if number != place]
        try:
            found = await asyncio.gather(*(fetch(*peer) for peer in others))
        except (OSError, KeyError):
            return None
        rows, loop = self._members[member], asyncio.get_running_loop()
        return await loop.run_in_executor(None, rows.search, place, len(peers), totals, found)

    def is_there(self) -> bool:
        """Answer."""
        return True

    def call(self, member: int, method: str, *arguments: Any) -> Any:
        """Call a method of a member's samples."""
        self._X = np.empty((0, self._X.shape[1]), dtype=self._X.dtype)  # their bins are known
        return getattr(self._members[member], method)(*arguments)
