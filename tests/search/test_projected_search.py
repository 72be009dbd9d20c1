"""Bins, stump search over projected dimensions and the risk in chunks, against plain numpy."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from randomboost.losses import ExponentialLoss, LogisticLoss
from randomboost.projections.matrices import GaussianProjection
from randomboost.projections.points import ProjectedPoints
from randomboost.runtime.parallel import ThreadTeam
from randomboost.runtime.random_stream import DATA_STREAM
from randomboost.search import projected, summed
from randomboost.search.fixed_point import TIE_BITS, coarsened, to_fixed_point
from randomboost.search.grid import MAX_BINS, bin_columns, bin_values
from randomboost.search.heaviest import heavy_from, min_size
from randomboost.search.kept import LANES, KeptHistograms
from randomboost.search.projected import ProjectedColumns
from randomboost.search.sorted import SortedColumns, midpoints
from randomboost.solvers.risk import _CHUNK, PairwiseRisk

N_ROUNDS = 35
N_CLASSES = 3
ALONE = ThreadTeam(1)


class EagerTeam(ThreadTeam):
    """Threads that cut up the smallest work too."""

    def run(self, work, n_items, grain=1):
        super().run(work, n_items, 1)


# ---- data ---------------------------------------------------------------------------------------

DATA = ["float64", "float32", "csr", "csr32", "whole", "repeated"]
every_data = pytest.mark.parametrize("data", DATA)
every_form = pytest.mark.parametrize("form", ["kept", "stored", "streamed"])


def draw(data, n_samples=45, n_features=5, n_columns=70, *, seed=0):
    """Points of one kind: "whole" has merged and zero samples, "repeated" equal values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    if data in ("csr", "csr32"):
        X[rng.random(X.shape) < 0.6] = 0.0
    elif data == "whole":
        X = rng.integers(0, 2, size=X.shape).astype(float)
        X[:2] = 0.0
    elif data == "repeated":
        X = X[rng.integers(1 + n_samples // 3, size=n_samples)]
        X[: n_samples // 10] = 0.0
    X = X.astype(np.float32 if data in ("float32", "csr32") else np.float64)
    projection = GaussianProjection(seed + 2**40, DATA_STREAM, N_CLASSES, n_columns)
    X = sp.csr_matrix(X) if data in ("csr", "csr32") else X
    return ProjectedPoints(X, projection, merge=data != "repeated")


def columns_of(form, points, team=ALONE, *, exact=True, searched=None, **options):
    """Return columns in the form that is asked for; "summed" is streamed without bins."""
    stored = points.n_columns * points.n_points
    needed = {
        "kept": stored + KeptHistograms.bytes_needed(points.n_columns, points.n_points),
        "stored": stored,
        "streamed": 3 * points.n_points * team.n_threads,
        "summed": 18 * points.n_points * team.n_threads,
    }
    with pytest.MonkeyPatch.context() as patch:
        if form == "summed":
            patch.setattr(projected, "_SUMMED_POINTS", 0)
        columns = ProjectedColumns(
            points,
            team,
            exact=exact,
            searched=searched or points.n_columns,
            searches=0 if form in ("streamed", "summed") else points.n_columns,
            max_memory=needed[form],
            **options,
        )
    assert columns.form == ("streamed" if form == "summed" else form)
    assert (columns._summed is not None) == (form == "summed")
    return columns


# ---- weights ------------------------------------------------------------------------------------


def drifting(points, rng, n_rounds, *, step=0.3):
    """Weights of pairs, multiplied by what random stumps answer, as in boosting."""
    n_samples = points.n_samples
    y, samples = rng.integers(N_CLASSES, size=n_samples), np.arange(n_samples)
    pairs = np.ones((N_CLASSES, n_samples))
    pairs[y, samples] = 0.0
    for _ in range(n_rounds):
        signed = -pairs / pairs.sum()
        signed[y, samples] = -signed.sum(axis=0)
        yield points.fold(signed)
        values = points.column(int(rng.integers(points.n_columns)))
        outputs = points.unfold(np.where(values > rng.choice(values), 1.0, -1.0))
        pairs *= np.exp(-rng.exponential(step) * (outputs[y, samples] - outputs))


def jumping(points, rng, n_rounds):
    """Other weights in every round, of any size."""
    for _ in range(n_rounds):
        sizes = 10.0 ** rng.uniform(-rng.choice([0.1, 2, 9]), 0, points.n_points)
        yield 10.0 ** rng.integers(-50, 50) * rng.choice([-1.0, 1.0], points.n_points) * sizes


def turning(points, rng, n_rounds):
    """Weights that turn round, all of them or a few."""
    weights = rng.normal(size=points.n_points)
    for number in range(n_rounds):
        yield weights
        turned = rng.random(points.n_points) < (1.0 if number % 3 else 0.1)
        weights = np.where(turned, -weights, weights) * rng.uniform(0.9, 1.1, points.n_points)


def mostly_zero(points, rng, n_rounds):
    """Weights on a few points."""
    for _ in range(n_rounds):
        weights = np.zeros(points.n_points)
        chosen = rng.choice(points.n_points, rng.integers(1, 5))
        weights[chosen] = rng.normal(size=len(chosen))
        yield weights


def lopsided(points, rng, n_rounds):
    """Weights whose sum is anything."""
    weights = rng.exponential(size=points.n_points)
    for number in range(n_rounds):
        yield weights if number % 2 else -weights
        weights = np.abs(weights * rng.uniform(0.7, 1.3, points.n_points))
        weights += rng.choice([0.0, -0.3]) * weights.mean()


def whole(points, rng, n_rounds):
    """Small whole numbers: many edges tie exactly."""
    for _ in range(n_rounds):
        weights = rng.integers(-1, 2, points.n_points).astype(float)
        weights[rng.integers(points.n_points)] = 1.0
        yield weights


def all_kinds(points, rng, n_rounds):
    """One kind after the other."""
    kinds = [kind(points, rng, n_rounds) for kind in WEIGHTS if kind is not all_kinds]
    for number in range(n_rounds):
        yield next(kinds[rng.integers(len(kinds)) if number % 5 else 0])


WEIGHTS = [drifting, jumping, turning, mostly_zero, lopsided, whole, all_kinds]
every_weights = pytest.mark.parametrize("kind", WEIGHTS, ids=lambda kind: kind.__name__)


# ---- oracle -------------------------------------------------------------------------------------


class BruteForce:
    """All columns sorted, and every cut between different values, or between different bins."""

    def __init__(self, points, max_bins=None):
        self.values = np.stack([points.column(v) for v in range(points.n_columns)])
        self.order = np.argsort(self.values, axis=1, kind="stable")
        steps = self.values
        if max_bins is not None:
            steps = np.stack([bin_values(points, row, max_bins)[0] for row in self.values])
        self.sorted = np.take_along_axis(self.values, self.order, axis=1)
        steps = np.take_along_axis(steps, self.order, axis=1)
        self.real = steps[:, :-1] < steps[:, 1:]

    def edges(self, fixed):
        """Absolute edges of every column and cut, -1 where there is none."""
        prefix = fixed[self.order].cumsum(axis=1)[:, :-1]
        return np.where(self.real, np.abs(fixed.sum() - 2 * prefix), -1)

    def search(self, weights, columns):
        edges = self.edges(to_fixed_point(weights))[columns]
        best = edges.max(axis=1)
        if best.max() < 0:
            return None
        at = int(np.where(best >= 0, coarsened(best), -1).argmax())
        cut = int(edges[at].argmax())
        row = self.sorted[columns[at]]
        return int(columns[at]), float(midpoints(row[cut], row[cut + 1]))


# ---- bins ---------------------------------------------------------------------------------------


def assert_bins(values, bins, last_bin, max_bins):
    """Codes that rise with the values; no code too many, none empty at the ends."""
    order = np.argsort(values, kind="stable")
    steps, rises = np.diff(bins[order].astype(int)), np.diff(values[order]) > 0
    assert (steps >= 0).all()
    assert (steps[~rises] == 0).all()
    assert bins.dtype == np.uint8
    assert bins.min() == 0
    assert bins.max() == last_bin
    assert last_bin <= max_bins - 1


def bins_of(values, max_bins, n_classes=1):
    """Codes of any values; all that is asked of the points is how many there are."""
    points = SimpleNamespace(n_points=len(values), projection=SimpleNamespace(n_classes=n_classes))
    bins, last_bin = bin_values(points, values, max_bins)
    assert_bins(values, bins, last_bin, max_bins)
    return bins, last_bin


@pytest.mark.parametrize("width", [32, 64])
@example(data=None, max_bins=2)
@given(data=st.data(), max_bins=st.integers(2, 256))
@settings(deadline=None, max_examples=100)
def test_bins_of_any_values(width, data, max_bins):
    dtype = np.float32 if width == 32 else np.float64
    if data is None:
        bins_of(np.array([1.0, -1.0], dtype), max_bins)
        return
    limit = 2.0**100 if width == 32 else 1e150
    free = st.floats(-limit, limit, width=width)
    few = st.sampled_from([0.0, -0.0, 1.0, -1.0, 7.5])
    n_classes = data.draw(st.integers(1, 3))
    n_samples = data.draw(st.integers(1, 40))
    values = data.draw(arrays(dtype, n_classes * n_samples, elements=free | few))
    _, last_bin = bins_of(values, max_bins, n_classes)
    distinct = np.unique(values)
    if len(distinct) == 1:
        assert last_bin == 0
    elif distinct[-1] - distinct[0] > 1e-290:  # a grid over less would have no scale
        assert last_bin >= 1


def test_bins_of_values_whose_middle_has_no_width():
    assert bins_of(np.array([-1.0, -2.2e-309, *[0.0] * 18]), 2)[1] == 1


@pytest.mark.parametrize("max_bins", [2, 64, 256])
@pytest.mark.parametrize("n", [2, 3, 19, 20, 21, 257, 3000])
def test_bins_of_hard_columns(max_bins, n):
    rng = np.random.default_rng(n)
    normal = rng.normal(size=n)
    rows = [
        rng.standard_cauchy(n),
        np.exp(5 * normal),
        -np.exp(30 * normal),
        np.sign(normal) * 10.0 ** rng.uniform(-300, 300, n),
        1e9 + 1e-6 * normal,  # a grid finer than the numbers
        1e-310 * normal,  # subnormal
        np.where(np.arange(n) % 7 == 0, normal, 0.0),
    ]
    for row in rows:
        for values in (row, np.sort(row), np.sort(row)[::-1].copy()):
            bins_of(values, max_bins)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_distinct", [1, 2, 3, 16, 256])
@pytest.mark.parametrize("max_bins", [2, 3, 16, 255, 256])
def test_few_values_have_their_own_bins(dtype, n_distinct, max_bins):
    rng = np.random.default_rng(0)
    numbers = np.concatenate([np.arange(n_distinct), rng.integers(n_distinct, size=2000)])
    values = (rng.permutation(numbers) - 0.5).astype(dtype)
    bins, last_bin = bins_of(values, max_bins)
    assert last_bin == min(n_distinct, max_bins) - 1
    if n_distinct <= max_bins:
        np.testing.assert_array_equal(bins, values + 0.5)


def test_uneven_counts_do_not_take_the_bins_of_rare_values():
    values = np.repeat(np.arange(5.0), [2000, 1, 1, 1, 500])
    bins, _ = bins_of(values, 5)
    np.testing.assert_array_equal(bins, values)


@pytest.mark.parametrize("n", [2, 5, 100, 3000])
@pytest.mark.parametrize("outlier", [1.0, -1.0, 1e300, -1e-300])
def test_one_outlier_has_its_own_bin(n, outlier):
    for base in (0.0, 3.0):
        for place in {0, 1, n // 2, n - 1}:
            values = np.full(n, base)
            values[place] = base + outlier
            if values[place] == base:
                continue
            bins, last_bin = bins_of(values, 2)
            assert last_bin == 1
            expected = np.full(n, values[place] < base)
            expected[place] = values[place] > base
            np.testing.assert_array_equal(bins, expected)


@pytest.mark.parametrize("value", [0.0, -2.5, 1e300, 5e-324])
def test_a_constant_column_has_one_bin(value):
    for n in (1, 2, 500):
        assert bins_of(np.full(n, value), 256)[1] == 0


@pytest.mark.parametrize("max_bins", [2, 7, 64, 128, 256])
@pytest.mark.parametrize("shape", ["normal", "uniform", "exponential"])
def test_bins_of_continuous_values_are_about_even(max_bins, shape):
    values = getattr(np.random.default_rng(1), shape)(size=50_000)
    bins, last_bin = bins_of(values, max_bins)
    assert last_bin == max_bins - 1
    share = 50_000 / max_bins
    sizes = np.bincount(bins)
    assert np.mean((sizes > 0.4 * share) & (sizes < 1.8 * share)) > 0.95
    assert sizes.max() < 3 * share  # the outermost cells hold all that is farther out


def binned(points, columns, max_bins):
    bins = np.empty((len(columns), points.n_points), np.uint8)
    last_bins = np.empty(len(columns), np.int64)
    bin_columns(points, columns, max_bins, bins, last_bins)
    return bins, last_bins


@every_data
@pytest.mark.parametrize("max_bins", [2, 100, 128, 256])
def test_both_ways_to_the_same_bins(data, max_bins):
    for n_samples in (2, 45, 300):
        points = draw(data, n_samples, n_columns=9, seed=n_samples)
        chosen = np.array([8, 0, 3, 4])
        bins, last_bins = binned(points, chosen, max_bins)
        assert bins.shape == (4, points.n_points)
        for at, column in enumerate(chosen):
            values = points.column(int(column))
            assert_bins(values, bins[at], last_bins[at], max_bins)
            again, last_bin = bin_values(points, values, max_bins)
            np.testing.assert_array_equal(bins[at], again)
            assert last_bins[at] == last_bin


@pytest.mark.parametrize("n_features", [1, 3, 4, 7, 8, 30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tail", [1, 8])
def test_both_ways_to_the_same_bins_of_any_features(n_features, dtype, tail):
    """Also where a sample of the points knows little of the others, and of constant columns."""
    rng = np.random.default_rng(n_features)
    X = np.exp(tail * rng.normal(size=(400, n_features))) * rng.choice([-1, 1], (400, n_features))
    one = np.zeros((400, n_features))
    one[137, 0] = 1.0  # the one sample that is not zero is not looked at
    for data in (X, one, np.zeros((400, n_features)), np.ones((400, n_features))):
        projection = GaussianProjection(5, DATA_STREAM, 40, 3)  # more classes than are looked at
        points = ProjectedPoints(data.astype(dtype), projection, merge=False)
        bins, last_bins = binned(points, np.arange(3), 64)
        for column in range(3):
            values = points.column(column)
            assert_bins(values, bins[column], last_bins[column], 64)
            np.testing.assert_array_equal(bins[column], bin_values(points, values, 64)[0])
        if data is one:
            assert (last_bins >= 1).all()


# ---- exact search -------------------------------------------------------------------------------


@every_form
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (data, kind)
        for data in DATA
        for kind in WEIGHTS
        if data == "float64" or kind in (drifting, all_kinds)
    ],
    ids=lambda part: part if isinstance(part, str) else part.__name__,
)
def test_exact_search_over_many_rounds(form, data, kind):
    points, rng = draw(data), np.random.default_rng(3)
    every, oracle = np.arange(points.n_columns), BruteForce(points)
    columns = columns_of(form, points)
    plain = SortedColumns(points, ALONE)
    for weights in kind(points, rng, N_ROUNDS):
        found = columns.search(weights, every)
        assert found == oracle.search(weights, every)
        assert found == plain.search(weights, every)


@every_form
@pytest.mark.parametrize("n_columns", [1, 2, 7, 8, 9, 63, 64, 65, 130])
def test_any_number_of_columns(form, n_columns):
    points, rng = draw("float64", n_columns=n_columns), np.random.default_rng(n_columns)
    every, oracle = np.arange(n_columns), BruteForce(points)
    columns = columns_of(form, points)
    for weights in all_kinds(points, rng, N_ROUNDS):
        assert columns.search(weights, every) == oracle.search(weights, every)


@every_form
@pytest.mark.parametrize("n_samples", [1, 2, 10, 500])
def test_any_number_of_points(form, n_samples):
    """With 500 samples the bins hold many points, and scales are learned from a part of them."""
    points, rng = draw("float64", n_samples), np.random.default_rng(n_samples)
    every, oracle = np.arange(points.n_columns), BruteForce(points)
    columns = columns_of(form, points)
    for weights in all_kinds(points, rng, N_ROUNDS):
        assert columns.search(weights, every) == oracle.search(weights, every)


@every_form
@pytest.mark.parametrize("max_bins", [2, 50, 65, 256])
def test_bins_do_not_change_the_exact_search(form, max_bins):
    """Bins only say where to look."""
    points, rng = draw("float32", 200), np.random.default_rng(max_bins)
    every, oracle = np.arange(points.n_columns), BruteForce(points)
    columns = columns_of(form, points, max_bins=max_bins)
    for weights in all_kinds(points, rng, 20):
        assert columns.search(weights, every) == oracle.search(weights, every)


@every_form
@pytest.mark.parametrize("data", ["float64", "csr", "whole"])
@pytest.mark.parametrize("exact", [True, False])
def test_threads_do_not_change_the_search(form, data, exact):
    points = draw(data, n_columns=130)
    every = np.arange(130)
    with EagerTeam(2) as two:
        columns = columns_of(form, points, exact=exact)
        shared = columns_of(form, points, two, exact=exact)
        for weights in all_kinds(points, np.random.default_rng(4), 8):
            found = columns.search(weights, every)
            assert found == shared.search(weights, every)
    assert found is not None


@every_form
@pytest.mark.parametrize("exact", [True, False])
def test_a_part_of_the_columns(form, exact):
    """Between searches of all columns: what is kept for those must not mislead."""
    points, rng = draw("float64", n_columns=100), np.random.default_rng(6)
    oracle = BruteForce(points, None if exact else projected.EXACT_BINS)
    columns = columns_of(form, points, exact=exact)
    for number, weights in enumerate(all_kinds(points, rng, 60)):
        size = [100, 1, 9, 30][number % 4]
        part = np.sort(rng.choice(100, size, replace=False))
        assert columns.search(weights, part) == oracle.search(weights, part)


@every_form
def test_bins_in_small_batches(form, monkeypatch):
    monkeypatch.setattr(projected, "_BATCH_BYTES", 400)
    points = draw("float64", n_columns=30)
    every, oracle = np.arange(30), BruteForce(points)
    columns = columns_of(form, points)
    for weights in drifting(points, np.random.default_rng(0), 5):
        assert columns.search(weights, every) == oracle.search(weights, every)


@every_form
@given(
    X=arrays(np.float64, (8, 2), elements=st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.1])),
    weights=arrays(np.float64, (4, 3, 8), elements=st.integers(-3, 3).map(float)),
    columns=st.lists(st.integers(0, 10), min_size=1, unique=True).map(sorted).map(np.array),
    merge=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    sparse=st.booleans(),
)
@settings(deadline=None, max_examples=30)
def test_exact_search_of_tied_points(form, X, weights, columns, merge, dtype, sparse):
    X = sp.csr_matrix(X.astype(dtype)) if sparse else X.astype(dtype)
    points = ProjectedPoints(X, GaussianProjection(9, DATA_STREAM, 3, 11), merge=merge)
    oracle, search = BruteForce(points), columns_of(form, points)
    for some in (columns, np.arange(11)):
        for each in weights:
            folded = points.fold(each)
            if folded.any():
                assert search.search(folded, some) == oracle.search(folded, some)


@every_form
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("power", [900, -900, -1000])
def test_the_unit_of_the_weights_does_not_matter(form, exact, power):
    points = draw("float64")
    every = np.arange(points.n_columns)
    columns = columns_of(form, points, exact=exact)
    for weights in drifting(points, np.random.default_rng(1), 8):
        found = columns.search(weights, every)
        assert columns.search(weights * 2.0**power, every) == found


@every_form
def test_columns_that_tie_exactly(form):
    """Two points, two bins: every column reaches all of the mass, and the first one wins."""
    points = draw("float64", 1, n_columns=90)
    columns = columns_of(form, points)
    weights = np.array([0.0, 1.0, 0.0])
    separating = [
        column
        for column in range(90)
        if points.column(column)[1] in (points.column(column).min(), points.column(column).max())
    ]
    for part in (np.arange(90), np.arange(40, 90), np.array([89])):
        column, _ = columns.search(weights, part)
        assert column == min((v for v in separating if v >= part[0]), default=part[0])


@every_form
@pytest.mark.parametrize("exact", [True, False])
def test_nothing_to_search(form, exact):
    projection = GaussianProjection(1, DATA_STREAM, N_CLASSES, 20)
    for X in (np.zeros((6, 2)), np.array([[0.0], [-0.0]]), sp.csr_matrix((4, 3))):
        points = ProjectedPoints(X, projection, merge=False)
        columns = columns_of(form, points, exact=exact)
        for weights in (np.arange(1.0, points.n_points + 1), np.eye(points.n_points)[0]):
            assert columns.search(weights, np.arange(20)) is None
            assert columns.search(weights, np.array([3])) is None
    single = ProjectedPoints(np.ones((1, 2)), GaussianProjection(1, DATA_STREAM, 1, 20))
    assert columns_of(form, single, exact=exact).search(np.ones(1), np.arange(20)) is None


@every_form
def test_one_column_of_many_can_be_cut(form):
    """The others are constant but for one point that has no weight."""
    points = draw("float64", 20, n_columns=12)
    columns, oracle = columns_of(form, points), BruteForce(points)
    weights = np.zeros(points.n_points)
    for at in range(points.n_points):
        weights[:] = 0.0
        weights[at] = 1.0
        assert columns.search(weights, np.arange(12)) == oracle.search(weights, np.arange(12))


# ---- search between bins ------------------------------------------------------------------------


@every_form
@every_data
@pytest.mark.parametrize("max_bins", [2, 256])
def test_histogram_search_over_many_rounds(form, data, max_bins):
    points, rng = draw(data, 120), np.random.default_rng(8)
    every, oracle = np.arange(points.n_columns), BruteForce(points, max_bins)
    columns = columns_of(form, points, exact=False, max_bins=max_bins)
    for weights in all_kinds(points, rng, 12):
        assert columns.search(weights, every) == oracle.search(weights, every)


@every_weights
def test_histogram_search_is_the_same_in_all_forms(kind):
    points, rng = draw("float64", 120), np.random.default_rng(9)
    every, oracle = np.arange(points.n_columns), BruteForce(points, 32)
    forms = [
        columns_of(form, points, exact=False, max_bins=32)
        for form in ("kept", "stored", "streamed")
    ]
    for weights in kind(points, rng, N_ROUNDS):
        found = [columns.search(weights, every) for columns in forms]
        assert found == 3 * [oracle.search(weights, every)]


@every_data
@pytest.mark.parametrize("max_bins", [2, 40])
def test_histogram_search_of_a_part_goes_by_the_heaviest_points(data, max_bins):
    points, rng = draw(data, 120), np.random.default_rng(10)
    forms = [
        columns_of(form, points, exact=False, max_bins=max_bins, searched=9)
        for form in ("stored", "streamed", "summed")
    ]
    bins, last_bins = forms[0]._bins, forms[0]._last_bins

    def edges(weights, column):
        """Edges at the ends of the bins."""
        right = [weights[bins[column] > b].sum() for b in range(last_bins[column])]
        return np.abs(2 * np.array(right) - weights.sum())

    for weights in all_kinds(points, rng, 12):
        part = np.sort(rng.choice(points.n_columns, 9, replace=False))
        found = [columns.search(weights, part) for columns in forms]
        assert found[0] == found[1] == found[2]
        column, threshold = found[0]

        size = np.abs(weights).sum()
        heavy = projected._weigh(weights, size / 2**29, 0.1 * 2**29)[1]
        assert np.abs(weights[heavy]).sum() >= 0.899 * size
        trimmed = np.zeros_like(weights)
        trimmed[heavy] = weights[heavy]
        most = [edges(trimmed, v).max() for v in part]
        assert most[np.searchsorted(part, column)] >= max(most) - 1e-5 * size

        values = points.column(column)
        right = weights[values > threshold].sum()
        # its best cut for all points, but for those whose bin is wrong in the last digit
        near = np.isclose(values, threshold, rtol=1e-5, atol=1e-6)
        slack = 2 * np.abs(weights[near]).sum() + 1e-5 * size
        assert abs(abs(2 * right - weights.sum()) - edges(weights, column).max()) <= slack


@every_data
def test_a_part_without_bins_does_not_depend_on_its_pieces_and_threads(data, monkeypatch):
    points, rng = draw(data, 60), np.random.default_rng(11)
    options = dict(exact=False, max_bins=16, searched=9)
    rounds = [
        (weights, np.sort(rng.choice(points.n_columns, 9, replace=False)))
        for weights in all_kinds(points, rng, 12)
    ]
    stored = columns_of("stored", points, **options)
    expected = [stored.search(*given) for given in rounds]
    for points_at_a_time, numbers_at_a_time in ((1, 1), (130, 600), (10**6, 10**6)):
        monkeypatch.setattr(summed, "_POINTS_AT_A_TIME", points_at_a_time)
        monkeypatch.setattr(summed, "_NUMBERS_AT_A_TIME", numbers_at_a_time)
        with EagerTeam(3) as three:
            for team in (ALONE, three):
                columns = columns_of("summed", points, team, **options)
                assert [columns.search(*given) for given in rounds] == expected


@pytest.mark.parametrize("data", ["float64", "csr"])
@pytest.mark.parametrize("different", [0, 1, 2])
def test_a_part_of_samples_that_are_almost_all_the_same(data, different):
    """The samples that a grid is laid by are all zero; so are all others but for a few."""
    X = np.zeros((3000, 2))
    for row, values in ((1, [1.0, -2.0]), (5, [3.0, 0.5]))[:different]:
        X[row] = values
    X = sp.csr_matrix(X) if data == "csr" else X
    projection = GaussianProjection(3, DATA_STREAM, N_CLASSES, 30)
    points = ProjectedPoints(X, projection, merge=False)
    weights = np.random.default_rng(1).normal(size=points.n_points)
    part = np.arange(3, 12)
    found = [
        columns_of(form, points, exact=False, searched=9).search(weights, part)
        for form in ("stored", "streamed", "summed")
    ]
    assert found[0] == found[1] == found[2]
    assert (found[0] is None) == (different == 0)


@given(sizes=arrays(np.float32, 20, elements=st.floats(0, 1e6, width=32)))
@settings(deadline=None, max_examples=60)
def test_the_least_size_of_a_bucket(sizes):
    buckets, _ = heavy_from(sizes, 0.0)
    for bucket in buckets:
        np.testing.assert_array_equal(sizes >= min_size(int(bucket)), buckets >= bucket)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e300])
def test_a_part_of_values_that_single_precision_cannot_hold(scale):
    rng = np.random.default_rng(0)
    X = scale * rng.normal(size=(40, 3))
    points = ProjectedPoints(X, GaussianProjection(5, DATA_STREAM, N_CLASSES, 30))
    columns = columns_of("stored", points, exact=False, searched=9)
    column, threshold = columns.search(rng.normal(size=points.n_points), np.arange(9))
    values = points.column(column)
    assert values.min() <= threshold < values.max()


# ---- forms --------------------------------------------------------------------------------------


def form_of(points, searched, searches, max_memory):
    return ProjectedColumns(
        points, ALONE, exact=True, searched=searched, searches=searches, max_memory=max_memory
    ).form


def test_memory_decides_the_form():
    points = draw("float64")
    n_columns, stored = points.n_columns, points.n_columns * points.n_points
    kept = stored + KeptHistograms.bytes_needed(n_columns, points.n_points)
    assert form_of(points, n_columns, 100, kept) == "kept"
    assert form_of(points, n_columns, 100, kept - 1) == "stored"
    assert form_of(points, n_columns, 100, stored) == "stored"
    assert form_of(points, n_columns, 100, stored - 1) == "streamed"
    assert form_of(points, n_columns - 1, 100, kept) == "stored"
    assert form_of(points, 7, 10, stored) == "stored"
    assert form_of(points, 7, 9, stored) == "streamed"  # most bins would never be looked at


@pytest.mark.parametrize("n_threads", [1, 2])
def test_too_little_memory_even_for_streaming(n_threads):
    points, least = draw("float64"), 3 * 135 * n_threads
    options = dict(exact=True, searched=70, searches=10)
    with ThreadTeam(n_threads) as team:
        columns = ProjectedColumns(points, team, max_memory=least, **options)
        assert columns.form == "streamed"
        with pytest.raises(MemoryError, match="max_memory"):
            ProjectedColumns(points, team, max_memory=least - 1, **options)


@pytest.mark.parametrize("data", ["float64", "csr"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_memory_of_a_part_without_bins_is_that_of_some_classes(data, n_threads, monkeypatch):
    points = draw(data)
    n_samples = points.n_points // N_CLASSES
    monkeypatch.setattr(projected, "_SUMMED_POINTS", 0)
    bytes_a_value = 8 if data == "csr" else 4  # single precision where it will do
    options = dict(exact=False, searched=7, searches=1)
    with ThreadTeam(n_threads) as team:
        for n_classes in (1, 2, N_CLASSES):
            monkeypatch.setattr(summed, "_POINTS_AT_A_TIME", n_samples * n_classes)
            least = (bytes_a_value * n_classes + 10) * n_samples * n_threads
            assert ProjectedColumns(points, team, max_memory=least, **options).form == "streamed"
            with pytest.raises(MemoryError, match="max_memory"):
                ProjectedColumns(points, team, max_memory=least - 1, **options)


def test_kept_columns_take_what_they_say():
    points = draw("float64", n_columns=130)
    kept = columns_of("kept", points)._kept
    arrays = [kept._blocks, kept._histograms, kept._kept, *kept._moves]
    promised = KeptHistograms.bytes_needed(130, points.n_points)
    assert sum(array.nbytes for array in arrays) == promised


@pytest.mark.parametrize("exact", [True, False])
def test_describe(exact):
    points = draw("float64", 1000, n_columns=1100)
    kind = "exact" if exact else "histogram"
    stored, streamed = (columns_of(form, points, exact=exact) for form in ("stored", "streamed"))
    assert stored.describe() == (
        f"{kind} search, 1,100 dimensions of 3,000 points binned once (3 MiB)"
    )
    assert streamed.describe() == (
        f"{kind} search, 1,100 dimensions of 3,000 points projected again every round"
    )


# ---- kept histograms ----------------------------------------------------------------------------


def plain_histograms(kept, bins, shift):
    """Sums of the kept weights by column, bin and sign."""
    sums = np.zeros((len(bins), 64, 2), np.int64)
    for column, row in enumerate(bins >> shift):
        for point, code in enumerate(row):
            sums[column, code, int(kept[point] < 0)] += kept[point]
    return sums


def assert_histograms(columns, max_bins):
    kept, n_columns = columns._kept, columns.points.n_columns
    shift = max(0, int(np.ceil(np.log2(max_bins))) - 6)
    expected = plain_histograms(kept._kept, columns._bins, shift)
    found = kept._histograms.reshape(-1, 64, 2, LANES)
    found = found.transpose(0, 3, 1, 2).reshape(-1, 64, 2)
    np.testing.assert_array_equal(found[:n_columns], expected)


@pytest.mark.parametrize("max_bins", [2, 64, 65, 128, 129, 256])
def test_kept_histograms_are_those_of_the_kept_weights(max_bins):
    points = draw("float64", 40)
    columns = columns_of("kept", points, max_bins=max_bins)
    for weights in all_kinds(points, np.random.default_rng(2), 12):
        columns.search(weights, np.arange(points.n_columns))
        assert_histograms(columns, max_bins)


@pytest.mark.parametrize("step", [0.02, 0.3])
def test_kept_histograms_do_not_drift_away(step):
    points = draw("float64", 60)
    every, oracle = np.arange(points.n_columns), BruteForce(points)
    columns = columns_of("kept", points)
    moved = []
    for weights in drifting(points, np.random.default_rng(5), 600, step=step):
        assert columns.search(weights, every) == oracle.search(weights, every)
        moved.append(columns._kept._moved)
    assert_histograms(columns, projected.EXACT_BINS)
    assert min(moved[1:]) < points.n_points  # some weights lag, or nothing was tested


def bounds_and_edges(kept, oracle, weights):
    fixed = to_fixed_point(weights)
    bounds = kept.upper_bounds(fixed, int(fixed.sum()))
    return fixed, bounds, oracle.edges(fixed).max(axis=1)


@every_weights
@pytest.mark.parametrize("lag", [0.0, 0.1, 1.0, 4.0])
def test_upper_bounds_hold(kind, lag):
    """However far the weights may lag behind."""
    points = draw("float64", 150)
    oracle, kept = BruteForce(points), columns_of("kept", points)._kept
    for weights in kind(points, np.random.default_rng(7), N_ROUNDS):
        _, bounds, best = bounds_and_edges(kept, oracle, weights)
        assert bounds.shape == best.shape
        slack = 2.0 ** (TIE_BITS - 5)  # rounding of the bounds, far below what counts as a tie
        assert (bounds + slack >= best).all()
        kept.note_best(lag * float(best.max()))


@every_weights
def test_upper_bounds_without_lag_are_those_of_the_bins(kind):
    points = draw("float64", 150)
    oracle, columns = BruteForce(points), columns_of("kept", points)
    for weights in kind(points, np.random.default_rng(7), 5):
        fixed, bounds, best = bounds_and_edges(columns._kept, oracle, weights)
        mass = float(np.abs(fixed).sum())
        for column, row in enumerate(columns._bins >> 1):
            up = np.bincount(row, np.maximum(fixed, 0), 64)
            down = np.bincount(row, np.minimum(fixed, 0), 64)
            before = np.concatenate([[0.0], (up + down).cumsum()[:-1]])
            prefixes = np.concatenate([[0.0], before + up, before + down])
            expected = np.abs(fixed.sum() - 2 * prefixes).max()
            assert bounds[column] == pytest.approx(expected, rel=0, abs=1e-5 * mass)
        assert (bounds < best + 0.9 * mass).all()


def test_few_columns_pass_the_bounds():
    """Else the bounds would be of no use."""
    points = draw("float64", 400, n_columns=200)
    columns = columns_of("kept", points)
    every, scanned = np.arange(200), []
    columns._kept.note_scanned = scanned.append
    for weights in drifting(points, np.random.default_rng(5), 30, step=0.05):
        columns.search(weights, every)
    assert np.mean(scanned[5:]) < 100


@pytest.mark.parametrize("n_columns", [1, 63, 64, 65])
def test_bins_side_by_side(n_columns):
    rng = np.random.default_rng(0)
    bins = rng.integers(256, size=(n_columns, 77), dtype=np.uint8)
    kept = KeptHistograms(n_columns, 77, MAX_BINS, ALONE)
    for number in range(-(-n_columns // LANES)):
        kept.put(number, bins[number * LANES : (number + 1) * LANES])
    side_by_side = kept._blocks.transpose(0, 2, 1).reshape(-1, 77)
    np.testing.assert_array_equal(side_by_side[:n_columns], bins >> 2)
    assert (side_by_side[n_columns:] == 0).all()


# ---- parts of a search --------------------------------------------------------------------------


@given(
    weights=arrays(np.float64, 30, elements=st.floats(-1, 1)),
    share=st.sampled_from([0.0, 0.01, 0.2, 0.9]),
)
@settings(deadline=None, max_examples=60)
def test_weights_in_units_and_the_heaviest_points(weights, share):
    assume(np.abs(weights).sum() > 1e-100)
    fixed = to_fixed_point(weights)
    unit = float(np.abs(fixed).sum()) / 2**20
    packed, heavy, chosen, left_out, lost = projected._weigh(fixed, unit, share * 2**20)
    whole = (packed >> 32) - (packed & 0xFFFFFFFF)
    exact = fixed / unit
    assert np.abs(whole - exact).max() <= 0.5
    assert lost == pytest.approx(np.abs(whole - exact).sum(), abs=1e-9)
    np.testing.assert_array_equal(chosen, packed[heavy])
    assert (chosen != 0).all()
    rest = np.setdiff1d(np.arange(30), heavy)
    assert left_out <= share * 2**20 * (1 + 1e-6)
    forgotten = rest[packed[rest] == 0]  # too light for a unit, which `lost` knows
    light = np.abs(exact[rest]).sum() - np.abs(exact[forgotten]).sum()
    assert light - 1e-6 <= left_out <= np.abs(exact[rest]).sum() + 1e-6
    if len(heavy) and len(rest):
        assert np.abs(fixed[heavy]).min() >= 0.99 * np.abs(fixed[rest]).max()


@given(
    sums=arrays(np.int64, (20,), elements=st.integers(-5, 5)),
    bins=arrays(np.uint8, (20,), elements=st.integers(0, 4)),
    some=st.lists(st.integers(0, 19), unique=True).map(sorted),
)
@settings(deadline=None, max_examples=60)
def test_scan_of_some_points(sums, bins, some):
    """Edges at the ends of bins and bounds inside, of some points, all where none is named."""
    bins[0], bins[19] = 0, 4
    chosen = np.array(some or range(20))
    packed = np.where(sums < 0, -sums, sums << 32)[chosen]
    reached, bounds = np.zeros(1, np.int64), np.zeros(1, np.int64)
    names = np.array(some, np.uint32)
    tables = bins[None], np.array([4]), np.array([0]), packed, names
    projected._scan(*tables, reached, bounds, 0, 1)
    weights, part = sums[chosen], bins[chosen]
    ends = [weights[part > b].sum() - weights[part <= b].sum() for b in range(4)]
    assert reached[0] == np.abs(ends).max()
    inside = []
    for b in range(5):
        for sign in (-1, 1):
            first = (part < b) | ((part == b) & (np.sign(weights) == sign))
            inside.append(abs(weights.sum() - 2 * weights[first].sum()))
    assert bounds[0] == max(inside)


# ---- the risk in chunks -------------------------------------------------------------------------


class SquaredHinge:
    """A loss of the user's own."""

    def value(self, margins):
        return np.maximum(1.0 - margins, 0.0) ** 2

    def derivative(self, margins):
        return -2.0 * np.maximum(1.0 - margins, 0.0)


RISKS = [
    (ExponentialLoss(), "log-sum-exp"),
    (ExponentialLoss(), "sum"),
    (LogisticLoss(), "sum"),
    (LogisticLoss(), "mean"),
    (SquaredHinge(), "sum"),
    (SquaredHinge(), "mean"),
]
every_risk = pytest.mark.parametrize(
    ("loss", "form"), RISKS, ids=[f"{type(loss).__name__}-{form}" for loss, form in RISKS]
)


def plain_risk(loss, form, scores, y, weight):
    """Value and signed weights by two loops over samples and classes."""
    k, m = scores.shape
    factor = 1.0 / (k * weight.sum()) if form == "mean" else 1.0
    margins = np.array([[scores[y[i], i] - scores[r, i] for i in range(m)] for r in range(k)])
    losses, slopes = loss.value(margins), loss.derivative(margins)
    value, dual = 0.0, np.zeros((k, m))
    for i in range(m):
        for r in range(k):
            if r != y[i] or form == "mean":
                value += factor * weight[i] * losses[r, i]
            if r != y[i]:
                dual[r, i] = -factor * weight[i] * slopes[r, i]
    if form == "log-sum-exp":
        value, dual = np.log(value), dual / value
    signed = -dual
    signed[y, np.arange(m)] = dual.sum(axis=0)
    return value, signed


@every_risk
@pytest.mark.parametrize("m", [1, _CHUNK, _CHUNK + 1, 2 * _CHUNK + 777])
def test_risk_of_many_samples(loss, form, m):
    rng = np.random.default_rng(m)
    k = 3
    scores, y = rng.normal(scale=2, size=(k, m)), rng.integers(k, size=m)
    weight = rng.uniform(0.2, 3, m)
    risk = PairwiseRisk(loss, y, k, weight, form)
    value, signed = risk.evaluate(scores)
    plain_value, plain_signed = plain_risk(loss, form, scores, y, weight)
    assert value == pytest.approx(plain_value, rel=1e-11)
    np.testing.assert_allclose(signed, plain_signed, rtol=1e-10, atol=1e-300)
    with ThreadTeam(1) as one, EagerTeam(2) as two:
        for team in (one, two):
            again = risk.evaluate(scores, team, np.full(scores.shape, np.nan))
            assert again[0] == value
            np.testing.assert_array_equal(again[1], signed)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_risk_of_scores_in_any_layout(dtype):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(4, 50)).astype(dtype), rng.integers(4, size=50)
    risk = PairwiseRisk(LogisticLoss(), y, 4, np.ones(50), "sum")
    value, signed = risk.evaluate(scores)
    again = risk.evaluate(np.asfortranarray(scores))
    assert again[0] == value
    np.testing.assert_array_equal(again[1], signed)
    assert signed.dtype == np.float64


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("loss", "form"),
    [(ExponentialLoss(), "log-sum-exp"), *[(LogisticLoss(), f) for f in ("sum", "mean")]],
)
@pytest.mark.parametrize("size", [700.0, -700.0, 1e4, -1e4])
@pytest.mark.parametrize("everywhere", [True, False])
def test_extreme_scores(loss, form, size, everywhere):
    """Of all samples, or of one in the last chunk only."""
    m = 2 * _CHUNK + 10
    rng = np.random.default_rng(1)
    scores, y = rng.normal(size=(3, m)), rng.integers(3, size=m)
    samples = np.arange(m) if everywhere else np.array([m - 1])
    scores[y[samples], samples] += size
    with np.errstate(all="raise", under="ignore"), EagerTeam(2) as two:
        value, signed = PairwiseRisk(loss, y, 3, np.ones(m), form).evaluate(scores, two)
    assert np.isfinite(value)
    assert np.isfinite(signed).all()
    np.testing.assert_allclose(signed.sum(axis=0), 0.0, atol=1e-12)
    margins = np.delete((scores[y, np.arange(m)] - scores).T.ravel(), 3 * np.arange(m) + y)
    if form == "log-sum-exp":
        assert value == pytest.approx(np.logaddexp.reduce(-margins), rel=1e-11)
        assert signed[y, np.arange(m)].sum() == pytest.approx(1.0, rel=1e-11)
    else:
        total = np.logaddexp(0.0, -margins).sum()
        expected = total if form == "sum" else total / (3 * m) + np.log(2) / 3
        assert value == pytest.approx(expected, rel=1e-11)
