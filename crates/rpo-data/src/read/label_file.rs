//! MULAN label files: XML with the names of the label attributes of an ARFF file.

use super::detect::open;
use super::error::{ReadError, ReadErrorKind};
use crate::message::{cut, lossy, quoted};
use quick_xml::errors::{Error as XmlError, IllFormedError};
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::BTreeSet;
use std::path::Path;

/// The labels of a MULAN label file:
/// `<labels xmlns="http://mulan.sourceforge.net/labels"><label name="..."/>...</labels>`, where a label may contain
/// others.
///
/// ```
/// use rpo_data::read::LabelFile;
/// let text = r#"<labels><label name="animal"><label name="cat"/></label><label name="R&amp;D"/></labels>"#;
/// let file = LabelFile::try_from(text.as_bytes())?;
/// assert_eq!(file.labels, ["animal", "cat", "R&D"]);
/// assert_eq!(file.parents, [None, Some(0), None]);
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelFile {
    /// Names, in document order.
    pub labels: Vec<String>,
    /// Position of the parent label of each label, if it has one.
    pub parents: Vec<Option<usize>>,
    /// Line in which each label is named.
    pub lines: Vec<u64>,
}

impl LabelFile {
    /// Reads a label file.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let read = open(path).and_then(|mut reader| {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut reader, &mut text).map_err(|e| ReadErrorKind::from(&e))?;
            Self::try_from(&text[..])
        });
        read.map_err(|e| e.in_file(path))
    }
}

impl TryFrom<&[u8]> for LabelFile {
    type Error = ReadError;

    /// Reads the text of a label file.
    ///
    /// # Errors
    /// [`ReadError`] with the line: XML that is not well-formed, other elements, labels without a name or with one that
    /// is already used, no labels.
    fn try_from(text: &[u8]) -> Result<Self, ReadError> {
        let text = std::str::from_utf8(text).map_err(|e| {
            let bad = &text[e.valid_up_to()..];
            ReadErrorKind::invalid_utf8(bad).at(line_of(text, e.valid_up_to()))
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_ascii().is_empty() {
            return Err(ReadErrorKind::Empty("XML that starts with <labels>").into());
        }
        Parser::new(text).run()
    }
}

/// An open element.
enum Open {
    Labels,
    Label(usize),
}

struct Parser<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    file: LabelFile,
    taken: BTreeSet<String>,
    open: Vec<Open>,
    closed: bool,
    /// A byte and its line, from which counting of lines continues.
    counted: (usize, u64),
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            reader: Reader::from_str(text),
            file: LabelFile {
                labels: Vec::new(),
                parents: Vec::new(),
                lines: Vec::new(),
            },
            taken: BTreeSet::new(),
            open: Vec::new(),
            closed: false,
            counted: (0, 1),
        }
    }

    fn run(mut self) -> Result<LabelFile, ReadError> {
        loop {
            let start = self.position();
            match self.reader.read_event() {
                Ok(Event::Start(element)) => self.element(&element, start, true)?,
                Ok(Event::Empty(element)) => self.element(&element, start, false)?,
                Ok(Event::End(_)) => {
                    self.open.pop();
                    self.closed = self.open.is_empty();
                }
                Ok(Event::Text(text)) if text.trim_ascii().is_empty() => {}
                Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => {}
                Ok(Event::Eof) => break,
                Ok(_) => {
                    let rest = self.text[start..].trim_ascii_start();
                    let found = lossy(rest.lines().next().unwrap_or_default().as_bytes());
                    return Err(self.error(self.text.len() - rest.len(), ReadErrorKind::NotALabelFile(found)));
                }
                Err(e) => {
                    let at = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
                    return Err(self.error(at, syntax_error(&e)));
                }
            }
        }
        if let Some(open) = self.open.last() {
            let element = match open {
                Open::Labels => "labels",
                Open::Label(_) => "label",
            };
            let unclosed = ReadErrorKind::UnclosedElement(element.to_owned());
            return Err(self.error(self.text.len(), unclosed));
        }
        if self.file.labels.is_empty() {
            let end = self.text.trim_ascii_end().len();
            return Err(self.error(end, ReadErrorKind::NoLabels));
        }
        Ok(self.file)
    }

    fn element(&mut self, element: &BytesStart<'_>, start: usize, holds_more: bool) -> Result<(), ReadError> {
        let name = element.local_name();
        let opened = match (name.as_ref(), self.open.last()) {
            ("labels", None) if !self.closed => Open::Labels,
            ("label", Some(holder)) => {
                let parent = match holder {
                    Open::Labels => None,
                    Open::Label(parent) => Some(*parent),
                };
                let label = self.label_name(element).map_err(|kind| self.error(start, kind))?;
                if !self.taken.insert(label.clone()) {
                    let (what, name) = ("label", label);
                    return Err(self.error(start, ReadErrorKind::DeclaredTwice { what, name }));
                }
                self.file.labels.push(label);
                self.file.parents.push(parent);
                let (from, line) = self.counted;
                self.counted = (start, line + line_ends(&self.text.as_bytes()[from..start]));
                self.file.lines.push(self.counted.1);
                Open::Label(self.file.labels.len() - 1)
            }
            (other, _) => {
                let found = lossy(format!("<{other}>").as_bytes());
                return Err(self.error(start, ReadErrorKind::NotALabelFile(found)));
            }
        };
        if holds_more {
            self.open.push(opened);
        } else {
            self.closed = self.open.is_empty();
        }
        Ok(())
    }

    fn label_name(&self, element: &BytesStart<'_>) -> Result<String, ReadErrorKind> {
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|e| {
                ReadErrorKind::Xml(match e {
                    AttrError::UnquotedValue(_) => "an attribute value is not in quotes".to_owned(),
                    other => cut(&other.to_string()),
                })
            })?;
            if attribute.key.as_ref() == "name" {
                let name = quick_xml::escape::unescape(&attribute.value).map_err(|e| {
                    let (value, problem) = (quoted(&attribute.value), cut(&e.to_string()));
                    ReadErrorKind::Xml(format!("bad entity in {value}: {problem}"))
                })?;
                return if name.is_empty() {
                    Err(ReadErrorKind::LabelWithoutName)
                } else {
                    Ok(name.into_owned())
                };
            }
        }
        Err(ReadErrorKind::LabelWithoutName)
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// Creates an error at a byte of the text.
    fn error(&self, position: usize, kind: ReadErrorKind) -> ReadError {
        kind.at(line_of(self.text.as_bytes(), position))
    }
}

fn syntax_error(e: &XmlError) -> ReadErrorKind {
    match e {
        XmlError::IllFormed(IllFormedError::MissingEndTag(element)) => {
            ReadErrorKind::UnclosedElement(cut(element))
        }
        other => ReadErrorKind::Xml(cut(&other.to_string())),
    }
}

/// Returns the line of a byte, from 1.
fn line_of(text: &[u8], position: usize) -> u64 {
    1 + line_ends(&text[..position.min(text.len())])
}

fn line_ends(text: &[u8]) -> u64 {
    text.iter().filter(|&&b| b == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_know_their_lines() {
        let text = "\u{feff}<labels>\n<label name='a'>\n\n  <label name='b'/> <label name='c'/></label>\n<label name='d'/>\n</labels>";
        let file = LabelFile::try_from(text.as_bytes()).unwrap();
        assert_eq!(file.lines, [2, 4, 4, 5]);
    }

    /// An entity may be as long as the file, and the parser repeats it.
    #[test]
    fn long_entities_are_cut_in_messages() {
        let long = "x\u{1}".repeat(10_000);
        for text in [
            format!("<labels><label name='a&{long};'/></labels>"),
            format!("<labels><label {long} name='a'/></labels>"),
            format!("<labels><label name='a'></{long}></labels>"),
            format!("<labels><label name='a'/>{long}</labels>"),
        ] {
            let message = LabelFile::try_from(text.as_bytes()).unwrap_err().to_string();
            assert!(
                message.len() < 1000,
                "{} bytes: {}",
                message.len(),
                &message[..200]
            );
        }
    }
}
