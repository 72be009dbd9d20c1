"""Progress of a fit: a bar if rich is installed, else a line every few seconds."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Shows rounds, training loss and remaining time of a fit.

    Parameters
    ----------
    label : str
        Name of what is fitted.
    total : int
        Maximum number of rounds.
    enabled : bool
        Whether progress is shown.
    """

    def __init__(self, label: str, total: int, *, enabled: bool) -> None:
        self._label = label
        self._total = total
        self._bar: Any = None
        self._plain = False
        self._shown = time.monotonic()
        self._first: tuple[float, int] | None = None
        if not enabled:
            return
        try:
            from rich import progress
            from rich.console import Console
        except ImportError:
            self._plain = True
            print(f"{label}: preparing", file=sys.stderr)
            return
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[note]}"),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(label, total=total, note="preparing")

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._bar is not None:
            self._bar.stop()

    def expect(self, total: int) -> None:
        """Change the maximum number of rounds.

        Parameters
        ----------
        total : int
            The number.
        """
        self._total = total
        if self._bar is not None:
            self._bar.update(self._task, total=total)

    def say(self, text: str) -> None:
        """Show a line of text, unless it is empty.

        Parameters
        ----------
        text : str
            The line.
        """
        if text and self._bar is not None:
            self._bar.console.print(f"{self._label}: {text}", highlight=False)
        elif text and self._plain:
            print(f"{self._label}: {text}", file=sys.stderr)

    def update(self, done: int, note: str) -> None:
        """Show that `done` rounds are finished.

        Parameters
        ----------
        done : int
            Rounds finished.
        note : str
            Text such as the loss.
        """
        if self._bar is not None:
            self._bar.update(self._task, completed=done, note=note)
            return
        if not self._plain:
            return
        now = time.monotonic()
        self._first = self._first or (now, done)
        if now - self._shown > 2 or done == self._total:
            self._shown = now
            began, first = self._first
            left = (now - began) * (self._total - done) / max(done - first, 1)
            print(
                f"{self._label}: round {done}/{self._total}  {note}  {left:.0f} s left",
                file=sys.stderr,
            )

    def finish(self, done: int) -> None:
        """Show that the fit ended after `done` rounds, perhaps before the last one.

        Parameters
        ----------
        done : int
            Rounds finished.
        """
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=done)
        elif self._plain and done < self._total:
            print(f"{self._label}: ended after {done} rounds", file=sys.stderr)
