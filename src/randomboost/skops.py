"""What `skops.io` has to trust in a file with classifiers of this package."""

from __future__ import annotations

from .ensembles.projected_stumps import StumpScorer
from .ensembles.shared_trees import ForestScorer
from .estimators.adaboost import AdaBoostClassifier
from .estimators.ecc import AdaBoostECCClassifier
from .estimators.mh import AdaBoostMHClassifier
from .estimators.mo import AdaBoostMOClassifier
from .estimators.multiboost import MultiBoostClassifier
from .estimators.proj import RBoostProjClassifier
from .estimators.rank import RBoostRankClassifier
from .preprocessing.categories import TableEncoding, TablePreparation
from .preprocessing.scaling import StandardScaling
from .projections.directions import Directions
from .projections.matrices import CodedProjection, GaussianProjection, GivenProjection
from .training.side_by_side import HypothesisRow, StumpRow
from .trees.forest import Forest
from .trees.views import ClassView, SharedView
from .weak_learners.hypotheses import Combination, FittedEstimator, SmallTree, Stump, Stumps

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
