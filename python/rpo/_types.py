"""Types of the data exchanged between Python and the extension module."""

from __future__ import annotations

from os import PathLike
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

CsrArrays: TypeAlias = tuple[NDArray[np.float32], NDArray[np.uint32], NDArray[np.uintp]]
"""Values, columns and row pointers of a CSR matrix."""

Borrowed: TypeAlias = (
    NDArray[np.float32] | tuple[NDArray[np.float32], NDArray[np.uint32], NDArray[np.uintp], tuple[int, int]]
)
"""A C-ordered matrix, or the arrays and the shape of a CSR matrix."""

Path: TypeAlias = str | PathLike[str]
"""The path of a file."""

ClassColumn: TypeAlias = tuple[str, int, list[str]]
"""The name of a column of classes, its first output, and its classes."""
