//! What features contribute to the predictions of a model.

use crate::{Model, ModelError};
use rpo_core::{Contributions, MatrixView, Predictor, csr_of_rows};
use rpo_data::preprocess::Pipeline;

impl Model {
    /// Returns how much each feature of the schema (p values that sum to 1) contributes to the trees of the model, by the
    /// decrease of the criterion at its splits; empty if the method has no importances.
    ///
    /// A feature that the pipeline replaces by several columns has the sum of their importances;
    /// [`Predict::importances`](crate::Predict::importances) has those of the columns.
    pub fn importances(&self) -> Vec<f64> {
        let of_columns = self.predictor().importances();
        if of_columns.is_empty() {
            return Vec::new();
        }
        let sources = self.pipeline().map(Pipeline::sources);
        let mut sums = vec![0.0; self.n_features()];
        for (column, importance) in of_columns {
            let column = column as usize;
            sums[sources.as_ref().map_or(column, |sources| sources[column])] += importance;
        }
        sums
    }

    /// Returns what each feature of the schema contributes to some scores of each sample of `x` (n x p): Shapley values
    /// relative to `background` (any number of rows x p), for instance samples of the training. `outputs` lists the
    /// outputs of each sample. A score is the base, its mean over the background, plus the contributions of all
    /// features; [`Contributions`] says what scores are, and [`rpo_tree::shapley`] how contributions are defined for
    /// trees.
    ///
    /// A feature that the pipeline replaces by several columns has the sum of their contributions. The contributions of
    /// an ensemble are those of its members, combined as their predictions are; its score is what it would predict if
    /// the predictions of members were not limited to the range of the training values. The scores of the classes of a
    /// column are those before their division by their sum.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(100, 20, 5).generate(Seed::new(1))?;
    /// let model = Model::fit(&ForestParams { trees: 10, ..ForestParams::default() }, &data)?;
    /// let x = data.features().view();
    /// let found = model.contributions(x, &[&[3][..]; 100], x)?;
    /// let of_first = found.values.outer_view(0).expect("one row per sample and output");
    /// let score = found.base[3] + of_first.data().iter().map(|v| f64::from(*v)).sum::<f64>();
    /// assert!((score - f64::from(model.predict(x)?[[0, 3]])).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::Unexplained`] for other models than forests, boosting, linear models, and means of several of these
    /// unless their scores are all predictions; features as for
    /// [`predict`](rpo_core::Predictor::predict), an output that does not exist, lists for another number of samples,
    /// and no background sample; [`ModelError::Background`] for what is wrong with the background.
    pub fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Contributions, ModelError> {
        let n_features = x.n_cols();
        let found = self.with_features(background.reborrow(), |_, background| {
            self.with_features(x, |predictor, x| predictor.contributions(x, outputs, background))
        });
        let found = found.map_err(|e| self.background_error(background).unwrap_or(e))?;
        let found = found.ok_or(ModelError::Unexplained {
            kind: self.predictor().kind(),
        })?;
        Ok(match self.pipeline() {
            Some(pipeline) => by_feature(&found, &pipeline.sources(), n_features),
            None => found,
        })
    }

    /// The error of a background without samples to explain, if that is refused too.
    fn background_error(&self, background: MatrixView<'_>) -> Option<ModelError> {
        let alone = self.with_features(background, |predictor, background| {
            let none = background.reborrow().select_rows(&[]);
            predictor.contributions(none.view(), &[], background)
        });
        alone.err().map(|e| ModelError::Background(Box::new(e)))
    }
}

/// Adds up the contributions of the columns of each feature, which are adjacent.
fn by_feature(found: &Contributions, sources: &[usize], n_features: usize) -> Contributions {
    let of_row = |row: rpo_core::sprs::CsVecViewI<'_, f32, u32>| {
        let mut sums: Vec<(u32, f32)> = Vec::with_capacity(row.nnz());
        for (column, &value) in row.iter() {
            let feature = sources[column] as u32;
            match sums.last_mut() {
                Some((last, sum)) if *last == feature => *sum += value,
                _ => sums.push((feature, value)),
            }
        }
        sums
    };
    let rows: Vec<Vec<(u32, f32)>> = found.values.outer_iterator().map(of_row).collect();
    Contributions {
        base: found.base.clone(),
        links: found.links.clone(),
        values: csr_of_rows(rows.iter(), (rows.len(), n_features)),
    }
}
