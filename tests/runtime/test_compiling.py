"""Kernels: compiled when first called, by whichever thread, and announced once a machine."""

import gc
import importlib.util
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import TypingError

import randomboost
from randomboost.runtime.compiling import Kernel, kernel

SOURCE = Path(randomboost.__file__).parents[1]

KERNELS = '''
from randomboost.runtime.compiling import kernel

@kernel
def square(x):
    """The square."""
    return x * x

@kernel
def sum_of_squares(values):
    total = 0.0
    for value in values:
        total += square(value)
    return total

@kernel
def mean_of_squares(values):
    return sum_of_squares(values) / len(values)

@kernel(boundscheck=True)
def item(values, at):
    return values[at]

@kernel(fastmath={"reassoc"})
def quick_sum(values):
    total = 0.0
    for value in values:
        total += value
    return total
'''

SHARED = """
@kernel(shared=True)
def difference(x, y):
    return x - y

@kernel
def difference_of_squares(x, y):
    return difference(square(x), square(y))
"""


@pytest.fixture
def kernels(tmp_path):
    """Return a new module of kernels that nobody has called."""
    path = tmp_path / "some_kernels.py"
    path.write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("some_kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["some_kernels"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["some_kernels"]


def test_kernels_call_kernels(kernels):
    values = np.array([1.0, 2.0, 3.0])
    mean = kernels.mean_of_squares
    assert isinstance(mean, Kernel)
    assert mean._dispatcher is None
    assert mean(values) == 14 / 3
    assert mean(values[:2]) == 2.5
    assert kernels.sum_of_squares(values) == 14.0
    assert kernels.square(3) == 9
    assert mean._dispatcher.nopython_signatures


def test_garbage_is_collected_again_after_compiling(kernels):
    assert gc.isenabled()
    kernels.sum_of_squares(np.array([1.0]))
    assert gc.isenabled()
    with pytest.raises(TypingError):
        kernels.square("a text")
    assert gc.isenabled()
    gc.disable()
    try:
        kernels.quick_sum(np.array([1.0]))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_kernel_may_be_called_before_and_after_its_caller(kernels):
    square = kernels.square
    assert square(2.0) == 4.0
    assert kernels.sum_of_squares(np.array([2.0, 1.0])) == 5.0
    assert square(2.0) == 4.0
    assert kernels.square(2.0) == 4.0


def test_what_python_and_what_kernels_call_have_caches_of_their_own(kernels):
    values = np.array([1.0, 2.0, 3.0])
    kernels.mean_of_squares(values)
    kernels.__spec__.loader.exec_module(kernels)  # as in a new process
    assert kernels.square(values[1]) == 4.0
    assert kernels.sum_of_squares(values) == 14.0
    assert kernels.mean_of_squares(values) == 14 / 3
    assert sum(kernels.mean_of_squares._dispatcher.stats.cache_hits.values()) == 1
    kernels.__spec__.loader.exec_module(kernels)
    assert kernels.square(values[1]) == 4.0
    assert sum(kernels.square._dispatcher.stats.cache_hits.values()) == 1


def test_a_kernel_keeps_its_name(kernels):
    assert kernels.square.__name__ == "square"
    assert kernels.square.__doc__ == "The square."
    assert kernels.square.__module__ == "some_kernels"


def test_options_are_passed_on(kernels):
    item = kernels.item
    assert item(np.arange(3.0), 2) == 2.0
    with pytest.raises(IndexError):
        item(np.arange(3.0), 3)
    quick_sum = kernels.quick_sum
    assert quick_sum(np.ones(5)) == 5.0
    assert quick_sum._dispatcher.targetoptions["fastmath"] == {"reassoc"}


def test_every_kernel_is_cached_and_releases_the_gil(kernels):
    for function, argument in [(kernels.square, 2.0), (kernels.quick_sum, np.ones(2))]:
        function(argument)
        assert function._dispatcher.targetoptions["nogil"] is True
        assert sum(function._dispatcher.stats.cache_misses.values()) == 1
    files = [path.name for path in Path(kernels.__file__).parent.rglob("*.nbi")]
    cached = {name.partition(".outer.")[0] for name in files}
    in_a_folder = {"some_kernels.square", "some_kernels.quick_sum"} <= cached
    assert in_a_folder or "NUMBA_CACHE_DIR" in os.environ


def test_errors_of_a_kernel_reach_the_caller(kernels):
    with pytest.raises(IndexError):
        kernels.item(np.empty(0), 1)


def test_division_by_zero_is_that_of_numpy(kernels):
    assert np.isnan(kernels.mean_of_squares(np.empty(0)))


def test_kernels_need_no_decorator():
    made = kernel(_identity)
    assert isinstance(made, Kernel)
    assert isinstance(kernel(inline="never")(_identity), Kernel)


def _identity(x):
    return x


def test_threads_may_call_a_new_kernel_at_the_same_time(kernels):
    """Half of them the caller and half what it calls."""
    n_threads = 8
    barrier = threading.Barrier(n_threads)
    functions = [kernels.mean_of_squares, kernels.sum_of_squares]
    found, dispatchers = [None] * n_threads, [None] * n_threads

    def work(number):
        barrier.wait()
        function = functions[number % 2]
        found[number] = function(np.full(4, float(number)))
        dispatchers[number] = function._dispatcher

    threads = [threading.Thread(target=work, args=(number,)) for number in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [number**2 * (4 if number % 2 else 1) for number in range(n_threads)]
    assert len({id(dispatcher) for dispatcher in dispatchers}) == 2
    assert all(len(dispatcher.signatures) == 1 for dispatcher in dispatchers)


# ---- other processes ----------------------------------------------------------------------------


def run(code, **environment):
    """Run code in a new process; return what it says on its two streams."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def modules_after(code):
    return set(run(f"{code}\nimport sys\nprint(*sys.modules)")[0].split())


def test_importing_the_package_is_cheap():
    loaded = modules_after("import randomboost")
    assert "randomboost" in loaded
    assert not loaded & {"numba", "pandas", "matplotlib", "dask", "sklearn", "scipy", "numpy"}


def test_naming_a_classifier_does_not_load_numba():
    code = """
        import sys, randomboost
        for name in ["RandomBoostClassifier", *randomboost.__all__]:
            getattr(randomboost, name)
            print(name, *{"numba", "matplotlib", "dask"} & set(sys.modules))
        from randomboost import RandomBoostClassifier
        assert "numba" not in sys.modules
    """
    lines = run(textwrap.dedent(code))[0].splitlines()
    assert lines == ["RandomBoostClassifier", *randomboost.__all__]


FIT = """
from sklearn.datasets import load_iris
from randomboost import AdaBoostECCClassifier
X, y = load_iris(return_X_y=True)
model = AdaBoostECCClassifier(2, random_state=0, n_jobs=1).fit(X, y)
print(*model.weights_.ravel(), *model.decision_function(X).ravel())
"""


def test_compilation_is_announced_once_a_machine(tmp_path):
    stumps, said = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert said.strip() == "randomboost: compiling kernels (some seconds, once on this machine)"
    assert any(tmp_path.rglob("*.nbi"))
    again, said = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert said == ""
    assert again == stumps


def test_only_what_python_calls_and_what_is_shared_is_cached(tmp_path):
    path = tmp_path / "some_kernels.py"
    path.write_text(KERNELS + SHARED)
    code = f"""
        import sys; sys.path.insert(0, {str(tmp_path)!r})
        import numpy as np
        from some_kernels import difference_of_squares, mean_of_squares
        print(mean_of_squares(np.arange(3.0)), difference_of_squares(3.0, 1.0))
    """
    cache = tmp_path / "cache"
    found, _ = run(textwrap.dedent(code), NUMBA_CACHE_DIR=str(cache))
    names = {file.name.partition("-")[0] for file in cache.rglob("*.nbi")}
    kinds = {".".join(name.split(".")[1:3]) for name in names}
    assert kinds == {
        "mean_of_squares.outer",
        "difference_of_squares.outer",
        "difference.inner",
    }
    assert run(textwrap.dedent(code), NUMBA_CACHE_DIR=str(cache)) == (found, "")


def test_a_shared_part_is_taken_from_the_cache(tmp_path):
    path = tmp_path / "some_kernels.py"
    path.write_text(KERNELS + SHARED)
    code = f"""
        import sys; sys.path.insert(0, {str(tmp_path)!r})
        import some_kernels
        from numba.core import event
        from randomboost.runtime.compiling import _load_numba

        class Listener(event.Listener):
            def on_start(self, event):
                print(event.data["dispatcher"].py_func.__qualname__.split(".")[0])
            def on_end(self, event):
                pass

        _load_numba()
        event.register("numba:compile", Listener())
        some_kernels.
    """
    code = textwrap.dedent(code).strip()
    ahead, _ = run(code + "difference.prepare(1.0, 2.0)", NUMBA_CACHE_DIR=str(tmp_path))
    after, _ = run(code + "difference_of_squares(1.0, 2.0)", NUMBA_CACHE_DIR=str(tmp_path))
    assert ahead.split() == ["difference"]
    assert after.split() == ["difference_of_squares", "square"]


def test_cached_code_is_that_of_the_kernels_and_constants_that_are_used():
    def made(inner, constant=3):
        names = {"kernel": kernel, "STEP": constant}
        exec(f"@kernel\ndef inner(x):\n    return {inner}\n", names)
        exec("@kernel\ndef outer(x):\n    return inner(x) + STEP\n", names)
        return names["outer"]

    digests = [made(*each)._digest() for each in (("x + 1",), ("x + 2",), ("x + 1", 4))]
    assert len(set(digests)) == 3
    assert made("x + 1")._digest() == digests[0]
