//! MULAN label files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rpo::data::read::LabelFile;

fuzz_target!(|bytes: &[u8]| {
    match LabelFile::try_from(bytes) {
        Ok(file) => assert_eq!(file.labels.len(), file.parents.len()),
        Err(e) => assert!(!e.to_string().is_empty() && e.to_string().len() < 2000),
    }
});
