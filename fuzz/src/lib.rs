//! Shared code of the targets.

use rpo::data::Dataset;
use rpo::data::read::{Format, Missing, ReadOptions, Targets, read_from};
use rpo::data::write;

/// Longest line that targets read.
const LONGEST_LINE: usize = 1 << 16;
/// Memory limit in bytes for the rows of a file, of which a few bytes can encode any number.
const MEMORY_LIMIT: usize = 1 << 24;
/// Largest input in bytes; in larger ones, an index may imply more memory than a run may use.
const LONGEST_INPUT: usize = 1 << 16;

/// Reads bytes with every kind of targets. The result must be a consistent set, or an error that can be displayed.
pub fn read_in_every_way(format: Format, bytes: &[u8]) {
    if bytes.len() > LONGEST_INPUT {
        return;
    }
    let targets = [
        Targets::None,
        Targets::Last(1),
        Targets::First(2),
        Targets::NamesIfPresent(vec!["y".into(), "z".into()]),
    ];
    for targets in targets {
        for missing_outputs in [None, Some(Missing::Keep)] {
            let options = ReadOptions {
                format,
                targets: targets.clone(),
                missing_outputs,
                longest_line: LONGEST_LINE,
                memory_limit: MEMORY_LIMIT,
                ..ReadOptions::default()
            };
            match read_from(bytes, &options) {
                Ok(data) => check(&data),
                Err(e) => assert!(!e.to_string().is_empty() && e.to_string().len() < 2000),
            }
        }
    }
}

/// Keeps caught panics from counting as finds: readers of Parquet and Arrow turn panics of the decoders into errors.
pub fn let_panics_unwind() {
    std::panic::set_hook(Box::new(|_| {}));
}

/// Checks the properties of every set that a reader returns.
fn check(data: &Dataset) {
    let (x, y) = (data.features().view(), data.outputs().view());
    assert_eq!((x.n_rows(), x.n_cols()), (data.n_samples(), data.n_features()));
    assert_eq!((y.n_rows(), y.n_cols()), (data.n_samples(), data.n_outputs()));
    assert_eq!(data.feature_names().iter().len(), data.n_features());
    assert_eq!(data.output_names().iter().len(), data.n_outputs());
    // A written set is read back equal.
    let mut written = Vec::new();
    if write::write(data, Format::SvmLight, &mut written).is_ok() {
        let options = ReadOptions {
            format: Format::SvmLight,
            n_features: Some(data.n_features()),
            n_outputs: Some(data.n_outputs()),
            ..ReadOptions::default()
        };
        let again = read_from(written.as_slice(), &options).expect("what was written can be read");
        assert_eq!(again.outputs().view().to_csr(), y.to_csr());
        assert_eq!(again.features().view().to_csr(), x.to_csr());
    }
}
