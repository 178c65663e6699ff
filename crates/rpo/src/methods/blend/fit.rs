//! Fits the members of an ensemble.

use super::BlendParams;
use crate::combine::{Chooser, CombineRule, Pool, Splits};
use crate::method::{DataProblem, Estimator, FitContext, Method, MethodError, Needs, parameters_of};
use crate::methods::member::parse_member;
use crate::{Model, ModelError, TrainingSummary};
use rpo_core::{Domain, ParameterError, Seed};
use rpo_data::{Dataset, Task};
use serde_json::{Map, Value};

/// Members for labels. They fill in missing features even if training lacks none: rows to predict may lack some.
const OF_LABELS: &str = "craftml --impute median; craftml --feature-weights idf --normalize l2 --impute median; one-vs-rest \
                         --impute median";

/// Members for labels of features most of which are not 0: numbers rather than counts of words, of which idf weights would
/// depend on where their zero is.
const OF_DENSE_LABELS: &str = "extra-trees; craftml --impute median; one-vs-rest --impute median";

/// Members for numbers, and for labels some of which are missing, which those for labels do not take.
const OF_NUMBERS: &str = "extra-trees; random-forest; gbmort";

/// The members for a data set, if none are given.
fn default_members(data: &Dataset) -> &'static str {
    match data.task() {
        Task::MultiLabel if data.outputs().view().has_missing() => OF_NUMBERS,
        Task::MultiLabel if data.texts().is_empty() && data.feature_density() > 0.5 => OF_DENSE_LABELS,
        Task::MultiLabel => OF_LABELS,
        Task::Regression => OF_NUMBERS,
    }
}

impl BlendParams {
    /// The methods of the members, or of those by default.
    ///
    /// # Errors
    /// Methods and options that do not exist, and values that they cannot have.
    fn methods(&self, default: &str) -> Result<Vec<Method>, ModelError> {
        let texts = self.texts(default);
        let methods: Vec<Method> = texts.map(|text| self.method_of(text)).collect::<Result<_, _>>()?;
        match methods.is_empty() {
            true => Err(ParameterError::out_of_range("members", "none", "at least one method").into()),
            false => Ok(methods),
        }
    }

    /// The members as they are written.
    fn texts<'a>(&'a self, default: &'a str) -> impl Iterator<Item = &'a str> {
        let members = self.members.as_deref().unwrap_or(default);
        let texts = members.split(';').map(str::trim);
        texts.filter(|text| !text.is_empty())
    }

    /// The members with the option that fills in missing features, for those that need it.
    fn imputing(&self, methods: &[Method], data: &Dataset) -> String {
        let needs_all = |method: &Method| {
            let estimator = method.estimator(data.task());
            estimator.is_ok_and(|estimator| estimator.needs().observed_features)
        };
        let members = self
            .texts(default_members(data))
            .zip(methods)
            .map(|(text, method)| {
                let option = if needs_all(method) { " --impute median" } else { "" };
                format!("{text}{option}")
            });
        members.collect::<Vec<_>>().join("; ")
    }

    /// Parses a method, which gets the seed of the blend unless it has its own.
    fn method_of(&self, text: &str) -> Result<Method, MethodError> {
        let method = parse_member("members", text)?;
        Ok(match method.given("seed") {
            Some(_) => method,
            None => method.with_seed(self.seed),
        })
    }

    /// Names the ensemble and its parameter in the error of data that a member cannot use. Members have the options that
    /// prepare features, which the ensemble lacks.
    fn of_member(&self, error: MethodError, methods: &[Method], data: &Dataset) -> MethodError {
        let MethodError::Data { method, mut problem } = error else {
            return error;
        };
        if let DataProblem::MissingFeature { remedy, .. } = &mut problem {
            *remedy = format!("set `members` = \"{}\"", self.imputing(methods, data));
        }
        let problem = Box::new(problem);
        MethodError::data(self.method(), DataProblem::Member { method, problem })
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
        Domain::Level.check("withheld", self.withheld)?;
        self.methods(OF_LABELS).map(drop)
    }

    fn needs(&self) -> Needs {
        // Members state their requirements when they are fitted. No member may use sample weights, as the selection
        // does not.
        Needs {
            equal_weights: true,
            ..Needs::FEW
        }
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        Estimator::check(self)?;
        let methods = self.methods(default_members(data))?;
        let estimators = methods.iter().map(|method| {
            let estimator = method.estimator(data.task())?;
            let checked = method.check_data(estimator.as_ref(), data);
            checked.map_err(|e| self.of_member(e, &methods, data))?;
            Ok(estimator)
        });
        let estimators = estimators.collect::<Result<Vec<_>, ModelError>>()?;
        // Samples withheld to choose among settings must not be used to choose weights as well.
        let quiet = FitContext {
            on_step: None,
            on_score: None,
            validation: None,
            ..*context
        };
        let rule = self.combine.unwrap_or(match data.task() {
            Task::MultiLabel => CombineRule::Stack,
            Task::Regression => CombineRule::Greedy,
        });
        let model = if rule == CombineRule::Mean || methods.len() == 1 {
            let members = estimators.iter().map(|estimator| {
                let model = Model::fit_with(estimator.as_ref(), data, &quiet)?;
                Ok((model, 1.0))
            });
            Model::combine_whole(members.collect::<Result<_, ModelError>>()?, data)?
        } else {
            let seed = Seed::new(self.seed).purpose("member weights");
            let mut pool = Pool::new(data, Splits::withheld(data, self.withheld, seed)?);
            for estimator in &estimators {
                pool.add(estimator.as_ref(), &quiet)?;
            }
            let all: Vec<usize> = (0..estimators.len()).collect();
            let chooser = Chooser { rule, or_best: true };
            let choice = pool.choose(chooser, &pool.grams()?, &all)?;
            pool.ensemble(&choice, None, TrainingSummary::of(data), |index| {
                pool.fitted(index, std::slice::from_ref(&estimators[index]), &quiet)
            })?
        };
        context.observers().step();
        Ok(model)
    }
}
