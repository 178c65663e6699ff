//! Lists of names on the command line.

use std::fmt::Display;
use std::str::FromStr;

/// Names separated by commas, each in any form. A name that contains a comma stands in double quotes, in which two
/// double quotes are one, as in CSV.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct List<T>(pub(super) Vec<T>);

impl<T: FromStr<Err: Display>> FromStr for List<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = split(text)?;
        let parsed = names
            .iter()
            .map(|name| name.parse().map_err(|e: T::Err| e.to_string()));
        parsed.collect::<Result<_, _>>().map(Self)
    }
}

/// Returns the items of lists.
pub(crate) fn all<T: Clone>(lists: &[List<T>]) -> Vec<T> {
    lists.iter().flat_map(|List(items)| items).cloned().collect()
}

fn split(text: &str) -> Result<Vec<String>, String> {
    let (mut names, mut rest) = (Vec::new(), text);
    loop {
        let (name, behind) = first(rest)?;
        names.push(name);
        match behind {
            None => return Ok(names),
            Some(behind) => rest = behind,
        }
    }
}

/// Returns the first name and what follows behind the comma after it, if there is one.
fn first(text: &str) -> Result<(String, Option<&str>), String> {
    let Some(quoted) = text.strip_prefix('"') else {
        return Ok(match text.split_once(',') {
            Some((name, behind)) => (name.to_owned(), Some(behind)),
            None => (text.to_owned(), None),
        });
    };
    let mut from = 0;
    while let Some(end) = quoted[from..].find('"').map(|place| from + place) {
        match quoted[end + 1..].chars().next() {
            Some('"') => from = end + 2,
            Some(',') => return Ok((quoted[..end].replace("\"\"", "\""), Some(&quoted[end + 2..]))),
            None => return Ok((quoted[..end].replace("\"\"", "\""), None)),
            Some(_) => return Err("a comma is expected behind a name in quotes".to_owned()),
        }
    }
    Err("a name begins with a double quote that is not closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_stand_in_quotes() {
        for (text, expected) in [
            ("a", Ok(vec!["a"])),
            ("a,b c,", Ok(vec!["a", "b c", ""])),
            ("\"y, one\",z", Ok(vec!["y, one", "z"])),
            ("z,\"y, one\"", Ok(vec!["z", "y, one"])),
            ("\"a \"\"b\"\"\"", Ok(vec!["a \"b\""])),
            ("5\" pipe", Ok(vec!["5\" pipe"])),
            ("\"a\"b", Err("behind a name in quotes")),
            ("\"a,b", Err("not closed")),
        ] {
            match (text.parse::<List<String>>(), expected) {
                (Ok(List(names)), Ok(expected)) => assert_eq!(names, expected, "{text}"),
                (Err(message), Err(expected)) => assert!(message.contains(expected), "{message}"),
                (found, expected) => panic!("{text}: {found:?} for {expected:?}"),
            }
        }
        assert_eq!("1,2".parse(), Ok(List(vec![1, 2])));
        assert!("1,x".parse::<List<u8>>().is_err());
        assert_eq!(all(&[List(vec![1, 2]), List(vec![3])]), [1, 2, 3]);
    }
}
