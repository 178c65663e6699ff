//! Reports words of `words.toml` in documentation, error messages and help texts, crates with crowded roots, pages that
//! nobody reads to the end, and the marks of a merge that is not finished.

use crate::ci::root;
use anyhow::{Context, bail};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The rules in `words.toml`.
#[derive(Deserialize)]
struct Words {
    /// Rules for words that are not allowed anywhere.
    rule: Vec<Rule>,
    /// Rules for words that may not begin the documentation of an item.
    opening: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    never: String,
    #[serde(rename = "use")]
    instead: String,
}

/// A compiled rule.
struct Matcher {
    never: Regex,
    instead: String,
}

/// A line of prose.
#[derive(Debug, PartialEq)]
struct Prose {
    line: usize,
    text: String,
    /// True for the first line of an item's documentation.
    opens: bool,
}

/// Largest number of files in the root of a crate's sources: with more, related files belong in a folder.
const ROOT_FILES: usize = 12;

/// Largest size of a page in bytes: what is longer are results, which belong in data files.
const LARGEST_PAGE: usize = 400_000;

/// Reports every word that is not allowed, every crate with a crowded root, every page that is too long, and every mark of
/// a merge.
///
/// # Errors
/// If anything is reported, or a file cannot be read.
pub(crate) fn run() -> anyhow::Result<()> {
    let root = root();
    let (anywhere, opening) = matchers()?;
    let mut found = Vec::new();
    for path in files(root)? {
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(root).unwrap_or(&path).display();
        found.extend(merge_marks(&text).map(|hit| format!("{name}:{hit}")));
        let prose = if path.extension().is_some_and(|e| e == "md") {
            found.extend(too_long(&text).map(|hit| format!("{name}: {hit}")));
            markdown(&text)
        } else {
            rust(&text)
        };
        for hit in prose.iter().flat_map(|prose| hits(prose, &anywhere, &opening)) {
            found.push(format!("{name}:{hit}"));
        }
    }
    found.extend(crowded(root)?);
    for hit in &found {
        println!("{hit}");
    }
    if !found.is_empty() {
        bail!("{} things to tidy", found.len());
    }
    Ok(())
}

/// The lines that a merge left where two versions differ.
fn merge_marks(text: &str) -> impl Iterator<Item = String> {
    let is_mark = |line: &str| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ");
    let marks = text.lines().enumerate().filter(move |(_, line)| is_mark(line));
    marks.map(|(i, line)| format!("{}: {line} -> one of the versions", i + 1))
}

/// The problem of a page that is longer than [`LARGEST_PAGE`].
fn too_long(page: &str) -> Option<String> {
    let length = page.len();
    (length > LARGEST_PAGE).then(|| format!("{length} bytes, at most {LARGEST_PAGE} -> data files"))
}

/// Crates with more than [`ROOT_FILES`] files in the root of their sources.
fn crowded(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join("crates")).context("crates")? {
        let sources = entry?.path().join("src");
        let mut files = 0;
        for entry in std::fs::read_dir(&sources).with_context(|| sources.display().to_string())? {
            files += usize::from(entry?.path().is_file());
        }
        if files > ROOT_FILES {
            let name = sources.strip_prefix(root).unwrap_or(&sources).display();
            found.push(format!("{name}: {files} files, at most {ROOT_FILES} -> folders"));
        }
    }
    found.sort();
    Ok(found)
}

fn matchers() -> anyhow::Result<(Vec<Matcher>, Vec<Matcher>)> {
    let words: Words = toml::from_str(include_str!("../words.toml")).context("xtask/words.toml")?;
    let all = |rules: Vec<Rule>, start: &str| -> anyhow::Result<Vec<Matcher>> {
        let matcher = |rule: Rule| {
            let never = format!(r"{start}(?:{})\b", rule.never);
            let never = RegexBuilder::new(&never).case_insensitive(true).build();
            Ok(Matcher {
                never: never.with_context(|| rule.never.clone())?,
                instead: rule.instead,
            })
        };
        rules.into_iter().map(matcher).collect()
    };
    Ok((all(words.rule, r"\b")?, all(words.opening, "^")?))
}

/// Sources of the crates, and pages for readers. The changelog is exempt, as it keeps the words of its time.
fn files(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = ["crates", "docs", "examples", "experiments", "python"]
        .map(|name| root.join(name))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let is_built = name.starts_with('.') || ["tests", "target"].contains(&name.as_str());
            if path.is_dir() {
                folders.extend((!is_built).then_some(path));
            } else if path.extension().is_some_and(|e| e == "rs" || e == "md") {
                files.push(path);
            }
        }
    }
    files.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    files.sort();
    Ok(files)
}

/// Formats `line: word -> use` for every match of a rule in a line.
fn hits(prose: &Prose, anywhere: &[Matcher], opening: &[Matcher]) -> Vec<String> {
    let text = without_code(&prose.text);
    let opening = opening.iter().filter(|_| prose.opens);
    anywhere
        .iter()
        .chain(opening)
        .flat_map(|rule| {
            rule.never
                .find_iter(&text)
                .map(move |word| format!("{}: {:?} -> {}", prose.line, word.as_str(), rule.instead))
        })
        .collect()
}

/// Removes text in backticks or in the braces of a format, and words joined by `-` or `_`.
fn without_code(text: &str) -> String {
    let plain = |text: &str| {
        text.split('}')
            .map(|text| text.split('{').next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("…")
    };
    let prose = text
        .split('`')
        .step_by(2)
        .map(plain)
        .collect::<Vec<_>>()
        .join("…");
    let name = |word: &str| {
        word.trim_matches(|c: char| !c.is_alphanumeric())
            .contains(['-', '_'])
    };
    prose
        .split(' ')
        .map(|word| if name(word) { "…" } else { word })
        .collect::<Vec<_>>()
        .join(" ")
}

/// The lines of a page outside its code blocks.
fn markdown(text: &str) -> Vec<Prose> {
    let mut code = false;
    let mut prose = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            prose.push(Prose {
                line,
                text: text.to_owned(),
                opens: false,
            });
        }
    }
    prose
}

/// The documentation of a source file, except that of private items, and its string literals that are sentences, up to
/// the tests.
fn rust(text: &str) -> Vec<Prose> {
    let lines: Vec<&str> = text.lines().collect();
    // Attributes may stand between this one and the module of tests; other items of tests are no end.
    let opens_tests = |at: usize| {
        let mut below = lines[at + 1..].iter().filter(|line| !line.starts_with("#["));
        lines[at] == "#[cfg(test)]"
            && below
                .next()
                .is_some_and(|line| line.starts_with("mod ") && line.contains('{'))
    };
    let end = (0..lines.len())
        .find(|&at| opens_tests(at))
        .unwrap_or(lines.len());
    let mut prose = Vec::new();
    let (mut code, mut in_string, mut documented) = (false, false, false);
    for (at, line) in lines[..end].iter().enumerate() {
        let trimmed = line.trim_start();
        let doc = ["///", "//!"].iter().find_map(|mark| trimmed.strip_prefix(mark));
        if let Some(doc) = doc.filter(|_| !in_string) {
            if doc.trim_start().starts_with("```") {
                code = !code;
            } else if !code && (trimmed.starts_with("//!") || is_public(&lines[..end], at)) {
                prose.push(Prose {
                    line: at + 1,
                    text: doc.trim_start().to_owned(),
                    opens: !documented,
                });
            }
            documented = true;
            continue;
        }
        documented = false;
        for text in literals(line, &mut in_string) {
            if text.trim().contains(' ') {
                prose.push(Prose {
                    line: at + 1,
                    text,
                    opens: false,
                });
            }
        }
    }
    prose
}

/// Returns true if the item below a line of documentation is public: any item in a public enum or trait, elsewhere
/// items that begin with `pub`.
fn is_public(lines: &[&str], at: usize) -> bool {
    let is_item =
        |line: &&&str| !line.trim_start().starts_with("///") && !line.trim_start().starts_with("#[");
    let item = lines[at..]
        .iter()
        .find(is_item)
        .map_or("", |line| line.trim_start());
    let begins = |line: &&&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    let around = lines[..at].iter().rev().find(begins);
    let within = lines[at].starts_with(' ');
    let inherits = around.is_some_and(|line| line.starts_with("pub enum") || line.starts_with("pub trait"));
    item.starts_with("pub ") || within && inherits
}

/// The contents of string literals in a line; `open` is true if a literal continues on the next line.
fn literals(line: &str, open: &mut bool) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, *open) {
            ('\\', true) => {
                chars.next();
            }
            ('"', _) => {
                *open = !*open;
                found.push(String::new());
            }
            ('/', false) if chars.peek() == Some(&'/') => break,
            // A quotation mark in a character literal does not open a string.
            ('\'', false) if chars.peek() == Some(&'"') => {
                chars.next();
            }
            (c, true) => found.last_mut().expect("there is one").push(c),
            _ => {}
        }
    }
    found.retain(|text| !text.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(prose: &[Prose]) -> Vec<String> {
        let (anywhere, opening) = matchers().unwrap();
        prose
            .iter()
            .flat_map(|prose| hits(prose, &anywhere, &opening))
            .collect()
    }

    #[test]
    fn marks_of_a_merge_are_found() {
        let marks = ["<<<<<<< HEAD", "=======", ">>>>>>> 1234567 (A message)"];
        let page = format!("- A.\n{}\n- B.\n{}\n- C.\n{}\n", marks[0], marks[1], marks[2]);
        let expected = [(2, marks[0]), (6, marks[2])];
        let expected = expected.map(|(line, mark)| format!("{line}: {mark} -> one of the versions"));
        assert_eq!(merge_marks(&page).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn words_that_are_never_used_are_found() {
        let page = "The share of samples.\nRows.\n```\na share of code\n```\nA process of its own.\n";
        let expected = [
            "1: \"The share\" -> fraction",
            "6: \"of its own\" -> custom, or its own ... in front of the noun",
        ];
        assert_eq!(found(&markdown(page)), expected);
        let source =
            "/// Whether it answers.\npub fn f() {}\n#[error(\"above the \\\"budget\\\" of {x}\")]\n";
        let lines: Vec<String> = found(&rust(source))
            .iter()
            .map(|hit| hit[..2].to_owned())
            .collect();
        assert_eq!(lines, ["1:", "1:", "3:"]);
    }

    #[test]
    fn pages_end() {
        assert_eq!(too_long(&"x".repeat(LARGEST_PAGE)), None);
        let hit = too_long(&"x".repeat(LARGEST_PAGE + 1)).unwrap();
        assert_eq!(hit, "400001 bytes, at most 400000 -> data files");
    }

    #[test]
    fn code_names_and_private_items_are_exempt() {
        let page = "`the share of` what --row-share, label_share and time-budget name; metrics share work.\n";
        assert_eq!(found(&markdown(page)), [""; 0]);
        let source = "/// Whether it answers.\nfn f() {}\n/// Whether.\n#[inline]\npub(crate) fn g() {}\n// answers\n\
                      pub struct S {\n    /// Whether.\n    field: bool,\n}\n\
                      let c = '\"'; // budget\n#[cfg(test)]\nmod tests { fn f() -> &str { \"the budget of it\" } }\n";
        assert_eq!(found(&rust(source)), [""; 0]);
    }
}
