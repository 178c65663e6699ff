//! Files whose format is detected from the content, compressed or not.
#![no_main]

use rpo::data::read::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rpo_fuzz::read_in_every_way(Format::Auto, bytes));
