//! Portfolios of configurations to try.

use crate::ModelError;
use crate::method::{Estimator, Method, NominalEncoding, categorical};
use crate::methods::member::parse_member;
use rpo_core::{Domain, ParameterError};
use rpo_data::{Dataset, Task};
use rpo_tree::categories::MOST_CATEGORIES;
use serde::{Deserialize, Serialize};

/// Configurations in the order in which they are tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Portfolio {
    /// Configurations for labels.
    pub labels: Vec<Configuration>,
    /// Configurations for numbers.
    pub numbers: Vec<Configuration>,
}

/// A method with options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Its name and options as on the command line.
    pub method: String,
    /// The time of a fit relative to the random forest.
    pub cost: f64,
    /// Smallest number of outputs for which it is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_outputs: Option<usize>,
    /// Largest number of outputs for which it is tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_outputs: Option<usize>,
    /// Largest product of the numbers of features and outputs for which it is tried: that of dense linear models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_weights: Option<usize>,
}

/// The built-in portfolio.
impl Default for Portfolio {
    fn default() -> Self {
        serde_json::from_str(include_str!("portfolio.json")).expect("a test reads it")
    }
}

impl Portfolio {
    /// Reads a portfolio from a file.
    ///
    /// # Errors
    /// A file that cannot be read or is not a portfolio.
    pub(super) fn read(path: &str) -> Result<Self, ModelError> {
        let problem = |e: &dyn std::fmt::Display| ModelError::Custom(format!("portfolio {path}: {e}"));
        let text = std::fs::read_to_string(path).map_err(|e| problem(&e))?;
        let portfolio: Self = serde_json::from_str(&text).map_err(|e| problem(&e))?;
        portfolio.check().map_err(|e| problem(&e))?;
        Ok(portfolio)
    }

    /// The configurations for outputs of a task.
    pub(super) fn of_task(&self, task: Task) -> &[Configuration] {
        match task {
            Task::MultiLabel => &self.labels,
            Task::Regression => &self.numbers,
        }
    }

    fn check(&self) -> Result<(), ModelError> {
        for configurations in [&self.labels, &self.numbers] {
            if configurations.is_empty() {
                let expected = "at least one configuration for labels and one for numbers";
                return Err(ParameterError::out_of_range("portfolio", "none", expected).into());
            }
            for configuration in configurations {
                configuration.parsed()?;
                Domain::Positive.check("cost", configuration.cost)?;
                Domain::Count.check("min_outputs", configuration.min_outputs)?;
                Domain::Count.check("max_outputs", configuration.max_outputs)?;
                Domain::Count.check("max_weights", configuration.max_weights)?;
            }
        }
        Ok(())
    }
}

impl Configuration {
    /// Returns true if it is tried for data of this size.
    pub(super) fn admits(&self, data: &Dataset) -> bool {
        let (p, d) = (data.n_features(), data.n_outputs());
        let most = |limit: Option<usize>| limit.unwrap_or(usize::MAX);
        self.min_outputs.is_none_or(|least| d >= least)
            && d <= most(self.max_outputs)
            && p.saturating_mul(d) <= most(self.max_weights)
    }

    /// Returns the method for a data set. It imputes missing features by medians if it needs every value, as rows to predict
    /// may lack some even where training lacks none; and trees get means of the outputs for categories of more values than
    /// their splits distinguish.
    ///
    /// # Errors
    /// Methods and options that do not exist, ensembles, options of decisions and intervals, which the ensemble has itself,
    /// and data that the method refuses.
    pub fn for_data(&self, data: &Dataset) -> Result<Method, ModelError> {
        let mut method = self.parsed()?;
        if method.estimator(data.task())?.needs().observed_features {
            method = method.with("impute", "median")?;
        }
        let splits = method.default_nominal() == NominalEncoding::Native && method.given("nominal").is_none();
        if splits && has_rare_categories(data) {
            method = method.with("nominal", "target")?;
        }
        let estimator = method.estimator(data.task())?;
        method.check_data(estimator.as_ref(), data)?;
        Ok(method)
    }

    /// Returns the configuration with a number of trees, at most its own; `None` if its method has no such parameter, or
    /// has it set.
    pub(super) fn with_trees(&self, n_trees: usize) -> Option<Self> {
        let n_trees = n_trees.min(self.parsed().ok()?.n_steps());
        let method = format!("{} --trees {n_trees}", self.method);
        let with_trees = Self {
            method,
            ..self.clone()
        };
        with_trees.parsed().is_ok().then_some(with_trees)
    }

    /// Parses the method.
    ///
    /// # Errors
    /// Those of [`parse_member`].
    pub(super) fn parsed(&self) -> Result<Method, ModelError> {
        Ok(parse_member("portfolio", &self.method)?)
    }
}

/// Returns true if a category has more values than splits distinguish.
fn has_rare_categories(data: &Dataset) -> bool {
    let mut categories = categorical(data).into_iter();
    categories.any(|feature| data.nominal()[&(feature as usize)].len() > MOST_CATEGORIES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::CsrMatrix;

    #[test]
    fn the_standard_portfolio_is_valid() {
        let standard = Portfolio::default();
        assert_eq!(standard.check(), Ok(()));
        for configurations in [&standard.labels, &standard.numbers] {
            let of_few = configurations.iter().filter(|c| c.min_outputs.is_none());
            let of_few: Vec<&Configuration> = of_few.collect();
            assert!(of_few.len() <= 15);
            assert_eq!(of_few[0].method, "random-forest", "an ensemble at once");
            assert_eq!(of_few[0].cost, 1.0);
        }
    }

    #[test]
    fn no_configuration_is_tried_twice() {
        let standard = Portfolio::default();
        for (outputs, first) in [
            (5, "random-forest"),
            (1000, "random-forest"),
            (1001, "label-tree"),
        ] {
            let y = CsrMatrix::zero((1, outputs));
            let data = Dataset::new(CsrMatrix::zero((1, 5000)).into(), y.into(), Task::MultiLabel).unwrap();
            let admitted = standard.labels.iter().filter(|c| c.admits(&data));
            let methods: Vec<&str> = admitted.map(|c| &*c.method).collect();
            assert!(methods[0].starts_with(first), "{methods:?}");
            for (i, method) in methods.iter().enumerate() {
                assert!(!methods[..i].contains(method), "{method}");
            }
            // Its weights are dense.
            let has_ridge = methods.iter().any(|method| method.starts_with("ridge"));
            assert_eq!(has_ridge, outputs <= 1000);
        }
    }

    #[test]
    fn forests_may_have_fewer_trees() {
        let smaller = |method: &str| {
            let mut configurations = Portfolio::default().labels;
            configurations.retain(|configuration| configuration.method == method);
            let smaller = configurations.first()?.with_trees(7)?;
            Some(smaller.method)
        };
        assert_eq!(
            smaller("random-forest").as_deref(),
            Some("random-forest --trees 7")
        );
        assert_eq!(smaller("ridge --lambda variance:1"), None);
    }

    #[test]
    fn what_is_wrong_with_a_portfolio_is_named() {
        let numbers = vec![Configuration {
            method: "ridge".to_owned(),
            cost: 1.0,
            min_outputs: None,
            max_outputs: None,
            max_weights: None,
        }];
        let problem = |method: &str, cost: f64, max_outputs| {
            let labels = vec![Configuration {
                method: method.to_owned(),
                cost,
                min_outputs: None,
                max_outputs,
                max_weights: None,
            }];
            let portfolio = Portfolio {
                labels,
                numbers: numbers.clone(),
            };
            portfolio.check().map_err(|e| e.to_string()).unwrap_err()
        };
        assert!(problem("rige", 1.0, None).contains("did you mean ridge"));
        assert!(problem("ridge lambda", 1.0, None).contains("ridge lambda"));
        assert!(problem("blend", 1.0, None).contains("other than ensembles"));
        for option in ["thresholds rate", "decide f1", "intervals 0.9"] {
            let ignored = problem(&format!("extra-trees --{option}"), 1.0, None);
            assert!(ignored.contains("which the ensemble would ignore"), "{ignored}");
        }
        assert!(problem("extra-trees --trees 0", 1.0, None).contains("trees"));
        assert!(problem("ridge", f64::NAN, None).contains("cost"));
        assert!(problem("ridge", 1.0, Some(0)).contains("max_outputs"));
    }
}
