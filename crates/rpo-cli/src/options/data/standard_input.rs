//! Standard input in place of a file.

use rpo::data::DEFAULT_MEMORY_LIMIT;
use rpo::data::read::{ReadError, ReadErrorKind};
use std::io::Read;
use std::path::Path;

/// The name of standard input in messages.
pub(super) const STANDARD_INPUT: &str = "standard input";

/// Reads all of standard input.
pub(super) fn standard_input() -> Result<Vec<u8>, ReadErrorKind> {
    let mut text = Vec::new();
    let limit = DEFAULT_MEMORY_LIMIT;
    let read = std::io::stdin()
        .lock()
        .take(limit as u64 + 1)
        .read_to_end(&mut text);
    read.map_err(|e| ReadErrorKind::from(&e))?;
    if text.len() > limit {
        return Err(ReadErrorKind::TooMuchText { limit });
    }
    Ok(text)
}

/// Sets standard input as the place of an error.
pub(super) fn in_standard_input(mut e: ReadError) -> ReadError {
    e.path = Some(Path::new(STANDARD_INPUT).into());
    e
}
