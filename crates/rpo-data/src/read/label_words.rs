//! Words for 0 and 1.

/// The pairs of words for the values of a label: the second of each means 1.
pub(super) const PAIRS: [[&str; 2]; 5] = [
    ["0", "1"],
    ["false", "true"],
    ["no", "yes"],
    ["n", "y"],
    ["f", "t"],
];

/// A label whose values are words of one of the pairs, in any case. The first word tells the pair.
#[derive(Debug, Default)]
pub(super) struct LabelWords {
    pair: Option<[&'static str; 2]>,
}

impl LabelWords {
    /// Returns 0 or 1; `None` for any other word than those of the pair.
    pub(super) fn value(&mut self, text: &[u8]) -> Option<f64> {
        let is = |word: &&str| text.eq_ignore_ascii_case(word.as_bytes());
        let pair = self
            .pair
            .or_else(|| PAIRS.into_iter().find(|pair| pair.iter().any(is)))?;
        self.pair = Some(pair);
        pair.iter().position(is).map(|value| value as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_one_pair() {
        let values = |texts: &[&str]| {
            let mut words = LabelWords::default();
            let values = texts.iter().map(|text| words.value(text.as_bytes()));
            values.collect::<Vec<_>>()
        };
        assert_eq!(values(&["Yes", "no", "YES"]), [Some(1.0), Some(0.0), Some(1.0)]);
        assert_eq!(
            values(&["n", "y", "no", "0", ""]),
            [Some(0.0), Some(1.0), None, None, None]
        );
        assert_eq!(values(&["maybe", "1", "t"]), [None, Some(1.0), None]);
    }
}
