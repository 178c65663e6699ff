//! Boosted models are assembled only from matching parts.

use super::*;
use crate::boosting::{Algorithm, BoostingParams, LossKind};
use ndarray::Array2;
use rpo_core::{InverseLink, Learner};

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
                model.links().to_vec(),
                p,
                30,
            )
        };
        let per_step = model.trees_per_step();
        assert_eq!(with(model.trees().to_vec(), per_step, 5), Ok(model.clone()));
        let mismatch = |result: Result<Boosted, EnsembleError>| {
            assert!(
                matches!(result, Err(EnsembleError::Mismatch(_) | EnsembleError::TooFew(_))),
                "{result:?}"
            );
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
    let link = |n_outputs| LinkBlock {
        link: InverseLink::Softmax,
        n_outputs,
        ordered: false,
    };
    let without_trees = |initial, links| Boosted::from_parts(initial, Vec::new(), 1, links, 5, 30);
    assert!(without_trees(Vec::new(), Vec::new()).is_err());
    assert!(without_trees(vec![0.0; 5], vec![link(2), link(3)]).is_ok());
    for links in [
        vec![],
        vec![link(2)],
        vec![link(2), link(2)],
        vec![link(3), link(usize::MAX)],
    ] {
        let result = without_trees(vec![0.0; 3], links);
        assert!(matches!(result, Err(EnsembleError::Mismatch(_))), "{result:?}");
    }
    let empty = without_trees(vec![0.0; 3], vec![link(3), link(0)]);
    assert!(matches!(empty, Err(EnsembleError::TooFew(_))));
}
