//! Finds columns by name or by pattern.

/// Returns the position of the column with this name. If there is none, returns the positions of all columns that match
/// the name as a pattern: `*` matches any characters, `?` matches one.
pub(super) fn matching<'a>(name: &str, columns: impl Iterator<Item = &'a str> + Clone) -> Vec<usize> {
    if let Some(position) = columns.clone().position(|column| column == name) {
        return vec![position];
    }
    if !name.contains(['*', '?']) {
        return Vec::new();
    }
    // Brackets are ordinary characters in column names.
    let pattern = name.replace('[', "[[]");
    let Ok(pattern) = glob::Pattern::new(&pattern) else {
        return Vec::new();
    };
    let matches = columns.enumerate().filter(|(_, column)| pattern.matches(column));
    matches.map(|(position, _)| position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_before_patterns() {
        let find = |name: &str| matching(name, ["a", "a_1", "a_2", "b[1]", "*"].into_iter());
        assert_eq!(find("a_1"), [1]);
        assert_eq!(find("a*"), [0, 1, 2]);
        assert_eq!(find("a_?"), [1, 2]);
        assert_eq!(find("b[?]"), [3]);
        assert_eq!(find("*"), [4]);
        assert!(find("c").is_empty() && find("c*").is_empty());
    }
}
