"""What `skops.io` has to trust in a file with classifiers of this package."""

from __future__ import annotations

from .classical.adaboost import AdaBoostClassifier
from .classical.dichotomies import HypothesisRow, StumpRow
from .classical.ecc import AdaBoostECCClassifier
from .classical.mh import AdaBoostMHClassifier
from .classical.mo import AdaBoostMOClassifier
from .classical.multiboost import MultiBoostClassifier
from .hypotheses import Combination, FittedEstimator, SmallTree, Stump, Stumps
from .prediction import StumpScorer
from .proj import RBoostProjClassifier
from .projections import CodedProjection, GaussianProjection, GivenProjection
from .rank import RBoostRankClassifier
from .scaling import StandardScaling
from .tables import TableEncoding, TablePreparation
from .trees.directions import Directions
from .trees.forest import Forest
from .trees.scoring import ForestScorer
from .trees.views import ClassView, SharedView

_OURS = (
    AdaBoostClassifier,
    AdaBoostECCClassifier,
    AdaBoostMHClassifier,
    AdaBoostMOClassifier,
    ClassView,
    CodedProjection,
    Combination,
    Directions,
    FittedEstimator,
    Forest,
    ForestScorer,
    GaussianProjection,
    GivenProjection,
    HypothesisRow,
    MultiBoostClassifier,
    RBoostProjClassifier,
    RBoostRankClassifier,
    SharedView,
    SmallTree,
    StandardScaling,
    Stump,
    StumpRow,
    StumpScorer,
    Stumps,
    TableEncoding,
    TablePreparation,
)

#: Types for ``skops.io.load(file, trusted=TRUSTED)``: the classes of this package, and two of
#: NumPy and SciPy that models hold (the precision of the data, and sparse directions).
TRUSTED = [
    *(f"{kind.__module__}.{kind.__name__}" for kind in _OURS),
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
]
