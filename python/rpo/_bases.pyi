"""Types of the base classes of scikit-learn, as far as estimators expose them."""

from collections.abc import Callable
from typing import Any, TypeVar

from typing_extensions import Self

_F = TypeVar("_F", bound=Callable[..., Any])

class BaseEstimator:
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
    def get_metadata_routing(self) -> Any:
        """Return the metadata that the estimator requests."""
    def __sklearn_tags__(self) -> Any:
        """Return the kinds of input that the estimator supports."""
    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Request metadata for `fit`."""
    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request metadata for `score`."""

class CallbackSupport:
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set the callbacks of the fit (scikit-learn 1.9 and newer)."""

class MultiOutputMixin: ...

class ClassifierMixin:
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy."""

class RegressorMixin:
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R²."""

class ClassNamePrefixFeaturesOutMixin:
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the components."""

class TransformerMixin:
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and return the components."""
    def set_output(self, *, transform: str | None = None) -> Self:
        """Set the kind of table to return."""

class BaseCrossValidator: ...

def with_callbacks(method: _F) -> _F:
    """Notify the callbacks of an estimator when its fit ends."""
