//! Fitted models.

use crate::blocks::{CsrRows, FIRST_BLOCK, Pace, Rows};
use crate::dataset::{Dataset, given};
use crate::error::{file_error, model_error, value_error};
use crate::fit::fit;
use crate::matrix::{Borrowed, CsrArrays, hand_csr};
use crate::stages::Stages;
use crate::threads;
use crate::watch::watched;
use ndarray::Axis;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use rpo::core::{MatrixView, Observers, Propensity};
use rpo::data::Task;
use rpo::ensemble::LeafSamples;
use rpo::metrics::Metric;
use rpo::{
    EvaluateOptions, FrequencyScores, Intervals, ModelError, PermutationOptions, Predictor, TargetValue,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Number of samples that each thread explains at once, at first: as many as share the values of leaves.
const FIRST_EXPLAINED: usize = 8;

/// A fitted model with the names and kinds of its columns.
#[pyclass(frozen, eq, module = "rpo._native")]
#[derive(PartialEq)]
pub(crate) struct Model(rpo::Model);

impl Model {
    /// Calls a function of features on a thread pool, with the interpreter's lock released.
    fn on<T: Send>(
        &self,
        py: Python<'_>,
        x: &Borrowed<'_>,
        n_threads: usize,
        f: impl FnOnce(&rpo::Model, MatrixView<'_>) -> Result<T, ModelError> + Send,
    ) -> PyResult<T> {
        self.attempt(py, x, n_threads, f)?.map_err(model_error)
    }

    /// Like [`on`](Self::on), but keeps the error of the function as it is.
    fn attempt<T: Send>(
        &self,
        py: Python<'_>,
        x: &Borrowed<'_>,
        n_threads: usize,
        f: impl FnOnce(&rpo::Model, MatrixView<'_>) -> Result<T, ModelError> + Send,
    ) -> PyResult<Result<T, ModelError>> {
        self.run(py, x.view()?, n_threads, f)
    }

    /// Like [`attempt`](Self::attempt), for features that are checked.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        x: MatrixView<'_>,
        n_threads: usize,
        f: impl FnOnce(&rpo::Model, MatrixView<'_>) -> Result<T, ModelError> + Send,
    ) -> PyResult<Result<T, ModelError>> {
        let pool = threads::pool(n_threads)?;
        Ok(py.detach(|| pool.install(|| f(&self.0, x))))
    }

    /// Calls a function of features like [`on`](Self::on), but on blocks of samples, in order, and checks for signals
    /// such as Ctrl-C between them. `f` predicts each sample by itself, so that the parts make up the result for all; `take`
    /// receives each with its first sample. An error counts samples from the first of all.
    fn in_blocks<T: Send>(
        &self,
        py: Python<'_>,
        x: &Borrowed<'_>,
        n_threads: usize,
        f: impl Fn(&rpo::Model, MatrixView<'_>) -> Result<T, ModelError> + Sync,
        take: impl FnMut(usize, T),
    ) -> PyResult<()> {
        let of_block = |model: &rpo::Model, x: MatrixView<'_>, _| f(model, x);
        self.in_ranges(py, x, n_threads, Pace::default(), of_block, take)
    }

    /// Like [`in_blocks`](Self::in_blocks), for a function that is also given the range of the samples of its block.
    fn in_ranges<T: Send>(
        &self,
        py: Python<'_>,
        x: &Borrowed<'_>,
        n_threads: usize,
        pace: Pace,
        f: impl Fn(&rpo::Model, MatrixView<'_>, Range<usize>) -> Result<T, ModelError> + Sync,
        mut take: impl FnMut(usize, T),
    ) -> PyResult<()> {
        // Checked once: that takes a pass over all entries of a sparse matrix.
        let x = x.view()?;
        let n = x.n_rows();
        let (mut start, mut size) = (0, pace.first);
        loop {
            let clock = Instant::now();
            let end = (start + size).min(n);
            let block = |model: &rpo::Model, x: MatrixView<'_>| match x {
                _ if (start, end) == (0, n) => f(model, x, 0..n),
                MatrixView::Dense(x) => f(
                    model,
                    x.slice_axis(Axis(0), (start..end).into()).into(),
                    start..end,
                ),
                x => f(
                    model,
                    x.select_rows(&(start..end).collect::<Vec<_>>()).view(),
                    start..end,
                ),
            };
            let part = self.run(py, x, n_threads, block)?;
            take(start, part.map_err(|e| model_error(e.in_block(start)))?);
            if end == n {
                return Ok(());
            }
            py.check_signals()?;
            start = end;
            size = pace.next(size, clock.elapsed());
        }
    }
}

/// The propensity model with parameters A and B.
fn propensity((a, b): (f64, f64)) -> Propensity {
    Propensity { a, b }
}

#[pymethods]
impl Model {
    /// Fits a method, given by its parameters as JSON, to a data set. Also returns the score after each step of
    /// boosting if its steps are scored on withheld samples.
    #[staticmethod]
    #[pyo3(signature = (parameters, data, *, validation=None, start=None, n_threads=0, progress=None))]
    fn fit(
        py: Python<'_>,
        parameters: &str,
        data: &Dataset,
        validation: Option<&Dataset>,
        start: Option<&Self>,
        n_threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Self, Vec<f64>, Option<String>)> {
        let start = start.map(|start| start.0.clone());
        let (model, scores, warning) = fit(py, parameters, data, validation, start, n_threads, progress)?;
        Ok((Self(model), scores, warning))
    }

    /// Loads a model from a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let bytes = fs::metadata(&path).map_or(0, |file| file.len());
        let pool = threads::pool_to_decode(bytes)?;
        let model = py.detach(|| pool.install(|| rpo::Model::load(path)));
        model.map(Self).map_err(|error| file_error(&error))
    }

    /// Loads a model from the contents of its file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let pool = threads::pool_to_decode(bytes.len() as u64)?;
        let model = py.detach(|| pool.install(|| rpo::Model::from_bytes(bytes)));
        model.map(Self).map_err(|error| file_error(&error))
    }

    /// Saves the model to a file; returns the number of bytes.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        let pool = threads::pool(0)?;
        let saved = py.detach(|| pool.install(|| self.0.save(path)));
        saved.map_err(|error| file_error(&error))
    }

    /// The contents of the model's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let pool = threads::pool(0)?;
        let bytes = py.detach(|| pool.install(|| self.0.to_bytes()));
        Ok(PyBytes::new(py, &bytes.map_err(|error| file_error(&error))?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let from_bytes = slf.get_type().getattr("from_bytes")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py())?,)))
    }

    /// Merges two forests that were grown in parts into one model.
    fn merge(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        let pool = threads::pool(0)?;
        let merged = py.detach(|| pool.install(|| self.0.clone().merge(other.0.clone())));
        merged.map(Self).map_err(model_error)
    }

    /// Merges the parts of a forest, given as models or contents of their files, which are read one after the other.
    #[staticmethod]
    fn from_parts(py: Python<'_>, parts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let pool = threads::pool(0)?;
        let mut merging = rpo::Merging::default();
        for part in parts.try_iter()? {
            let part = part?;
            let part = match part.cast_into::<Self>() {
                Ok(model) => model.get().0.clone(),
                Err(other) => Self::from_bytes(py, other.into_inner().extract()?)?.0,
            };
            let push = || pool.install(|| merging.push(part));
            py.detach(push).map_err(value_error)?;
        }
        let merged = py.detach(|| pool.install(|| merging.finish()));
        let none = || PyValueError::new_err("there are no parts to merge");
        merged.map_err(value_error)?.map(Self).ok_or_else(none)
    }

    /// The model with the same trees, whose leaves predict the outputs of these samples.
    #[pyo3(signature = (data, *, training_samples=false, n_threads=0))]
    fn relabel(
        &self,
        py: Python<'_>,
        data: &Dataset,
        training_samples: bool,
        n_threads: usize,
    ) -> PyResult<Self> {
        let samples = match training_samples {
            true => LeafSamples::Training,
            false => LeafSamples::Any,
        };
        let pool = threads::pool(n_threads)?;
        let relabelled = py.detach(|| pool.install(|| self.0.relabel(&data.0, samples)));
        relabelled.map(Self).map_err(model_error)
    }

    /// Sets or removes decision thresholds.
    #[pyo3(signature = (thresholds))]
    fn with_thresholds(&self, thresholds: Option<Vec<f64>>) -> PyResult<Self> {
        let model = self.0.clone().with_thresholds(thresholds);
        model.map(Self).map_err(model_error)
    }

    /// Predictions (n x d).
    #[pyo3(signature = (x, *, n_threads=0, memory_limit=rpo::DEFAULT_MEMORY_LIMIT))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Borrowed<'py>,
        n_threads: usize,
        memory_limit: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (n, d) = (x.view()?.n_rows(), self.0.n_outputs());
        let predict = |model: &rpo::Model, x: MatrixView<'_>| model.predict_with_limit(x, memory_limit);
        if n.saturating_mul(d).saturating_mul(size_of::<f32>()) > memory_limit {
            return Ok(self.on(py, &x, n_threads, predict)?.into_pyarray(py));
        }
        let mut scores = Rows::new(n);
        self.in_blocks(py, &x, n_threads, predict, |start, part| scores.put(start, part))?;
        Ok(scores.all.into_pyarray(py))
    }

    /// The k largest nonzero predictions of each sample, as a CSR matrix (n x d); with a propensity model (A, B), the k
    /// largest quotients of scores and propensities.
    #[pyo3(signature = (x, k, *, rerank=None, n_threads=0))]
    fn predict_top_k<'py>(
        &self,
        py: Python<'py>,
        x: Borrowed<'py>,
        k: usize,
        rerank: Option<(f64, f64)>,
        n_threads: usize,
    ) -> PyResult<CsrArrays<'py>> {
        let rerank = rerank.map(propensity);
        let top = |model: &rpo::Model, x: MatrixView<'_>| model.predict_top_k_ranked(x, k, rerank);
        let mut best = CsrRows::new();
        self.in_blocks(py, &x, n_threads, top, |_, part| best.push(part))?;
        Ok(hand_csr(py, best.finish(self.0.n_outputs())))
    }

    /// Decides which labels to predict for samples with these scores; returns a CSR matrix of ones.
    #[pyo3(signature = (scores, *, n_threads=0))]
    fn decide<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f32>,
        n_threads: usize,
    ) -> PyResult<CsrArrays<'py>> {
        let (scores, pool) = (scores.as_array(), threads::pool(n_threads)?);
        let labels = py.detach(|| pool.install(|| self.0.decide(scores)));
        Ok(hand_csr(py, labels.map_err(model_error)?))
    }

    /// The values of targets for samples with these scores, one list per target of
    /// [`value_columns`](Self::value_columns): classes, truth values of labels, lists of labels, or numbers.
    #[pyo3(signature = (scores, *, n_threads=0))]
    fn target_values<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray2<'py, f32>,
        n_threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let (scores, pool) = (scores.as_array(), threads::pool(n_threads)?);
        let columns = self.0.value_columns().into_iter().map(|_| PyList::empty(py));
        let columns: Vec<_> = columns.collect();
        // Values take much more memory than scores, so there are few at a time, unless a rule decides on all at once.
        let size = match self.0.decision.is_joint() {
            true => scores.nrows(),
            false => FIRST_BLOCK,
        };
        let size = size.max(1);
        for (index, block) in scores.axis_chunks_iter(Axis(0), size).enumerate() {
            let rows = py.detach(|| pool.install(|| self.0.target_values(block)));
            let rows = rows.map_err(|e| model_error(e.in_block(index * size)))?;
            for (column, value) in rows.into_iter().flat_map(|row| columns.iter().zip(row)) {
                match value {
                    TargetValue::Number(number) => column.append(number),
                    TargetValue::Label(is_predicted) => column.append(is_predicted),
                    // One object for each class, however many samples have it.
                    TargetValue::Class(class) => column.append(PyString::intern(py, class)),
                    TargetValue::Labels(names) => column.append(PyList::new(
                        py,
                        names.iter().map(|name| PyString::intern(py, name)),
                    )?),
                }?;
            }
            py.check_signals()?;
        }
        Ok(columns)
    }

    /// Out-of-bag predictions for the training samples (n x d), with the number of trees behind each; `None` if the
    /// model has none.
    #[pyo3(signature = (x, *, n_threads=0))]
    #[expect(clippy::type_complexity, reason = "two arrays")]
    fn oob_predictions<'py>(
        &self,
        py: Python<'py>,
        x: Borrowed<'py>,
        n_threads: usize,
    ) -> PyResult<Option<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<u32>>)>> {
        let found = self.on(py, &x, n_threads, rpo::Model::oob_predictions)?;
        Ok(found.map(|(scores, counts)| (scores.into_pyarray(py), counts.into_pyarray(py))))
    }

    /// The leaf that each sample reaches in each tree (n x trees); `None` if the model has no such trees.
    #[pyo3(signature = (x, *, n_threads=0))]
    fn apply<'py>(
        &self,
        py: Python<'py>,
        x: Borrowed<'py>,
        n_threads: usize,
    ) -> PyResult<Option<Bound<'py, PyArray2<u32>>>> {
        let mut leaves = Some(Rows::new(x.view()?.n_rows()));
        self.in_blocks(py, &x, n_threads, rpo::Model::apply, |start, part| {
            match (&mut leaves, part) {
                (Some(leaves), Some(part)) => leaves.put(start, part),
                _ => leaves = None,
            }
        })?;
        Ok(leaves.map(|leaves| leaves.all.into_pyarray(py)))
    }

    /// What features contribute to some outputs of each sample, relative to a background: a CSR matrix (a row for each
    /// sample and output, p columns), and the base of each output.
    #[pyo3(signature = (x, outputs, background, *, n_threads=0))]
    fn contributions<'py>(
        &self,
        py: Python<'py>,
        x: Borrowed<'py>,
        outputs: Vec<Vec<u32>>,
        background: Borrowed<'py>,
        n_threads: usize,
    ) -> PyResult<(CsrArrays<'py>, Bound<'py, PyArray1<f64>>)> {
        let outputs: Vec<&[u32]> = outputs.iter().map(Vec::as_slice).collect();
        let background = background.view()?;
        let explain = |model: &rpo::Model, x: MatrixView<'_>, rows: Range<usize>| {
            // A wrong number of lists is refused with all of them.
            model.contributions(x, outputs.get(rows).unwrap_or(&outputs), background)
        };
        let (n, p) = (x.view()?.n_rows(), self.0.n_features());
        let first = FIRST_EXPLAINED * threads::pool(n_threads)?.current_num_threads();
        let mut pace = Pace {
            first,
            cost: Duration::ZERO,
        };
        if n > first {
            // Each block evaluates the background.
            let clock = Instant::now();
            let none = |model: &rpo::Model, x: MatrixView<'_>| {
                model.contributions(x.select_rows(&[]).view(), &[], background)
            };
            self.on(py, &x, n_threads, none)?;
            py.check_signals()?;
            pace.cost = clock.elapsed();
        }
        let (mut values, mut base) = (CsrRows::new(), Vec::new());
        self.in_ranges(py, &x, n_threads, pace, explain, |_, part| {
            values.push(part.values);
            base = part.base;
        })?;
        Ok((hand_csr(py, values.finish(p)), base.into_pyarray(py)))
    }

    /// The predictions after each step (n x d), one after the other; `None` if the model is not additive.
    #[pyo3(signature = (x, *, n_threads=0))]
    fn stages<'py>(&self, py: Python<'py>, x: Borrowed<'py>, n_threads: usize) -> PyResult<Option<Stages>> {
        let stages = self.on(py, &x, n_threads, rpo::Model::stages)?;
        Ok(stages.map(|stages| Stages::new(stages, n_threads)))
    }

    /// The default metric of the model.
    fn default_metric(&self) -> String {
        self.0.default_metric().to_string()
    }

    /// The values of metrics on a data set, whose columns are found by name; NaN if undefined.
    #[pyo3(signature = (data, metrics, *, weights, rerank=None, n_threads=0, memory_limit=rpo::DEFAULT_MEMORY_LIMIT))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn evaluate(
        &self,
        py: Python<'_>,
        data: &Dataset,
        metrics: Vec<String>,
        weights: (f64, f64),
        rerank: Option<(f64, f64)>,
        n_threads: usize,
        memory_limit: usize,
    ) -> PyResult<Vec<f64>> {
        let parsed: Result<Vec<Metric>, _> = metrics.iter().map(|name| name.parse()).collect();
        let (metrics, data, model) = (parsed.map_err(value_error)?, Arc::clone(&data.0), self.0.clone());
        let options = EvaluateOptions {
            propensity: propensity(weights),
            rerank: rerank.map(propensity),
            memory_limit,
        };
        let evaluate = move || model.evaluate_with(&data, &metrics, options);
        let evaluation = watched(py, threads::pool(n_threads)?, evaluate, |_| Ok(()))?;
        Ok(evaluation.map_err(model_error)?.values)
    }

    /// How much worse a metric gets when the values of each column are shuffled: names, means and standard deviations.
    #[pyo3(signature = (data, metric, *, repeats, seed, n_threads=0, memory_limit=rpo::DEFAULT_MEMORY_LIMIT))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn permutation_importances(
        &self,
        py: Python<'_>,
        data: &Dataset,
        metric: &str,
        repeats: usize,
        seed: u64,
        n_threads: usize,
        memory_limit: usize,
    ) -> PyResult<Vec<(String, f64, f64)>> {
        let (data, model) = (Arc::clone(&data.0), self.0.clone());
        let metric: Metric = metric.parse().map_err(value_error)?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let of_work = Arc::clone(&is_stopped);
        let shuffle = move || {
            let stop = || of_work.load(Ordering::Relaxed);
            let options = PermutationOptions {
                repeats,
                seed,
                evaluate: EvaluateOptions {
                    memory_limit,
                    ..EvaluateOptions::default()
                },
                observers: Observers {
                    stop: Some(&stop),
                    ..Observers::default()
                },
            };
            model.permutation_importances(&data, &metric, options)
        };
        let shuffled = watched(py, threads::pool(n_threads)?, shuffle, |_| Ok(()));
        let columns = shuffled.inspect_err(|_| is_stopped.store(true, Ordering::Relaxed))?;
        let columns = columns.map_err(model_error)?.into_iter();
        Ok(columns.map(|c| (c.name, c.mean, c.deviation)).collect())
    }

    /// For each group of labels with similar frequency: the number of labels, the smallest and the largest training
    /// count, the positives in the data, and recall and precision at each k.
    #[pyo3(signature = (data, n_groups, at, *, rerank=None, n_threads=0))]
    #[expect(clippy::type_complexity, reason = "a tuple for each group")]
    fn evaluate_by_frequency(
        &self,
        py: Python<'_>,
        data: &Dataset,
        n_groups: usize,
        at: Vec<usize>,
        rerank: Option<(f64, f64)>,
        n_threads: usize,
    ) -> PyResult<Vec<(usize, Option<(usize, usize)>, usize, Vec<(f64, f64)>)>> {
        let (data, model) = (Arc::clone(&data.0), self.0.clone());
        let rerank = rerank.map(propensity);
        let evaluate = move || model.evaluate_by_frequency(&data, n_groups, &at, rerank);
        let groups = watched(py, threads::pool(n_threads)?, evaluate, |_| Ok(()))?;
        let groups = groups.map_err(model_error)?;
        let of_group = |group: FrequencyScores| {
            let ends = group.frequencies.map(RangeInclusive::into_inner);
            let at_k = group.at_k.iter().map(|at_k| (at_k.recall, at_k.precision));
            (group.n_labels, ends, group.positives, at_k.collect())
        };
        Ok(groups.into_iter().map(of_group).collect())
    }

    /// The importances of the features (p values that sum to 1); `None` if there are none.
    fn importances<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let found = self.0.importances();
        (!found.is_empty()).then(|| found.into_pyarray(py))
    }

    /// Describes the model and how it was made, as JSON.
    fn describe(&self) -> String {
        let model = &self.0;
        let trees = model.predictor().tree_sizes();
        json!({
            "method": model.parameters.get("method"),
            "kind": model.predictor().kind(),
            "software": &model.software,
            "task": model.schema().task,
            "n_samples": model.training().n_samples,
            "n_features": model.n_features(),
            "n_outputs": model.n_outputs(),
            "parameters": &model.parameters,
            "output_means": model.training().output_means(),
            "thresholds": model.thresholds(),
            "interval_level": model.intervals().map(Intervals::level),
            "tree_nodes": trees.iter().map(|tree| tree.nodes).collect::<Vec<_>>(),
            "tree_leaves": trees.iter().map(|tree| tree.leaves).collect::<Vec<_>>(),
            "tree_depths": trees.iter().map(|tree| tree.depth).collect::<Vec<_>>(),
            "summary": model.predictor().summary().into_iter().collect::<BTreeMap<_, _>>(),
        })
        .to_string()
    }

    /// The bounds of prediction intervals for predictions (n x 2 per target that is a number).
    fn bounds<'py>(
        &self,
        py: Python<'py>,
        predictions: PyReadonlyArray2<'py, f32>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let bounds = self.0.bounds(predictions.as_array()).map_err(model_error)?;
        Ok(bounds.into_pyarray(py))
    }

    /// Names of the features; `None` if they are numbered.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        given(&self.0.schema().feature_names)
    }

    /// Names of the outputs; `None` if they are numbered.
    #[getter]
    fn output_names(&self) -> Option<Vec<String>> {
        given(&self.0.schema().output_names)
    }

    /// Names of the outputs of data, which are fewer if a model predicts several levels of each; `None` if they are
    /// numbered.
    #[getter]
    fn target_names(&self) -> Option<Vec<String>> {
        given(self.0.schema().target_names())
    }

    /// Names of the targets of [`target_values`](Self::target_values).
    #[getter]
    fn value_columns(&self) -> Vec<String> {
        self.0.value_columns()
    }

    /// The classes of each target that is a column of classes, by its name, in the order of their outputs.
    #[getter]
    fn classes(&self) -> BTreeMap<String, Vec<String>> {
        let all = self.0.schema().class_columns.iter();
        all.map(|column| (column.name.clone(), column.classes.clone()))
            .collect()
    }

    /// The values of nominal features by column.
    #[getter]
    fn nominal(&self) -> BTreeMap<usize, Vec<String>> {
        let all = self.0.schema().nominal.iter();
        all.map(|(&j, values)| (j, values.to_vec())).collect()
    }

    /// True if the outputs are labels.
    #[getter]
    fn is_multilabel(&self) -> bool {
        self.0.schema().task == Task::MultiLabel
    }

    /// Numbers of training samples, features and outputs.
    #[getter]
    fn sizes(&self) -> (usize, usize, usize) {
        (
            self.0.training().n_samples,
            self.0.n_features(),
            self.0.n_outputs(),
        )
    }

    /// Number of trees; 0 if the model has none.
    #[getter]
    fn n_trees(&self) -> usize {
        self.0.predictor().tree_sizes().len()
    }
}
