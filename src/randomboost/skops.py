"""What `skops.io` has to trust in a file with classifiers of this package."""

from __future__ import annotations

from .ensembles import KINDS
from .ensembles.dichotomies import HypothesisRow, StumpRow
from .ensembles.fitted_model import FittedModel
from .ensembles.landmark_average import LandmarkAverage
from .ensembles.landmark_scores import LandmarkScores
from .ensembles.linear_scores import LinearScores
from .estimators import CLASSIFIERS
from .preprocessing.categories import TablePreparation
from .preprocessing.encoding import Codebook, TableEncoding
from .preprocessing.inputs import InputPreparation
from .preprocessing.scaling import StandardScaling
from .projections.directions import Directions
from .projections.landmarks import Landmarks
from .projections.matrices import CodedProjection, GaussianProjection, GivenProjection
from .weak_learners.hypotheses import Combination, FittedEstimator, SmallTree, Stump, Stumps

_OURS = (
    *CLASSIFIERS.values(),
    *KINDS.values(),
    Codebook,
    CodedProjection,
    Combination,
    Directions,
    FittedEstimator,
    FittedModel,
    GaussianProjection,
    GivenProjection,
    HypothesisRow,
    InputPreparation,
    LandmarkAverage,
    LandmarkScores,
    Landmarks,
    LinearScores,
    SmallTree,
    StandardScaling,
    Stump,
    StumpRow,
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
