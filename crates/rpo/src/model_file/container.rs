//! The safetensors container: a header of JSON, then the arrays.
//!
//! The header begins with the description, and the description with its checksum, so that the eight
//! hexadecimal digits of the checksum lie at a fixed place. It is the CRC-32 of the whole file with these
//! digits read as zeros: every byte of the file is covered.

use super::description::Description;
use super::error::ModelFileErrorKind as Kind;
use rpo_core::store::{Array, ArrayView, Dtype, Reader, StoreError};
use safetensors::SafeTensors;
use safetensors::tensor::{Metadata, TensorInfo};

/// The entry of the header's metadata that holds the description.
const KEY: &str = "rpo";
/// Stands for the checksum until it is known.
pub(super) const BLANK: &str = "00000000";
/// How a header begins, up to the digits of the checksum.
const BEGIN: &[u8] = br#"{"__metadata__":{"rpo":"{\"checksum\":\""#;
/// Bytes that say how long the header is.
const LENGTH: usize = 8;
/// Where the digits lie.
const DIGITS: std::ops::Range<usize> = LENGTH + BEGIN.len()..LENGTH + BEGIN.len() + BLANK.len();
/// The longest header the container allows.
const LONGEST_HEADER: usize = 100_000_000;

/// A container ready to be written.
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

    /// Hands out the bytes of the file in order and returns their number.
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

/// What a header says of arrays: where they lie, and their part of the checksum.
#[derive(Debug, Default)]
pub(super) struct Index {
    infos: Vec<(String, TensorInfo)>,
    n_bytes: usize,
    checksum: crc32fast::Hasher,
}

impl Index {
    /// Notes the array that follows those before.
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

    /// Bytes of all arrays.
    pub(super) fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// The header, with the checksum over itself and all arrays.
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

/// The types of arrays, here and in the container.
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

/// Opens a container: its description, checked to be of this version and undamaged, and the reader of its arrays and
/// fields.
pub(super) fn open(bytes: &[u8]) -> Result<(Description, Reader<'_>), Kind> {
    let container = |e: safetensors::SafeTensorError| Kind::Container {
        message: e.to_string(),
    };
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(container)?;
    let description = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
    let text = description.ok_or(Kind::NotAModel {
        message: "it has no description \"rpo\"",
    })?;
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
    #[test]
    fn the_checksum_lies_where_the_format_says() {
        // docs/model-format.md names these bytes.
        assert_eq!(super::DIGITS, 48..56);
    }
}
