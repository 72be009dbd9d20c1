"""How the documentation is built: ``make docs``, without internet, with warnings as errors."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import front_page  # noqa: E402
import parameters_page  # noqa: E402
import pictures  # noqa: E402

from randomboost import __version__  # noqa: E402

project = "randomboost"
author = "the randomboost developers"
copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
suppress_warnings = ["config.cache"]  # functions in the settings of the gallery
default_role = "py:obj"
templates_path = ["_templates"]
myst_heading_anchors = 3
myst_enable_extensions = ["substitution"]
myst_substitutions = front_page.figures(HERE / "many-classes" / "measurements.json")
smartquotes = False  # code in plain text keeps its quotes

html_theme = "furo"
html_title = f"randomboost {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f6fb2", "color-brand-content": "#1f6fb2"},
    "dark_css_variables": {"color-brand-primary": "#6cb6ee", "color-brand-content": "#6cb6ee"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say more
autodoc_member_order = "bysource"
numpydoc_show_class_members = False


def public_methods(fullname: str) -> list[str]:
    """Return the methods of a class that this package defines, in the order of the source."""
    module, name = fullname.rsplit(".", 1)
    found: dict[str, int] = {}
    for base in reversed(getattr(import_module(module), name).__mro__):
        if base.__module__.startswith("randomboost"):
            for member, value in vars(base).items():
                function = inspect.unwrap(getattr(value, "__func__", value))
                if inspect.isfunction(function) and not member.startswith("_"):
                    found.setdefault(member, len(found))
    return sorted(found, key=found.__getitem__)


autosummary_context = {"public_methods": public_methods}


EXAMPLES = [
    "first_model",
    "compare_algorithms",
    "paper_setting",
    "many_classes",
    "imbalanced",
    "mixed_table",
    "stopping",
    "see_a_model",
    "saving",
    "own_parts",
]


def place(name: str) -> int:
    """Return the position of an example in the gallery."""
    return EXAMPLES.index(Path(name).stem)


def plain_figures(gallery_conf: dict[str, Any], name: str) -> None:
    """Draw the figures of an example so that they can be read on light and dark pages."""
    import matplotlib as mpl

    if Path(name).stem != "see_a_model":  # `randomboost.plots` has colours of its own
        mpl.rcParams.update(pictures.ANY_BACKGROUND)


sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": place,
    "reset_modules": ("matplotlib", "seaborn", plain_figures),
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "show_memory": False,
    "capture_repr": (),
    "min_reported_time": 3600,
    "write_computation_times": False,
}


def escape_names(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Keep names such as ``n_features_in_`` in the types of docstrings from being read as links."""
    lines[:] = [re.sub(r"(?<=\w)_(?=[,)])", r"\\_", line) for line in lines]


def leave_out_of_lists(app: Any, docname: str, source: list[str]) -> None:
    """Leave the tables that results/README.md links to out of the lists of pages."""
    if docname.startswith("results/") and docname != "results/README":
        source[0] = f"---\norphan: true\n---\n\n{source[0]}"


def setup(app: Any) -> None:
    """Make pictures and tables before the pages are read, and change some of what is read."""
    app.connect("builder-inited", lambda app: pictures.draw_all(HERE / "pictures"))
    app.connect("builder-inited", lambda app: parameters_page.write(HERE / "reference"))
    app.connect("source-read", leave_out_of_lists)
    app.connect("autodoc-process-docstring", escape_names)
