//! The texts of a column, row by row, as counts of terms with a growing vocabulary.

use super::column::TextColumn;
use super::options::TextOptions;
use super::terms::for_each_term;
use rpo_core::MemoryLimit;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of bytes of a term, besides its characters, while the vocabulary grows.
const TERM_BYTES: usize = 48;

/// The texts read so far.
pub(crate) struct TextRows {
    terms: Terms,
    counts: Counts,
    /// Terms of the current row.
    row: Vec<u32>,
    /// Number of bytes of the vocabulary.
    bytes: usize,
    memory_limit: usize,
}

enum Terms {
    Fitted(Arc<TextColumn>),
    Growing {
        name: String,
        options: TextOptions,
        found: BTreeMap<String, u32>,
    },
}

/// The count of each term in each row.
#[derive(Default)]
pub(crate) struct Counts {
    ends: Vec<usize>,
    terms: Vec<u32>,
    counts: Vec<f32>,
}

impl Counts {
    /// Iterates over the terms of a row with their counts.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (u32, f32)> + '_ {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let entries = start..self.ends[row];
        let terms = self.terms[entries.clone()].iter().copied();
        terms.zip(self.counts[entries].iter().copied())
    }

    /// Adds a row of terms, which may be repeated.
    fn push(&mut self, row: &mut Vec<u32>) {
        row.sort_unstable();
        for same in row.chunk_by(|a, b| a == b) {
            self.terms.push(same[0]);
            self.counts.push(same.len() as f32);
        }
        self.ends.push(self.terms.len());
        row.clear();
    }

    fn bytes(&self) -> usize {
        self.ends.len() * size_of::<usize>() + self.terms.len() * size_of::<(u32, f32)>()
    }
}

impl TextRows {
    /// Creates the rows of a column with this name, with the vocabulary of another column or a new one.
    pub(crate) fn new(
        name: &str,
        options: TextOptions,
        fitted: Option<&Arc<TextColumn>>,
        memory_limit: usize,
    ) -> Self {
        let terms = match (fitted, options.hash) {
            (Some(fitted), _) => Terms::Fitted(Arc::clone(fitted)),
            (None, Some(_)) => Terms::Fitted(Arc::new(TextColumn::of(name.to_owned(), options, Vec::new()))),
            (None, None) => Terms::Growing {
                name: name.to_owned(),
                options,
                found: BTreeMap::new(),
            },
        };
        Self {
            terms,
            counts: Counts::default(),
            row: Vec::new(),
            bytes: 0,
            memory_limit,
        }
    }

    /// Adds the text of the next row; a missing text has no terms.
    pub(crate) fn push(&mut self, text: &str) -> Result<(), MemoryLimit> {
        let row = &mut self.row;
        match &mut self.terms {
            Terms::Fitted(column) => column.push_features(text, row),
            Terms::Growing { options, found, .. } => {
                let bytes = &mut self.bytes;
                for_each_term(text, options, |term| {
                    let position = found.get(term).copied().unwrap_or_else(|| {
                        let position = found.len() as u32;
                        found.insert(term.to_owned(), position);
                        *bytes += TERM_BYTES + term.len();
                        position
                    });
                    row.push(position);
                });
            }
        }
        self.counts.push(row);
        MemoryLimit::check(self.bytes + self.counts.bytes(), self.memory_limit, || {
            let name = match &self.terms {
                Terms::Fitted(column) => &column.name,
                Terms::Growing { name, .. } => name,
            };
            let n_rows = self.counts.ends.len();
            format!(
                "the terms of {name:?} in the first {n_rows} rows (hashing, or terms of fewer units, would reduce them)"
            )
        })
    }

    /// Returns the column and the counts of its terms; `None` if no term occurs in as many samples as the options
    /// require.
    pub(crate) fn finish(self) -> Option<(Arc<TextColumn>, Counts)> {
        let (name, options, found) = match self.terms {
            Terms::Fitted(column) => return Some((column, self.counts)),
            Terms::Growing { name, options, found } => (name, options, found),
        };
        let mut n_samples = vec![0_u32; found.len()];
        for &term in &self.counts.terms {
            n_samples[term as usize] += 1;
        }
        let of = |old: u32| n_samples[old as usize];
        let mut kept: Vec<(String, u32)> = found.into_iter().collect();
        kept.retain(|(_, old)| of(*old) >= options.min_samples);
        if kept.len() > options.max_terms as usize {
            // The sort is stable: terms in the same number of samples stay in alphabetical order.
            kept.sort_by_key(|(_, old)| std::cmp::Reverse(of(*old)));
            kept.truncate(options.max_terms as usize);
            kept.sort_unstable();
        }
        if kept.is_empty() {
            return None;
        }
        let mut new = vec![None; n_samples.len()];
        for (position, (_, old)) in kept.iter().enumerate() {
            new[*old as usize] = Some(position as u32);
        }
        let mut counts = Counts::default();
        let mut row = Vec::new();
        for i in 0..self.counts.ends.len() {
            let terms = self.counts.row(i);
            row.extend(terms.filter_map(|(old, count)| Some((new[old as usize]?, count))));
            row.sort_unstable_by_key(|(term, _)| *term);
            for (term, count) in row.drain(..) {
                counts.terms.push(term);
                counts.counts.push(count);
            }
            counts.ends.push(counts.terms.len());
        }
        let vocabulary = kept.into_iter().map(|(term, _)| term).collect();
        Some((Arc::new(TextColumn::of(name, options, vocabulary)), counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str], options: TextOptions) -> Option<(Arc<TextColumn>, Counts)> {
        let mut rows = TextRows::new("t", options, None, usize::MAX);
        texts.iter().for_each(|text| rows.push(text).unwrap());
        rows.finish()
    }

    fn names(column: &TextColumn) -> Vec<String> {
        column.feature_names().collect()
    }

    #[test]
    fn a_vocabulary_is_of_the_terms_of_most_samples() {
        let texts = ["b b b a", "", "c a", "c d"];
        let (all, counts) = read(
            &texts,
            TextOptions {
                min_samples: 1,
                ..TextOptions::default()
            },
        )
        .unwrap();
        assert_eq!(all.vocabulary[..], ["a", "b", "c", "d"]);
        let rows: Vec<Vec<(u32, f32)>> = (0..4).map(|i| counts.row(i).collect()).collect();
        assert_eq!(
            rows,
            [
                vec![(0, 1.0), (1, 3.0)],
                vec![],
                vec![(0, 1.0), (2, 1.0)],
                vec![(2, 1.0), (3, 1.0)]
            ]
        );
        let (common, _) = read(&texts, TextOptions::default()).unwrap();
        assert_eq!(names(&common), ["t[a]", "t[c]"]);
        // "a" and "c" are in two texts each: the first in alphabetical order stays.
        let one = TextOptions {
            max_terms: 1,
            ..TextOptions::default()
        };
        assert_eq!(read(&texts, one).unwrap().0.vocabulary[..], ["a"]);
        assert!(
            read(
                &texts,
                TextOptions {
                    min_samples: 3,
                    ..TextOptions::default()
                }
            )
            .is_none()
        );
        assert!(read(&["", "?!"], TextOptions::default()).is_none());
    }

    #[test]
    fn others_are_read_alike() {
        for hash in [None, Some(8)] {
            let options = TextOptions {
                min_samples: 1,
                longest: 2,
                hash,
                ..TextOptions::default()
            };
            let texts = ["not good", "good good", "Été"];
            let (column, counts) = read(&texts, options).unwrap();
            let mut again = TextRows::new("t", TextOptions::default(), Some(&column), usize::MAX);
            again.push("été ÉTÉ, good news").unwrap();
            again.push(texts[0]).unwrap();
            let (same, others) = again.finish().unwrap();
            assert_eq!(same, column);
            assert_eq!(
                others.row(1).collect::<Vec<_>>(),
                counts.row(0).collect::<Vec<_>>()
            );
            let sum: f32 = others.row(0).map(|(_, count)| count).sum();
            // "news" and its neighbours are not in the vocabulary.
            assert_eq!(sum, if hash.is_some() { 7.0 } else { 3.0 });
            let names = names(&column);
            let restored =
                |names: &[String]| TextColumn::restore("t", options, names.iter().map(String::as_str));
            let of_names = hash.is_none().then(|| &*column);
            assert_eq!(restored(&names).as_ref(), of_names);
            let hashed = hash.is_some().then(|| &*column);
            assert_eq!(TextColumn::restore_hashed("t", options).as_ref(), hashed);
            let mut others = names.clone();
            others.swap(0, 1);
            assert_eq!(restored(&others), None);
            assert_eq!(
                TextColumn::restore("u", options, names.iter().map(String::as_str)),
                None
            );
        }
    }

    #[test]
    fn memory_has_a_limit() {
        let mut rows = TextRows::new("t", TextOptions::default(), None, 1000);
        let refused = (0..100)
            .find_map(|i| rows.push(&format!("word{i}")).err())
            .unwrap();
        assert!(
            refused
                .to_string()
                .starts_with("the terms of \"t\" in the first "),
            "{refused}"
        );
        let hash = TextOptions {
            hash: Some(2),
            ..TextOptions::default()
        };
        let mut rows = TextRows::new("t", hash, None, 1000);
        assert!((0..10).all(|i| rows.push(&format!("word{i}")).is_ok()));
    }
}
