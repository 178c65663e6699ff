//! Models of every kind on small generated data.

pub(crate) mod echo;

use ndarray::Array2;
use rpo::core::{CsrMatrix, Learner, Matrix, MatrixView};
use rpo::data::{Dataset, Task};
use rpo::ensemble::boosting::{Algorithm, BoostingParams, LossKind};
use rpo::ensemble::craftml::{CentroidKind, CraftmlParams, CraftmlVariant, Width};
use rpo::ensemble::{ForestOptions, ForestParams, ProjectionChoice, SingleTargetParams, Splitting};
use rpo::projections::{Components, ProjectionKind};
use rpo::tree::LeafKind;
use rpo::{Model, core::Seed};

/// Names and values of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case {
    pub(crate) seed: u64,
    pub(crate) rows: usize,
    pub(crate) features: usize,
    pub(crate) outputs: usize,
    pub(crate) task: Task,
    pub(crate) binary_features: bool,
    pub(crate) sparse_features: bool,
    pub(crate) missing: bool,
    pub(crate) leaves: Option<LeafKind>,
    pub(crate) max_leaves: Option<usize>,
    pub(crate) bootstrap: bool,
    pub(crate) projected: bool,
    pub(crate) weights: bool,
    pub(crate) random_thresholds: bool,
    /// Uses a CRAFTML forest instead, to which most of the above does not apply.
    pub(crate) craftml: Option<CraftmlVariant>,
    /// Kind of centroids, if not the default.
    pub(crate) centroids: Option<CentroidKind>,
}

impl Default for Case {
    fn default() -> Self {
        Self {
            seed: 1,
            rows: 40,
            features: 5,
            outputs: 4,
            task: Task::MultiLabel,
            binary_features: false,
            sparse_features: false,
            missing: false,
            leaves: None,
            max_leaves: None,
            bootstrap: true,
            projected: false,
            weights: false,
            random_thresholds: false,
            craftml: None,
            centroids: None,
        }
    }
}

impl Case {
    /// A value in [0, 1) for an entry of a table.
    fn unit(&self, table: &str, i: usize, j: usize) -> f32 {
        let hash = Seed::new(self.seed).purpose("unit").child(table.len() as u64);
        (hash.child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32
    }

    pub(crate) fn data(&self) -> Dataset {
        let x = Array2::from_shape_fn((self.rows, self.features), |(i, j)| {
            match (self.unit("x", i, j), self.unit("missing", i, j)) {
                (_, missing) if self.missing && missing < 0.2 => f32::NAN,
                (value, _) if self.binary_features => (value + 0.3).floor(),
                (value, _) if self.sparse_features && value < 0.6 => 0.0,
                (value, _) => value - 0.5,
            }
        });
        let y = Array2::from_shape_fn((self.rows, self.outputs), |(i, j)| match self.task {
            Task::MultiLabel => f32::from(self.unit("noisy", i, j) < 0.3),
            Task::Regression => self.unit("noisy", i, j) * 10.0 - 3.0,
        });
        let x = if self.sparse_features {
            Matrix::Sparse(csr(&x))
        } else {
            Matrix::Dense(x)
        };
        Dataset::new(x, y.into(), self.task).unwrap()
    }

    pub(crate) fn params(&self) -> ForestParams {
        ForestParams {
            trees: 3,
            bootstrap: Some(self.bootstrap),
            splitter: if self.random_thresholds {
                Splitting::Random
            } else {
                Splitting::Best
            },
            max_leaves: self.max_leaves,
            leaves: self.leaves.into(),
            projection: if self.projected {
                ProjectionKind::Gaussian.into()
            } else {
                ProjectionChoice::None
            },
            components: self.projected.then_some(Components::Exact(2)),
            seed: self.seed,
            ..ForestParams::default()
        }
    }

    pub(crate) fn craftml_params(&self, variant: CraftmlVariant) -> CraftmlParams {
        let params = CraftmlParams {
            trees: 3,
            clusters: Some(3),
            min_samples_split: 4,
            feature_width: Width::Fixed(16),
            label_width: Width::Fixed(16),
            leaves: self.leaves.into(),
            seed: self.seed,
            ..CraftmlParams::from(variant)
        };
        match self.centroids {
            Some(centroids) => CraftmlParams { centroids, ..params },
            None => params,
        }
    }

    pub(crate) fn model(&self) -> Model {
        let data = self.data();
        if let Some(variant) = self.craftml {
            let params = self.craftml_params(variant);
            let forest = params.fit(data.features().into(), data.outputs().into());
            return Model::new(forest.unwrap(), &data).unwrap();
        }
        let weights: Vec<f32> = (0..self.rows)
            .map(|i| 0.25 + self.unit("weight!", i, 0))
            .collect();
        let options = ForestOptions {
            weights: self.weights.then_some(weights.as_slice()),
            ..ForestOptions::default()
        };
        let params = self.params();
        let forest = params.fit_with(data.features().into(), data.outputs().into(), options);
        Model::new(forest.unwrap(), &data).unwrap()
    }
}

/// Boosted models of every kind and single-target forests, on the data of the case.
pub(crate) fn boosted(case: &Case) -> Vec<Model> {
    let data = case.data();
    let loss = match case.task {
        Task::MultiLabel => LossKind::Logistic,
        Task::Regression => LossKind::Square,
    };
    let mut kinds: Vec<BoostingParams> = Algorithm::ALL.map(BoostingParams::from).to_vec();
    kinds.push(BoostingParams {
        leaf_values: Some(2),
        ..BoostingParams::from(Algorithm::Gbmort)
    });
    let fit = |params: BoostingParams| {
        let params = BoostingParams {
            loss: Some(loss),
            iterations: 3,
            max_leaves: case.max_leaves,
            ..params
        };
        let model = params.fit(data.features().into(), data.outputs().into());
        Model::new(model.unwrap(), &data).unwrap()
    };
    let mut models: Vec<Model> = kinds.into_iter().map(fit).collect();
    let forests = ForestParams {
        trees: 2,
        max_leaves: case.max_leaves,
        ..ForestParams::default()
    };
    let (x, y) = (data.features().into(), data.outputs().into());
    let forests = SingleTargetParams(forests).fit(x, y).unwrap();
    models.push(Model::new(forests, &data).unwrap());
    models
}

fn csr(a: &Array2<f32>) -> CsrMatrix {
    MatrixView::from(a).to_csr()
}
