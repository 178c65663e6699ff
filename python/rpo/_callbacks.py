"""Callbacks of scikit-learn 1.9 and newer: a fit is a task, with a subtask for each of its steps."""

from __future__ import annotations

from typing import Any


class Course:
    """Reports the progress of a fit to the callbacks of the estimator, if there are any."""

    def __init__(self, estimator: Any, X: Any, y: Any, n_steps: int | None):
        self._estimator = estimator
        self._data = {"X": X, "y": y}
        self._root: Any = None
        self._done = 0
        if getattr(estimator, "_skl_callbacks", None) or hasattr(estimator, "_parent_callback_ctx"):
            self._root = estimator._init_callback_context(max_subtasks=n_steps)
            self._root.call_on_fit_task_begin(estimator=estimator, **self._data)

    @property
    def has_listeners(self) -> bool:
        """True if there are callbacks."""
        return self._root is not None

    def advance(self, steps: int) -> None:
        """Report that this many steps are done."""
        for _ in range(self._done, steps if self.has_listeners else 0):
            step = self._root.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self._estimator)
            step.call_on_fit_task_end(estimator=self._estimator)
        self._done = steps

    def end(self, **fitted: Any) -> None:
        """Report the end of the fit, with the attributes of a fitted estimator, so that it can be scored."""
        if self.has_listeners:
            self._root.call_on_fit_task_end(estimator=self._estimator, reconstruction_attributes=fitted, **self._data)
