//! Recorded predictions as a model that looks them up by sample, so that ensembles need no new predictions.

use ndarray::{Array2, Axis, concatenate};
use rpo::Predictor;
use rpo::core::MatrixView;
use rpo::core::store::{Store, StoreError, Writer};
use rpo::data::Dataset;
use rpo::{Model, ModelError, Predict};

/// Recorded predictions for samples, indexed by position.
#[derive(Debug, PartialEq)]
pub(super) struct Recorded {
    scores: Array2<f32>,
    n_train: usize,
}

impl Recorded {
    /// Records the predictions of a model for two sets; the result is a model for [`samples`](Self::samples).
    pub(super) fn of(model: &Model, withheld: &Dataset, test: &Dataset) -> anyhow::Result<Model> {
        let scores = [withheld, test].map(|data| model.predict(data.features().view()));
        let [withheld_scores, test_scores] = scores;
        let scores = concatenate(Axis(0), &[withheld_scores?.view(), test_scores?.view()])?;
        let (places, _) = Self::samples(withheld, test)?;
        let n_train = places.n_samples();
        Ok(Model::new(Self { scores, n_train }, &places)?)
    }

    /// Both sets, with the position of each sample as the only feature.
    pub(super) fn samples(withheld: &Dataset, test: &Dataset) -> anyhow::Result<(Dataset, Dataset)> {
        let n = withheld.n_samples();
        let places = |data: &Dataset, first: usize| {
            let x = Array2::from_shape_fn((data.n_samples(), 1), |(row, _)| (first + row) as f32);
            Dataset::with_missing(x.into(), data.outputs().clone(), data.task())
        };
        Ok((places(withheld, 0)?, places(test, n)?))
    }
}

impl Store for Recorded {
    fn store(&self, _: &mut Writer) -> Result<(), StoreError> {
        Err(StoreError::part(
            "predictions",
            "records of predictions have no file",
        ))
    }
}

impl Predict for Recorded {
    fn kind(&self) -> &'static str {
        "recorded"
    }

    fn n_features(&self) -> usize {
        1
    }

    fn n_outputs(&self) -> usize {
        self.scores.ncols()
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, _: usize) -> Result<Array2<f32>, ModelError> {
        let mut place = [0.0];
        let places = (0..x.n_rows()).map(|row| {
            x.copy_row(row, &mut place);
            place[0] as usize
        });
        Ok(self.scores.select(Axis(0), &places.collect::<Vec<_>>()))
    }

    fn equals(&self, other: &dyn Predict) -> bool {
        other.downcast_ref() == Some(self)
    }
}
