"""Filling a template, drawing figures as inline SVG, and writing the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..runtime.writing import whole_file

_NEEDS = "a report needs {name}: pip install randomboost[report] (or randomboost[all])"
_LARGE = 5.5  # inches
_INK = "#1b1f24"  # text and axes; the page puts its own colour in the place of it
_LOOK = {"text.color": _INK, "svg.fonttype": "none", "svg.hashsalt": "randomboost"}


@dataclass(frozen=True)
class Drawing:
    """A figure of a page.

    Parameters
    ----------
    title : str
        Its heading.
    caption : str
        What it shows, in a sentence.
    svg : str
        The SVG element.
    width : int
        Width in CSS pixels at which its text is as small as can be read.
    scrolled : bool
        Whether it is scrolled rather than shrunk where there is less room.
    whole_row : bool
        Whether it takes a whole row of the page.
    """

    title: str
    caption: str
    svg: str
    width: int
    scrolled: bool
    whole_row: bool


class Drawings:
    """Collects the figures of a page.

    A figure that a model cannot give (it has no staged predictions, say) is left out.
    """

    def __init__(self) -> None:
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise ImportError(_NEEDS.format(name="matplotlib")) from error
        self._done: list[Drawing] = []

    @property
    def done(self) -> list[Drawing]:
        """Return the figures; none stands alone in half a row."""
        halves = [place for place, drawing in enumerate(self._done) if not drawing.whole_row]
        found = list(self._done)
        if len(halves) % 2:
            found[halves[-1]] = replace(found[halves[-1]], whole_row=True)
        return found

    def add(self, title: str, caption: str, draw: Callable[[Any], Any], description: str) -> None:
        """Draw a figure.

        Parameters
        ----------
        title : str
            Its heading.
        caption : str
            What it shows, in a sentence.
        draw : callable
            Takes axes and returns a display of `randomboost.plots` drawn on them.
        description : str
            The text for people who do not see it.
        """
        from matplotlib import style
        from matplotlib.figure import Figure

        with style.context(["default", _LOOK]):
            figure = Figure(layout="constrained")
            display = draw(figure.subplots())
            figure.set_size_inches(*display.size)
            svg = _inline_svg(figure, f"figure{len(self._done)}", description)
        width = display.size[0]
        large = width > _LARGE
        self._done.append(Drawing(title, caption, svg, round(72 * width), large, large))


def _inline_svg(figure: Any, prefix: str, description: str) -> str:
    """Return a figure as an SVG element whose colours are variables of the page's style sheet."""
    from markupsafe import escape

    from ..plots import style

    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    for element in ("metadata", "style"):  # the style would be that of the whole page
        svg = re.sub(rf"<{element}\b.*?</{element}>\s*", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    svg = svg.replace(_INK, "currentColor").replace(style.FAINT, "var(--faint)")
    for number, color in enumerate(style.COLORS):
        svg = svg.replace(color, f"var(--c{number})")
    label = f'<svg role="img" aria-label="{escape(description)}"'
    return re.sub(r' (?:width|height)="[\d.]+pt"', "", svg.replace("<svg", label, 1), count=2)


def render(template: str, **content: Any) -> str:
    """Fill a template of the package; all text is escaped.

    Parameters
    ----------
    template : str
        Its file name.
    **content
        What it shows.

    Returns
    -------
    str
        The page.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(_NEEDS.format(name="jinja2")) from error
    from .. import __version__

    environment = Environment(
        loader=PackageLoader("randomboost.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(version=__version__, **content)


def write(path: Any, text: str) -> Path:
    """Write a file, whole or not at all.

    Parameters
    ----------
    path : str or Path
        Where to.
    text : str
        What to write.

    Returns
    -------
    Path
        Where it is.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"path={str(path)!r} is in a folder that does not exist: make it first")
    if path.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder: name a file in it")
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path
