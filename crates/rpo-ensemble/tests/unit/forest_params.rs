//! Parameters of forests are checked at their bounds, and read what they write.

use super::*;
use crate::forest::ForestPreset;
use rpo_core::CheckParams;
use rpo_projections::ProjectionKind;

#[test]
fn parameters_are_checked_at_their_bounds() {
    let name = |params: ForestParams| match params.check() {
        Err(EnsembleError::Parameter(error)) => error.name(),
        Err(EnsembleError::Projection(_)) => "projection",
        other => panic!("{other:?}"),
    };
    let base = ForestParams::default;
    let conflicts = |params: ForestParams| {
        matches!(
            params.check(),
            Err(EnsembleError::Parameter(ParameterError::Conflict { .. }))
        )
    };
    assert_eq!(name(ForestParams { trees: 0, ..base() }), "trees");
    let trees = |first_tree| ForestParams {
        trees: 2,
        first_tree,
        ..base()
    };
    assert_eq!(name(trees(usize::MAX - 1)), "first_tree");
    assert!(trees(usize::MAX - 2).check().is_ok());
    for max_features in [MaxFeatures::Count(0), MaxFeatures::Share(f64::NAN)] {
        assert_eq!(
            name(ForestParams {
                max_features,
                ..base()
            }),
            "max_features"
        );
    }
    let max_leaves = Some(0);
    assert_eq!(name(ForestParams { max_leaves, ..base() }), "max_leaves");
    let min_samples_leaf = 0;
    assert_eq!(
        name(ForestParams {
            min_samples_leaf,
            ..base()
        }),
        "min_samples_leaf"
    );
    for min_impurity_decrease in [-1e-300, f64::NAN, f64::INFINITY] {
        let params = ForestParams {
            min_impurity_decrease,
            ..base()
        };
        assert_eq!(name(params), "min_impurity_decrease");
    }
    for bad in [0.0, -0.1, 1.0 + f64::EPSILON, f64::NAN] {
        let row_share = Some(bad);
        assert_eq!(name(ForestParams { row_share, ..base() }), "row_share");
        assert_eq!(
            name(ForestParams {
                feature_share: bad,
                ..base()
            }),
            "feature_share"
        );
    }
    let both = ForestParams {
        bootstrap: Some(true),
        row_share: Some(0.5),
        ..base()
    };
    assert!(conflicts(both));
    let projected = |components| ForestParams {
        projection: ProjectionKind::Gaussian.into(),
        components: Some(components),
        ..base()
    };
    let labels_only = ForestParams {
        criterion: CriterionKind::Gini,
        ..projected(Components::Exact(1))
    };
    assert_eq!(name(labels_only.clone()), "criterion");
    assert!(conflicts(labels_only));
    assert_eq!(name(projected(Components::Exact(0))), "projection");
    for (components, projection_scope) in [
        (Some(Components::LnOutputs), None),
        (None, Some(ProjectionScope::Tree)),
    ] {
        let params = ForestParams {
            components,
            projection_scope,
            ..base()
        };
        assert!(conflicts(params));
    }
    let most = ForestParams {
        row_share: Some(1.0),
        ..ForestPreset::RfCost.into()
    };
    assert!(most.check().is_ok());
    let least = ForestParams {
        trees: 1,
        max_leaves: Some(1),
        min_samples_split: 0,
        ..base()
    };
    assert!(least.check().is_ok());
}

#[test]
fn parameters_read_what_they_write() {
    for params in [
        ForestParams::default(),
        ForestParams::from(ForestPreset::RfCost),
        ForestParams {
            projection: ProjectionKind::Rademacher { s: 2.5 }.into(),
            components: Some(Components::Exact(3)),
            max_features: MaxFeatures::Share(1.0),
            ..ForestPreset::ExtraTrees.into()
        },
    ] {
        let json = serde_json::to_string(&params).unwrap();
        assert_eq!(
            serde_json::from_str::<ForestParams>(&json).unwrap(),
            params,
            "{json}"
        );
    }
    let some: ForestParams =
        serde_json::from_str(r#"{"trees": 7, "max_features": 0.5, "components": "ln", "projection": "pca"}"#)
            .unwrap();
    assert_eq!((some.trees, some.max_features), (7, MaxFeatures::Share(0.5)));
    assert!(serde_json::from_str::<ForestParams>(r#"{"n_trees": 7}"#).is_err());
}
