//! What features contribute to scores, as it is written and served.

use rpo::core::{Contributions, MatrixView, csr_row};
use rpo::{BLOCK_BYTES, Model, ModelError, for_each_block};

/// The explanation of a score.
#[derive(Debug)]
pub(crate) struct Explanation {
    pub(crate) row: usize,
    pub(crate) output: u32,
    pub(crate) score: f32,
    pub(crate) base: f32,
    /// Features and what they contribute, the largest contributions first, whatever their sign.
    pub(crate) features: Vec<(u32, f32)>,
}

/// Calls `f` with the explanation of the score of each given output of each sample of `x`, in this order, by at most
/// `most` features each. All features contribute while a score is explained, so that it is done for some samples, and
/// for some outputs of a sample, at a time. `refuse` makes the error of what cannot be explained.
pub(crate) fn for_each_explanation<E>(
    model: &Model,
    x: MatrixView<'_>,
    outputs: &[&[u32]],
    most: usize,
    background: MatrixView<'_>,
    refuse: impl Fn(ModelError) -> E,
    mut f: impl FnMut(Explanation) -> Result<(), E>,
) -> Result<(), E> {
    // An index and a value per feature.
    let width = 2 * model.predictor().n_features().max(1);
    let together = (BLOCK_BYTES / (size_of::<f32>() * width)).max(1);
    let widest = outputs.iter().map(|outputs| outputs.len()).max().unwrap_or(0);
    for_each_block(x, widest.min(together) * width, BLOCK_BYTES, |rows, block| {
        for part in 0..widest.div_ceil(together) {
            let outputs: Vec<&[u32]> = outputs[rows.clone()]
                .iter()
                .map(|outputs| outputs.chunks(together).nth(part).unwrap_or_default())
                .collect();
            let found = model
                .contributions(block.reborrow(), &outputs, background.reborrow())
                .map_err(|e| refuse(e.in_block(rows.start)))?;
            for mut explanation in explanations(&found, &outputs, most) {
                explanation.row += rows.start;
                f(explanation)?;
            }
        }
        Ok(())
    })
}

fn explanations<'a>(
    found: &'a Contributions,
    outputs: &'a [&[u32]],
    most: usize,
) -> impl Iterator<Item = Explanation> + 'a {
    let pairs = outputs
        .iter()
        .enumerate()
        .flat_map(|(row, outputs)| outputs.iter().map(move |&output| (row, output)));
    pairs.enumerate().map(move |(line, (row, output))| {
        let values = found.values.view();
        let (features, values) = csr_row(&values, line);
        let mut features: Vec<(u32, f32)> = features.iter().copied().zip(values.iter().copied()).collect();
        let base = found.base[output as usize];
        let score = base + features.iter().map(|(_, v)| f64::from(*v)).sum::<f64>();
        features.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        features.truncate(most);
        Explanation {
            row,
            output,
            score: score as f32,
            base: base as f32,
            features,
        }
    })
}
