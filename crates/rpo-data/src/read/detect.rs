//! Opens files, compressed or not, and detects their format.

use super::csv::delimiter_of;
use super::error::{ReadError, ReadErrorKind};
use super::format::Format;
use super::labelled_line::{MOST_COLUMNS, Sample, Syntax, parse_sample};
use super::line::LineReader;
use super::xmlrepo::parse_header;
use crate::message::lossy;
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;

const BUFFER: usize = 1 << 17;
const GZIP: &[u8] = b"\x1f\x8b";
/// Compressions that are not read, by their first bytes.
const COMPRESSED: [(&[u8], &str); 4] = [
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
];
/// What follows the first bytes of bzip2 and its block size: the start of a block, or the end of an empty file.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17rE8P\x90"];
/// Number of bytes by which compressed data are recognized.
const MAGIC: u64 = 10;
/// The binary formats, by their first bytes.
const BINARY: [(&[u8], Format); 3] = [
    (b"PAR1", Format::Parquet),
    (b"ARROW1", Format::Arrow),
    (b"FEA1", Format::Arrow),
];
/// Number of bytes used to detect the format: enough for the first line of most files; a longer line is truncated.
const GLANCE: u64 = 1 << 16;

/// Opens a file, decompressing it if it is gzip.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>, ReadError> {
    let file = File::open(path).map_err(|e| ReadErrorKind::from(&e))?;
    decompressed(BufReader::with_capacity(BUFFER, file))
}

/// Returns the content of a reader, decompressed if it is gzip.
pub(super) fn decompressed<'a>(reader: impl BufRead + 'a) -> Result<Box<dyn BufRead + 'a>, ReadError> {
    let (start, whole) = peek(reader, MAGIC)?;
    if let Some(program) = compression(&start) {
        return Err(ReadErrorKind::Compressed(program).into());
    }
    Ok(if start.starts_with(GZIP) {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole)))
    } else {
        Box::new(whole)
    })
}

/// Returns the compression of the data if it is one that cannot be read.
fn compression(start: &[u8]) -> Option<&'static str> {
    let (_, program) = COMPRESSED
        .into_iter()
        .find(|(magic, _)| start.starts_with(magic))?;
    // Text may start with the letters of bzip2.
    let is_text = program == "bzip2"
        && !BZIP2_BLOCKS
            .iter()
            .any(|block| start[3..].get(1..) == Some(*block));
    (!is_text).then_some(program)
}

/// Returns true for a file that is compressed by gzip.
#[cfg(feature = "arrow")]
pub(super) fn is_gzip(path: &Path) -> Result<bool, ReadError> {
    let file = File::open(path).map_err(|e| ReadErrorKind::from(&e))?;
    Ok(peek(BufReader::new(file), GZIP.len() as u64)?.0 == GZIP)
}

/// Returns the first bytes of a reader, and a reader of everything.
fn peek<R: BufRead>(mut reader: R, n: u64) -> Result<(Vec<u8>, impl BufRead), ReadError> {
    let mut start = Vec::new();
    reader
        .by_ref()
        .take(n)
        .read_to_end(&mut start)
        .map_err(|e| ReadErrorKind::from(&e))?;
    Ok((start.clone(), Cursor::new(start).chain(reader)))
}

/// Detects the format from the first bytes or the first line; also returns a reader of everything. What is not
/// recognized is CSV if its delimiter is given.
pub(super) fn format_of_content<'a>(
    reader: impl BufRead + 'a,
    delimiter: Option<char>,
) -> Result<(Format, Box<dyn BufRead + 'a>), ReadError> {
    let (start, whole) = peek(reader, GLANCE)?;
    if let Some((_, format)) = BINARY.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Ok((*format, Box::new(whole)));
    }
    let cut = start.len() as u64 == GLANCE;
    // The bytes may end between CR and LF.
    let mut lines = LineReader::new(start.strip_suffix(b"\r").filter(|_| cut).unwrap_or(&start));
    let mut empty = true;
    while lines.advance()? {
        let text = lines.line().trim_ascii();
        empty &= text.is_empty();
        if !matches!(text.first(), None | Some(b'#')) {
            break;
        }
    }
    if empty {
        return Err(ReadErrorKind::Empty("a header or a sample").into());
    }
    let first = lines.line();
    let first = match first.iter().rposition(|b| matches!(b, b' ' | b'\t')) {
        // A truncated number would be taken for a whole one.
        Some(blank) if cut && start.ends_with(first) => &first[..blank],
        _ => first.trim_ascii_end(),
    };
    if delimiter.is_none() && is_json(first) {
        return Err(ReadErrorKind::Json.into());
    }
    let format = classify(first).or(delimiter.and(Some(Format::Csv)));
    let format = format.ok_or_else(|| ReadErrorKind::UnknownFormat(lossy(first)))?;
    Ok((format, Box::new(whole)))
}

/// Returns true for the first line of JSON.
fn is_json(line: &[u8]) -> bool {
    let opened = line.trim_ascii().split_first();
    opened.is_some_and(|(first, rest)| {
        matches!(first, b'{' | b'[')
            && matches!(rest.trim_ascii_start().first(), None | Some(b'"' | b'{' | b'['))
    })
}

fn classify(line: &[u8]) -> Option<Format> {
    if matches!(line.trim_ascii_start().first(), Some(b'@' | b'%')) {
        return Some(Format::Arff);
    }
    if parse_header(line).is_some() {
        return Some(Format::XmlRepo);
    }
    let any = Syntax {
        first_feature: 0,
        sorted: false,
        query: true,
        n_features: MOST_COLUMNS,
        n_labels: MOST_COLUMNS,
    };
    let mut sample = Sample::default();
    let before_comment = line.split(|&b| b == b'#').next().unwrap_or_default();
    if parse_sample(before_comment, &any, &mut sample).is_ok() && !sample.features.is_empty() {
        return Some(Format::SvmLight);
    }
    let names_a_column = |field: &[u8]| {
        let field = field.trim_ascii();
        field
            .first()
            .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'"' | b'_') || *b >= 0x80)
    };
    let delimiter = delimiter_of(line);
    let is_csv = line.contains(&delimiter) && line.split(|&b| b == delimiter).any(names_a_column);
    is_csv.then_some(Format::Csv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compressed_data_are_named() {
        let open = |bytes: &'static [u8]| decompressed(bytes).map(drop).map_err(|e| e.kind);
        for (bytes, program) in [
            (&b"\x28\xb5\x2f\xfd\x24\x05"[..], "zstd"),
            (b"\xfd7zXZ\0\0\x04", "xz"),
            (b"BZh91AY&SY\0", "bzip2"),
            (b"BZh9\x17rE8P\x90\0", "bzip2"),
            (b"PK\x03\x04\x14\0", "zip"),
        ] {
            assert_eq!(open(bytes), Err(ReadErrorKind::Compressed(program)));
        }
        for text in [&b"BZh,x\n1,2\n"[..], b"BZh", b"PK,x\n", b""] {
            assert_eq!(open(text), Ok(()));
        }
    }

    #[test]
    fn names_and_first_lines() {
        let name = |name: &str| Format::of_name(Path::new(name));
        assert_eq!(name("a/b.ARFF"), Some(Format::Arff));
        for csv in ["b.csv.gz", "b.tsv", "b.TAB", "b.tsv.gz"] {
            assert_eq!(name(csv), Some(Format::Csv), "{csv}");
            let tab = Format::delimiter_of_name(Path::new(csv));
            assert_eq!(tab, Some('\t').filter(|_| !csv.contains("csv")), "{csv}");
        }
        assert_eq!(name("b.svm"), Some(Format::SvmLight));
        assert_eq!(
            (name("b.parquet"), name("b.feather")),
            (Some(Format::Parquet), Some(Format::Arrow))
        );
        assert_eq!((name("b.txt"), name("arff"), name("b.gz")), (None, None, None));
        let with = |text: &str, delimiter| {
            let found = format_of_content(text.as_bytes(), delimiter);
            found.map(|(format, _)| format)
        };
        let content = |text: &str| with(text, None);
        assert_eq!(content("\n% c\n@relation x"), Ok(Format::Arff));
        assert_eq!(content("PAR1\0"), Ok(Format::Parquet));
        assert_eq!(content("ARROW1\0\0"), Ok(Format::Arrow));
        assert_eq!(content("4 10 6 \n0 1:2"), Ok(Format::XmlRepo));
        assert_eq!(content("# c\n1,2 0:1 3:2 # d"), Ok(Format::SvmLight));
        assert_eq!(content(" 1:2"), Ok(Format::SvmLight));
        assert_eq!(content("\u{feff}x,1,z\n1,2,3"), Ok(Format::Csv));
        for text in ["x\ty\n1\t2", "\tx\n0\t1", "x;y", "\"a;b\";c", "x|1", "x y;z"] {
            assert_eq!(content(text), Ok(Format::Csv), "{text}");
        }
        assert_eq!(with("x y\n1 2", Some(' ')), Ok(Format::Csv));
        assert_eq!(with("4 10 6 \n0 1:2", Some(' ')), Ok(Format::XmlRepo));
        for text in ["1,2", "1\t2", "x", "hello world\n1,2"] {
            assert!(
                matches!(
                    content(text).unwrap_err().kind,
                    ReadErrorKind::UnknownFormat { .. }
                ),
                "{text}"
            );
        }
        assert!(matches!(
            content("\n\n").unwrap_err().kind,
            ReadErrorKind::Empty { .. }
        ));
    }
}
