"""Forests, boosting and embeddings for many outputs, on random projections of the output space.

Estimators have the names and parameters of scikit-learn. `Model` is a fitted model, the content of a file that the
command `rpo` writes and reads.
"""

from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version

from . import datasets, distributed, metrics, model_selection, projections
from ._precision import PrecisionWarning
from .auto import AutoClassifier, AutoRegressor
from .boosting import GradientBoostingClassifier, GradientBoostingRegressor
from .description import describe
from .forest import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from .linear import LabelTreeClassifier, LinearOneVsRestClassifier
from .model import Model, methods
from .multilabel import CraftmlClassifier, LabelEmbeddingClassifier, StructuredForestClassifier

try:
    __version__ = _version("rpo-learn")
except _PackageNotFoundError:  # a copy of the folder, without the record of an installation
    __version__ = "unknown"

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "CraftmlClassifier",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "LabelEmbeddingClassifier",
    "LabelTreeClassifier",
    "LinearOneVsRestClassifier",
    "Model",
    "PrecisionWarning",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StructuredForestClassifier",
    "datasets",
    "describe",
    "distributed",
    "methods",
    "metrics",
    "model_selection",
    "projections",
]
