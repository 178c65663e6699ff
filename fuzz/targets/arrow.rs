//! The reader of `arrow`.
#![no_main]

use rpo::data::read::Format;

libfuzzer_sys::fuzz_target!(init: rpo_fuzz::let_panics_unwind(), |bytes: &[u8]| {
    rpo_fuzz::read_in_every_way(Format::Arrow, bytes)
});
