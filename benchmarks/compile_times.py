"""How long numba compiles every kernel that a first default fit and prediction need.

``python benchmarks/compile_times.py`` compiles with an empty cache, in processor time of one
thread, which other processes on the machine hardly change; what a kernel calls is not counted with
it. ``--most`` says how many kernels to list.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import Counter
from typing import Any


def listener() -> Any:
    """Return a listener of numba's events that adds up the time of every kernel."""
    from numba.core import event

    class Times(event.Listener):
        def __init__(self) -> None:
            self.own: Counter[str] = Counter()
            self.variants: Counter[str] = Counter()
            self._open: list[list[float]] = []  # when a compilation began, and that of callees

        def on_start(self, event: Any) -> None:
            self._open.append([time.thread_time(), 0.0])

        def on_end(self, event: Any) -> None:
            begin, inside = self._open.pop()
            taken = time.thread_time() - begin
            if self._open:
                self._open[-1][1] += taken
            function = event.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__name__}"
            self.own[name if name.startswith("randomboost.") else "numba's own"] += taken - inside
            self.variants[name] += 1

    return Times()


def main() -> None:
    """Compile, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=25, help="kernels to list (default: 25)")
    most = parser.parse_args().most
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # read when numba is imported
        from numba.core import event
        from sklearn.datasets import load_digits

        from randomboost import RandomBoostClassifier

        X, y = load_digits(return_X_y=True)
        times = listener()
        with event.install_listener("numba:compile", times):
            begin = time.thread_time()
            model = RandomBoostClassifier(random_state=0, n_jobs=1).fit(X[:1000], y[:1000])
            fitted = time.thread_time()
            model.predict(X[1000:])
            predicted = time.thread_time()
    print(f"fit {fitted - begin:.1f} s, prediction {predicted - fitted:.1f} s")
    print(f"{sum(times.own.values()):.1f} s of this compile {len(times.variants)} functions")
    for name, seconds in times.own.most_common(most):
        again = f", {times.variants[name]} times" if times.variants[name] > 1 else ""
        print(f"{seconds:6.2f}  {name}{again}")


if __name__ == "__main__":
    main()
