//! Matrices of numpy and scipy, which are borrowed, and matrices of the crates, which are passed to Python.

use crate::error::value_error;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rpo::core::{CsrMatrix, CsrView, Matrix, MatrixView};

/// A matrix owned by Python: a C-ordered, aligned array of float32; or values (float32), columns (uint32), row pointers
/// (uintp) and shape of a CSR matrix whose columns increase in each row.
#[derive(FromPyObject)]
pub(crate) enum Borrowed<'py> {
    Dense(PyReadonlyArray2<'py, f32>),
    Sparse(
        PyReadonlyArray1<'py, f32>,
        PyReadonlyArray1<'py, u32>,
        PyReadonlyArray1<'py, usize>,
        (usize, usize),
    ),
}

impl Borrowed<'_> {
    /// A view of the matrix without a copy.
    pub(crate) fn view(&self) -> PyResult<MatrixView<'_>> {
        match self {
            Self::Dense(array) => Ok(array.as_array().into()),
            Self::Sparse(values, columns, starts, shape) => {
                let (values, columns, starts) = (values.as_slice()?, columns.as_slice()?, starts.as_slice()?);
                let view = CsrView::try_new(*shape, starts, columns, values);
                view.map(MatrixView::from)
                    .map_err(|(.., error)| value_error(error))
            }
        }
    }
}

/// Values, columns and row pointers of a CSR matrix, in the types of scipy.
pub(crate) type CsrArrays<'py> = (
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<usize>>,
);

/// A dense array, or the arrays of a CSR matrix.
#[derive(IntoPyObject)]
pub(crate) enum Handed<'py> {
    Dense(Bound<'py, PyArray2<f32>>),
    Sparse(CsrArrays<'py>),
}

/// Passes a CSR matrix to Python.
pub(crate) fn hand_csr(py: Python<'_>, matrix: CsrMatrix) -> CsrArrays<'_> {
    let (starts, columns, values) = matrix.into_raw_storage();
    (
        values.into_pyarray(py),
        columns.into_pyarray(py),
        starts.into_pyarray(py),
    )
}

/// Passes a matrix to Python.
pub(crate) fn hand(py: Python<'_>, matrix: Matrix) -> Handed<'_> {
    match matrix {
        Matrix::Dense(array) => Handed::Dense(array.into_pyarray(py)),
        Matrix::Sparse(matrix) => Handed::Sparse(hand_csr(py, matrix)),
    }
}
