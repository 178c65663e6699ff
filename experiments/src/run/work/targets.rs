//! Targets for methods that know the dependence between outputs, and predictions of all outputs from their models
//! (Joly, Wehenkel, Geurts 2019, section 4.2.1: "artificial-gbrt").

use crate::describe::Targets;
use anyhow::bail;
use ndarray::{Array2, Axis};
use rpo::Model;
use rpo::Predictor;
use rpo::core::{Matrix, MatrixView};
use rpo::data::{Dataset, Task};

impl Targets {
    /// The sets to which one model each is fitted, with one output.
    pub(super) fn of(self, train: &Dataset) -> anyhow::Result<Vec<Dataset>> {
        if train.task() != Task::Regression {
            bail!("targets are made of outputs that are numbers");
        }
        Ok(match self {
            Self::First => vec![train.select_outputs(&[0])?],
            Self::Mean => vec![mean(train)?],
            Self::Each => (0..train.n_outputs())
                .map(|output| train.select_outputs(&[output]))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// The set with the mean of its outputs as the only output.
fn mean(data: &Dataset) -> anyhow::Result<Dataset> {
    let outputs = data.outputs().view();
    let mut means = Array2::zeros((data.n_samples(), 1));
    for (row, mean) in means.iter_mut().enumerate() {
        let mut sum = 0.0;
        outputs.for_each_in_row(row, |_, value| sum += f64::from(value));
        *mean = (sum / outputs.n_cols() as f64) as f32;
    }
    let features: Matrix = data.features().clone();
    let mut targets = Dataset::new(features, means.into(), Task::Regression)?;
    targets.name.clone_from(&data.name);
    Ok(targets)
}

/// Predictions (n x d) by models with one output: one model per output, or a single model for all.
pub(super) fn predict(models: &[Model], x: MatrixView<'_>, n_outputs: usize) -> anyhow::Result<Array2<f32>> {
    let mut all = Array2::zeros((x.n_rows(), n_outputs));
    if let [only] = models {
        all.assign(&only.predict(x)?);
        return Ok(all);
    }
    for (model, mut column) in models.iter().zip(all.columns_mut()) {
        column.assign(&model.predict(x.reborrow())?.index_axis(Axis(1), 0));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rpo::Method;

    #[test]
    fn targets_are_the_first_output_their_mean_or_each() {
        let x = array![[0.0_f32], [1.0], [2.0], [3.0]];
        let y = array![[1.0_f32, 3.0], [1.0, 3.0], [5.0, 9.0], [5.0, 9.0]];
        let data = Dataset::new(x.into(), y.into(), Task::Regression).unwrap();
        let method = Method::named("gbmort").unwrap().with("preset", "paper").unwrap();
        let method = method.with("learning_rate", "1").unwrap();
        let method = method.with("iterations", "1").unwrap();
        for (targets, first, second) in [
            (Targets::First, [1.0, 5.0], [1.0, 5.0]),
            (Targets::Mean, [2.0, 7.0], [2.0, 7.0]),
            (Targets::Each, [1.0, 5.0], [3.0, 9.0]),
        ] {
            let sets = targets.of(&data).unwrap();
            let models: Vec<Model> = sets.iter().map(|set| Model::fit(&method, set).unwrap()).collect();
            let found = predict(&models, data.features().view(), 2).unwrap();
            let expected = [first, second].map(|[low, high]| [low, low, high, high]);
            assert_eq!(
                found,
                Array2::from_shape_fn((4, 2), |(i, j)| expected[j][i]),
                "{targets:?}"
            );
        }
    }
}
