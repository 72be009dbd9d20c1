"""The pages in headless Chromium: nothing overflows, no script fails, tables sort."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
pandas = pytest.importorskip("pandas")
pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from chromium import needs_chromium, visit  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier  # noqa: E402
from randomboost.paper import results_page  # noqa: E402
from randomboost.paper.engine import Options, execute, plan  # noqa: E402
from randomboost.report import ModelResult, write_comparison_report, write_training_report  # noqa: E402

pytestmark = needs_chromium

HOSTILE = '<script>window.broken=1</script><img src=x onerror="window.broken=1">'
UNBROKEN = "a_name_without_any_space_that_goes_on_and_on_for_more_than_the_width_of_a_phone"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return addresses of a page of each kind, with many classes and unkind names."""
    folder = tmp_path_factory.mktemp("pages")
    random = np.random.default_rng(0)
    X = pandas.DataFrame(
        random.normal(size=(400, 4)), columns=[HOSTILE, UNBROKEN, "weight (kg)", "d"]
    )
    X["kind"] = random.choice([UNBROKEN, HOSTILE, "plain"], len(X))
    names = np.array([f"{number} {HOSTILE}{UNBROKEN}" for number in range(20)])
    y = names[np.digitize(X["d"] + 0.2 * random.normal(size=len(X)), np.linspace(-2, 2, 19))]
    numbers = X.iloc[:, :4]
    model = AdaBoostMHClassifier(10, random_state=0).fit(numbers, y)
    training = write_training_report(
        folder / "training.html",
        model,
        numbers,
        y,
        title=f"{HOSTILE}{UNBROKEN}",
        facts={UNBROKEN: UNBROKEN, "fit": "1 s"},
        notes=[f"{HOSTILE} {UNBROKEN}"],
    )
    results = [
        ModelResult(
            f"{place} {UNBROKEN}{HOSTILE}",
            (0.05 * place + 0.1 * random.random(5)).tolist(),
            log_loss=[] if place == 3 else [1.5 - 0.1 * place] * 5,
            fit_seconds=[0.5 * 3.0**place] * 5,
            predict_seconds=[0.002] * 5,
            size=[9000.0 - 1000 * place] * 5,
        )
        for place in range(8)
    ]
    comparison = write_comparison_report(folder / "comparison.html", results, X=X, y=y)
    # categories and missing values; more classes than a figure of a phone's width has room for
    trees = RandomBoostClassifier(10, random_state=0).fit(X[::2], y[::2])
    table = write_training_report(
        folder / "table.html", trees, X[1::2], y[1::2], X_train=X[::2], y_train=y[::2]
    )
    found = {"training": training, "table": table, "comparison": comparison}
    for name, only in (("table-multiclass", ["wine", "ecc", "mh"]), ("figure-toy", None)):
        options = Options(
            folder / name, repeats=1, quick=True, only=only or [], rounds=3, threads=1
        )
        made = plan(name, options)
        execute(made)
        results_page.write(made)
        found[name] = made.pages / "page.html"
    return {name: path.resolve().as_uri() for name, path in found.items()}


def brightness(browser, selector, name):
    """Return the mean of red, green and blue of a computed colour."""
    color = browser.execute_script(
        "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]",
        selector,
        name,
    )
    return np.mean([float(part) for part in color.strip("rgba()").split(",")[:3]])


@pytest.mark.parametrize(
    "page", ["training", "table", "comparison", "table-multiclass", "figure-toy"]
)
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(360, "light"), (390, "light"), (390, "dark"), (768, "light"), (1280, "dark")],
)
def test_nothing_overflows_and_no_script_fails(browser, pages, page, width, scheme):
    assert visit(browser, pages[page], width, scheme) == []
    inner, outer, window = browser.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth, innerWidth]"
    )
    assert window == width
    assert inner <= outer
    assert browser.execute_script("return window.broken") is None
    # no card, table or picture sticks out of the page, except inside a box that scrolls
    outside = browser.execute_script(
        """return [...document.body.querySelectorAll("*")].filter(e =>
             !e.closest(".table table, .drawing > div")
             && e.getBoundingClientRect().right > arguments[0] + 0.5).map(e => e.outerHTML)""",
        outer,
    )
    assert outside == []
    widths = "return [...document.querySelectorAll('.drawing svg')].map(e => e.clientWidth)"
    assert min(browser.execute_script(widths), default=300) > 280
    # figures fit their boxes until they are enlarged; wide tables are stacked on a phone
    boxes = ".drawing, .table:has(.wide)" if width < 480 else ".drawing"
    hidden = """return [...document.querySelectorAll(arguments[0])].filter(
                  e => e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 200))"""
    assert browser.execute_script(hidden, boxes) == []


def test_large_figures_are_enlarged_on_request(browser, pages):
    visit(browser, pages["figure-toy"], 390)
    button = browser.find_element(By.CSS_SELECTOR, "button.enlarge")
    size = "const e = document.querySelector('.drawing'); return [e.scrollWidth, e.clientWidth]"
    for pressed in ("true", "false"):
        button.send_keys(Keys.ENTER)
        assert button.get_attribute("aria-pressed") == pressed
        inner, outer = browser.execute_script(size)
        assert (inner > 1.5 * outer) == (pressed == "true")
    visit(browser, pages["figure-toy"], 1280)
    assert not browser.find_element(By.CSS_SELECTOR, "button.enlarge").is_displayed()


def test_wide_tables_are_stacked_on_a_phone_and_still_sort(browser, pages):
    visit(browser, pages["comparison"], 390)
    row = browser.find_element(By.CSS_SELECTOR, '[aria-label="Models"] tbody tr')
    left = [cell.rect["x"] for cell in row.find_elements(By.CSS_SELECTOR, "th, td")]
    assert len(set(left)) == 2
    title = "return getComputedStyle(arguments[0].cells[1], '::before').content"
    assert browser.execute_script(title, row) == '"error"'
    heading(browser, "Models", 1).find_element(By.TAG_NAME, "button").click()
    heading(browser, "Models", 1).find_element(By.TAG_NAME, "button").click()
    errors = [float(text.split("%")[0]) for text in column(browser, "Models", 1)]
    assert errors == sorted(errors, reverse=True)


def test_dark_mode_turns_text_and_figures_round(browser, pages):
    for scheme, dark in (("light", False), ("dark", True)):
        visit(browser, pages["training"], 768, scheme)
        for selector, name in (("body", "color"), (".drawing svg text", "fill")):
            assert (brightness(browser, selector, name) > 128) == dark
        for selector in ("body", "figure", ".scores > div"):
            assert (brightness(browser, selector, "backgroundColor") < 128) == dark


@pytest.mark.parametrize("page", ["training", "comparison"])
def test_paper_is_white_in_dark_mode_and_tables_are_whole(browser, pages, page):
    visit(browser, pages[page], 718, "dark")  # A4 less its margins
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert brightness(browser, "body", "color") < 128
    size = "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    inner, outer = browser.execute_script(size)
    assert inner <= outer
    cut = """return [...document.querySelectorAll(".table")].filter(
               e => getComputedStyle(e).maxHeight !== "none").length"""
    assert browser.execute_script(cut) == 0
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def column(browser, table, number):
    """Return the texts of a column from the top."""
    return browser.execute_script(
        """return [...document.querySelector(`[aria-label="${arguments[0]}"] tbody`).rows].map(
             row => row.cells[arguments[1]].textContent.trim().replace(/\\s+/g, " "))""",
        table,
        number,
    )


def heading(browser, table, number):
    cells = browser.find_elements(By.CSS_SELECTOR, f'[aria-label="{table}"] thead th')
    return cells[number]


def test_a_click_sorts_and_another_turns_the_order(browser, pages):
    visit(browser, pages["training"], 1280)
    before = column(browser, "Scores by class", 0)
    for number in (1, 4):
        head = heading(browser, "Scores by class", number)
        assert head.get_attribute("aria-sort") is None
        for order, sign in (("ascending", 1), ("descending", -1)):
            head.find_element(By.TAG_NAME, "button").click()
            assert head.get_attribute("aria-sort") == order
            values = [sign * float(text) for text in column(browser, "Scores by class", number)]
            assert values == sorted(values)
            assert len(set(values)) > 1
    assert heading(browser, "Scores by class", 1).get_attribute("aria-sort") is None
    heading(browser, "Scores by class", 0).find_element(By.TAG_NAME, "button").click()
    after = column(browser, "Scores by class", 0)
    assert sorted(after) == sorted(before)
    # names that begin with numbers are in the order of the numbers
    assert [int(name.split()[0]) for name in after] == list(range(20))


def test_units_are_sorted_by_size_and_gaps_stand_apart(browser, pages):
    visit(browser, pages["comparison"], 1280)
    titles = [
        cell.text.split(" ")[0]
        for cell in browser.find_elements(By.CSS_SELECTOR, '[aria-label="Models"] thead th')
    ]
    fit = titles.index("fit")
    heading(browser, "Models", fit).find_element(By.TAG_NAME, "button").click()
    assert column(browser, "Models", fit)[::7] == ["500 ms", "18.2 min"]
    assert [name[0] for name in column(browser, "Models", 0)] == list("01234567")
    loss = titles.index("log")
    heading(browser, "Models", loss).find_element(By.TAG_NAME, "button").click()
    assert column(browser, "Models", loss)[-1] == "—"
    assert [name[0] for name in column(browser, "Models", 0)] == list("76542103")


def test_tables_are_sorted_from_the_keyboard(browser, pages):
    visit(browser, pages["comparison"], 1280)
    button = heading(browser, "Models", 1).find_element(By.TAG_NAME, "button")
    heading(browser, "Models", 0).find_element(By.TAG_NAME, "button").send_keys(Keys.TAB)
    assert browser.switch_to.active_element == button
    for key, sign in ((Keys.ENTER, 1), (Keys.SPACE, -1)):
        button.send_keys(key)
        errors = [sign * float(text.split("%")[0]) for text in column(browser, "Models", 1)]
        assert errors == sorted(errors)
