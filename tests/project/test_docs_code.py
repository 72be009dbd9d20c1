"""The code and the commands of the pages run, and print what the pages show.

A page stops at the first block that needs a package that is not installed. ``make update-outputs``
writes what the pages show again.
"""

from __future__ import annotations

import sys

import console_blocks
import page_code
import pytest
import update_outputs

PACKAGES = ("typer", "pandas", "pyarrow", "onnx")  # of the command line and its page


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def check(page, folder):
    """Run a page, and compare what it prints with what it shows."""
    try:
        for output in page_code.outputs(page, folder):
            measured = " compare " in output.source  # other libraries, whose numbers differ
            same = output.same or (
                measured and console_blocks.same(output.shown, output.found, numbers=False)
            )
            assert same, "\n".join([output.source, *output.found, "instead of", *output.shown])
    except page_code.MissingPackage as missing:
        pytest.skip(f"{missing} is not installed")


@pytest.mark.parametrize("page", page_code.PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    if "```console" in page.read_text() or "```sh" in page.read_text():
        for module in PACKAGES:
            pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    check(page, tmp_path)


def page_of(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    return page


def test_a_wrong_output_is_noticed(tmp_path):
    check(page_of(tmp_path, "```console\n$ echo one two\none two\n```\n"), tmp_path)
    with pytest.raises(AssertionError, match="instead of"):
        check(page_of(tmp_path, "```console\n$ echo one two\ntwo\n```\n"), tmp_path)
    with pytest.raises(AssertionError):
        check(page_of(tmp_path, "```sh\nfalse\necho on\n```\n"), tmp_path)
    check(page_of(tmp_path, "```sh\nmake nonsense\n```\n"), tmp_path)
    check(page_of(tmp_path, "```python\na = 2\n```\n```pycon\n>>> a + 1\n3\n```\n"), tmp_path)
    with pytest.raises(AssertionError, match="instead of"):
        check(page_of(tmp_path, "```pycon\n>>> 1 + 1\n3\n```\n"), tmp_path)
    with pytest.raises(AssertionError, match="1 / 0"):
        check(page_of(tmp_path, "```pycon\n>>> 1 / 0\n```\n"), tmp_path)


def test_a_difference_from_the_page_is_found():
    same = console_blocks.same
    assert same(["a  12 ms", "...", "z 1 kB"], ["a 3.5 s", "b", "c", "z  99 MB"])
    assert same(["a", "...", "z"], ["a", "z"])
    assert not same(["a", "z"], ["a", "b", "z"])
    assert not same(["error 4.00 %"], ["error 5.00 %"])
    assert same(["error 4.00 %"], ["error 5.00 %"], numbers=False)
    assert not same(["a", "..."], ["b", "c"])


def test_our_own_commands_are_told_from_others():
    own = console_blocks.own_arguments
    assert own("randomboost info 'a b.rboost'  # what it is") == ["info", "a b.rboost"]
    assert own("randomboost predict a.rboost b.csv | head -1") is None
    assert own("head -1 randomboost") is None
    assert console_blocks.commands("one \\\n  two\n\nthree\n") == ["one   two", "three"]


PAGE = """Text.

```python
a = 2
```

```pycon
>>> a + 1
4
>>> print(a,
...       a)
1
1
>>> b = 1
>>> [b]
[1]
```

```console
$ echo one \\
  two
two
$ seq 6
0
...
4
...
7
$ echo 12 ms
14 ms
```
"""


def test_outputs_of_a_page_are_written_again(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = page_of(tmp_path, PAGE)
    assert update_outputs.update_page(page)
    expected = PAGE.replace("+ 1\n4", "+ 1\n3").replace("a)\n1\n1", "a)\n2 2")
    expected = expected.replace("two\ntwo", "two\none two")
    expected = expected.replace("0\n...\n4\n...\n7", "1\n...\n4\n...\n6")
    assert page.read_text() == expected
    printed = capsys.readouterr().out
    assert "-4\n+3\n" in printed
    assert "14 ms" not in printed
    assert not update_outputs.update_page(page)
    check(page, tmp_path)


def test_a_page_is_written_up_to_a_missing_package(tmp_path, monkeypatch, capsys):
    text = "```pycon\n>>> 1 + 1\n3\n```\n```python\nimport no_such_package\n```\n"
    page = page_of(tmp_path, text)
    assert update_outputs.update_page(page)
    assert page.read_text() == text.replace("\n3\n", "\n2\n")
    assert "no_such_package is not installed" in capsys.readouterr().out
