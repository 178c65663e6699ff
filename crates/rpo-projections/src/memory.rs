//! Allocation that returns an error on failure, since sizes come from users and from files.

use ndarray::Array2;

use crate::ProjectionError;

/// Allocates `rows * columns` copies of `value`.
pub(crate) fn filled<T: Copy>(value: T, rows: usize, columns: usize) -> Result<Vec<T>, ProjectionError> {
    let failed = ProjectionError::OutOfMemory { rows, columns };
    let len = rows.checked_mul(columns).ok_or_else(|| failed.clone())?;
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| failed)?;
    values.resize(len, value);
    Ok(values)
}

/// Allocates a row-major matrix of zeros.
pub(crate) fn zeros<T: Copy + Default>(rows: usize, columns: usize) -> Result<Array2<T>, ProjectionError> {
    let values = filled(T::default(), rows, columns)?;
    Ok(Array2::from_shape_vec((rows, columns), values).expect("the length is the product of the shape"))
}
