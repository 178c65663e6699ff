//! Fitting the members of an ensemble.

use super::selection::{Candidate, select};
use super::{BlendParams, MemberWeights};
use crate::method::{Estimator, FitContext, Method, MethodError, Needs, parameters_of};
use crate::tune::Holdout;
use crate::{Model, ModelError};
use rpo_core::{ParameterError, Seed};
use rpo_data::Dataset;
use serde_json::{Map, Value};

impl BlendParams {
    /// The methods of the members.
    ///
    /// # Errors
    /// Methods and options that do not exist, and values that they cannot have.
    fn methods(&self) -> Result<Vec<Method>, ModelError> {
        let texts = self
            .members
            .split(';')
            .map(str::trim)
            .filter(|text| !text.is_empty());
        let methods: Vec<Method> = texts.map(|text| self.method_of(text)).collect::<Result<_, _>>()?;
        match methods.is_empty() {
            true => Err(ParameterError::out_of_range("members", "none", "at least one method").into()),
            false => Ok(methods),
        }
    }

    /// A method from its name and options such as `--trees 5` or `--trees=5`.
    fn method_of(&self, text: &str) -> Result<Method, MethodError> {
        let mut words = text.split_whitespace().peekable();
        let mut method = Method::named(words.next().unwrap_or_default())?;
        if method.name() == "blend" {
            let expected = "methods other than blend itself";
            return Err(ParameterError::out_of_range("members", text, expected).into());
        }
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                let expected = "a method with options such as --trees 5, separated by semicolons";
                return Err(ParameterError::out_of_range("members", text, expected).into());
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, value),
                // A switch has no value.
                None => (
                    option,
                    words.next_if(|next| !next.starts_with("--")).unwrap_or("true"),
                ),
            };
            method = method.with(name, value)?;
        }
        Ok(match method.given("seed") {
            Some(_) => method,
            None => method.with_seed(self.seed),
        })
    }
}

impl Estimator for BlendParams {
    fn method(&self) -> &str {
        "blend"
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        let in_range = self.withheld > 0.0 && self.withheld < 1.0;
        ParameterError::unless(in_range, "withheld", self.withheld, "between 0 and 1")?;
        self.methods()?.iter().try_for_each(Estimator::check)
    }

    fn needs(&self) -> Needs {
        // Members state theirs when they are fitted; none takes weights of samples here, as selection has none.
        Needs {
            observed_outputs: true,
            equal_weights: true,
            ..Needs::default()
        }
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        Estimator::check(self)?;
        let mut methods = self.methods()?;
        let mut weights = vec![1.0; methods.len()];
        // What was withheld to choose among settings is not for choosing weights too.
        let quiet = FitContext {
            on_step: None,
            validation: None,
            ..*context
        };
        if self.member_weights == MemberWeights::Selected && methods.len() > 1 {
            let parts = Holdout::new(
                data,
                self.withheld,
                Seed::new(self.seed).purpose("member weights"),
            )?;
            let candidates = methods.iter().map(|method| {
                let model = method.fit(&parts.train, &quiet)?;
                Candidate::new(&model, &parts.validation)
            });
            let candidates = candidates.collect::<Result<Vec<_>, ModelError>>()?;
            let counts = select(&candidates, &parts.validation);
            let mut kept = counts.iter().map(|&count| count > 0);
            methods.retain(|_| kept.next().unwrap_or(false));
            weights = counts
                .into_iter()
                .filter(|&count| count > 0)
                .map(|count| count as f64)
                .collect();
        }
        let members = methods.iter().zip(weights).map(|(method, weight)| {
            let model = Model::fit_with(method, data, &quiet)?;
            Ok((model, weight))
        });
        let model = Model::combine(members.collect::<Result<_, ModelError>>()?)?;
        context.on_step.iter().for_each(|on_step| on_step());
        Ok(model)
    }
}
