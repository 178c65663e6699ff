"""A backend of Annif, the tool for subject indexing: forests and other methods on tf-idf vectors of texts.

Annif finds the backend if the environment sets `ANNIF_CONFIG=rpo.annif.Config`; a project then uses `backend=rpo`.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, ClassVar

import annif.backend
import annif.default_config
import numpy as np
import scipy.sparse as sp
from annif.backend.backend import AnnifBackend
from annif.backend.mixins import TfidfVectorizerMixin
from annif.exception import NotInitializedException, NotSupportedException
from annif.suggestion import SuggestionBatch
from annif.util import atomic_save

from .model import Model, methods

__all__ = ["Config", "RpoBackend"]

if TYPE_CHECKING:
    # Annif declares no types.
    class _Backend:
        datadir: str
        backend_id: str
        project: Any
        vectorizer: Any

        def info(self, message: str) -> None: ...
        def initialize_vectorizer(self) -> None: ...
        def create_vectorizer(self, texts: Any, options: Any) -> Any: ...

    class _Config: ...
else:

    class _Backend(TfidfVectorizerMixin, AnnifBackend):
        pass

    _Config = annif.default_config.ProductionConfig


class RpoBackend(_Backend):
    """Any method of the registry on tf-idf vectors, instead of Annif's omikuji.

    A project's configuration names the method (`method=one-vs-rest`, the default) and may set its parameters under
    their names in the command (`trees=100`); `min_df` and `ngram` are parameters of the vectors, and `limit` is the
    number of suggestions.
    """

    name: ClassVar[str] = "rpo"
    MODEL_FILE: ClassVar[str] = "model.rpo"
    TRAIN_FILE: ClassVar[str] = "train"
    DEFAULT_PARAMETERS: ClassVar[dict[str, Any]] = {"min_df": 1, "ngram": 1, "method": "one-vs-rest"}

    _model: Model | None = None

    def initialize(self, parallel: bool = False) -> None:
        """Load vectors and model."""
        self.initialize_vectorizer()
        if self._model is None:
            path = os.path.join(self.datadir, self.MODEL_FILE)
            if not os.path.exists(path):
                raise NotInitializedException(f"model {path} not found", backend_id=self.backend_id)
            self._model = Model.load(path)

    def _train(self, corpus: Any, params: dict[str, Any], jobs: int = 0) -> None:
        path = os.path.join(self.datadir, self.TRAIN_FILE)
        if corpus != "cached":
            if corpus.is_empty():
                raise NotSupportedException("Cannot train rpo project with no documents")
            atomic_save(self._matrices(corpus, params), self.datadir, self.TRAIN_FILE, method=_save)
        X, Y = _load(path)
        method = str(params["method"])
        known = methods()[method]["parameters"] if method in methods() else {}
        given = {name: _value(value) for name, value in params.items() if name in known}
        self.info(f"training {method} on {X.shape[0]} documents, {X.shape[1]} words and {Y.shape[1]} subjects")
        self._model = Model.fit(X, Y, method=method, labels=True, n_threads=max(jobs, 0), **given)
        self._model.save(os.path.join(self.datadir, self.MODEL_FILE))

    def _matrices(self, corpus: Any, params: dict[str, Any]) -> tuple[Any, Any]:
        """Return the vectors and subjects of the documents that have both."""
        options = {
            "min_df": int(params["min_df"]),
            "tokenizer": self.project.analyzer.tokenize_words,
            "ngram_range": (1, int(params["ngram"])),
            "dtype": np.float32,
        }
        X = self.create_vectorizer((document.text for document in corpus.documents), options)
        subjects = [sorted(document.subject_set) for document in corpus.documents]
        starts = np.cumsum([0, *(len(row) for row in subjects)])
        columns = np.array([subject for row in subjects for subject in row], np.int32)
        shape = (len(subjects), len(self.project.subjects))
        Y = sp.csr_array((np.ones(len(columns), np.float32), columns, starts), shape=shape)
        kept = np.flatnonzero((np.diff(X.indptr) > 0) & (np.diff(Y.indptr) > 0))
        return X[kept], Y[kept]

    def _suggest_batch(self, documents: list[Any], params: dict[str, Any]) -> Any:
        X = self.vectorizer.transform([document.text for document in documents])
        assert self._model is not None, "Annif initializes a backend before it suggests"
        best = self._model.predict_top_k(X, int(params["limit"]))
        active = np.zeros(len(self.project.subjects), np.float32)
        active[[number for number, _ in self.project.subjects.active]] = 1.0
        # Documents without words of the vocabulary get no suggestions, and subjects no longer in use get no score.
        has_words = (np.diff(X.indptr) > 0).astype(np.float32)
        best.data = np.clip(best.data, 0.0, 1.0) * active[best.indices] * np.repeat(has_words, np.diff(best.indptr))
        best.eliminate_zeros()
        # Subjects that came after the training have no output.
        shape = (best.shape[0], len(self.project.subjects))
        return SuggestionBatch(sp.csr_array((best.data, best.indices, best.indptr), shape=shape))


class Config(_Config):
    """The production configuration of Annif with this backend."""


def _value(given: Any) -> Any:
    """Return a value of a configuration file, converted if it is a number or a switch."""
    try:
        return json.loads(given)
    except (TypeError, ValueError):
        return given


def _save(matrices: tuple[Any, Any], path: str) -> None:
    arrays: dict[str, Any] = {}
    for name, matrix in zip("XY", matrices, strict=True):
        arrays |= {f"{name}_{part}": getattr(matrix, part) for part in ("data", "indices", "indptr", "shape")}
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def _load(path: str) -> tuple[Any, Any]:
    with np.load(path) as arrays:
        X, Y = (
            sp.csr_array(
                tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr")),
                shape=tuple(arrays[f"{name}_shape"]),
            )
            for name in "XY"
        )
    return X, Y


annif.backend._backend_fns.setdefault(RpoBackend.name, lambda: RpoBackend)
