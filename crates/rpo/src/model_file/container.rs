//! The safetensors container: a JSON header, followed by the arrays.
//!
//! The header begins with the description, and the description with its checksum, so the eight hexadecimal digits of
//! the checksum are at a fixed position. The checksum is the CRC-32 of the whole file with these digits read as zeros,
//! so it covers every byte.

use super::description::Description;
use super::error::ModelFileErrorKind as Kind;
use rpo_core::store::{Array, ArrayView, Dtype, Reader, StoreError};
use safetensors::SafeTensors;
use safetensors::tensor::{Metadata, TensorInfo};
use std::io::Read;

/// The key of the description in the header's metadata.
const KEY: &str = "rpo";
/// Placeholder for the checksum until it is computed.
pub(super) const BLANK: &str = "00000000";
/// The beginning of the header, up to the digits of the checksum.
const BEGIN: &[u8] = br#"{"__metadata__":{"rpo":"{\"checksum\":\""#;
/// Number of bytes that hold the length of the header.
const LENGTH: usize = 8;
/// Position of the checksum's digits.
const DIGITS: std::ops::Range<usize> = LENGTH + BEGIN.len()..LENGTH + BEGIN.len() + BLANK.len();
/// The longest header that the container allows.
const LONGEST_HEADER: usize = 100_000_000;

/// The first bytes of a file that is compressed by gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// A container that is ready to write.
pub(super) struct Container {
    header: Vec<u8>,
    arrays: Vec<(String, Array)>,
}

impl Container {
    pub(super) fn new(description: &Description, arrays: Vec<(String, Array)>) -> Result<Self, Kind> {
        let mut index = Index::default();
        for (name, array) in &arrays {
            index.push(name.clone(), array);
        }
        let header = index.header(description)?;
        Ok(Self { header, arrays })
    }

    /// Passes the bytes of the file to `put` in order and returns their number.
    pub(super) fn write<E>(&self, mut put: impl FnMut(&[u8]) -> Result<(), E>) -> Result<u64, E> {
        put(&self.header)?;
        let mut n_bytes = self.header.len();
        for (_, array) in &self.arrays {
            put(&array.bytes)?;
            n_bytes += array.bytes.len();
        }
        Ok(n_bytes as u64)
    }
}

/// The entries of the arrays in the header, with their positions and their contribution to the checksum.
#[derive(Debug, Default)]
pub(super) struct Index {
    infos: Vec<(String, TensorInfo)>,
    n_bytes: usize,
    checksum: crc32fast::Hasher,
}

impl Index {
    /// Adds the next array.
    pub(super) fn push(&mut self, name: String, array: &Array) {
        let start = self.n_bytes;
        self.n_bytes += array.bytes.len();
        self.checksum.update(&array.bytes);
        let info = TensorInfo {
            dtype: written_as(array.dtype),
            shape: array.shape.clone(),
            data_offsets: (start, self.n_bytes),
        };
        self.infos.push((name, info));
    }

    /// Size in bytes of all arrays.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Builds the header, with the checksum of itself and all arrays.
    pub(super) fn header(self, description: &Description) -> Result<Vec<u8>, Kind> {
        let text = serde_json::to_string(description).map_err(|e| Kind::Description {
            message: e.to_string(),
        })?;
        let metadata = std::iter::once((KEY.to_owned(), text)).collect();
        let container = |message: String| Kind::Container { message };
        let metadata = Metadata::new(Some(metadata), self.infos).map_err(|e| container(e.to_string()))?;
        let mut json = serde_json::to_vec(&metadata).map_err(|e| container(e.to_string()))?;
        assert!(json.starts_with(BEGIN), "the header begins with the checksum");
        json.resize(json.len().next_multiple_of(LENGTH), b' ');
        if json.len() > LONGEST_HEADER {
            let (bytes, limit) = (json.len(), LONGEST_HEADER);
            return Err(Kind::TooLarge { bytes, limit });
        }
        let mut header = (json.len() as u64).to_le_bytes().to_vec();
        header.append(&mut json);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&header);
        hasher.combine(&self.checksum);
        header[DIGITS].copy_from_slice(format!("{:08x}", hasher.finalize()).as_bytes());
        Ok(header)
    }
}

/// Array types here and the corresponding types of the container.
const DTYPES: [(Dtype, safetensors::Dtype); 7] = [
    (Dtype::U8, safetensors::Dtype::U8),
    (Dtype::U16, safetensors::Dtype::U16),
    (Dtype::U32, safetensors::Dtype::U32),
    (Dtype::U64, safetensors::Dtype::U64),
    (Dtype::F16, safetensors::Dtype::F16),
    (Dtype::F32, safetensors::Dtype::F32),
    (Dtype::F64, safetensors::Dtype::F64),
];

fn written_as(dtype: Dtype) -> safetensors::Dtype {
    let found = DTYPES.into_iter().find(|(ours, _)| *ours == dtype);
    found.expect("every type is listed").1
}

/// Returns the checksum in a file that was opened without an error.
pub(super) fn checksum(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[DIGITS]).into_owned()
}

/// Reads a file, or a pipe without an end: no more than its header says, and a byte that shows whether it goes on. A header
/// that cannot be read ends the reading; [`open`] says what is wrong with it.
pub(super) fn read(mut file: impl Read) -> Result<Vec<u8>, Kind> {
    let mut bytes = Vec::new();
    let mut more = |n: usize, bytes: &mut Vec<u8>| {
        let read = file.by_ref().take(n as u64).read_to_end(bytes);
        read.map_err(|e| Kind::read(&e))
    };
    more(LENGTH, &mut bytes)?;
    let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    match length.map(usize::try_from) {
        Some(Ok(length @ ..=LONGEST_HEADER)) => more(length, &mut bytes)?,
        _ => return Ok(bytes),
    };
    let Ok(metadata) = serde_json::from_slice::<Metadata>(&bytes[LENGTH..]) else {
        return Ok(bytes);
    };
    description(&metadata)?;
    more(metadata.data_len().saturating_add(1), &mut bytes)?;
    Ok(bytes)
}

/// Returns the text of the description, which every model has.
fn description(metadata: &Metadata) -> Result<&str, Kind> {
    let entries = metadata.metadata().as_ref();
    let description = entries.and_then(|entries| entries.get(KEY));
    description.map(String::as_str).ok_or(Kind::NotAModel {
        message: "it has no description \"rpo\"",
    })
}

/// Opens a container. Returns its description, after checking its version and that it is undamaged, and the reader of
/// its arrays and fields.
pub(super) fn open(bytes: &[u8]) -> Result<(Description, Reader<'_>), Kind> {
    let container = |e: safetensors::SafeTensorError| Kind::Container {
        message: match bytes.starts_with(GZIP) {
            true => "it is compressed by gzip, as models are not: decompress it".to_owned(),
            false => e.to_string(),
        },
    };
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(container)?;
    let text = description(&metadata)?;
    Description::check_version(text)?;
    if !bytes[LENGTH..].starts_with(BEGIN) {
        return Err(Kind::NotAModel {
            message: "its header does not begin with the checksum; was it written by another program?",
        });
    }
    let mut description = Description::parse(text)?;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..DIGITS.start]);
    hasher.update(BLANK.as_bytes());
    hasher.update(&bytes[DIGITS.end..]);
    let found = format!("{:08x}", hasher.finalize());
    if description.checksum != found {
        let expected = description.checksum;
        return Err(Kind::Checksum { expected, found });
    }
    let arrays = SafeTensors::deserialize(bytes).map_err(container)?;
    let arrays = arrays.tensors().into_iter().map(|(name, array)| {
        let found = DTYPES.into_iter().find(|(_, theirs)| *theirs == array.dtype());
        let (dtype, _) = found.ok_or_else(|| {
            let problem = format!("has type {:?}, which no array of a model has", array.dtype());
            StoreError::array(&name, problem)
        })?;
        let (shape, bytes) = (array.shape().to_vec(), array.data());
        Ok((name, ArrayView { dtype, shape, bytes }))
    });
    let arrays = arrays.collect::<Result<Vec<_>, StoreError>>()?;
    let fields = std::mem::take(&mut description.fields);
    Ok((description, Reader::new(arrays, fields)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_without_an_end_are_read_as_far_as_their_header_says() {
        let arrays = r#""a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}"#;
        let begin = |header: String| {
            let length = (header.len() as u64).to_le_bytes();
            [&length, header.as_bytes()].concat()
        };
        let read = |begin: &[u8]| read(begin.chain(std::io::repeat(0)));
        let model = begin(format!(r#"{{"__metadata__":{{"rpo":"{{}}"}},{arrays}}}"#));
        assert_eq!(read(&model).unwrap().len(), model.len() + 3 + 1);
        let other = begin(format!("{{{arrays}}}"));
        assert!(matches!(read(&other), Err(Kind::NotAModel { .. })));
        for begin in [begin("no header".to_owned()), vec![], vec![b'y'; 1000]] {
            let bytes = read(&begin).unwrap();
            assert!(bytes.len() <= begin.len().max(LENGTH));
            assert!(matches!(open(&bytes), Err(Kind::Container { .. })));
        }
    }

    #[test]
    fn the_checksum_lies_where_the_format_says() {
        // docs/model-format.md names these bytes.
        assert_eq!(super::DIGITS, 48..56);
    }
}
