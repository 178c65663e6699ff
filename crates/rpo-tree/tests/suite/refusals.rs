//! Input that growing and applying trees refuse.

use super::common::csr;
use ndarray::{Array2, array};
use rpo_core::{MatrixView, Seed, TooFew};
use rpo_tree::criterion::Variance;
use rpo_tree::splitter::{AxisParams, AxisSplitter, Splitter};
use rpo_tree::{AxisRule, GrowParams, Node, RankedFeatures, Structure, TreeError, grow, grow_parallel};

#[test]
fn rows_and_limits_that_no_tree_grows_on_are_refused() {
    let (x, y) = (array![[0.0], [1.0], [2.0]], array![[0.0], [1.0], [0.0]]);
    let columns = RankedFeatures::new((&x).into(), &[]).unwrap();
    let splitter = AxisSplitter::new(
        &columns,
        Variance::new(y.view(), &[1.0; 3]),
        AxisParams::default(),
    )
    .unwrap();
    let refusal = |rows: &[u32], max_leaves| {
        let params = GrowParams {
            max_leaves,
            ..GrowParams::default()
        };
        let grown = grow(
            &splitter,
            &mut splitter.workspace(),
            rows.to_vec(),
            &params,
            Seed::new(0),
        );
        assert_eq!(
            grown,
            grow_parallel(&splitter, rows.to_vec(), &params, Seed::new(0))
        );
        grown.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(refusal(&[0, 2], None), "");
    assert_eq!(refusal(&[], None), "a tree needs at least one sample to grow on");
    assert_eq!(refusal(&[0, 3], None), "rows: expected at least 4, got 3");
    assert_eq!(
        refusal(&[1, 1], None),
        "`rows` must be increasing, got 1 before 1"
    );
    assert_eq!(
        refusal(&[0, 2], Some(0)),
        "`max_leaves` must be at least 1, got 0"
    );
}

#[test]
fn features_that_rules_cannot_read_are_refused() {
    let split = Node::Split {
        rule: AxisRule::new(0, 0.0, false),
        first_child: 1,
    };
    let structure = Structure::try_from(vec![split, Node::Leaf(0), Node::Leaf(1)]).unwrap();
    let none = Array2::<f32>::zeros((2, 0));
    let too_few = Err(TreeError::TooFew(TooFew {
        what: "features",
        needed: 1,
        given: 0,
    }));
    assert_eq!(structure.apply((&none).into()), too_few);
    let by_columns = csr(&array![[1.0], [-1.0]]).to_csc();
    let not_csr = Err(TreeError::from(rpo_core::NotCsr { what: "features" }));
    assert_eq!(structure.apply(MatrixView::Sparse(by_columns.view())), not_csr);
}
