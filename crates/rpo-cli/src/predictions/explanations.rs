//! What features contribute to scores, as it is written and served.

use rpo::core::{Contributions, csr_row};

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

/// Explains the scores of the given outputs of each sample by at most `most` features each.
pub(crate) fn explanations<'a>(
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
