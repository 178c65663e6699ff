//! Bad input gives an error that names what is wrong and where, not a panic or a silent result.

use ndarray::{Array2, array};
use rpo::core::{CsrMatrix, Matrix, MatrixView, MemoryLimit, Mismatch};
use rpo::data::{Dataset, Task};
use rpo::ensemble::EnsembleError;
use rpo::ensemble::boosting::{Algorithm, BoostingParams};
use rpo::ensemble::thresholds::{ThresholdRule, find};
use rpo::prelude::*;

fn labels(n: usize) -> Dataset {
    let x = Array2::from_shape_fn((n, 2), |(i, j)| ((i * (j + 3)) % 7) as f32);
    let y = Array2::from_shape_fn((n, 3), |(i, j)| f32::from(u8::from((i + j) % 3 == 0)));
    Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap()
}

#[test]
fn scores_of_another_width_are_not_decided_on() {
    let data = labels(12);
    let params = ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    let model = Model::fit(&params, &data).unwrap();
    let mut expecting = model.clone();
    expecting.decision = Decision::ExpectedF1;
    for model in [model, expecting] {
        assert!(model.decide(array![[0.5_f32, 0.5, 0.5]].view()).is_ok());
        for given in [2, 4] {
            let scores = Array2::<f32>::zeros((1, given));
            let (what, expected) = ("columns of the scores", 3);
            assert_eq!(
                model.decide(scores.view()),
                Err(Mismatch {
                    what,
                    expected,
                    given
                }
                .into())
            );
        }
    }
}

/// Includes square matrices, for which a transposed reading would go unnoticed.
#[test]
fn labels_stored_by_columns_are_read_as_they_are() {
    for n in [3, 7] {
        let rows: CsrMatrix = labels(n).outputs().view().to_csr();
        let columns = rows.to_csc();
        let (rows, columns) = (MatrixView::from(&rows), MatrixView::from(&columns));
        let scores = Array2::from_shape_fn((n, 3), |(i, j)| ((5 * i + 2 * j) % 11) as f32);
        let found = |y| find(ThresholdRule::MacroF, scores.view(), y).unwrap();
        assert_eq!(found(rows), found(columns));
        let owned = Matrix::Sparse(columns.to_csr().to_csc());
        let x = Array2::<f32>::zeros((n, 1));
        let data = Dataset::new(x.into(), owned, Task::MultiLabel).unwrap();
        assert_eq!(data.outputs(), &rows.to_owned());
    }
}

/// Absurdly many components: nothing is drawn that would not fit in memory.
#[test]
fn projections_beyond_memory_are_refused() {
    let data = labels(300);
    let components = Some(Components::Exact(1 << 24));
    let what = "a projection of 300 samples and 3 outputs to 16777216 components";
    let expected = MemoryLimit {
        what: what.into(),
        bytes: 303 << 26,
        limit: 4 << 30,
    };
    let forest = ForestParams {
        projection: ProjectionKind::Gaussian.into(),
        components,
        ..ForestParams::default()
    };
    let refused = Model::fit(&forest, &data).unwrap_err();
    assert_eq!(refused, EnsembleError::Memory(expected.clone()).into());
    let boosting = BoostingParams {
        components,
        ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
    };
    let refused = Model::fit(&boosting, &data).unwrap_err();
    assert_eq!(refused, EnsembleError::Memory(expected).into());
}
