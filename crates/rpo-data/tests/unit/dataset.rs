//! Sets refuse values and columns that cannot be, and say where they are.

use super::*;
use ndarray::array;
use rpo_core::{MatrixError, MatrixView, Mismatch};

pub(super) fn mixed() -> Dataset {
    let features = array![[0.0, 1.5, 2.0], [1.0, f32::NAN, 0.0], [0.0, -1.0, 1.0]];
    let outputs = array![[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]];
    let values: Arc<[String]> = ["a", "b", "c"].map(String::from).into();
    Dataset::new(features.into(), outputs.into(), Task::MultiLabel)
        .unwrap()
        .with_nominal([(2, values)].into())
        .unwrap()
}

#[test]
fn outputs_are_missing_only_where_allowed() {
    let x = || Matrix::from(array![[1.0], [2.0]]);
    let y = array![[f32::NAN, 1.0, 0.0], [0.0, f32::NAN, 1.0]];
    for outputs in [
        Matrix::from(y.clone()),
        Matrix::from(MatrixView::from(&y).to_csr()),
    ] {
        for task in [Task::MultiLabel, Task::Regression] {
            assert!(Dataset::new(x(), outputs.clone(), task).is_err());
            let data = Dataset::with_missing(x(), outputs.clone(), task).unwrap();
            assert_eq!((data.n_missing(), data.n_missing_outputs()), (0, 2));
            let other = data.select_outputs(&[0, 2]).unwrap();
            let joined = other.concat(&other).unwrap();
            assert_eq!(joined.n_missing_outputs(), 2);
        }
        let found = Dataset::with_missing(x(), outputs, Task::MultiLabel).unwrap();
        assert!(matches!(found.outputs(), Matrix::Sparse(a) if a.nnz() == 4));
    }
    let infinite = array![[f32::NAN], [f32::INFINITY]];
    let (row, column, value) = (1, 0, f32::INFINITY);
    let (sample, output) = (row, column);
    assert_eq!(
        Dataset::with_missing(x(), infinite.clone().into(), Task::MultiLabel),
        Err(DatasetError::NotALabel {
            sample,
            output,
            value
        })
    );
    assert_eq!(
        Dataset::with_missing(x(), infinite.into(), Task::Regression),
        Err(DatasetError::Output(MatrixError::NonFinite {
            row,
            column,
            value
        }))
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let x = || Matrix::from(array![[1.0], [2.0]]);
    let new = |x: Matrix, y: Matrix, task| Dataset::new(x, y, task).unwrap_err();
    let mismatch = |what, expected, given| {
        DatasetError::from(Mismatch {
            what,
            expected,
            given,
        })
    };
    assert_eq!(
        new(x(), array![[1.0]].into(), Task::Regression),
        mismatch("samples of the outputs", 2, 1)
    );
    assert_eq!(
        new(x(), array![[0.0, 1.0], [1.0, 2.0]].into(), Task::MultiLabel),
        DatasetError::NotALabel {
            sample: 1,
            output: 1,
            value: 2.0
        }
    );
    assert!(matches!(
        new(x(), array![[0.0], [f32::NAN]].into(), Task::MultiLabel),
        DatasetError::NotALabel {
            sample: 1,
            output: 0,
            ..
        }
    ));
    assert!(matches!(
        new(x(), array![[0.0], [f32::NAN]].into(), Task::Regression),
        DatasetError::Output(MatrixError::NonFinite {
            row: 1,
            column: 0,
            ..
        })
    ));
    assert_eq!(
        new(
            array![[1.0, f32::INFINITY]].into(),
            array![[1.0]].into(),
            Task::Regression
        ),
        DatasetError::InfiniteFeature {
            sample: 0,
            feature: 1,
            value: f32::INFINITY
        }
    );
    assert_eq!(
        mixed().select_samples(&[3]),
        Err(DatasetError::OutOfRange {
            what: "sample",
            index: 3,
            count: 3
        })
    );
    assert_eq!(
        mixed().with_names(Columns::Features, ["x"; 3].into_iter().collect()),
        Err(DatasetError::DuplicateName {
            what: "feature",
            name: "x".into()
        })
    );
    assert_eq!(
        mixed().with_names(Columns::Outputs, Names::Numbered(3)),
        Err(mismatch("output names", 2, 3))
    );
    assert_eq!(
        mixed().with_nominal([(1, [].into())].into()),
        Err(DatasetError::NoValues(1))
    );
    let two: Arc<[String]> = ["a", "b"].map(String::from).into();
    assert_eq!(
        mixed().with_nominal([(2, two)].into()),
        Err(DatasetError::NotAPosition {
            sample: 0,
            feature: 2,
            value: 2.0,
            n_values: 2
        })
    );
}
