//! Finds and reads description files.

use super::check::check;
use super::{DescribeError, Description, like};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The folder of the project's experiments.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("descriptions")
}

/// Reads the experiment with a name, or, if the name ends in `.toml`, the file with that path.
pub(crate) fn find(name: &str) -> Result<Description, DescribeError> {
    if Path::new(name).extension().is_some_and(|e| e == "toml") {
        return read(Path::new(name));
    }
    let files = files()?;
    let stem = |path: &PathBuf| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    match files.iter().find(|path| stem(path) == name) {
        Some(path) => read(path),
        None => Err(DescribeError::Unknown {
            name: name.to_owned(),
            known: files.iter().map(stem).collect(),
        }),
    }
}

/// Reads all experiments of the project, ordered by name.
pub(crate) fn list() -> Result<Vec<Description>, DescribeError> {
    files()?.iter().map(|path| read(path)).collect()
}

fn files() -> Result<Vec<PathBuf>, DescribeError> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder).map_err(|e| io_error(&folder, &e))?;
    let paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| io_error(&folder, &e))?;
    let mut files: Vec<PathBuf> = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Description, DescribeError> {
    let text = std::fs::read_to_string(path).map_err(|e| io_error(path, &e))?;
    parse(path, &text)
}

/// Parses an experiment from the text of a file.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Description, DescribeError> {
    let file = Source { path, text };
    let mut description: Description =
        toml::from_str(text).map_err(|e| file.error(e.span().unwrap_or(0..0), e.message()))?;
    like::complete(&mut description, &file)?;
    check(&description, &file)?;
    Ok(description)
}

fn io_error(path: &Path, e: &std::io::Error) -> DescribeError {
    DescribeError::Io {
        path: path.to_owned(),
        message: e.to_string(),
    }
}

/// A file being read, for the positions in errors.
pub(super) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// The error for the bytes at a position.
    pub(crate) fn error(&self, at: Range<usize>, message: impl Into<String>) -> DescribeError {
        let before = &self.text[..at.start.min(self.text.len())];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        DescribeError::Field {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            field: field(before, line),
            message: message.into(),
        }
    }
}

/// The key of a line with its table: `method.components`.
fn field(before: &str, line: &str) -> String {
    let header = |line: &str| {
        let name = line.trim().strip_prefix('[')?;
        Some(name.trim_matches(['[', ']']).trim().to_owned())
    };
    if let Some(table) = header(line) {
        return table;
    }
    let key = line.split('=').next().unwrap_or_default().trim();
    match before.lines().rev().find_map(header) {
        Some(table) => format!("{table}.{key}"),
        None if key.is_empty() => "file".to_owned(),
        None => key.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::Published;

    /// The error for an edited valid description: line, field, and part of the message.
    #[test]
    fn mistakes_are_found_where_they_are() {
        let right = std::fs::read_to_string(folder().join("figure-1-trees.toml")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("edited.toml");
        let answer = |text: &str| {
            std::fs::write(&path, text).unwrap();
            find(path.to_str().unwrap())
        };
        assert!(answer(&right).is_ok());
        for (old, new, field, message) in [
            ("metrics = [\"lrap\"]", "metrics = [\"larp\"]", "metrics", "larp"),
            ("metrics = [\"lrap\"]", "metrics = [", "repeats", "expected value"),
            ("repeats = 5", "repeats = -5", "repeats", "-5"),
            ("repeats = 5", "repeets = 5", "repeets", "unknown field"),
            (
                "train = 12920",
                "train = 0",
                "dataset.name",
                "at least 1 training sample",
            ),
            (
                "algorithm = \"random-forest\"",
                "algorithm = \"random-tree\"",
                "method.algorithm",
                "random-tree",
            ),
            (
                "projection = \"gaussian\"",
                "projection = \"gauss\"",
                "method.options.projection",
                "gauss",
            ),
            (
                "projection = \"gaussian\"",
                "",
                "method.options.components",
                "cannot be combined with `projection` = none",
            ),
            (
                "trees = 1\n",
                "trunks = 1\n",
                "method.options.trunks",
                "is not a parameter of random-forest",
            ),
            (
                "max-features = \"all\"",
                "max-features = \"most\"",
                "method.options.max-features",
                "most",
            ),
            (
                "trees = 1\n",
                "trees = [1, 2]\n",
                "method.options.trees",
                "not the axis",
            ),
            ("id = \"gaussian\"", "id = \"full\"", "method.id", "the same id"),
            (
                "id = \"full\"",
                "id = \"full\"\nlike = \"gaussian\"",
                "method.like",
                "no method \"gaussian\" before",
            ),
            (
                "left = \"gaussian@200\"",
                "left = \"gaussian@201\"",
                "claim.compare",
                "no column \"gaussian@201\"",
            ),
            ("[0.9, 1.0]", "[1.0, 0.9]", "claim.compare", "no ratio"),
            (
                "\"fit-cpu\"]",
                "\"fit-gpu\"]",
                "figures",
                "no measure \"fit-gpu\"",
            ),
        ] {
            assert!(right.contains(old), "{old}");
            let edited = right.replacen(old, new, 1);
            let Err(DescribeError::Field {
                path: found,
                line,
                field: at,
                message: said,
            }) = answer(&edited)
            else {
                panic!("{new} was accepted");
            };
            assert_eq!((found, at.as_str()), (path.clone(), field), "{new}: {said}");
            assert!(said.contains(message), "{new}: {said}");
            // The line is that of the edit, or of the table around it.
            let edited_line = right[..right.find(old).unwrap()].matches('\n').count() + 1;
            assert!(
                line.abs_diff(edited_line) <= 6,
                "{new}: line {line}, edited {edited_line}"
            );
        }
    }

    #[test]
    fn a_method_like_another_has_its_options_and_search() {
        let methods = find("boosting-multilabel").unwrap().methods;
        let [gaussian, subsampled] = ["rpo-gaussian", "rpo-subsampled"]
            .map(|id| methods.iter().find(|m| m.id.get_ref() == id).unwrap());
        let mut options = gaussian.job(None).options;
        options.insert("projection".to_owned(), "subsample".to_owned());
        assert_eq!(subsampled.job(None).options, options);
        assert!(subsampled.search.is_some() && subsampled.search == gaussian.search);
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_there_are() {
        let Err(DescribeError::Unknown { name, known }) = find("nope") else {
            panic!("found");
        };
        assert!(name == "nope" && known.contains(&"forests".to_owned()));
        assert!(matches!(
            find("/nonexistent/x.toml"),
            Err(DescribeError::Io { .. })
        ));
    }

    /// Every experiment is valid, has the name of its file, and spells data sets and methods as the published figures
    /// do: each occurs with some other. (Not every pair occurs: cells of some tables are lost.)
    #[test]
    fn the_experiments_of_the_project_are_right() {
        let published = Published::get();
        for description in list().unwrap() {
            assert_eq!(find(&description.name).unwrap().name, description.name);
            let Some(paper) = &description.paper else { continue };
            let mut measures: Vec<&str> = description.metrics.iter().map(|m| m.get_ref().as_str()).collect();
            measures.push("fit-cpu");
            let sets = description
                .datasets
                .iter()
                .filter_map(|set| set.published.as_ref());
            let sets: Vec<&String> = sets.collect();
            let methods: Vec<&String> = description
                .methods
                .iter()
                .flat_map(|m| m.published.names())
                .collect();
            let found = |set: &str, method: &str| {
                let at = |measure: &&str| {
                    published
                        .find(paper.get_ref(), None, set, method, measure)
                        .is_some()
                };
                measures.iter().any(at)
            };
            for set in &sets {
                let known = methods.is_empty() || methods.iter().any(|method| found(set, method));
                assert!(known, "{}: {set}", description.name);
            }
            for method in &methods {
                let known = sets.is_empty() || sets.iter().any(|set| found(set, method));
                assert!(known, "{}: {method}", description.name);
            }
        }
    }
}
