//! Descriptions of experiments.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(e) = rpo_experiments::check_description(text) {
        assert!(!e.to_string().is_empty());
    }
});
