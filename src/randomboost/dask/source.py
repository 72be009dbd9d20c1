"""Dask collections as aligned partitions, and errors that say how to make them so."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
from dask.base import is_dask_collection
from distributed import Client, get_client

from .intake import Division, PartFacts, Tables, divide_part, part_facts, read_part


def find_client(client: Client | None) -> Client:
    """Return the client to use, found as Dask's collections find it.

    Parameters
    ----------
    client : Client or None
        The client, if one is given.

    Returns
    -------
    Client
        The client.
    """
    if client is None:
        try:
            client = get_client()
        except ValueError as error:
            raise ValueError(
                "there is no Dask client: make one first, client = dask.distributed.Client(), or "
                "pass it as client="
            ) from error
    if client.asynchronous:
        raise ValueError(
            "the client is asynchronous: pass one made with asynchronous=False, or call fit in a "
            "thread"
        )
    return client


def is_table(X: Any) -> bool:
    """Return whether X is a Dask dataframe."""
    return is_dask_collection(X) and hasattr(X, "map_partitions") and hasattr(X, "columns")


def need_collection(X: Any, name: str) -> None:
    """Raise where an argument is no Dask collection, or has its columns in several chunks.

    Parameters
    ----------
    X : object
        The argument.
    name : str
        Its name.
    """
    if not is_dask_collection(X) or not (hasattr(X, "to_delayed") and hasattr(X, "ndim")):
        raise TypeError(
            f"{name} is of type {type(X).__name__}: pass a Dask array or dataframe, for example "
            f"dask.array.from_array({name}, chunks=(100_000, -1)), or use RandomBoostClassifier, "
            "which takes data in memory (to_local() gives a fitted one)"
        )
    if name.startswith("X") and X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimensions: pass one of two dimensions")
    if not is_table(X) and X.ndim == 2 and X.numblocks[1] > 1:
        raise ValueError(
            f"{name} has its columns in {X.numblocks[1]} chunks: use {name}.rechunk({{1: -1}}), so "
            "that every chunk has whole rows"
        )


def _n_parts(each: Any) -> int:
    return each.npartitions if hasattr(each, "map_partitions") else each.numblocks[0]


def _partitions(each: Any) -> list[Any]:
    """Return the partitions of a collection as delayed objects."""
    if hasattr(each, "map_partitions"):
        # to optimise it would join partitions of Parquet files, more where columns are fewer
        return each.simplify().to_delayed(optimize_graph=False)
    return np.ravel(each.to_delayed()).tolist()


def _need_alike(X: Any, other: Any, name: str) -> None:
    """Raise where a collection is divided otherwise than X, as far as that is known."""
    remedy = (
        f"divide both alike, for example by {name}.rechunk((X.chunks[0],)) or "
        f"{name}.repartition(divisions=X.divisions)"
    )
    if _n_parts(other) != _n_parts(X):
        raise ValueError(
            f"{name} has {_n_parts(other)} partitions but X has {_n_parts(X)}: {remedy}"
        )
    known = [getattr(each, "divisions", None) for each in (X, other)]
    if all(each is not None and each[0] is not None for each in known) and known[0] != known[1]:
        raise ValueError(f"{name} has other divisions than X: {remedy}")
    sizes = [getattr(each, "chunks", None) for each in (X, other)]
    if all(each is not None and not np.isnan(each[0]).any() for each in sizes):
        assert sizes[0] is not None
        assert sizes[1] is not None
        if sizes[0][0] != sizes[1][0]:
            raise ValueError(f"{name} has chunks of other sizes than X: {remedy}")


class Source:
    """Training data in partitions.

    Parameters
    ----------
    X, y, sample_weight : Dask collection
        The data; the weights may be None.
    categorical : "from_dtype" or array-like
        Columns to take for categories.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, categorical: Any) -> None:
        need_collection(X, "X")
        need_collection(y, "y")
        _need_alike(X, y, "y")
        if sample_weight is not None:
            need_collection(sample_weight, "sample_weight")
            _need_alike(X, sample_weight, "sample_weight")
        self._columns = list(X.columns) if is_table(X) else None
        self.n_columns = X.shape[1]
        self.template = X._meta if is_table(X) else np.empty((0, self.n_columns))
        parts = [
            _partitions(each) if each is not None else [None] * _n_parts(X)
            for each in (X, y, sample_weight)
        ]
        self._raw = list(zip(*parts, strict=True))
        read = dask.delayed(read_part, pure=True)
        self._parts = [
            read(*each, categorical, dask_key_name=("randomboost-read", token, number))
            for token in [dask.base.tokenize(X, y, sample_weight, categorical)]
            for number, each in enumerate(self._raw)
        ]

    @property
    def names(self) -> list[Any]:
        """Names of the columns, or their positions."""
        return list(range(self.n_columns)) if self._columns is None else self._columns

    def facts(
        self, client: Client, without: list[Any], *, keep: bool
    ) -> tuple[list[PartFacts], list[Any]]:
        """Read all partitions.

        Parameters
        ----------
        client : Client
            The client.
        without : list
            Labels of classes of weight 0.
        keep : bool
            Whether to keep them in memory; else they are read again when they are divided.

        Returns
        -------
        tuple
            What the partitions hold, and futures or delayed objects of them.
        """
        kept = client.persist(self._parts) if keep else self._parts
        report = dask.delayed(part_facts, pure=False)
        return client.gather(client.compute([report(part, without) for part in kept])), kept

    def pieces(
        self, client: Client, tables: Tables, factors: Any, division: Division, shards: list[int]
    ) -> list[list[Any]]:
        """Return futures of the pieces of some shards, a list for each.

        Parameters
        ----------
        client : Client
            The client.
        tables : Tables
            What is known of all partitions.
        factors : ndarray
            Factors of the classes.
        division : Division
            How partitions are divided.
        shards : list of int
            The shards whose pieces are wanted.

        Returns
        -------
        list of list of Future
            The pieces.
        """
        divide = dask.delayed(divide_part, pure=False)
        shared = dask.delayed((tables, factors, division), pure=False)
        divided = [divide(part, *(shared[place] for place in range(3))) for part in self._parts]
        every = [[each[shard] for each in divided] for shard in shards]
        flat = client.compute([piece for pieces in every for piece in pieces])
        n = len(self._parts)
        return [flat[place * n : (place + 1) * n] for place in range(len(shards))]

    def map_raw(self, function: Any, *arguments: Any) -> list[Any]:
        """Return a delayed call of a function for every partition as it is."""
        call = dask.delayed(function, pure=False)
        return [call(*each, *arguments) for each in self._raw]
