//! Turns a description into cells.

pub(crate) mod data;
pub(crate) mod job;

use self::data::Filtered;
use self::job::{Job, Source, Work};
use crate::describe::{DatasetText, Description, Preprocess, PublishedName, SplitText};
use anyhow::bail;
use rpo::core::Seed;
use rpo::data::Catalogue;
use rpo::ensemble::MaxFeatures;
use rpo::projections::Components;

/// The selection of cells on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Applies the reductions in the description's `quick`.
    pub(crate) quick: bool,
    pub(crate) datasets: Vec<String>,
    pub(crate) methods: Vec<String>,
    /// Limits boosting by time.
    pub(crate) time_budget: bool,
    pub(crate) repeats: Option<usize>,
}

/// A column of the results: a method with one value along the axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// `method`, or `method@value`.
    pub(crate) id: String,
    pub(crate) label: String,
    /// The method, by its position in the description.
    pub(crate) method: usize,
    /// Its value along the axis.
    pub(crate) value: Option<String>,
    /// Its name in the published figures.
    pub(crate) published: Option<String>,
}

/// A data set of the results.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedSet {
    pub(crate) name: String,
    pub(crate) published: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) train: usize,
    pub(crate) test: usize,
    /// True if repetitions are splits of one set of samples, so that their training samples overlap.
    pub(crate) resampled: bool,
    pub(crate) n_features: usize,
    pub(crate) n_outputs: usize,
    /// Its sizes after filtering, if features or labels are left out.
    pub(crate) filtered: Option<Filtered>,
}

/// A cell with its position in the results.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    /// Position of its data set in the plan.
    pub(crate) dataset: usize,
    /// Position of its column in the plan.
    pub(crate) column: usize,
    pub(crate) key: String,
    pub(crate) job: Job,
}

/// The cells of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) datasets: Vec<PlannedSet>,
    /// Data sets that are not run, with the reasons.
    pub(crate) not_run: Vec<(String, String)>,
    pub(crate) columns: Vec<Column>,
    /// The cells, ordered by data set, then repetition, then column.
    pub(crate) cells: Vec<Cell>,
    /// Time limit of a fit of boosting, as a multiple of one step of gbmort with stumps and the square loss.
    pub(crate) time_budget: Option<u32>,
}

/// Plans an experiment.
///
/// # Errors
/// A selected data set or method that the description does not have; a data set whose files differ from those of the
/// catalogue. Sets that are missing in the catalogue are listed as not run.
pub(crate) fn plan(description: &Description, selection: &Selection) -> anyhow::Result<Plan> {
    check_known(
        "data set",
        &selection.datasets,
        description.datasets.iter().map(|d| d.name.get_ref()),
    )?;
    check_known(
        "method",
        &selection.methods,
        description.methods.iter().map(|m| m.id.get_ref()),
    )?;
    let mut plan = Plan {
        datasets: Vec::new(),
        not_run: Vec::new(),
        columns: columns(description, selection),
        cells: Vec::new(),
        time_budget: None,
    };
    if selection.time_budget {
        let Some(times) = description.time_budget else {
            bail!("the description has no time-budget");
        };
        plan.time_budget = Some(times);
    }
    let catalogue = Catalogue::from_env();
    for data in &description.datasets {
        if !is_selected(description, selection, data) {
            continue;
        }
        match source(description, data, catalogue.as_ref()) {
            Ok(source) => plan.add(description, selection, data, &source?)?,
            Err(why) => plan.not_run.push((data.name.get_ref().clone(), why)),
        }
    }
    let absent = description
        .absent
        .iter()
        .flat_map(|sets| sets.names.iter().map(|name| (name.clone(), sets.why.clone())));
    plan.not_run.extend(absent);
    Ok(plan)
}

fn check_known<'a>(
    what: &str,
    asked: &[String],
    known: impl Iterator<Item = &'a String> + Clone,
) -> anyhow::Result<()> {
    match asked.iter().find(|name| !known.clone().any(|k| k == *name)) {
        None => Ok(()),
        Some(name) => {
            let known: Vec<&str> = known.map(String::as_str).collect();
            bail!(
                "no {what} {name:?} in this experiment; there are {}",
                known.join(", ")
            )
        }
    }
}

fn is_selected(description: &Description, selection: &Selection, data: &DatasetText) -> bool {
    let name = data.name.get_ref();
    match &description.quick.datasets {
        _ if !selection.datasets.is_empty() => selection.datasets.contains(name),
        Some(quick) if selection.quick => quick.iter().any(|q| q.get_ref() == name),
        _ => true,
    }
}

fn columns(description: &Description, selection: &Selection) -> Vec<Column> {
    let mut columns = Vec::new();
    for (place, method) in description.methods.iter().enumerate() {
        if !selection.methods.is_empty() && !selection.methods.contains(method.id.get_ref()) {
            continue;
        }
        for (id, value) in method.columns() {
            let quick = description.quick.axis.as_ref().filter(|_| selection.quick);
            if quick
                .zip(value.as_ref())
                .is_some_and(|(kept, value)| !kept.contains(value))
            {
                continue;
            }
            columns.push(Column {
                id,
                label: match &value {
                    Some(value) if !method.label.contains("{}") => {
                        let axis = description.axis_label();
                        format!("{}, {axis} = {value}", method.label)
                    }
                    value => method.label.replace("{}", value.as_deref().unwrap_or_default()),
                },
                method: place,
                published: match (&method.published, &value) {
                    (PublishedName::One(name), None) => Some(name.clone()),
                    (PublishedName::ByValue(names), Some(value)) => names.get(value).cloned(),
                    _ => None,
                },
                value,
            });
        }
    }
    columns
}

/// The source of a data set, or the reason why there is none.
fn source(
    description: &Description,
    data: &DatasetText,
    catalogue: Result<&Catalogue, &rpo::data::CatalogueError>,
) -> Result<anyhow::Result<Source>, String> {
    let name = data.name.get_ref();
    let seed = Seed::new(description.seed).purpose("data").purpose(name).value();
    if let Some(set) = &data.multi_label {
        return Ok(Ok(Source::MultiLabel {
            set: set.clone(),
            seed,
        }));
    }
    if let Some(problem) = &data.friedman {
        return Ok(Ok(Source::Friedman {
            problem: problem.clone(),
            seed,
        }));
    }
    let catalogue = catalogue.map_err(ToString::to_string)?;
    if catalogue.entries.iter().all(|entry| entry.name != *name) {
        return Err("not in the catalogue".to_owned());
    }
    Ok(
        data::catalogue_hash(catalogue, name).map(|sha256| Source::Catalogue {
            name: name.clone(),
            sha256,
            one_hot: data.one_hot,
            without: data.without.clone(),
        }),
    )
}

/// The preprocessing of a data set.
fn preprocess<'d>(description: &'d Description, data: &'d DatasetText) -> &'d Preprocess {
    data.preprocess.as_ref().unwrap_or(&description.preprocess)
}

fn job(
    description: &Description,
    selection: &Selection,
    data: &DatasetText,
    source: &Source,
    column: &Column,
    repetition: u64,
) -> anyhow::Result<Job> {
    let seed = Seed::new(description.seed);
    let text = &description.methods[column.method];
    let mut method = text.job(column.value.as_deref());
    if selection.quick {
        for (name, &least) in &description.quick.options {
            // The option of the axis is not reduced.
            if description.axis.as_ref() != Some(name) && method.number(name).is_some_and(|n| n > least) {
                method.options.insert(name.clone(), least.to_string());
            }
        }
        if let (Some(search), Some(trials)) = (&mut method.search, description.quick.trials) {
            (search.trials, search.steps) = (Some(trials), None);
        }
    }
    if selection.time_budget
        && method
            .method_options()?
            .entry()
            .parameters()
            .iter()
            .any(|info| info.name == "time_limit")
    {
        method.time_budget = description.time_budget;
    }
    let targets = text
        .targets
        .iter()
        .find(|(name, _)| name.get_ref() == data.name.get_ref());
    method.targets = targets.map(|(_, targets)| *targets);
    let split = if description.fixed_split { 0 } else { repetition };
    method.seed = seed.purpose("forest").child(repetition).value();
    Ok(Job {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        source: source.clone(),
        train: data.train,
        test: data.test,
        data_seed: seed.purpose("split").child(split).value(),
        split: data.split,
        preprocess: preprocess(description, data).clone(),
        method,
        work: match description.decompose {
            Some(sizes) => Work::Decompose(sizes),
            None => Work::Score {
                metrics: description
                    .metrics
                    .iter()
                    .map(|name| name.get_ref().clone())
                    .collect(),
                bootstrap: description.bootstrap,
            },
        },
    })
}

impl Plan {
    /// Adds a data set and its cells.
    fn add(
        &mut self,
        description: &Description,
        selection: &Selection,
        data: &DatasetText,
        source: &Source,
    ) -> anyhow::Result<()> {
        let filtered = data::filtered(source, preprocess(description, data))?;
        let (n_features, n_outputs) = match &filtered {
            Some(filtered) => (filtered.n_features, filtered.labels.counts.len()),
            None => data::sizes(source)?,
        };
        let dataset = self.datasets.len();
        self.datasets.push(PlannedSet {
            name: data.name.get_ref().clone(),
            published: data.published.clone(),
            note: data.note.clone(),
            train: data.train,
            test: data.test,
            resampled: matches!(data.split, SplitText::Random) && !description.fixed_split,
            n_features,
            n_outputs,
            filtered,
        });
        let quick = description.quick.repeats.filter(|_| selection.quick);
        let repeats = selection
            .repeats
            .or(quick)
            .or(data.repeats)
            .unwrap_or(description.repeats);
        for repetition in 0..repeats as u64 {
            for (column, place) in self.columns.iter().zip(0..) {
                if !description.methods[column.method].is_on(data) {
                    continue;
                }
                let job = job(description, selection, data, source, column, repetition)?;
                self.cells.push(Cell {
                    dataset,
                    column: place,
                    key: job.key(),
                    job,
                });
            }
        }
        Ok(())
    }

    /// The value along the axis of a column on a data set, as a number: `ln`, `sqrt` and similar values depend on the
    /// numbers of outputs and features.
    pub(crate) fn position(&self, description: &Description, dataset: usize, column: usize) -> Option<f64> {
        let set = &self.datasets[dataset];
        let column = &self.columns[column];
        let value = column.value.as_deref()?;
        let position = match description.axis.as_deref()? {
            "max-features" => value.parse::<MaxFeatures>().ok()?.resolve(set.n_features),
            "components" => value.parse::<Components>().ok()?.resolve(set.n_outputs).ok()?,
            _ => return value.parse().ok(),
        };
        Some(position as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe;
    use std::collections::BTreeSet;

    fn planned(selection: &Selection) -> (Description, Plan) {
        // Generated data, which need no files.
        let description = describe::find("bias-variance").unwrap();
        let plan = plan(&description, selection).unwrap();
        (description, plan)
    }

    #[test]
    fn every_method_meets_every_repetition_of_the_same_data() {
        let (description, plan) = planned(&Selection::default());
        assert_eq!(plan.cells.len(), plan.columns.len() * description.repeats);
        let distinct =
            |seed: fn(&Job) -> u64| plan.cells.iter().map(|c| seed(&c.job)).collect::<BTreeSet<_>>();
        // One seed per repetition, shared by all methods, so that scores are paired.
        assert_eq!(distinct(|job| job.data_seed).len(), description.repeats);
        assert_eq!(distinct(|job| job.method.seed).len(), description.repeats);
        let keys: BTreeSet<&String> = plan.cells.iter().map(|cell| &cell.key).collect();
        assert_eq!(keys.len(), plan.cells.len());
    }

    #[test]
    fn a_selection_takes_cells_away_and_changes_none() {
        let (_, all) = planned(&Selection::default());
        let keys: BTreeSet<&String> = all.cells.iter().map(|cell| &cell.key).collect();
        let (description, few) = planned(&Selection {
            quick: true,
            methods: vec!["tree".to_owned()],
            ..Selection::default()
        });
        let ids: Vec<&str> = few.columns.iter().map(|column| column.id.as_str()).collect();
        assert_eq!(ids, ["tree@1", "tree@20"]);
        assert_eq!(few.cells.len(), 2 * description.quick.repeats.unwrap());
        assert!(few.cells.iter().all(|cell| keys.contains(&cell.key)));
        assert_eq!(few.position(&description, 0, 1), Some(20.0));
    }
}
