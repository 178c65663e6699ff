//! The columns and signs of features.

use rpo_projections::{HashingMap, LinearMap};

/// A table of the column and sign of each feature: a look-up is faster than hashing.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::craftml) struct HashTable {
    /// The column, with the sign in the top bit.
    codes: Vec<u32>,
}

impl HashTable {
    const MINUS: u32 = 1 << 31;

    /// Tabulates a map; columns are its components.
    pub(super) fn fill(&mut self, map: &HashingMap) {
        let code = |feature| {
            let (component, sign) = map.entry(feature);
            debug_assert!(component < Self::MINUS, "widths are limited to far less");
            component | sign.to_bits() & Self::MINUS
        };
        self.codes.clear();
        self.codes.extend((0..map.n_outputs() as u32).map(code));
    }

    /// Tabulates a map; columns are the components that some feature is mapped to, numbered in order. Returns their
    /// number.
    pub(super) fn fill_renumbered(&mut self, map: &HashingMap) -> usize {
        self.fill(map);
        let component = |code: u32| (code & !Self::MINUS) as usize;
        let (mut n, mut numbers) = (0, vec![None; map.n_components()]);
        self.codes
            .iter()
            .for_each(|&code| numbers[component(code)] = Some(0));
        for number in numbers.iter_mut().flatten() {
            *number = n;
            n += 1;
        }
        for code in &mut self.codes {
            *code = numbers[component(*code)].unwrap_or(0) | *code & Self::MINUS;
        }
        n as usize
    }

    #[inline]
    pub(super) fn entry(&self, feature: u32) -> (u32, f32) {
        let code = self.codes[feature as usize];
        let sign = f32::from_bits(1.0_f32.to_bits() | code & Self::MINUS);
        (code & !Self::MINUS, sign)
    }
}

/// The column and the sign of each feature.
#[derive(Debug)]
pub(in crate::craftml) enum HashedColumns<'a> {
    Table(&'a HashTable),
    Map(HashingMap),
}

impl<'a> HashedColumns<'a> {
    /// Returns the columns of features for hashing `n_values` values. If there are at least as many values as features,
    /// hashing each feature once is less work, and `table` is filled; otherwise no memory per feature is used.
    pub(super) fn of(map: &HashingMap, n_values: usize, table: &'a mut HashTable) -> Self {
        if n_values < map.n_outputs() {
            return Self::Map(*map);
        }
        table.fill(map);
        Self::Table(table)
    }

    #[inline]
    pub(super) fn entry(&self, feature: u32) -> (u32, f32) {
        match self {
            Self::Table(table) => table.entry(feature),
            Self::Map(map) => map.entry(feature),
        }
    }
}
