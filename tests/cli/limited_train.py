"""Trains on a file and predicts it by the command line, in a process whose memory is limited.

Arguments: the folder with small.parquet and large.parquet, and MiB allowed beyond what a run on
the small file took; then the arguments of every command, separated by ``--``.
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pyarrow as pa

from randomboost.cli import app, large_data
from randomboost.dask import distributed_classifier, storage
from randomboost.reading import rows

pa.set_cpu_count(1)  # the stack of every thread counts
pa.set_io_thread_count(1)
# as small as the file is
rows._CELLS = large_data._PART_CELLS = 150_000
storage.BLOCK_BYTES = distributed_classifier.RANGE_BYTES = 1 << 20


def data_bytes() -> int:
    """Return the bytes that count for RLIMIT_DATA: private memory, not mapped files."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmData"))


def command(*arguments: str) -> None:
    code = app(list(arguments), standalone_mode=False)
    if code:
        sys.exit(code)


def main(folder: Path, allowed: int, commands: list[list[str]]) -> None:
    small, model = str(folder / "small.parquet"), str(folder / "small.rboost")
    settings = ["--set", "n_jobs=1", "--set", "n_estimators=1", "--quiet"]
    command(
        "train", small, "-t", "y", "--out-of-core", "--test-size", "0.1", "-o", model, *settings
    )
    command("predict", model, small, "-o", str(folder / "small.csv"), "--quiet")
    limit = data_bytes() + allowed * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    for each in commands:
        command(*each)


if __name__ == "__main__":
    parts = " ".join(sys.argv[3:]).split(" -- ")
    main(Path(sys.argv[1]), int(sys.argv[2]), [part.split() for part in parts])
