"""Descriptions of the paper's experiments, which `engine` runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..datasets.catalogue import MULTI_CLASS, TWO_CLASS
from . import published
from .published import Table


@dataclass(frozen=True)
class Method:
    """One column of a table.

    Parameters
    ----------
    key : str
        Short name, in commands and files.
    title : str
        Name in tables.
    estimator : str
        Class in `randomboost`.
    parameters : mapping
        Its parameters; `n_estimators` comes from the experiment.
    grid : sequence of float
        Candidates for nu; empty if nu is not tuned.
    coarse : sequence of float
        Those of ``--grid coarse``.
    two_class : sequence of float
        Candidates on sets of two classes, in both cases; empty for the same ones.
    directions : int
        If not 0, n is this multiple of the number of features.
    nu_of : Method or None
        Method with whose fits nu is tuned, where its own would take too long.
    """

    key: str
    title: str
    estimator: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: tuple[float, ...] = ()
    coarse: tuple[float, ...] = ()
    two_class: tuple[float, ...] = ()
    directions: int = 0
    nu_of: Method | None = None


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Parameters
    ----------
    name : str
        Name in commands.
    title : str
        Title.
    sets : sequence of str
        Data sets (``mnist@5`` has 5 training samples per class, ``vowel+train`` is prepared in
        another way, see `cells.VARIANTS`).
    methods : sequence of Method
        Columns.
    rounds : int
        Number of rounds T.
    repeats : int
        Repeats in the paper.
    at : sequence of int
        Rounds at which errors are shown; empty for the last one.
    published : Table
        The paper's numbers.
    measure : {"errors", "correction", "boundary", "time"}
        What a cell measures; "correction" is errors and the time of the optimisation step.
    curve : bool
        Whether the errors after every round are kept.
    cells_of : str
        Name of the experiment whose cells are shown; empty for its own.
    note : str
        Remarks for the reader.
    """

    name: str
    title: str
    sets: tuple[str, ...]
    methods: tuple[Method, ...]
    rounds: int = 1000
    repeats: int = 10
    at: tuple[int, ...] = ()
    published: Table = field(default_factory=dict)
    measure: str = "errors"
    curve: bool = True
    cells_of: str = ""
    note: str = ""


_TENS = tuple(10.0**-e for e in range(8, 1, -1))
_FINE = (1e-8, 2.5e-8, 5e-8, 7.5e-8)
PROJ_GRID = tuple(sorted({float(f"{a * 10**e:g}") for a in _FINE for e in range(6)} | {1e-2}))
COARSE = (1e-6, 1e-5, 1e-4, 1e-3)
TWO_CLASS_GRID = (1e-5, 1e-4, 1e-3, 1e-2)
CORRECTION_GRID = _TENS[1:]
TOY_GRID = (1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
DIGITS_GRID = (5e-8, 1e-7, 5e-7, 1e-6, 5e-6, 1e-5)

_RANK = {
    "weak_learner": "stump",
    "loss": "exponential",
    "projection": "gaussian",
    "early_stopping": False,
    "scale": False,
}
_PROJ = {
    "n_projections": 1000,
    "scale": False,
    "selection": "violation",
    "constant_stumps": False,
}


def _rank(key: str = "rank", title: str = "RBoost-rank", n: int = 20000, **more: Any) -> Method:
    return Method(key, title, "RBoostRankClassifier", {**_RANK, "n_projections": n, **more})


def _fast(
    key: str = "proj-fast",
    title: str = "RBoost-proj (fast)",
    grid: tuple[float, ...] = PROJ_GRID,
    coarse: tuple[float, ...] = COARSE,
    **more: Any,
) -> Method:
    two_class = TWO_CLASS_GRID if grid == PROJ_GRID else ()
    return Method(key, title, "RBoostProjClassifier", {**_PROJ, **more}, grid, coarse, two_class)


def _code(**settings: Any) -> Method:
    """Return the other reading of Algorithm 2: one code and one weight per round."""
    return _fast("proj-code", "RBoost-proj (codes)", selection="code", **settings)


def _constant(**settings: Any) -> Method:
    """Return the other reading with constant stumps."""
    key, title = "proj-code-constant", "RBoost-proj (codes, constant stumps)"
    return _fast(key, title, selection="code", constant_stumps=True, **settings)


def _proj(**settings: Any) -> tuple[Method, ...]:
    """Return Algorithm 2 as printed, with full and with few iterations, and the other readings."""
    fast = _fast(**settings)
    full = replace(
        fast,
        key="proj",
        title="RBoost-proj",
        parameters={**fast.parameters, "iterations_per_round": None},
        nu_of=fast,
    )
    return full, fast, _code(**settings), _constant(**settings)


ADABOOST = Method("adaboost", "AdaBoost", "AdaBoostClassifier")
ECC = Method("ecc", "AdaBoost.ECC", "AdaBoostECCClassifier")
MH = Method("mh", "AdaBoost.MH", "AdaBoostMHClassifier")
MO = Method("mo", "AdaBoost.MO", "AdaBoostMOClassifier")
MULTIBOOST = Method(
    "multiboost",
    "MultiBoost",
    "MultiBoostClassifier",
    {"constant_stumps": False},
    (1e-8, 1e-7, 1e-6, 1e-5, 1e-4),
    (1e-7, 1e-6, 1e-5, 1e-4),
)
MO_HAMMING = Method(
    "mo-hamming", "AdaBoost.MO (Hamming)", "AdaBoostMOClassifier", {"decoding": "hamming"}
)
_READINGS = ("proj-fast", "proj-code", "proj-code-constant")
_WLDA = (
    _rank("rank-wlda", "RBoost-rank (WLDA)", weak_learner="wlda"),
    _rank("rank-plain-wlda", "RBoost-rank (WLDA, little ridge)", weak_learner="plain_wlda"),
    _fast("proj-wlda", "RBoost-proj (fast, WLDA)", weak_learner="wlda"),
    _fast("proj-code-wlda", "RBoost-proj (codes, WLDA)", weak_learner="wlda", selection="code"),
)
_TOYS = ("stripes", "chess", "ring")
_DIGITS: dict[str, Any] = {"grid": DIGITS_GRID, "coarse": DIGITS_GRID[1::2]}
_CURVES = tuple(name for name in MULTI_CLASS if name != "wine")  # the paper has ten panels


def _row(name: str) -> dict[str, published.Figure]:
    """Return the paper's figures of a set for all methods and variants that are compared."""
    if name in published.TWO_CLASS:
        row = {**published.TWO_CLASS[name]}
        row |= {f"ecc@{t}": row[f"adaboost@{t}"] for t in (50, 100, 1000)}
    else:
        row = {**published.MULTI_CLASS[name], **published.WLDA.get(name, {})}
        row["mo-hamming"] = row["mo"]
        if "proj-wlda" in row:
            row["proj-code-wlda"] = row["proj-wlda"]
            row["rank-plain-wlda"] = row["rank-wlda"]
    for key in [key for key in row if key.split("@")[0] == "proj"]:
        row |= {key.replace("proj", reading): row[key] for reading in _READINGS}
    last = {key.split("@")[0]: row[key] for key in row if key.endswith("@1000")}
    return row | last


def _corrected(loss: str) -> Method:
    return replace(
        _rank(
            f"tc-{loss}",
            f"{loss} loss (TC)",
            loss=loss,
            correction="total",
            iterations_per_round=None,
        ),
        grid=CORRECTION_GRID,
        coarse=(1e-5, 1e-4, 1e-3, 1e-2),
        directions=100,
    )


_ALL = [
    Experiment(
        "table-multiclass",
        "Test errors on the multi-class UCI sets, 1000 rounds",
        MULTI_CLASS,
        (ECC, MH, MO, MULTIBOOST, _rank(), *_proj()),
        published={name: _row(name) for name in MULTI_CLASS},
        note="RBoost-proj is Algorithm 2 as printed, with a full solve after every round and the "
        "nu chosen for the fast form; (fast) makes 10 iterations per round; (codes) is the other "
        "reading, one code and one weight per round. All are compared with the paper's "
        "RBoost-proj.",
    ),
    Experiment(
        "table-rows",
        "Other rows of the sets that LIBSVM keeps in two files",
        (
            "vowel",
            *(
                f"{name}+{rows}"
                for name in ("vowel", "svmguide4", "splice", "dna", "satimage")
                for rows in ("train", "stacked")
            ),
        ),
        (ECC, MH, MO, MO_HAMMING, MULTIBOOST, _rank(), *_proj(), *_WLDA),
        published={
            f"{name}{rows}": _row(name)
            for name in ("vowel", "svmguide4", "splice", "dna", "satimage")
            for rows in ("", "+train", "+stacked")
        },
        note="The paper does not say which rows it used. +train: the rows of the training file; "
        "+stacked: those of both files, and of the test file a second time, so that many rows of a "
        "test part have a twin in the training part. For two classes ECC is AdaBoost.",
    ),
    Experiment(
        "table-preparation",
        "Stratified splits, and other scalings of the bases of splice",
        ("heart+stratified", "glass+stratified", "splice+raw", "splice+unit"),
        (ECC, MH, MO, MULTIBOOST, _rank(), *_proj()),
        published={
            f"{name}+{variant}": _row(name)
            for name, variant in (
                ("heart", "stratified"),
                ("glass", "stratified"),
                ("splice", "raw"),
                ("splice", "unit"),
            )
        },
        note="+stratified: the classes have the same shares in both parts; +raw: values as they "
        "are; +unit: scaled to [0, 1]. For two classes ECC is AdaBoost.",
    ),
    Experiment(
        "table-twoclass",
        "Test errors on the two-class UCI sets after 50, 100 and 1000 rounds",
        TWO_CLASS,
        (ADABOOST, _rank(), *_proj()),
        at=(50, 100, 1000),
        published={name: _row(name) for name in TWO_CLASS},
    ),
    Experiment(
        "table-correction",
        "Totally corrective against stage-wise RBoost-rank, 500 rounds",
        ("australian", "heart", "wine", "glass", "segment"),
        (
            _corrected("exponential"),
            _corrected("logistic"),
            replace(_rank("stagewise", "exponential loss (SW)"), directions=100),
        ),
        rounds=500,
        published=published.CORRECTION,
        measure="correction",
        note="n is 100 times the number of features. Totally corrective: all weights are solved "
        "for after every round, L-BFGS-B with the paper's settings.",
    ),
    Experiment(
        "table-size",
        'Size of the projected space (table "D"), 500 rounds, toy sets of our own',
        _TOYS,
        (
            *(_rank(f"rank-n{n}", f"rank, n={n}", n) for n in (1000, 2500, 5000, 10000)),
            *(
                _fast(f"proj-n{n}", f"proj, n={n}", TOY_GRID, n_projections=n)
                for n in (250, 500, 1000, 2000)
            ),
        ),
        rounds=500,
        repeats=5,
        published=published.SIZES,
        note="The paper does not give the parameters of its Synthetic 1 to 3; only the trend with "
        "n can be compared.",
    ),
    Experiment(
        "table-wlda",
        "Test errors with weighted LDA as the weak learner, 1000 rounds",
        tuple(published.WLDA),
        _WLDA,
        published={name: _row(name) for name in published.WLDA},
    ),
    Experiment(
        "figure-curves",
        "Test error by round on the multi-class UCI sets",
        _CURVES,
        (ECC, MH, MO, MULTIBOOST, _rank(), *_proj()),
        cells_of="table-multiclass",
        note="From the runs of table-multiclass.",
    ),
    Experiment(
        "figure-digits",
        "Test errors on handwritten characters by training samples per class, 1000 rounds",
        tuple(f"{name}@{n}" for name in ("mnist", "ticc") for n in (5, 10, 20, 40)),
        (ECC, MH, MO, _rank(n=100_000), *_proj(**_DIGITS)),
        repeats=5,
        curve=False,
        note="The paper shows these as a figure only. TiCC is in no package.",
    ),
    Experiment(
        "figure-caltech",
        "Test errors by round on two groups of Caltech-256 classes",
        ("caltech-related", "caltech-mixed"),
        (ECC, MH, MO, _rank(n=100_000), *_proj(**_DIGITS)),
        repeats=5,
        note="The paper shows these as a figure only. The features are in no package.",
    ),
    Experiment(
        "figure-toyrank",
        "One-versus-all boosting on the four diagonal distributions, as they are and projected",
        ("diagonal",),
        (
            Method("one-vs-all", "as they are", "AdaBoostMHClassifier"),
            Method("projected", "randomly projected", "AdaBoostMHClassifier", {"project": True}),
        ),
        at=(5, 100, 1000),
        repeats=1,
        measure="boundary",
        note="Of 20 random 2 x 2 projections the one with the lowest error on a held-out quarter "
        "is shown, as the paper chose its own selectively.",
    ),
    Experiment(
        "figure-toy",
        "Decision boundaries after 500 rounds on three toy sets of our own",
        _TOYS,
        (
            ECC,
            MH,
            MO,
            MULTIBOOST,
            _rank(n=500),
            _fast(grid=TOY_GRID, coarse=TOY_GRID[1:], n_projections=500),
        ),
        rounds=500,
        repeats=1,
        measure="boundary",
        note="MultiBoost with the logistic loss: the linear programs of the paper's hinge loss "
        "take many minutes per set in 500 rounds.",
    ),
    Experiment(
        "table-complexity",
        "Training time against n, m, k, d and T, with fitted exponents",
        tuple(
            f"{letter}={value}"
            for letter, values in {
                "n": (2000, 4000, 8000, 16000),
                "m": (300, 600, 1200, 2400),
                "k": (4, 8, 16, 32),
                "d": (8, 16, 32, 64),
                "T": (40, 80, 160, 320),
            }.items()
            for value in values
        ),
        (
            _rank("rank", "RBoost-rank", 4000),
            _fast(nu=1e-5, tol=0.0, grid=(), coarse=()),
            _fast("proj-code", "RBoost-proj (codes)", (), (), selection="code", nu=1e-5, tol=0.0),
        ),
        rounds=80,
        repeats=1,
        measure="time",
        note="Generated classes of Gaussian clusters; the other variables are "
        "m = 600, k = 8, d = 16, T = 80 and n = 4000 (proj: a quarter of n).",
    ),
]
EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}


def get(name: str) -> Experiment:
    """Return an experiment by its name.

    Parameters
    ----------
    name : str
        The name.

    Returns
    -------
    Experiment
        The experiment.
    """
    if name not in EXPERIMENTS:
        raise ValueError(f"{name!r} is not an experiment: use one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]


def _smaller(method: Method) -> Method:
    parameters = dict(method.parameters)
    if "n_projections" in parameters:
        parameters["n_projections"] = max(parameters["n_projections"] // 10, 50)
    coarse = method.coarse[1::2] or method.coarse
    nu_of = None if method.nu_of is None else _smaller(method.nu_of)
    return replace(method, parameters=parameters, coarse=coarse, directions=0, nu_of=nu_of)


def quick(experiment: Experiment) -> Experiment:
    """Return a small version: a tenth of the rounds and of n, one or two repeats.

    Parameters
    ----------
    experiment : Experiment
        The full experiment.

    Returns
    -------
    Experiment
        The small version.
    """
    rounds = max(experiment.rounds // 10, 20)
    sets = experiment.sets
    if experiment.name == "table-multiclass":
        sets = (*sets, "digits")
    elif experiment.name == "table-twoclass":
        sets = (*sets, "breast-cancer-wdbc")
    elif experiment.name == "figure-digits":
        sets = ("mnist-5k@5", "mnist-5k@10", *sets)
    return replace(
        experiment,
        sets=sets,
        methods=tuple(_smaller(method) for method in experiment.methods),
        rounds=rounds,
        repeats=min(experiment.repeats, 2),
        at=tuple(t for t in experiment.at if t <= rounds),
    )
