"""Fitted models as objects: what predicts, apart from how it was trained."""

from .base import Ensemble
from .coded_votes import CodedVotes
from .dichotomies import Dichotomies
from .projected_learners import ProjectedLearners
from .sparse_trees import SparseTrees
from .started_trees import LandmarkTrees, LinearTrees
from .votes import Votes

#: The ensembles by the name that files give them.
KINDS: dict[str, type[Ensemble]] = {
    kind.kind: kind
    for kind in (
        CodedVotes,
        Dichotomies,
        LandmarkTrees,
        LinearTrees,
        ProjectedLearners,
        SparseTrees,
        Votes,
    )
}
