//! Attribute declarations of ARFF.

use crate::message::lossy;
use crate::names::duplicate;
use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::line::{LineReader, skip_blanks};
use crate::read::quoted_text::{Fault, field, utf8};
use std::io::BufRead;
use std::sync::Arc;

/// A declared attribute: a column of the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) struct Attribute {
    /// Its name, unquoted.
    pub(in crate::read) name: String,
    /// Its type.
    pub(in crate::read) kind: AttributeKind,
}

/// The type of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::read) enum AttributeKind {
    /// Numbers.
    Numeric,
    /// One of these values, unquoted, in the order of the declaration.
    Nominal(Arc<[String]>),
    /// Texts or dates, which are only left out, by the word for the type.
    Other(String),
}

impl Attribute {
    /// Returns the declaration, shortened for messages.
    pub(in crate::read) fn declaration(&self) -> String {
        match &self.kind {
            AttributeKind::Numeric => "numeric".to_owned(),
            AttributeKind::Other(kind) => kind.clone(),
            AttributeKind::Nominal(values) => {
                let first: Vec<&str> = values.iter().take(4).map(String::as_str).collect();
                let more = if values.len() > first.len() { ",..." } else { "" };
                format!("{{{}{more}}}", lossy(first.join(",").as_bytes()))
            }
        }
    }
}

#[derive(Debug)]
pub(in crate::read) struct Header {
    pub(in crate::read) relation: String,
    pub(in crate::read) attributes: Vec<Attribute>,
    /// The line of each declaration.
    pub(super) declared_at: Vec<u64>,
}

pub(super) fn parse_header<R: BufRead>(lines: &mut LineReader<R>) -> Result<Header, ReadError> {
    let mut header = Header {
        relation: String::new(),
        attributes: Vec::new(),
        declared_at: Vec::new(),
    };
    let mut empty = true;
    while lines.advance()? {
        let line = lines.line();
        let start = skip_blanks(line, 0);
        if matches!(line.get(start), None | Some(b'%')) {
            continue;
        }
        empty = false;
        match parse_declaration(line, start, &mut header) {
            Ok(Keyword::Attribute) => header.declared_at.push(lines.number()),
            Ok(Keyword::Relation) => {}
            Ok(Keyword::Data) if header.attributes.is_empty() => {
                return Err(lines.error(ReadErrorKind::NoAttributes));
            }
            Ok(Keyword::Data) => {
                check_unique(&header.attributes, &header.declared_at)?;
                return Ok(header);
            }
            Err((at, kind)) => return Err(lines.error(kind).at_byte(at)),
        }
    }
    Err(if empty {
        ReadErrorKind::Empty("a header that starts with @relation").into()
    } else {
        lines.error(ReadErrorKind::NoDataSection)
    })
}

enum Keyword {
    Relation,
    Attribute,
    Data,
}

fn parse_declaration(line: &[u8], start: usize, header: &mut Header) -> Result<Keyword, Fault> {
    let unexpected = |at: usize| {
        let text = lossy(line[at..].trim_ascii_end());
        (at, ReadErrorKind::UnexpectedInHeader(text))
    };
    if line[start] != b'@' {
        return Err(unexpected(start));
    }
    let word = field(line, start, is_blank)?;
    let rest = skip_blanks(line, word.end);
    match &*word.text.to_ascii_lowercase() {
        b"@relation" => {
            // A bare name may contain blanks: some files have whole command lines here.
            let name = field(line, rest, |_| false)?;
            header.relation = utf8(&name.text, rest)?;
            Ok(Keyword::Relation)
        }
        b"@attribute" => {
            header.attributes.push(parse_attribute(line, rest)?);
            Ok(Keyword::Attribute)
        }
        b"@data" if matches!(line.get(rest), None | Some(b'%')) => Ok(Keyword::Data),
        b"@data" => Err(unexpected(rest)),
        _ => Err((start, ReadErrorKind::UnknownKeyword(lossy(&word.text)))),
    }
}

fn parse_attribute(line: &[u8], start: usize) -> Result<Attribute, Fault> {
    let name_field = field(line, start, |b| is_blank(b) || b == b'{')?;
    if name_field.text.is_empty() {
        return Err((start, ReadErrorKind::NoAttributeName));
    }
    let name = utf8(&name_field.text, start)?;
    let at = skip_blanks(line, name_field.end);
    let (kind, end) = match line.get(at) {
        None | Some(b'%') => return Err((at, ReadErrorKind::NoAttributeType(name))),
        Some(b'{') => parse_values(line, at, &name)?,
        Some(_) => {
            let word = field(line, at, is_blank)?;
            let found = lossy(&word.text);
            match &*word.text.to_ascii_lowercase() {
                b"numeric" | b"real" | b"integer" => (AttributeKind::Numeric, word.end),
                b"string" => (AttributeKind::Other(found), word.end),
                b"date" => (AttributeKind::Other(found), end_of_format(line, word.end)?),
                _ => return Err((at, ReadErrorKind::UnsupportedType { name, found })),
            }
        }
    };
    let rest = skip_blanks(line, end);
    match line.get(rest) {
        None | Some(b'%') => Ok(Attribute { name, kind }),
        Some(_) => {
            let text = lossy(line[rest..].trim_ascii_end());
            Err((rest, ReadErrorKind::AfterDeclaration { name, text }))
        }
    }
}

/// Returns the end of the format of a date, which may follow its type.
fn end_of_format(line: &[u8], end: usize) -> Result<usize, Fault> {
    let at = skip_blanks(line, end);
    match line.get(at) {
        None | Some(b'%') => Ok(end),
        Some(_) => Ok(field(line, at, is_blank)?.end),
    }
}

/// Parses the list of values that opens at a brace.
fn parse_values(line: &[u8], start: usize, name: &str) -> Result<(AttributeKind, usize), Fault> {
    let mut values = Vec::new();
    let mut at = skip_blanks(line, start + 1);
    if line.get(at) == Some(&b'}') {
        return Err((start, ReadErrorKind::NoValues(name.to_owned())));
    }
    loop {
        let value = field(line, at, |b| b == b',' || b == b'}')?;
        let end = skip_blanks(line, value.end);
        if value.text.is_empty() && !value.quoted && end < line.len() {
            return Err((at, ReadErrorKind::EmptyField(name.to_owned())));
        }
        values.push(utf8(&value.text, at)?);
        match line.get(end) {
            Some(b',') => at = skip_blanks(line, end + 1),
            Some(b'}') => {
                return match duplicate(&values) {
                    None => Ok((AttributeKind::Nominal(values.into()), end + 1)),
                    Some(name) => {
                        let (what, name) = ("value", name.to_owned());
                        Err((start, ReadErrorKind::DeclaredTwice { what, name }))
                    }
                };
            }
            None => return Err((line.len(), ReadErrorKind::UnclosedBrace)),
            Some(_) => {
                let text = lossy(&line[end..]);
                let after = "a quoted value";
                return Err((end, ReadErrorKind::TextAfter { after, text }));
            }
        }
    }
}

/// Refuses the first attribute whose name is already used.
fn check_unique(attributes: &[Attribute], declared_at: &[u64]) -> Result<(), ReadError> {
    let mut order: Vec<usize> = (0..attributes.len()).collect();
    order.sort_by(|&a, &b| attributes[a].name.cmp(&attributes[b].name).then(a.cmp(&b)));
    let second = order
        .windows(2)
        .filter(|pair| attributes[pair[0]].name == attributes[pair[1]].name)
        .map(|pair| pair[1])
        .min();
    second.map_or(Ok(()), |j| {
        let (what, name) = ("attribute", attributes[j].name.clone());
        Err(ReadErrorKind::DeclaredTwice { what, name }.at(declared_at[j]))
    })
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
