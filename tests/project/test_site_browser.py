"""The front page of the documentation in headless Chromium, wide and at the width of a phone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx", reason="sphinx is not installed: make docs")
pytest.importorskip("furo")
pytest.importorskip("myst_parser")
pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from chromium import needs_chromium, visit
from selenium.webdriver.common.by import By

pytestmark = needs_chromium
DOCS = Path(__file__).parents[2] / "docs"
SETTINGS = f"""
import sys
from pathlib import Path

sys.path.insert(0, {str(DOCS)!r})
import front_page

extensions = ["myst_parser"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
myst_enable_extensions = ["substitution"]
myst_substitutions = front_page.figures(Path("many-classes/measurements.json"))
"""


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    """Build the front page alone, with its style and picture; return its address."""
    source = tmp_path_factory.mktemp("site")
    shutil.copy(DOCS / "index.md", source)
    for folder in ("_static", "many-classes"):
        shutil.copytree(DOCS / folder, source / folder)
    (source / "conf.py").write_text(SETTINGS)
    command = [sys.executable, "-m", "sphinx", "-Q", str(source), str(source / "built")]
    subprocess.run(command, cwd=source, check=True, timeout=300)
    return (source / "built" / "index.html").as_uri()


def boxes(browser, selector):
    """Return the left and right edges of elements."""
    found = browser.find_elements(By.CSS_SELECTOR, selector)
    return [(box.rect["x"], box.rect["x"] + box.rect["width"]) for box in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "columns"), [(1280, 3), (390, 1), (320, 1)])
def test_figures_doors_and_picture_fit(browser, front, width, columns, scheme):
    messages = visit(browser, front, width, scheme)
    assert not [entry for entry in messages if entry["level"] == "SEVERE"]
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    for selector in (".figure-of-three", ".door"):
        edges = boxes(browser, selector)
        assert len(edges) == 3
        assert len({round(left) for left, _ in edges}) == columns
        assert min(left for left, _ in edges) >= 0
        assert max(right for _, right in edges) <= width
    texts = [box.text for box in browser.find_elements(By.CSS_SELECTOR, ".figure-of-three")]
    assert all(any(sign.isdigit() for sign in text) for text in texts)
    assert "{{" not in browser.find_element(By.TAG_NAME, "body").text
    picture = browser.find_element(By.CSS_SELECTOR, ".wide-picture img")
    assert picture.get_property("naturalWidth") > 0
    assert picture.rect["width"] > 0.6 * picture.get_property("naturalWidth")  # readable labels
    assert boxes(browser, ".wide-picture img")[0][1] <= width
