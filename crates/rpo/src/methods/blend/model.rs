//! Models whose predictions are averaged.

use crate::model::SOFTWARE;
use crate::{Model, ModelError, Predict};
use ndarray::Array2;
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, ParameterError, check_count, check_positive, csr_of_rows, top_of};
use serde_json::{Value, json};

/// The weighted mean of the predictions of several models of the same training set, whatever their methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Ensemble {
    members: Vec<(Model, f64)>,
}

impl Ensemble {
    /// The name of the kind of model in a file.
    pub(crate) const KIND: &str = "ensemble";
    /// Scores that are held at a time to find the largest.
    const BLOCK: usize = 1 << 22;

    pub(super) fn new(members: Vec<(Model, f64)>) -> Result<Self, ModelError> {
        let Some((first, _)) = members.first() else {
            return Err(ParameterError::out_of_range("members", "none", "at least one").into());
        };
        for (model, weight) in &members {
            check_positive("weights", *weight)?;
            if model.schema() != first.schema() || model.training() != first.training() {
                return Err(ModelError::Combine);
            }
        }
        Ok(Self { members })
    }

    /// The models, and their weights.
    pub fn members(&self) -> impl Iterator<Item = (&Model, f64)> {
        self.members.iter().map(|(model, weight)| (model, *weight))
    }

    fn first(&self) -> &Model {
        &self.members[0].0
    }
}

impl Model {
    /// The weighted mean of the predictions of several models that were fitted to the same data; labels are decided from it
    /// at 0.5. Members keep their preparation of features.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
    /// let forest = Model::fit(&Method::named("extra-trees")?.with("trees", "5")?, &data)?;
    /// let linear = Model::fit(&Method::named("one-vs-rest")?, &data)?;
    /// let x = data.features().view();
    /// let mean = (forest.predict(x)? + 3.0 * linear.predict(x)?) / 4.0;
    /// let both = Model::combine(vec![(forest, 1.0), (linear, 3.0)])?;
    /// assert!((both.predict(x)? - mean).iter().all(|v| v.abs() < 1e-6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No models, weights that are not positive, and [`ModelError::Combine`] for models of different data.
    pub fn combine(members: Vec<(Self, f64)>) -> Result<Self, ModelError> {
        let ensemble = Ensemble::new(members)?;
        let first = ensemble.first();
        let (schema, training) = (first.schema().clone(), first.training().clone());
        Self::from_parts(
            std::sync::Arc::new(ensemble),
            schema,
            None,
            training,
            SOFTWARE.to_owned(),
        )
    }
}

impl Predict for Ensemble {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn n_features(&self) -> usize {
        self.first().n_features()
    }

    fn n_outputs(&self) -> usize {
        self.first().n_outputs()
    }

    fn n_train(&self) -> usize {
        self.first().training().n_samples()
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, ModelError> {
        let total: f64 = self.members.iter().map(|(_, weight)| weight).sum();
        let mut mean: Option<Array2<f32>> = None;
        for (model, weight) in &self.members {
            let scores = model.predict_with_limit(x, memory_limit)?;
            let factor = (weight / total) as f32;
            match &mut mean {
                None => mean = Some(scores * factor),
                Some(mean) => mean.scaled_add(factor, &scores),
            }
        }
        Ok(mean.expect("there is at least one member"))
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
        check_count("top_k", k)?;
        let (n, d) = (x.n_rows(), self.n_outputs());
        let size = (Self::BLOCK / d.max(1)).max(1);
        let mut best: Vec<Vec<(u32, f32)>> = Vec::with_capacity(n);
        for start in (0..n).step_by(size) {
            let rows: Vec<usize> = (start..n.min(start + size)).collect();
            let scores = self.predict_with_limit(x.select_rows(&rows).view(), usize::MAX);
            let scores = scores.map_err(|e| e.in_block(start))?;
            best.par_extend(
                (0..rows.len())
                    .into_par_iter()
                    .map(|row| top_of(scores.row(row), k)),
            );
        }
        Ok(csr_of_rows(best.iter(), (n, d)))
    }

    fn summary(&self) -> Vec<(&'static str, Value)> {
        let about = |(model, weight): (&Model, f64)| {
            let mut about = serde_json::Map::new();
            let method = model.parameters().get("method").cloned();
            about.insert(
                "method".to_owned(),
                method.unwrap_or_else(|| json!(model.predictor().kind())),
            );
            about.insert("weight".to_owned(), json!(weight));
            let summary = model.predictor().summary();
            about.extend(summary.into_iter().map(|(key, value)| (key.to_owned(), value)));
            Value::Object(about)
        };
        vec![("members", self.members().map(about).collect())]
    }

    fn equals(&self, other: &dyn Predict) -> bool {
        other.downcast_ref() == Some(self)
    }
}
