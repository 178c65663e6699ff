//! Exports data sets as files that every contestant can read.

use anyhow::{Context, ensure};
use rpo::core::{Matrix, MatrixView, Seed};
use rpo::data::{Catalogue, DEFAULT_MEMORY_LIMIT, Dataset, Layout, Task};
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A set as two files of arrays: features `x` (dense), or `x.values`, `x.columns`, `x.starts` and `x.shape` (CSR), and
/// dense outputs `y`.
#[derive(Debug)]
pub(crate) struct Exported {
    pub(crate) sizes: Sizes,
    pub(crate) train: PathBuf,
    pub(crate) test: PathBuf,
}

/// Sizes and kinds of a data set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    pub(crate) labels: bool,
    pub(crate) sparse: bool,
    pub(crate) n_train: usize,
    pub(crate) n_test: usize,
    pub(crate) n_features: usize,
    pub(crate) n_outputs: usize,
}

/// Exports a set of the catalogue: its published split, or a seeded one with a third of the samples for testing.
pub(crate) fn export(name: &str, folder: &Path) -> anyhow::Result<Exported> {
    let loaded = Catalogue::from_env()?.load(name)?;
    let (train, test) = match loaded.test {
        Some(test) => (loaded.train, test),
        None => loaded.train.split(1.0 / 3.0, Seed::new(1))?,
    };
    let train = train.with_layout(Layout::Auto, DEFAULT_MEMORY_LIMIT)?;
    let sparse = matches!(train.features(), Matrix::Sparse(_));
    let layout = if sparse { Layout::Sparse } else { Layout::Dense };
    let test = test.with_layout(layout, DEFAULT_MEMORY_LIMIT)?;
    let [train_file, test_file] =
        ["train", "test"].map(|part| folder.join(format!("{name}-{part}.safetensors")));
    write(&train, &train_file)?;
    write(&test, &test_file)?;
    Ok(Exported {
        sizes: Sizes {
            labels: train.task() == Task::MultiLabel,
            sparse,
            n_train: train.n_samples(),
            n_test: test.n_samples(),
            n_features: train.n_features(),
            n_outputs: train.n_outputs(),
        },
        train: train_file,
        test: test_file,
    })
}

fn write(data: &Dataset, path: &Path) -> anyhow::Result<()> {
    let mut arrays = vec![dense("y", data.outputs().view())?];
    match data.features().view() {
        MatrixView::Sparse(x) => {
            let starts: Vec<u64> = x
                .indptr()
                .raw_storage()
                .iter()
                .map(|start| *start as u64)
                .collect();
            let shape = [x.rows() as u64, x.cols() as u64];
            arrays.push((
                "x.values",
                vec![x.nnz()],
                Dtype::F32,
                bytes(x.data(), f32::to_le_bytes),
            ));
            arrays.push((
                "x.columns",
                vec![x.nnz()],
                Dtype::U32,
                bytes(x.indices(), u32::to_le_bytes),
            ));
            arrays.push((
                "x.starts",
                vec![starts.len()],
                Dtype::U64,
                bytes(&starts, u64::to_le_bytes),
            ));
            arrays.push(("x.shape", vec![2], Dtype::U64, bytes(&shape, u64::to_le_bytes)));
        }
        x => arrays.push(dense("x", x)?),
    }
    let views = arrays
        .iter()
        .map(|(name, shape, dtype, bytes)| Ok((*name, TensorView::new(*dtype, shape.clone(), bytes)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    std::fs::write(path, safetensors::serialize(views, None)?).with_context(|| path.display().to_string())
}

type Array = (&'static str, Vec<usize>, Dtype, Vec<u8>);

fn dense(name: &'static str, a: MatrixView<'_>) -> anyhow::Result<Array> {
    let a = a.to_dense(DEFAULT_MEMORY_LIMIT)?;
    let values = a.as_slice().context("rows follow each other")?;
    Ok((
        name,
        vec![a.nrows(), a.ncols()],
        Dtype::F32,
        bytes(values, f32::to_le_bytes),
    ))
}

fn bytes<T: Copy, const N: usize>(values: &[T], of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&v| of(v)).collect()
}

/// Reads a file written by [`export`].
pub(crate) fn read(path: &Path) -> anyhow::Result<Dataset> {
    let file = std::fs::read(path).with_context(|| path.display().to_string())?;
    let arrays = safetensors::SafeTensors::deserialize(&file)?;
    let matrix = |name: &str| -> anyhow::Result<Matrix> {
        let array = arrays.tensor(name)?;
        let [rows, columns] = array.shape()[..] else {
            anyhow::bail!("{name} is not a matrix");
        };
        let values = values(array.data(), f32::from_le_bytes);
        Ok(ndarray::Array2::from_shape_vec((rows, columns), values)?.into())
    };
    let x = if arrays.tensor("x").is_ok() {
        matrix("x")?
    } else {
        let shape = values(arrays.tensor("x.shape")?.data(), u64::from_le_bytes);
        let starts = values(arrays.tensor("x.starts")?.data(), u64::from_le_bytes);
        let parts = (
            starts.into_iter().map(|start| start as usize).collect(),
            values(arrays.tensor("x.columns")?.data(), u32::from_le_bytes),
            values(arrays.tensor("x.values")?.data(), f32::from_le_bytes),
        );
        ensure!(shape.len() == 2, "a matrix has two sides");
        let (rows, columns) = (shape[0] as usize, shape[1] as usize);
        rpo::core::CsrMatrix::new((rows, columns), parts.0, parts.1, parts.2).into()
    };
    let y = matrix("y")?;
    let Matrix::Dense(dense) = &y else {
        anyhow::bail!("outputs are dense");
    };
    let task = match dense.iter().all(|v| *v == 0.0 || *v == 1.0) {
        true => Task::MultiLabel,
        false => Task::Regression,
    };
    Ok(Dataset::new(x, y, task)?)
}

fn values<T, const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> T) -> Vec<T> {
    let (chunks, _) = bytes.as_chunks::<N>();
    chunks.iter().map(|chunk| of(*chunk)).collect()
}
