"""Rendering templates, drawing figures as inline SVG, and writing the report."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..runtime.writing import whole_file

_NEEDS = "a report needs {name}: pip install randomboost[report] (or randomboost[all])"
LARGE = 396  # points
_INK = "#1b1f24"  # text and axes; replaced by the colour of the page
_LOOK = {"text.color": _INK, "svg.fonttype": "none", "svg.hashsalt": "randomboost"}


@dataclass(frozen=True)
class Drawing:
    """A figure of a report.

    Parameters
    ----------
    title : str
        Heading.
    caption : str
        What the figure shows, in a sentence.
    svg : str
        The SVG element.
    width : int
        Smallest width in CSS pixels at which the text is readable.
    large : bool
        Whether its text is too small on a phone, so that it can be enlarged and scrolled.
    whole_row : bool
        Whether it takes a whole row of the page.
    """

    title: str
    caption: str
    svg: str
    width: int
    large: bool
    whole_row: bool


class Drawings:
    """Collects the figures of a report."""

    def __init__(self) -> None:
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise ImportError(_NEEDS.format(name="matplotlib")) from error
        self._done: list[Drawing] = []

    @property
    def done(self) -> list[Drawing]:
        """Return the figures; a single one left in half a row takes the whole row."""
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
            Heading.
        caption : str
            What the figure shows, in a sentence.
        draw : callable
            Takes axes and returns a display of `randomboost.plots` drawn on them.
        description : str
            Text for screen readers.
        """
        from matplotlib import style
        from matplotlib.figure import Figure

        with style.context(["default", _LOOK]):
            figure = Figure(layout="constrained")
            display = draw(figure.subplots())
            figure.set_size_inches(*display.size)
            svg = _inline_svg(figure, f"figure{len(self._done)}", description)
        width = round(72 * display.size[0])
        large = width > LARGE
        self._done.append(Drawing(title, caption, svg, width, large, large))


def _inline_svg(figure: Any, prefix: str, description: str) -> str:
    """Return a figure as an SVG element whose colours are variables of the page's style sheet."""
    from markupsafe import escape

    from ..plots import style

    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    for element in ("metadata", "style"):  # its style would apply to the whole page
        svg = re.sub(rf"<{element}\b.*?</{element}>\s*", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    svg = svg.replace(_INK, "currentColor").replace(style.FAINT, "var(--faint)")
    for number, color in enumerate(style.COLORS):
        svg = svg.replace(color, f"var(--c{number})")
    label = f'<svg role="img" aria-label="{escape(description)}"'
    return re.sub(r' (?:width|height)="[\d.]+pt"', "", svg.replace("<svg", label, 1), count=2)


def render(template: str, **content: Any) -> str:
    """Render a template of the package; all text is escaped.

    Parameters
    ----------
    template : str
        File name of the template.
    **content
        Values of its variables.

    Returns
    -------
    str
        The HTML text.
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
    """Write a file, completely or not at all.

    Parameters
    ----------
    path : str or Path
        The file.
    text : str
        Its content.

    Returns
    -------
    Path
        The file.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise ValueError(f"path={str(path)!r} is in a folder that does not exist: create it first")
    if path.is_dir():
        raise ValueError(f"path={str(path)!r} is a folder: pass a file")
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
    return path
