"""Headless Chromium for the tests of pages; they are skipped where there is none.

Needs Debian's chromium and chromium-driver (or others of these names on the path).
"""

from __future__ import annotations

import shutil

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
needs_chromium = pytest.mark.skipif(
    not (BROWSER and DRIVER),
    reason="Chromium is not installed: apt-get install chromium chromium-driver",
)

OPTIONS = (
    "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync"
)


def start(profile):
    """Start Chromium with a folder for its profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for option in OPTIONS.split():
        options.add_argument(option)
    options.add_argument(f"--user-data-dir={profile}")
    return webdriver.Chrome(options=options, service=Service(DRIVER))


def visit(browser, address, width, scheme="light"):
    """Open a page at a width and in a colour scheme; return the messages of the console."""
    browser.get_log("browser")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get(address)
    for details in browser.find_elements(By.TAG_NAME, "summary"):
        details.click()
    return browser.get_log("browser")
