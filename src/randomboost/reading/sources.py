"""Opening a file or standard input: decompression and detection of the format."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from .errors import DataError

FORMATS = ("csv", "parquet", "feather", "arff", "libsvm")
STDIN = "-"
_BEGINNING = 1 << 20  # bytes from which separator, encoding and format are detected
_COMPRESSED: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".arff": "arff",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
_ZIP = b"PK\x03\x04"
_OTHERS = {
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"[{": "a JSON file",
    b'{"': "a JSON file",
    b"<": "an HTML or XML file",
}


class _Joined(io.RawIOBase):
    """Bytes that have been read, followed by the rest of a stream."""

    def __init__(self, beginning: bytes, rest: Any) -> None:
        self._beginning = memoryview(beginning)
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._beginning[: len(buffer)]
        if len(data):
            self._beginning = self._beginning[len(data) :]
        else:
            data = self._rest.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _read_up_to(stream: Any, n_bytes: int) -> bytes:
    """Read a number of bytes, or all if there are fewer; a pipe returns some at a time."""
    parts, missing = [], n_bytes
    while missing > 0:
        part = stream.read(missing)
        if not part:
            break
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _with_beginning(stream: Any, n_bytes: int) -> tuple[bytes, BinaryIO]:
    """Return the first bytes, and a stream that still contains them."""
    beginning = _read_up_to(stream, n_bytes)
    return beginning, cast(BinaryIO, io.BufferedReader(_Joined(beginning, stream)))


class Source:
    """An open file or standard input, decompressed.

    Parameters
    ----------
    name : str
        Name for messages.
    stream : file
        The decompressed bytes from the beginning.
    beginning : bytes
        The first of them.
    format : str
        One of `FORMATS`.
    path : str
        Path or ``-``.
    compressed : bool
        Whether the file is compressed as a whole.
    """

    def __init__(
        self,
        name: str,
        stream: BinaryIO,
        beginning: bytes,
        format: str,
        path: str = STDIN,
        *,
        compressed: bool = False,
    ) -> None:
        self.compressed = compressed
        self.path = path
        self.name = name
        self.stream = stream
        self.beginning = beginning
        self.complete = len(beginning) < _BEGINNING  # the beginning is the whole file
        self.format = format

    @contextmanager
    def again(self) -> Iterator[BinaryIO | None]:
        """Yield the bytes from the beginning, None if they are gone."""
        if self.path != STDIN:
            with open_source(self.path, self.format) as source:
                yield source.stream
        else:
            yield io.BytesIO(self.beginning) if self.complete else None

    def seekable(self) -> Any:
        """Return all bytes in memory, as pyarrow needs them for Parquet and Feather."""
        return io.BytesIO(self.stream.read())


@contextmanager
def open_source(path: str, format: str | None = None) -> Iterator[Source]:
    """Open a file, or standard input for ``-``.

    Parameters
    ----------
    path : str
        Path or ``-``.
    format : str or None
        One of `FORMATS`; None to detect it by the first bytes and the extension.

    Yields
    ------
    Source
        The open source.
    """
    name = "standard input" if path == STDIN else path
    if path == STDIN:
        file: Any = sys.stdin.buffer
    else:
        if Path(path).is_dir():
            raise DataError(f"{name} is a folder: pass a file")
        try:
            file = open(path, "rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise DataError(f"cannot read {name}: {error.strerror}") from error
    try:
        start, stream = _with_beginning(file, 16)
        unpack = next(
            (_COMPRESSED[magic] for magic in _COMPRESSED if start.startswith(magic)), None
        )
        inner = path
        if start.startswith(_ZIP):
            inner, stream = _unzipped(name, stream)
        beginning, stream = _with_beginning(unpack(stream) if unpack else stream, _BEGINNING)
        if not beginning:
            raise DataError(f"{name} is empty: is it the right file?")
        found = format or _find_format(inner, beginning)
        packed = unpack is not None or inner != path
        yield Source(name, stream, beginning, found, path, compressed=packed)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        raise DataError(f"{name} is compressed and damaged or truncated: {error}") from error
    finally:
        if path != STDIN:
            file.close()


def _unzipped(name: str, stream: Any) -> tuple[str, Any]:
    """Return name and bytes of the only file in a zip archive."""
    archive = zipfile.ZipFile(io.BytesIO(stream.read()))
    names = [each for each in archive.namelist() if not each.endswith("/")]
    if "[Content_Types].xml" in names:
        raise DataError(f"{name} is an Excel workbook: save the table as CSV first")
    names = [each for each in names if not each.startswith("__MACOSX/")]
    if len(names) != 1:
        raise DataError(f"{name} is a zip archive of {len(names)} files: unpack the one to read")
    try:
        return names[0], archive.open(names[0])
    except (RuntimeError, NotImplementedError) as error:  # a password, another compression
        raise DataError(f"cannot unpack {name}: {error}; unpack it first") from error


def _find_format(path: str, beginning: bytes) -> str:
    """Return the format by the first bytes, or else by the extension."""
    if beginning.startswith(b"PAR1"):
        return "parquet"
    if beginning.startswith((b"ARROW1", b"FEA1")):
        return "feather"
    for magic, what in _OTHERS.items():
        if beginning.lstrip().startswith(magic):
            raise DataError(f"{path} is {what}: save the table as CSV or Parquet first")
    suffixes = [suffix.lower() for suffix in Path(path).suffixes if path != STDIN]
    for suffix in reversed(suffixes):
        if suffix in _SUFFIXES:
            return _SUFFIXES[suffix]
    if any(line.strip().lower().startswith(b"@relation") for line in beginning.splitlines()[:200]):
        return "arff"
    return "csv"
