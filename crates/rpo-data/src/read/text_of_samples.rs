//! The source text of each sample of a file, to copy samples verbatim.

use super::arff::ArffReader;
use super::csv::CsvReader;
use super::csv::Delimiter;
use super::detect::{format_of_content, open};
use super::error::ReadError;
use super::format::Format;
use super::labelled_line::Sample;
use super::line::LineReader;
use super::options::ReadOptions;
use super::row::Row;
use super::svmlight::SvmLightReader;
use super::xmlrepo::XmlRepoReader;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// The positions of the header and of each sample in a file.
///
/// Parts of a file are copied byte for byte, each below the header; comments and blank lines go with the sample that
/// follows them. In the header of the Extreme Classification Repository's format the number of samples is that of the
/// part. The rows of a Parquet or Arrow file become a file with the same columns.
///
/// ```
/// use rpo_data::read::{ReadOptions, TextOfSamples};
/// let path = std::env::temp_dir().join(format!("rpo-text-{}.csv", std::process::id()));
/// std::fs::write(&path, "x,note\n1,\"of two\nlines\"\n2,b\n3,c\n")?;
/// let text = TextOfSamples::find(&path, &ReadOptions::default())?;
/// let (mut first, mut rest) = (Vec::new(), Vec::new());
/// text.copy(&mut [(&[0], &mut first), (&[1, 2], &mut rest)])?;
/// assert_eq!(first, b"x,note\n1,\"of two\nlines\"\n");
/// assert_eq!(rest, b"x,note\n2,b\n3,c\n");
/// # std::fs::remove_file(path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TextOfSamples {
    path: PathBuf,
    format: Format,
    /// The last line of the header, from 1; 0 if there is none.
    header: u64,
    /// The last line of each sample.
    last: Vec<u64>,
}

impl TextOfSamples {
    /// Finds the samples of a file, which may be compressed by gzip. Only the format, the delimiter, the longest line
    /// and the first feature of the options are used; values of a CSV file are not parsed.
    ///
    /// # Errors
    /// [`ReadError`] as for [`read`](super::read).
    pub fn find(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, ReadError> {
        let path = path.as_ref();
        Self::find_in(path, options).map_err(|e| e.in_file(path))
    }

    fn find_in(path: &Path, options: &ReadOptions) -> Result<Self, ReadError> {
        let format = match (options.format, Format::of_name(path)) {
            (Format::Auto, Some(format)) => format,
            (Format::Auto, None) => format_of_content(open(path)?, options.delimiter)?.0,
            (given, _) => given,
        };
        let lines = LineReader::with_longest(open(path)?, options.longest_line);
        let mut row = Row::default();
        let mut sample = Sample::default();
        let (header, last) = match format {
            Format::Auto => unreachable!("the format is detected"),
            // Their rows are not text, but are numbered.
            #[cfg(feature = "arrow")]
            Format::Parquet | Format::Arrow => (0, Vec::new()),
            #[cfg(not(feature = "arrow"))]
            Format::Parquet | Format::Arrow => {
                return Err(super::error::ReadErrorKind::NotBuilt(format).into());
            }
            Format::Csv => {
                let mut reader = CsvReader::from_lines(lines, Delimiter::of_file(path, options)?)?;
                (
                    reader.line(),
                    ends(|| Ok(reader.read_texts(|_, _| Ok(()))?.then(|| reader.line())))?,
                )
            }
            Format::Arff => {
                let mut reader = ArffReader::from_lines(lines)?;
                (
                    reader.line(),
                    ends(|| Ok(reader.read_row(&mut row)?.then(|| reader.line())))?,
                )
            }
            Format::XmlRepo => {
                let mut reader = XmlRepoReader::from_lines(lines)?;
                (
                    reader.line(),
                    ends(|| Ok(reader.read_sample(&mut sample)?.then(|| reader.line())))?,
                )
            }
            Format::SvmLight => {
                let first = options.first_feature.unwrap_or_default();
                let mut reader = SvmLightReader::from_lines(lines, first, None, None);
                (
                    0,
                    ends(|| Ok(reader.read_sample(&mut sample)?.then(|| reader.line())))?,
                )
            }
        };
        Ok(Self {
            path: path.to_owned(),
            format,
            header,
            last,
        })
    }

    /// The format of the file and of its parts.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Writes parts of the file; each part has increasing sample indices and an output.
    ///
    /// # Errors
    /// System errors; a file that has become shorter.
    pub fn copy(&self, parts: &mut [(&[usize], &mut (dyn Write + Send))]) -> io::Result<()> {
        #[cfg(feature = "arrow")]
        if matches!(self.format, Format::Parquet | Format::Arrow) {
            return super::container::copy(&self.path, self.format, parts);
        }
        let mut lines = RawLines {
            reader: open(&self.path).map_err(|e| io::Error::other(e.to_string()))?,
            number: 0,
            line: Vec::new(),
        };
        let mut header = Vec::new();
        while lines.number < self.header {
            lines.advance()?;
            header.extend_from_slice(&lines.line);
        }
        for (samples, out) in parts.iter_mut() {
            match self.format {
                Format::XmlRepo => {
                    let start = header.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
                    let count = &header[start..];
                    let rest = count
                        .iter()
                        .position(u8::is_ascii_whitespace)
                        .unwrap_or(count.len());
                    write!(out, "{}", samples.len())?;
                    out.write_all(&count[rest..])?;
                }
                _ => out.write_all(&header)?,
            }
        }
        let mut next = vec![0; parts.len()];
        let mut text = Vec::new();
        for (sample, &last) in self.last.iter().enumerate() {
            text.clear();
            while lines.number < last {
                lines.advance()?;
                text.extend_from_slice(&lines.line);
            }
            for ((samples, out), next) in parts.iter_mut().zip(&mut next) {
                if samples.get(*next) == Some(&sample) {
                    *next += 1;
                    out.write_all(&text)?;
                }
            }
        }
        parts.iter_mut().try_for_each(|(_, out)| out.flush())
    }
}

/// Returns the lines at which samples end, until `next` returns `None`.
fn ends(mut next: impl FnMut() -> Result<Option<u64>, ReadError>) -> Result<Vec<u64>, ReadError> {
    let mut last = Vec::new();
    while let Some(line) = next()? {
        last.push(line);
    }
    Ok(last)
}

/// Lines including their line ends.
struct RawLines<R> {
    reader: R,
    number: u64,
    line: Vec<u8>,
}

impl<R: BufRead> RawLines<R> {
    fn advance(&mut self) -> io::Result<()> {
        self.line.clear();
        if self.reader.read_until(b'\n', &mut self.line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if self.line.last() != Some(&b'\n') {
            self.line.push(b'\n');
        }
        self.number += 1;
        Ok(())
    }
}
