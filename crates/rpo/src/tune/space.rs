//! Spaces of settings: grids and random draws.

use super::{ParamDistribution, SearchOrder, Value};
use rpo_core::Seed;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Error of a space, or of a parameter requested from a setting.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// A distribution without values, or with an empty value between two commas.
    #[error("a value is missing; at least one is expected, and none between two commas")]
    NoValue,
    /// A text that is not a parameter and its values.
    #[error("expected NAME=VALUES")]
    NotAParameter,
    /// A parameter that does not affect the quality of a model.
    #[error("it does not affect the quality of a model, and must be the same for all settings")]
    NotTunable,
    /// The levels of quantiles, whose losses cannot be compared.
    #[error(
        "settings would predict different quantiles, whose losses cannot be compared; run a search for each quantile"
    )]
    Levels,
    /// A value given twice.
    #[error("the value {0} is given twice")]
    Repeated(Value),
    /// Invalid bounds.
    #[error("{law} from {low} to {high}; expected {expected}")]
    Bounds {
        /// The name of the distribution.
        law: &'static str,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
        /// The allowed bounds.
        expected: &'static str,
    },
    /// A text that is not a distribution.
    #[error(
        "{0:?} is not a distribution; expected values separated by commas, integers:LOW:HIGH, uniform:LOW:HIGH or \
         log-uniform:LOW:HIGH"
    )]
    Unreadable(String),
    /// A parameter given twice.
    #[error("the parameter {0} is given twice")]
    RepeatedParameter(String),
    /// A parameter that the space or the setting does not have.
    #[error("there is no parameter {0}")]
    NoParameter(String),
    /// A grid over a continuous distribution.
    #[error(
        "{0} has a continuous distribution, which a grid cannot enumerate; use random search or list values"
    )]
    Continuous(String),
    /// A value that is not of the requested type.
    #[error("{name} is {value}: {message}")]
    Type {
        /// The parameter.
        name: String,
        /// Its value.
        value: Value,
        /// The error of parsing.
        message: String,
    },
}

/// The value of each applicable parameter, by name, in the order of the space.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting(pub Vec<(String, Value)>);

impl Setting {
    /// The value of a parameter, if the setting has it.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    /// The value of a parameter, converted to a type that parses from text.
    ///
    /// # Errors
    /// [`SpaceError::NoParameter`], [`SpaceError::Type`].
    pub fn get<T: FromStr<Err: fmt::Display>>(&self, name: &str) -> Result<T, SpaceError> {
        let value = self
            .value(name)
            .ok_or_else(|| SpaceError::NoParameter(name.to_owned()))?;
        value.to_string().parse().map_err(|e: T::Err| SpaceError::Type {
            name: name.to_owned(),
            value: value.clone(),
            message: e.to_string(),
        })
    }
}

/// `name=value` pairs separated by spaces.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.0.iter().enumerate() {
            let space = if i > 0 { " " } else { "" };
            write!(f, "{space}{name}={value}")?;
        }
        Ok(())
    }
}

/// Named parameters with their distributions, and conditions under which they do not apply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Space(Vec<Parameter>);

#[derive(Debug, Clone, PartialEq)]
struct Parameter {
    name: String,
    distribution: ParamDistribution,
    /// An earlier parameter in the list, and the value of it for which this one does not apply.
    unless: Option<(usize, Value)>,
}

impl Space {
    /// Adds a parameter.
    ///
    /// # Errors
    /// [`SpaceError::RepeatedParameter`].
    pub fn parameter(self, name: &str, distribution: ParamDistribution) -> Result<Self, SpaceError> {
        self.add(name, distribution, None)
    }

    /// Adds a parameter that does not apply if another one, added before, has a certain value: settings with that value
    /// omit the parameter. For example, the size of a projection, unless there is no projection.
    ///
    /// # Errors
    /// [`SpaceError::RepeatedParameter`], [`SpaceError::NoParameter`] if the other parameter does not exist.
    pub fn parameter_unless(
        self,
        name: &str,
        distribution: ParamDistribution,
        other: &str,
        value: impl Into<Value>,
    ) -> Result<Self, SpaceError> {
        let position = self.0.iter().position(|p| p.name == other);
        let other = position.ok_or_else(|| SpaceError::NoParameter(other.to_owned()))?;
        self.add(name, distribution, Some((other, value.into())))
    }

    fn add(
        mut self,
        name: &str,
        distribution: ParamDistribution,
        unless: Option<(usize, Value)>,
    ) -> Result<Self, SpaceError> {
        if self.0.iter().any(|p| p.name == name) {
            return Err(SpaceError::RepeatedParameter(name.to_owned()));
        }
        let name = name.to_owned();
        self.0.push(Parameter {
            name,
            distribution,
            unless,
        });
        Ok(self)
    }

    /// Names of the parameters, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|p| p.name.as_str())
    }

    /// Distinct settings, from a [grid](SearchOrder::Grid) or drawn [at random](SearchOrder::Random); a grid ignores
    /// the seed.
    ///
    /// # Errors
    /// [`SpaceError::Continuous`] for a grid.
    pub fn settings(
        &self,
        order: SearchOrder,
        seed: Seed,
    ) -> Result<Box<dyn Iterator<Item = Setting> + '_>, SpaceError> {
        Ok(match order {
            SearchOrder::Grid => Box::new(self.grid()?),
            SearchOrder::Random => Box::new(self.random(seed)),
        })
    }

    /// Number of settings of a grid; `None` if there is none, or if more than 65,536 combinations would have to be counted.
    pub fn n_settings(&self) -> Option<usize> {
        let mut parameters = self.0.iter();
        let combinations = parameters.try_fold(1_u64, |n, p| n.checked_mul(p.distribution.n_values()?));
        combinations.filter(|n| *n <= MOST_COUNTED)?;
        Some(self.grid().ok()?.count())
    }

    fn grid(&self) -> Result<Grid<'_>, SpaceError> {
        match self.0.iter().find(|p| p.distribution.n_values().is_none()) {
            Some(p) => Err(SpaceError::Continuous(p.name.clone())),
            None => Ok(Grid {
                space: self,
                next: Some(vec![0; self.0.len()]),
            }),
        }
    }

    /// Draw `i` of a random search, which depends only on the space, the seed and `i`. The k values of a list take
    /// turns: draws 0 to k - 1 use each value once in random order, and so on, so that few draws suffice to try every
    /// value.
    fn draw(&self, seed: Seed, i: u64) -> Setting {
        let seed = seed.purpose("random search");
        // Keyed by name, so that an additional parameter does not change the draws of the others.
        self.setting(|_, p| Some(p.distribution.draw(seed.purpose(&p.name.replace('_', "-")), i)))
    }

    fn random(&self, seed: Seed) -> Random<'_> {
        Random {
            space: self,
            seed,
            next: 0,
            left: self.n_settings(),
            seen: BTreeSet::new(),
        }
    }

    /// Builds a setting from the values of parameters by position, omitting parameters that do not apply.
    fn setting(&self, value: impl Fn(usize, &Parameter) -> Option<Value>) -> Setting {
        let mut values: Vec<Option<Value>> = Vec::with_capacity(self.0.len());
        for (j, p) in self.0.iter().enumerate() {
            let without = p.unless.as_ref();
            let without = without.is_some_and(|(other, value)| values[*other].as_ref() == Some(value));
            values.push(if without { None } else { value(j, p) });
        }
        let named = self.0.iter().zip(values);
        Setting(named.filter_map(|(p, v)| Some((p.name.clone(), v?))).collect())
    }
}

/// With more combinations than this, a search is not expected to reach the last setting, and counting them costs more
/// than it helps.
const MOST_COUNTED: u64 = 1 << 16;

/// Number of consecutive repeated draws after which the settings count as exhausted.
const MOST_REPEATS: u64 = 1000;

/// All combinations of values.
#[derive(Debug, Clone)]
struct Grid<'a> {
    space: &'a Space,
    /// Index of the next value of each parameter.
    next: Option<Vec<u64>>,
}

impl Grid<'_> {
    /// The setting at the given indices, or `None` if it repeats one that differs only where a parameter does not
    /// apply.
    fn at(&self, indices: &[u64]) -> Option<Setting> {
        let setting = self.space.setting(|j, p| p.distribution.value(indices[j]));
        let mut parameters = self.space.0.iter().zip(indices);
        parameters
            .all(|(p, &k)| k == 0 || setting.value(&p.name).is_some())
            .then_some(setting)
    }

    fn advance(&self, mut indices: Vec<u64>) -> Option<Vec<u64>> {
        for (k, p) in indices.iter_mut().zip(&self.space.0).rev() {
            *k += 1;
            if Some(*k) < p.distribution.n_values() {
                return Some(indices);
            }
            *k = 0;
        }
        None
    }
}

impl Iterator for Grid<'_> {
    type Item = Setting;

    fn next(&mut self) -> Option<Setting> {
        loop {
            let indices = self.next.take()?;
            let setting = self.at(&indices);
            self.next = self.advance(indices);
            if setting.is_some() {
                return setting;
            }
        }
    }
}

/// Draws 0, 1, 2, ... without repetition.
#[derive(Debug, Clone)]
struct Random<'a> {
    space: &'a Space,
    seed: Seed,
    next: u64,
    /// Number of settings not yet drawn, if counted.
    left: Option<usize>,
    seen: BTreeSet<String>,
}

impl Iterator for Random<'_> {
    type Item = Setting;

    fn next(&mut self) -> Option<Setting> {
        if self.left == Some(0) {
            return None;
        }
        let last = self.next.saturating_add(MOST_REPEATS);
        // If settings are counted, one is left and will be drawn eventually.
        while self.left.is_some() || self.next < last {
            let setting = self.space.draw(self.seed, self.next);
            self.next += 1;
            if self.seen.insert(format!("{setting:?}")) {
                self.left = self.left.map(|n| n - 1);
                return Some(setting);
            }
        }
        None
    }
}
