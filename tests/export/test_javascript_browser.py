"""Models as JavaScript in headless Chromium: in a classic script and in a module."""

from __future__ import annotations

import json

import numpy as np
import pytest
from export_models import X, fitted

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from chromium import needs_chromium, visit

from randomboost.export.javascript import to_js

pytestmark = needs_chromium
PAGE = """<!DOCTYPE html><meta charset="utf-8"><title>wine</title>
<script{kind}>
{text}
globalThis.predicted = {rows}.map((row) => [wine.predict(row), ...wine.predictProba(row)]);
</script>
"""


@pytest.mark.parametrize("module", [False, True])
@pytest.mark.parametrize("name", ["trees", "trees-gaussian", "rank-stumps", "mo-stump"])
def test_a_page_predicts_the_same(browser, name, module, tmp_path):
    model, path = fitted(name), tmp_path / "page.html"
    kind = ' type="module"' if module else ""
    text = to_js(model, name="wine", module=module)
    path.write_text(PAGE.format(kind=kind, text=text, rows=json.dumps(X.tolist())))
    assert visit(browser, path.as_uri(), 390) == []
    found = np.array(browser.execute_script("return predicted"))
    np.testing.assert_array_equal(found[:, 0], model.predict(X))
    np.testing.assert_allclose(found[:, 1:], model.predict_proba(X), atol=1e-6, rtol=0)
