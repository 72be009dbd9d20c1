"""The pictures of docs/method.md and of the guide, each for light and for dark pages.

``python docs/pictures.py`` draws them into docs/pictures; building the documentation does so too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from numpy.typing import NDArray
from scipy.optimize import nnls
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from randomboost import AdaBoostMHClassifier, RandomBoostClassifier, RBoostRankClassifier
from randomboost.plots import ContributionDisplay
from randomboost.runtime.parallel import ThreadTeam

CLASS_COLORS = ["#2f7fc1", "#e07a2f", "#2f9e6e", "#a66fd0", "#d1495b", "#8a8f98"]
MARKERS = ["o", "s", "^"]
_PLAIN = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(color=CLASS_COLORS),
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


def _style(ink: str) -> dict[str, Any]:
    colored = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    return {**_PLAIN, **dict.fromkeys((*colored, "axes.titlecolor"), ink)}


SIDE = 220  # points of a grid along one side
WIDTH = 6.2  # inches: narrow, so that words can be read on a phone
INKS = {"light": "#30353c", "dark": "#c9d1d9"}
PAPERS = {"light": "#ffffff", "dark": "#131416"}
# one drawing for both kinds of pages, as the gallery has them
ANY_BACKGROUND = {**_style("#7b818a"), "grid.color": "#7b818a", "grid.alpha": 0.3}


class Sheet:
    """An empty figure in the colours of a theme.

    Parameters
    ----------
    theme : str
        "light" or "dark".
    """

    def __init__(self, theme: str) -> None:
        self.ink, self.paper = INKS[theme], PAPERS[theme]

    def tint(self, color: str, strength: float) -> tuple[float, ...]:
        """Return a colour mixed with the page's."""
        return tuple(
            strength * np.array(to_rgb(color)) + (1 - strength) * np.array(to_rgb(self.paper))
        )

    def panels(self, n_columns: int, height: float, **options: Any) -> tuple[Figure, Any]:
        """Return a figure of the pages' width and its panels side by side."""
        figure = Figure(figsize=(WIDTH, height))
        return figure, figure.subplots(1, n_columns, squeeze=False, **options)[0]

    def scatter(self, axes: Any, X: NDArray, y: NDArray, size: float = 12) -> None:
        """Draw samples in the colours and markers of their classes."""
        for r in np.unique(y):
            axes.scatter(*X[y == r].T, s=size, c=CLASS_COLORS[r], marker=MARKERS[r], linewidths=0)

    def fill(self, axes: Any, values: NDArray, colors: Sequence[Any], extent: Any) -> None:
        """Colour a plane by whole numbers."""
        options = {"cmap": ListedColormap(colors), "vmin": 0, "vmax": len(colors) - 1}
        image = values.reshape(SIDE, SIDE)
        axes.imshow(image, extent=extent, origin="lower", aspect="auto", **options)

    def regions(self, axes: Any, labels: NDArray, extent: Any) -> None:
        """Colour a plane by class."""
        self.fill(axes, labels, [self.tint(color, 0.3) for color in CLASS_COLORS[:3]], extent)


def sample_data(n: int = 240) -> tuple[NDArray, NDArray]:
    """Return three classes in the plane that no straight lines part."""
    rng = np.random.default_rng(3)
    centers = np.array([[-2.0, 0.6], [1.7, 1.9], [0.1, -1.9], [2.2, -1.2], [-0.3, 2.2]])
    owners = np.array([0, 1, 2, 0, 2])
    group = np.arange(n) % len(centers)
    X = centers[group] + rng.normal(size=(n, 2)) @ np.array([[0.75, 0.25], [0.0, 0.55]])
    return X - X.mean(axis=0), owners[group]


def grid(X: NDArray) -> tuple[NDArray, tuple[float, ...]]:
    """Return the points of a fine grid over the data, and its extent."""
    low, high = X.min(axis=0) - 0.4, X.max(axis=0) + 0.4
    across, up = np.linspace(low[0], high[0], SIDE), np.linspace(low[1], high[1], SIDE)
    points = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
    return points, (low[0], high[0], low[1], high[1])


def draw_ensembles(sheet: Sheet) -> Figure:
    """Draw what a round adds: one weak classifier per class, or one for all."""
    figure, panels = sheet.panels(2, 2.5)
    titles = ["Ordinary boosting: k per round", "Here: one per round for all k"]
    for axes, title, shared in zip(panels, titles, [False, True], strict=True):
        axes.set(xlim=(0, 8.2), ylim=(-0.2, 6.6))
        axes.set_title(title, fontsize=10.5)
        axes.axis("off")
        for t in range(3):
            left = 2.1 + 2.1 * t
            axes.text(left + 0.6, 5.8, f"round {t + 1}", ha="center", fontsize=9)
            for r in range(1 if shared else 3):
                low, height = (0.2, 5.0) if shared else (4.1 - 2 * r, 1.1)
                color = sheet.ink if shared else CLASS_COLORS[r]
                box = FancyBboxPatch((left, low), 1.2, height, boxstyle="round,pad=0.08")
                box.set(facecolor=sheet.tint(color, 0.16), edgecolor=color, linewidth=1.2)
                axes.add_patch(box)
                name = f"$h_{t + 1}$" if shared else f"$h_{{{t + 1}{r + 1}}}$"
                axes.text(left + 0.6, low + height / 2, name, ha="center", va="center", fontsize=12)
        for r, color in enumerate(CLASS_COLORS[:3]):
            height = 4.65 - 2 * r
            axes.text(0, height, f"class {r + 1}", color=color, va="center", fontsize=10)
            if shared:
                axes.plot([1.7, 8.1], [height] * 2, color=color, lw=1.2, alpha=0.6, zorder=0)
    return figure


def draw_points(sheet: Sheet) -> Figure:
    """Draw how one sample becomes a point for every class, and a stump compares them."""
    figure, (plane, lines) = sheet.panels(2, 3.1, width_ratios=[1, 1.15])
    angles = np.deg2rad([18, 135, 262])
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    x, cut = np.array([0.95, 1.3]), 0.65
    plane.set(xlim=(-2, 2.3), ylim=(-2.2, 2), aspect="equal")
    plane.set_title("A sample x and three rows", fontsize=10.5)
    plane.axis("off")
    lines.set(xlim=(-2.3, 2.3), ylim=(-0.5, 3.2), yticks=[])
    lines.set_title("Its three points, and a cut", fontsize=10.5)
    lines.spines["left"].set_visible(False)
    lines.axvspan(cut, 2.3, color=sheet.tint(sheet.ink, 0.1), zorder=0)
    lines.axvline(cut, color=sheet.ink, lw=1, ls="--")
    lines.text(cut + 0.1, 2.85, "h = +1", fontsize=10)
    lines.text(cut - 0.1, 2.85, "h = \N{MINUS SIGN}1", fontsize=10, ha="right")
    plane.plot(*x, "o", color=sheet.ink, ms=8)
    plane.text(x[0] + 0.12, x[1] + 0.12, "x", fontsize=13)
    for r, (direction, color) in enumerate(zip(directions, CLASS_COLORS, strict=False)):
        value = x @ direction
        plane.plot(*np.stack([-1.9 * direction, 0 * direction]).T, color=color, lw=0.8, alpha=0.5)
        plane.plot(*np.stack([x, value * direction]).T, color=color, lw=1, ls=":")
        plane.plot(*(value * direction), MARKERS[r], color=color, ms=7)
        plane.annotate(
            "", 1.8 * direction, (0, 0), arrowprops={"arrowstyle": "-|>", "color": color}
        )
        name = f"$P^{{({r + 1})}}$"
        plane.text(*(2.05 * direction), name, color=color, ha="center", va="center", fontsize=12)
        lines.plot([-2.2, 2.2], [2 - r, 2 - r], color=color, lw=0.8, alpha=0.5)
        lines.plot(value, 2 - r, MARKERS[r], color=color, ms=9)
        lines.text(value, 2.2 - r, name[:-1] + "x$", color=color, ha="center", fontsize=12)
    return figure


def _best_stump(values: NDArray, signed: NDArray) -> tuple[float, float, float]:
    """Return the edge of the best stump along a dimension, its sign and its cut."""
    order = np.argsort(values, axis=None)
    ordered = values.ravel()[order]
    edges = -2 * np.cumsum(signed.ravel()[order])[:-1]  # the weights sum to 0
    best = np.abs(edges).argmax()
    return np.abs(edges[best]), np.sign(edges[best]), ordered[best : best + 2].mean()


def draw_ranking(sheet: Sheet) -> Figure:
    """Draw all points along an ordinary and along the best of 300 random dimensions."""
    X, y = sample_data()
    rng = np.random.default_rng(0)
    is_own = np.eye(3, dtype=bool)[y]
    signed = np.where(is_own, 2.0, -1.0) / (4 * len(y))
    found = []
    for _ in range(300):
        values = X @ rng.normal(size=(3, 2)).T
        edge, sign, cut = _best_stump(values, signed)
        found.append((edge, sign * cut, sign * values))
    found.sort(key=lambda item: item[0])
    figure, panels = sheet.panels(2, 2.6, sharey=True)
    shown = {"An ordinary dimension": found[150], "The best of 300": found[-1]}
    for axes, (name, (edge, cut, values)) in zip(panels, shown.items(), strict=True):
        width = np.abs(values).max()
        axes.axvspan(cut, width, color=sheet.tint(sheet.ink, 0.1), zorder=0)
        axes.axvline(cut, color=sheet.ink, lw=1, ls="--")
        for part, color, label in (
            (is_own, CLASS_COLORS[3], "true class"),
            (~is_own, CLASS_COLORS[5], "other classes"),
        ):
            weights = np.abs(signed[part])
            bins = np.linspace(-width, width, 33)
            axes.hist(values[part], bins, weights=weights, color=color, alpha=0.6, label=label)
        axes.set(xlim=(-width, width), yticks=[], xlabel="value of the points, $P^{(r)}_v x$")
        axes.set_title(f"{name}: edge {edge:.2f}", fontsize=10.5)
        axes.spines["left"].set_visible(False)
    panels[0].legend(loc="upper left", fontsize=9)
    return figure


def draw_rounds(sheet: Sheet) -> Figure:
    """Draw the regions of the paper's stumps after some rounds."""
    X, y = sample_data()
    points, extent = grid(X)
    model = RBoostRankClassifier.paper(
        n_estimators=300, n_projections=2000, scale=False, random_state=0
    ).fit(X, y)
    shown = [1, 10, 50, 300]
    stages = {t: s for t, s in enumerate(model.staged_predict(points), start=1) if t in shown}
    wrong = {t: np.mean(s != y) for t, s in enumerate(model.staged_predict(X), start=1)}
    figure = Figure(figsize=(WIDTH, 4.6))
    for axes, t in zip(figure.subplots(2, 2).flat, shown, strict=True):
        sheet.regions(axes, stages[t], extent)
        sheet.scatter(axes, X, y, 8)
        title = f"{t} round{'s' * (t > 1)}: {100 * wrong[t]:.0f} % wrong"
        axes.set_title(title, fontsize=10.5)
        axes.set(xticks=[], yticks=[])
    return figure


def draw_outputs(sheet: Sheet) -> Figure:
    """Draw how outputs of weak classifiers become class scores with one vector w."""
    X, y = sample_data()
    n_classes, n, rounds = 3, 40, 16
    rng = np.random.default_rng(5)
    cuts = rng.uniform(-2, 2, rounds)
    outputs = np.where(X[:, rng.integers(0, 2, rounds)] > cuts, 1.0, -1.0)
    matrices = rng.normal(size=(n_classes, n, rounds)) / np.sqrt(n)
    projected = np.einsum("rvt,it->irv", matrices, outputs)
    own = projected[np.arange(len(y)), y]
    pairs = (own[:, None, :] - projected)[~np.eye(n_classes, dtype=bool)[y]]
    w = nnls(pairs, np.ones(len(pairs)))[0]
    margins = np.sort(projected @ w, axis=1)
    sample = (margins[:, -1] - margins[:, -2]).argmax()
    parts = projected[sample] * w
    scores = parts.sum(axis=1)
    figure = Figure(figsize=(WIDTH, 3.0))
    panels = figure.subplots(3, 4, width_ratios=[3.6, 3.2, 3.2, 2.2], sharex="col", sharey="col")
    diverging = LinearSegmentedColormap.from_list("", [CLASS_COLORS[4], sheet.paper, "#2f7fc1"])
    for r, color in enumerate(CLASS_COLORS[:n_classes]):
        matrix, product, weighted, total = panels[r]
        matrix.imshow(matrices[r, :12], cmap=diverging, vmin=-0.4, vmax=0.4, aspect="auto")
        matrix.set_ylabel(f"class {r + 1}", color=color, fontsize=10.5)
        product.bar(range(n), projected[sample, r], color=color, alpha=0.75)
        weighted.bar(range(n), parts[r], color=color)
        total.barh(0, scores[r], color=color)
        total.axvline(0, color=sheet.ink, lw=0.8)
        for axes in panels[r]:
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
    names = ["$P^{(r)}$, random", "$P^{(r)}h(x)$", "weighted by w", "sum: $F_r(x)$"]
    for axes, name in zip(panels[0], names, strict=True):
        axes.set_title(name, fontsize=10.5)
    return figure


def draw_leaves(sheet: Sheet) -> Figure:
    """Draw the leaves of one tree, and what each adds to the scores of the classes."""
    X, y = sample_data()
    points, extent = grid(X)
    model = RandomBoostClassifier(
        1,
        learning_rate=1.0,
        max_leaf_nodes=4,
        subsample=1.0,
        n_landmarks=0,
        early_stopping=False,
        random_state=0,
    ).fit(X, y)
    tree = model.model_.ensemble.member(0)
    scores = tree.scores(model.model_.inputs.scaled(points), ThreadTeam(1))
    added = (scores - tree.prior[:, None]).T
    vectors, leaves = np.unique(added.round(3), axis=0, return_inverse=True)
    figure, (plane, bars) = sheet.panels(2, 2.9, width_ratios=[1.25, 1])
    tints = [sheet.tint(sheet.ink, 0.05 + 0.1 * number) for number in range(len(vectors))]
    sheet.fill(plane, leaves.ravel(), tints, extent)
    sheet.scatter(plane, X, y, 9)
    for number in range(len(vectors)):
        middle = np.median(points[leaves.ravel() == number], axis=0)
        plane.text(*middle, f"leaf {number + 1}", ha="center", va="center", fontsize=11)
    plane.set(xlim=extent[:2], ylim=extent[2:], xticks=[], yticks=[])
    plane.set_title("One tree", fontsize=10.5)
    rows = np.arange(len(vectors))
    for r, color in enumerate(CLASS_COLORS[:3]):
        bars.barh(rows + 0.25 * (r - 1), vectors[:, r], 0.22, color=color, label=f"class {r + 1}")
    bars.axvline(0, color=sheet.ink, lw=0.8)
    bars.set(yticks=rows, yticklabels=[f"leaf {number + 1}" for number in rows], xticks=[])
    bars.invert_yaxis()
    bars.spines[:].set_visible(False)
    bars.tick_params(length=0)
    bars.set_title("What a leaf adds to the scores", fontsize=10.5)
    figure.legend(*bars.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def draw_sketches(sheet: Sheet) -> Figure:
    """Draw how a random matrix turns the gradients of many classes into a few numbers."""
    n_samples, n_classes, n_sketches = 60, 30, 6
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, n_classes, n_samples))
    scores = rng.normal(size=(n_samples, n_classes)) + 2 * np.eye(n_classes)[y]
    gradients = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) - np.eye(n_classes)[y]
    matrix = rng.normal(size=(n_classes, n_sketches)) / np.sqrt(n_sketches)
    parts = {
        f"gradients of\n{n_classes} classes": gradients,
        "random\nmatrix R": matrix,
        f"{n_sketches} sketches": gradients @ matrix,
    }
    figure = Figure(figsize=(WIDTH, 2.9))
    panels = figure.subplots(1, 3, width_ratios=[n_classes, 2 * n_sketches, 2 * n_sketches])
    diverging = LinearSegmentedColormap.from_list("", [CLASS_COLORS[4], sheet.paper, "#2f7fc1"])
    for axes, (name, values) in zip(panels, parts.items(), strict=True):
        limit = np.abs(values).max()
        axes.imshow(values, cmap=diverging, vmin=-limit, vmax=limit, aspect="auto")
        axes.set(xticks=[], yticks=[])
        axes.set_title(name, fontsize=10.5)
    panels[0].set_ylabel(f"{n_samples} samples", fontsize=10)
    for axes, sign in zip(panels, ["\N{MULTIPLICATION SIGN}", "="], strict=False):
        axes.text(1.08, 0.5, sign, transform=axes.transAxes, ha="center", va="center", fontsize=14)
    return figure


def draw_trees(sheet: Sheet) -> Figure:
    """Draw the regions of RandomBoost beside stumps on features and the paper's stumps."""
    X, y = sample_data()
    points, extent = grid(X)
    models = {
        "AdaBoost.MH,\nfeatures": AdaBoostMHClassifier(100),
        "RBoost-rank,\nthe paper's stumps": RBoostRankClassifier.paper(
            n_estimators=300, n_projections=2000
        ),
        "RandomBoost,\ntrees": RandomBoostClassifier(),
    }
    figure, panels = sheet.panels(3, 2.6)
    for axes, (name, model) in zip(panels, models.items(), strict=True):
        model.set_params(random_state=0).fit(X, y)
        sheet.regions(axes, model.predict(points), extent)
        sheet.scatter(axes, X, y, 7)
        axes.set(title=name, xticks=[], yticks=[])
        axes.title.set_fontsize(10.5)
    return figure


def draw_contributions(sheet: Sheet) -> Figure:
    """Draw what features contribute to a score, and to many scores on average."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = np.array(["barolo", "grignolino", "barbera"])[y]
    X, X_test, y, _ = train_test_split(X, y, random_state=0)
    model = RandomBoostClassifier(random_state=0).fit(X, y)
    figure = Figure(figsize=(4.8, 5.4))
    for axes, rows in zip(figure.subplots(2), [X_test[:1], X_test], strict=True):
        ContributionDisplay.from_estimator(model, rows, max_features=6, ax=axes)
    return figure


PICTURES: dict[str, Callable[[Sheet], Figure]] = {
    "ensembles": draw_ensembles,
    "points": draw_points,
    "ranking": draw_ranking,
    "rounds": draw_rounds,
    "outputs": draw_outputs,
    "leaves": draw_leaves,
    "sketches": draw_sketches,
    "trees": draw_trees,
    "contributions": draw_contributions,
}


def draw_all(folder: Path) -> None:
    """Draw every picture for both themes, the same bytes every time.

    Parameters
    ----------
    folder : Path
        Where to write ``<name>-<theme>.svg``.
    """
    folder.mkdir(exist_ok=True)
    for theme, ink in INKS.items():
        with mpl.rc_context({**_style(ink), "svg.hashsalt": "randomboost"}):
            for name, draw in PICTURES.items():
                draw(Sheet(theme)).savefig(folder / f"{name}-{theme}.svg", metadata={"Date": None})


if __name__ == "__main__":
    draw_all(Path(__file__).parent / "pictures")
