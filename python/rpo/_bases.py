"""Base classes of estimators from scikit-learn. `_bases.pyi` declares their types, which scikit-learn lacks."""

from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.model_selection import BaseCrossValidator

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # before 1.9

    class CallbackSupport:
        """Replaces the class that older versions lack."""

    def with_callbacks(method):
        """Return the method unchanged."""
        return method


__all__ = [
    "BaseCrossValidator",
    "BaseEstimator",
    "CallbackSupport",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "MultiOutputMixin",
    "RegressorMixin",
    "TransformerMixin",
    "with_callbacks",
]
