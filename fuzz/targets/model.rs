//! The loader of model files. The checksum is corrected, so that the contents behind it are reached.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rpo::core::CsrMatrix;
use rpo::{Model, Predictor};

/// Position of the checksum's digits.
const DIGITS: std::ops::Range<usize> = 48..56;
/// Memory limit in bytes for the predictions of a file.
const PREDICTIONS: usize = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() < DIGITS.end {
        return;
    }
    let mut file = bytes.to_vec();
    file[DIGITS].fill(b'0');
    let checksum = format!("{:08x}", crc32fast::hash(&file));
    file[DIGITS].copy_from_slice(checksum.as_bytes());
    let model = match Model::from_bytes(&file) {
        Ok(model) => model,
        Err(e) => {
            assert!(!e.to_string().is_empty());
            return;
        }
    };
    let p = model.n_features();
    let stored = p.min(5);
    let columns = (0..stored as u32).collect();
    let x = CsrMatrix::new((1, p), vec![0, stored], columns, vec![1.0; stored]);
    if let Ok(scores) = model.predict_with_limit((&x).into(), PREDICTIONS) {
        assert_eq!(scores.dim(), (1, model.n_outputs()));
    }
    if let Err(e) = model.predict_top_k((&x).into(), 2) {
        assert!(!e.to_string().is_empty());
    }
    let predictor = model.predictor();
    let _ = (
        predictor.summary(),
        predictor.tree_sizes(),
        predictor.importances(),
    );
    let written = model.to_bytes().expect("what was loaded can be saved");
    assert_eq!(Model::from_bytes(&written).expect("and loaded again"), model);
});
