"""A fitted classifier as one C file without dependencies, for devices and other languages."""

from __future__ import annotations

import re
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensembles.plain_tables import LandmarkTable, LinearTable, StumpTable, TreeTable
from . import c_parts
from .portable import PortableModel, check_name, portable

_WIDTH = 98
_INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32")
_KEYWORDS = {
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "main", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
    "union", "unsigned", "void", "volatile", "while",
}  # fmt: skip


def to_c(
    model: Any, *, name: str = "predict", directions: str = "seed", encoded: bool = False
) -> str:
    """Return a fitted classifier as the text of a C99 file.

    The file needs nothing but the C standard library (with its mathematics, ``-lm``), allocates
    no memory, has no state, and may be called from many threads. It holds constant tables and

    - ``int predict(const double *x, double *scores)``, the number of the class with the highest
      score; `x` are the features, `scores` takes one score per class unless it is NULL;
    - ``int predict_probabilities(const double *x, double *probabilities)``, the same number, and
      the probabilities of all classes;
    - ``const char *const predict_labels[]``, the class labels.

    Compiled without contraction of products and sums (``-std=c99``, or ``-ffp-contract=off``) and
    without ``-ffast-math`` the scores are those of ``decision_function`` bit for bit, except with
    ``decoding="loss"`` and decision trees on projections, where the last bits may differ. NaN is
    a missing value for models that take them.

    Parameters
    ----------
    model : estimator or Pipeline
        A fitted classifier of this package, or a pipeline of a `TablePreparation` and one. Its
        weak classifiers must be stumps, "wlda" or decision trees, not other estimators.
    name : str, default="predict"
        Name of the function, and what all other names begin with.
    directions : {"seed", "table"}, default="seed"
        Models that project for every class on Gaussian directions of its own: "seed" makes the
        directions again in every call, so that the file does not grow with the number of classes;
        "table" stores them, 4 or 8 bytes for each of rounds x classes x features, and is many
        times as fast.
    encoded : bool, default=False
        Needed for a model with columns of categories: their numbers, which a comment in the file
        lists, are its input; NaN for others.

    Returns
    -------
    str
        The file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from randomboost import AdaBoostMHClassifier
    >>> from randomboost.export.c_source import to_c
    >>> model = AdaBoostMHClassifier(10).fit(*load_wine(return_X_y=True))
    >>> print(to_c(model).splitlines()[0])
    /* AdaBoostMHClassifier of randomboost 0.1.0: 13 features, 3 classes.
    """
    check_name(name, "a C function", _KEYWORDS)
    if directions not in ("seed", "table"):
        raise ValueError(f"directions={directions!r} is unknown: use 'seed' or 'table'")
    described = portable(model, encoded=encoded)
    writer = _Writer(described, name, _introduction(described, name))
    writer.scaling()
    writer.values(generated=directions == "seed" and described.tables.gaussian is not None)
    writer.members()
    writer.scores()
    return "\n".join(writer.parts)


def _introduction(model: PortableModel, name: str) -> str:
    """Return a comment that says what the file holds and how it is used."""
    lines = [
        model.title,
        "",
        f"int {name}(const double *x, double *scores);",
        "    the number of the best class for features x; its and the others' scores, unless NULL",
        f"int {name}_probabilities(const double *x, double *probabilities);",
        "    the same number, and the probabilities of all classes",
        f"extern const char *const {name}_labels[];",
        "    the class labels",
        "",
        "Compile with -std=c99 or -ffp-contract=off, never with -ffast-math, for the same bits as",
        "in Python; link with -lm. No memory is allocated; all functions are safe in threads.",
        "NaN is a missing value."
        if model.missing or model.fill is not None
        else "Features must be finite.",
    ]
    if model.feature_names:
        lines += ["", "Features, in this order:"]
        lines += [
            f"    {number}: {_comment(feature)}"
            for number, feature in enumerate(model.feature_names)
        ]
    if model.categories:
        lines += ["", "Categories are given by these numbers, others by NaN:"]
        for feature, numbers in model.categories.items():
            listed = ", ".join(f"{_comment(each)} = {n:.17g}" for each, n in numbers.items())
            lines.append(f"    {_comment(feature)}: {listed}")
    text = "\n   ".join(lines).replace("\n   \n", "\n\n")
    return f"/* {text} */\n"


def _comment(text: Any) -> str:
    """Return text in a form that can stand in a comment: one line, plain, no comment signs."""
    plain = " ".join(str(text).encode("ascii", "backslashreplace").decode().split())
    return re.sub(r"(?<=\*)/|(?<=/)\*|(?<=\?)\?", " ", plain)


def _label(label: Any) -> str:
    """Return a class label as a C string: UTF-8, all but plain characters as octal numbers."""
    plain = re.compile(rb"[A-Za-z0-9 _.,:;!#$%&'()*+/<=>^|~{}\[\]-]")
    text = "".join(
        chr(byte) if plain.match(bytes([byte])) else f"\\{byte:03o}" for byte in str(label).encode()
    )
    return f'"{text}"'


def _number(value: Any) -> str:
    """Return a floating-point number as C text with the same bits."""
    if not np.isfinite(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = str(value)  # the shortest that gives the same bits
    if "." not in text and "e" not in text:
        text += ".0"
    return f"{text}f" if isinstance(value, np.float32) else text


class _Writer:
    """Collects the parts of a file."""

    def __init__(self, model: PortableModel, name: str, introduction: str) -> None:
        self._model, self._name = model, name
        self.parts = [introduction]
        self._in_floats = model.dtype == np.float32
        self._put(
            c_parts.HEAD,
            n_features=model.n_features,
            n_classes=len(model.classes),
            real="float" if self._in_floats else "double",
        )
        trees = model.tables.trees
        if self._in_floats or self._has_start or (trees is not None and trees.rounded):
            self._put(c_parts.AS_FLOAT)

    @property
    def _has_start(self) -> bool:
        """Whether something is added to the sums of trees."""
        tables = self._model.tables
        return bool(tables.landmarks) or tables.linear is not None

    def _rounded(self, number: str) -> str:
        """Return a number in the precision of the model."""
        return f"@_as_float({number})" if self._in_floats else number

    def _put(self, text: str, **values: Any) -> None:
        self.parts.append(Template(text).substitute(values).replace("@", self._name))

    def _table(self, name: str, array: NDArray) -> None:
        """Add a constant array, whole numbers in the smallest type that holds them."""
        array = np.ravel(array)
        if array.dtype.kind in "iu":
            fits = (
                kind
                for kind in _INTEGERS
                if np.iinfo(kind).min <= array.min() and array.max() <= np.iinfo(kind).max
            )
            kind = f"{next(fits)}_t"
            items = [str(value) for value in array.tolist()]
        else:
            kind = "float" if array.dtype == np.float32 else "double"
            items = [_number(value) for value in array]
        lines = ["   "]
        for item in items:
            if len(lines[-1]) + len(item) > _WIDTH:
                lines.append("   ")
            lines[-1] += f" {item},"
        body = "\n".join(lines)
        self.parts.append(
            f"static const {kind} {self._name}_{name}[{len(items)}] = {{\n{body}\n}};\n"
        )

    def scaling(self) -> None:
        """Add the scaling of the features."""
        model, scaled = self._model, self._rounded("x[j]")
        if model.fill is not None:
            self._table("fill", model.fill)
            scaled = "(x[j] == x[j] ? x[j] : @_fill[j])"
        if model.scaling is not None:
            for part in ("peak", "center", "spread"):
                self._table(part, getattr(model.scaling, part).astype(np.float64))
            scaled = f"({scaled} / @_peak[j] - @_center[j]) / @_spread[j]"
        scaled = f"(@_real)({scaled})"
        if model.missing and model.tables.n_views > 1:
            scaled = f"x[j] == x[j] ? {scaled} : 0"
        self._put(c_parts.SCALED, scaled=scaled)

    def values(self, *, generated: bool) -> None:
        """Add the values that weak classifiers compare."""
        model = self._model
        if model.tables.rows is None:
            return
        if generated:
            assert model.tables.gaussian is not None
            projection, rows = model.tables.gaussian
            self._table("rows", rows)
            self._put(
                c_parts.GENERATED_VALUE,
                seed_low=f"{projection.seed & 0xFFFFFFFF}u",
                seed_high=f"{projection.seed >> 32}u",
                stream=projection.stream,
                scale=_number(1.0 / np.sqrt(projection.n_projections)),
            )
            return
        matrix = model.tables.rows(np.arange(model.tables.n_values))
        if matrix.nnz == matrix.shape[0] * matrix.shape[1] and model.tables.n_views > 1:
            self._table("coefficients", matrix.data)
            self._put(c_parts.DENSE_VALUE, n_values=model.tables.n_values)
            return
        self._table("starts", matrix.indptr)
        self._table("features", matrix.indices)
        self._table("coefficients", matrix.data)
        keeps_missing = model.missing and model.tables.n_views == 1
        part = c_parts.MISSING_VALUE if keeps_missing else c_parts.SPARSE_VALUE
        self._put(part, n_values=model.tables.n_values)

    def members(self) -> None:
        """Add the weak classifiers and the sums of their outputs."""
        tables = self._model.tables
        if tables.votes is None:
            assert tables.trees is not None
            self._leaf_sums(tables.trees)
            return
        column = "@_columns[node]" if tables.stumps is None else "@_columns[i]"
        value = f"z[{column}]" if tables.rows is None else f"@_value(z, view, {column})"
        if tables.stumps is not None:
            n_members = tables.stumps.columns.size
            self._stumps(tables.stumps, value)
        elif tables.trees is not None:
            n_members = len(tables.trees.starts) - 1
            self._trees(tables.trees, value)
        self._table("votes", tables.votes.astype(np.float64))
        n_rounds, n_sums = tables.votes.shape
        if tables.n_views > 1:
            term, n_sums = "@_votes[t] * @_output(z, c, t)", tables.n_views
        elif n_members == n_rounds:
            self._put(c_parts.SHARED_SUMS, n_sums=n_sums, n_rounds=n_rounds)
            return
        else:
            term = f"@_votes[t * {n_sums} + c] * @_output(z, 0, t * {n_sums} + c)"
        self._put(c_parts.SUMS, n_sums=n_sums, n_rounds=n_rounds, term=term)

    def _stumps(self, stumps: StumpTable, value: str) -> None:
        self._table("columns", stumps.columns)
        self._table("thresholds", stumps.thresholds)
        for name, outputs in (("low", stumps.low), ("high", stumps.high)):
            self._table(name, _whole(outputs))
        self._put(c_parts.STUMP_OUTPUT, value=value)

    def _trees(self, trees: TreeTable, value: str) -> None:
        self._table("trees", trees.starts[:-1])
        self._table("columns", np.maximum(trees.columns, 0))
        self._table("left", np.maximum(trees.left, 0))
        numbers = np.where(trees.left < 0, trees.values, trees.thresholds)
        self._table("numbers", numbers.astype(np.float64))
        self._put(c_parts.TREE_OUTPUT, value=value)

    def _leaf_sums(self, trees: TreeTable) -> None:
        tables = self._model.tables
        assert trees.leaf_starts is not None
        assert trees.leaf_classes is not None
        assert trees.leaf_values is not None
        assert tables.baseline is not None
        leaf = trees.left < 0
        self._table("trees", trees.starts[:-1])
        self._table("left", np.maximum(trees.left, 0))
        self._table("places", np.where(leaf, np.cumsum(leaf) - 1, trees.columns))
        self._table("cuts", np.where(leaf, 0, trees.thresholds).astype(self._model.dtype))
        self._table("leaves", trees.leaf_starts)
        self._table("entry_classes", trees.leaf_classes)
        self._table("entry_values", trees.leaf_values)
        self._table("prior", tables.baseline)
        mixed = tables.rows is not None
        values = Template(c_parts.VALUES).substitute(n_values=tables.n_values) if mixed else ""
        self._put(
            c_parts.LEAF_SUMS,
            values=values,
            compared="values" if mixed else "z",
            n_sums=len(self._model.classes),
            n_trees=len(trees.starts) - 1,
        )

    def _landmarks(self, landmarks: tuple[LandmarkTable, ...]) -> None:
        self._table("widths", np.array([each.width for each in landmarks]))
        self._table("feature_weights", np.concatenate([each.weights for each in landmarks]))
        self._table("points", np.concatenate([each.points for each in landmarks]))
        self._table("squares", np.concatenate([each.squares for each in landmarks]))
        self._table("factors", np.concatenate([each.coefficients for each in landmarks]))
        n_landmarks = len(landmarks[0].points)
        self._put(c_parts.LANDMARKS, n_landmarks=n_landmarks, n_parts=len(landmarks))

    def _linear(self, linear: LinearTable) -> None:
        self._table("limits", linear.limits)
        self._table("factors", linear.coefficients)
        self._table("linear_base", linear.base)
        self._put(c_parts.LINEAR)

    def scores(self) -> None:
        """Add the scores and the public functions."""
        model, more = self._model, ""
        if model.tables.landmarks:
            self._landmarks(model.tables.landmarks)
            more = "    @_add_landmarks(z, scores);\n"
        if model.tables.linear is not None:
            self._linear(model.tables.linear)
            more = "    @_add_linear(z, scores);\n"
        if model.tables.decoding is None:
            self._put(c_parts.SCORES, more=more)
        else:
            assert model.tables.code is not None
            self._table("code", model.tables.code.astype(np.int64))
            loss = model.tables.decoding == "loss"
            part = c_parts.LOSS_SCORES if loss else c_parts.HAMMING_SCORES
            self._put(part, n_sums=model.tables.code.shape[1])
        listed = ",\n    ".join(_label(label) for label in model.classes.tolist())
        self.parts.append(
            f"const char *const {self._name}_labels[{len(model.classes)}] = {{\n    {listed}\n}};\n"
        )
        self._put(
            c_parts.TAIL,
            factor=_number(float(model.probability_scale)),
            score=self._rounded("own[r]"),
        )


def _whole(outputs: NDArray) -> NDArray:
    """Return outputs as whole numbers where they are."""
    whole = outputs.astype(np.int64)
    return whole if (whole == outputs).all() else outputs
