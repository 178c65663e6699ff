//! New labels for the model of a grown forest.

use crate::method::DecisionParams;
use crate::model::SOFTWARE;
use crate::{Model, ModelError, TrainingSummary};
use rpo_core::Predictor;
use rpo_data::Dataset;
use rpo_ensemble::{LeafSamples, RelabelOptions};
use std::borrow::Cow;

impl Model {
    /// Returns a model with the same trees whose leaves predict the outputs of other data: further labels, corrected ones,
    /// or numbers instead of labels. It takes the time of a prediction. Features are found by name, as for a prediction;
    /// outputs, their names and their task are those of `data`, and may be missing.
    ///
    /// Where the outputs have the names of those of the model, in that order, the trees of single-target forests predict
    /// the output that they grew on, and those of structured forests keep their weights; otherwise every tree predicts all
    /// outputs alike ([`RelabelOptions::same_outputs`]).
    ///
    /// With [`LeafSamples::Training`], `data` are the samples of the training in their order; with its outputs and weights,
    /// predictions are the same. Their number is checked, and that they reach every leaf: other samples, or another order,
    /// that pass both are not noticed, and their predictions are not out of bag. Samples that the training left out may be
    /// passed again if their weight is 0, or with the outputs of the model. Otherwise samples may be any, and those of
    /// weight 0 and without any output are left out.
    ///
    /// The new model decides labels by a score of 0.5 and has no intervals until
    /// [`with_thresholds`](Self::with_thresholds) or [`with_intervals`](Self::with_intervals) sets them, for instance from
    /// out-of-bag predictions.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::ensemble::LeafSamples;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
    /// let forest = Model::fit(&ForestParams::default(), &data.select_outputs(&[0, 1, 2, 3, 4])?)?;
    /// let of_all = forest.relabel(&data, LeafSamples::Training)?;
    /// assert_eq!((forest.n_outputs(), of_all.n_outputs()), (5, 20));
    /// let x = data.features().view();
    /// assert_eq!(forest.predict(x)?.column(3), of_all.predict(x)?.column(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::Relabel`] for other models than forests; [`ModelError::LeftOut`] for more samples than those of the
    /// training, with other outputs than the model; features as for
    /// [`predict`](rpo_core::Predictor::predict); samples, outputs and weights as for
    /// [`Forest::relabel`](rpo_ensemble::Forest::relabel).
    pub fn relabel(&self, data: &Dataset, samples: LeafSamples) -> Result<Self, ModelError> {
        let data = match samples {
            LeafSamples::Any => data.for_training(),
            LeafSamples::Training if self.encodes_targets() => {
                return Err(ModelError::Relabel(
                    "trees saw other values of the features encoded by targets (`nominal` = target) than predictions do; \
                     pass samples that need not be those of the training",
                ));
            }
            LeafSamples::Training => self.samples_to_relabel(data)?,
        };
        if data.has_cell_weights() {
            return Err(ModelError::Relabel(
                "leaves take weights of samples, not of single outputs",
            ));
        }
        let (x, y) = (self.schema().align_features(&data)?, data.outputs().view());
        let options = RelabelOptions {
            samples,
            same_outputs: self.has_outputs_of(&data),
            weights: data.weights(),
            missing_outputs: y.has_missing(),
            ..RelabelOptions::default()
        };
        let labelled = self.with_features(x.view(), |predictor, x| predictor.relabel(x, y, &options))?;
        let predictor = labelled.ok_or(ModelError::Relabel(
            "the model is not a forest, whose leaves predict means of outputs",
        ))?;
        let schema = self.schema().with_outputs_of(&data);
        let mut training = TrainingSummary::of(&data);
        // Splits were found when the trees grew.
        training
            .missing_features
            .clone_from(&self.training().missing_features);
        let pipeline = self.pipeline().cloned();
        let mut model = Self::from_parts(predictor, schema, pipeline, training, SOFTWARE.to_owned())?;
        model.parameters = self.parameters.clone();
        model.parameters.retain(|name, _| !DecisionParams::has(name));
        Ok(model)
    }

    /// Returns true if the outputs of a data set are those of the model in their order, by name.
    fn has_outputs_of(&self, data: &Dataset) -> bool {
        let schema = self.schema();
        let names = data.output_names();
        data.task() == schema.task && (names == schema.target_names() || *names == *schema.written_names())
    }

    /// The samples of the training in a data set with other outputs. They do not tell which samples training left out
    /// because they had no output; weights do.
    fn samples_to_relabel<'d>(&self, data: &'d Dataset) -> Result<Cow<'d, Dataset>, ModelError> {
        let (given, n_train) = (data.n_samples(), self.n_train());
        if self.has_outputs_of(data) {
            return Ok(self.training_samples(data));
        }
        if given <= n_train {
            return Ok(Cow::Borrowed(data));
        }
        let weighs = |sample: &usize| data.weights().is_none_or(|weights| weights[*sample] > 0.0);
        let weighing: Vec<usize> = (0..given).filter(weighs).collect();
        match weighing.len() == n_train {
            true => Ok(Cow::Owned(data.select_samples(&weighing)?)),
            false => Err(ModelError::LeftOut { n_train, given }),
        }
    }
}
