//! Boosted models are assembled from parts that match alone.

use super::*;
use crate::boosting::{Algorithm, BoostingParams, LossKind};
use ndarray::Array2;

#[test]
fn models_are_put_together_of_parts_that_fit() {
    let x = Array2::from_shape_fn((30, 5), |(i, j)| ((i * 7 + j * 11) % 13) as f32);
    let y = Array2::from_shape_fn((30, 8), |(i, j)| f32::from(u8::from(x[[i, j % 5]] > j as f32)));
    for algorithm in Algorithm::ALL {
        let params = BoostingParams {
            loss: Some(LossKind::Logistic),
            iterations: 4,
            ..BoostingParams::paper(algorithm)
        };
        let model = params.fit((&x).into(), (&y).into()).unwrap();
        let with = |trees: Vec<BoostingStep<_>>, per_step, p| {
            Boosted::from_parts(
                model.initial().to_vec(),
                trees,
                per_step,
                model.inverse_link(),
                p,
                30,
            )
        };
        let per_step = model.trees_per_step();
        assert_eq!(with(model.trees().to_vec(), per_step, 5), Ok(model.clone()));
        let mismatch = |result: Result<Boosted, EnsembleError>| {
            assert!(matches!(result, Err(EnsembleError::Mismatch(_))), "{result:?}");
        };
        mismatch(with(model.trees().to_vec(), 3, 5));
        mismatch(with(model.trees().to_vec(), per_step, 1));
        let mut trees = model.trees().to_vec();
        trees[0].gains[0] = f64::NAN;
        assert_eq!(
            with(trees.clone(), per_step, 5),
            Err(EnsembleError::Diverged { step: 0 })
        );
        trees[0].gains.clear();
        mismatch(with(trees, per_step, 5));
        let mut trees = model.trees().to_vec();
        trees[0].values = StepValues::Vectors(Array2::zeros((1, 8)));
        mismatch(with(trees.clone(), per_step, 5));
        let n_leaves = trees[0].structure.n_leaves();
        trees[0].values = StepValues::Vectors(Array2::zeros((n_leaves, 7)));
        mismatch(with(trees.clone(), per_step, 5));
        trees[0].values = StepValues::Vectors(Array2::from_elem((n_leaves, 8), f32::NAN));
        assert_eq!(with(trees, per_step, 5), Err(EnsembleError::Diverged { step: 0 }));
    }
    assert!(Boosted::from_parts(Vec::new(), Vec::new(), 1, InverseLink::Identity, 5, 30).is_err());
    let coupled = Boosted::from_parts(vec![0.0], Vec::new(), 1, InverseLink::Softmax, 5, 30);
    assert!(matches!(coupled, Err(EnsembleError::Parameter(_))));
}
