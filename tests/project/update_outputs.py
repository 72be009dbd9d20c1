"""Writes again what depends on the bits of the models: ``make update-outputs``.

After a change that is meant to give other models: the outputs in the pages, the table of digests
and, as long as nothing has been released, golden files that no longer load or have other scores.
Everything that changes is printed. Without arguments all three; else some of ``pages``, ``digests``
and ``golden``.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import console_blocks
import page_code

ROOT = page_code.ROOT
DIGESTS = ROOT / "tests/estimators/test_same_models.py"
GOLDEN = ROOT / "tests/files/golden/make.py"


def written_again(shown, found):
    """Return what a page is to show of the lines that a command prints.

    Parts between lines ``...`` keep their number of lines: the first part is taken from the start,
    the last from the end, and others are taken where they are most like those of the page.
    """
    found = [line.rstrip() for line in console_blocks.without_notes(found)]
    if "..." not in shown:
        return found
    parts = [[]]
    for line in shown:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    first, *middle, last = parts
    lines, start = found[: len(first)], len(first)
    for part in middle:
        places = range(start, max(start, len(found) - len(part) - len(last)) + 1)
        best = max(places, key=lambda place: _likeness(part, found[place : place + len(part)]))
        lines += ["...", *found[best : best + len(part)]]
        start = best + len(part)
    return [*lines, "...", *(found[-len(last) :] if last else [])]


def _likeness(shown, found):
    return difflib.SequenceMatcher(None, "\n".join(shown), "\n".join(found)).ratio()


def update_page(page):
    """Write the outputs of a page again where they differ, print that, and return whether any did.

    In an output that differs, times and sizes are those of this run as well.
    """
    before = page.read_text().splitlines(keepends=True)
    after, outputs, missing = list(before), [], None
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        try:
            outputs.extend(
                output for output in page_code.outputs(page, Path(folder)) if not output.same
            )
        except page_code.MissingPackage as error:
            missing = error
    if missing is not None:
        print(f"{page.name}: {missing} is not installed, so blocks from there on are not run")
    for output in reversed(outputs):
        lines = output.found
        if output.source.startswith("$"):
            lines = written_again(output.shown, output.found)
        end = output.line + len(output.shown)
        after[output.line : end] = [f"{line}\n" for line in lines]
    name = os.path.relpath(page, ROOT)
    sys.stdout.writelines(difflib.unified_diff(before, after, name, name, n=1))
    if after != before:
        page.write_text("".join(after))
    return after != before


def update_pages():
    """Update all pages, and return how many changed."""
    changed = 0
    for page in page_code.PAGES:
        print(f"{page.relative_to(ROOT)} ...", flush=True)
        changed += update_page(page)
    return changed


def run(script):
    """Run a script that prints what it changes, one line for each, and return the number."""
    done = subprocess.run(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, check=True
    )
    sys.stdout.write(done.stdout)
    return len(done.stdout.splitlines())


def main(parts):
    """Update some parts or all, and print what changed."""
    known = {
        "golden": lambda: run(GOLDEN),
        "digests": lambda: run(DIGESTS),
        "pages": update_pages,
    }
    unknown = set(parts) - set(known)
    if unknown:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    changed = {name: known[name]() for name in known if name in parts or not parts}
    print("changed:", ", ".join(f"{number} {name}" for name, number in changed.items()))
    if any(changed.values()):
        print("read the changes (git diff) before you commit them; numbers in the text of a page")
        print("are not updated")


if __name__ == "__main__":
    main(sys.argv[1:])
