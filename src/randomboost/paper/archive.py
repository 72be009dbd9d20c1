"""An archive of results for a repository with DOIs: runs, pages, environment, commit, seeds."""

from __future__ import annotations

import csv
import hashlib
import io
import platform
import subprocess
import zipfile
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path

from . import runs

_DATE = (1980, 1, 1, 0, 0, 0)  # the same contents give the same bytes
_KEPT = {".csv", ".md", ".svg"}


def environment() -> str:
    """Return the versions of Python, the platform and all installed packages.

    Returns
    -------
    str
        One line each.
    """
    packages = {f"{each.metadata['Name']}=={each.version}" for each in distributions()}
    system = f"# Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return "\n".join([system, *sorted(packages, key=str.lower)]) + "\n"


def commit(folder: Path) -> str:
    """Return the commit of a folder's repository.

    Parameters
    ----------
    folder : Path
        The folder.

    Returns
    -------
    str
        The commit, with "+changes" if files differ from it; "unknown" outside of a repository.
    """

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    try:
        changed = "+changes" if git("status", "--porcelain") else ""
        return git("rev-parse", "HEAD") + changed
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _seeds(files: Iterable[Path]) -> str:
    """Return the seed of every run as CSV; it draws the split and all that the method draws."""
    names = ["experiment", "set", "method", "repeat", "seed"]
    file = io.StringIO()
    writer = csv.DictWriter(file, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for path in files:
        writer.writerows(runs.read(path))
    return file.getvalue()


def write(folder: Path, out: Path, more: Iterable[Path] = ()) -> list[str]:
    """Write the archive.

    Parameters
    ----------
    folder : Path
        Folder of results, with a runs.csv in every subfolder.
    out : Path
        The zip file.
    more : iterable of Path
        Further files, such as the licence.

    Returns
    -------
    list of str
        The names in the archive.

    Raises
    ------
    ValueError
        If the folder has no runs.
    """
    tables = sorted(folder.glob("*/runs.csv"))
    if not tables:
        raise ValueError(f"{folder} has no runs.csv in any subfolder: name a folder of results")
    kept = sorted(path for path in folder.rglob("*") if path.suffix in _KEPT)
    contents = {
        f"results/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in kept
    }
    contents |= {path.name: path.read_bytes() for path in more}
    contents["environment.txt"] = environment().encode()
    contents["commit.txt"] = f"{commit(folder)}\n".encode()
    contents["seeds.csv"] = _seeds(tables).encode()
    digests = [f"{hashlib.sha256(data).hexdigest()}  {name}" for name, data in contents.items()]
    contents["MANIFEST.sha256"] = ("\n".join(digests) + "\n").encode()
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return list(contents)
