//! Measures time, memory, and the time that a fit spends on projections.

use rpo::core::{MatrixView, Seed};
use rpo::projections::{LinearMap, Projection, ProjectionError, ProjectionInput};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Wall and CPU time since its start.
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// CPU seconds of the whole process, and wall-clock seconds.
    pub(crate) fn read(&self) -> (f64, f64) {
        (
            (cpu_time() - self.cpu).as_secs_f64(),
            self.wall.elapsed().as_secs_f64(),
        )
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Peak memory of the process in bytes, if the system reports it.
pub(crate) fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// CPU seconds spent on projections, and the number drawn. It uses the clock of the process, as a cell has one thread.
#[derive(Debug, Default)]
pub(crate) struct ProjectionTime {
    nanoseconds: AtomicU64,
    draws: AtomicU64,
}

impl ProjectionTime {
    fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = cpu_time();
        let result = work();
        let elapsed = cpu_time() - start;
        self.nanoseconds
            .fetch_add(elapsed.as_nanos() as u64, Ordering::Relaxed);
        result
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9
    }

    pub(crate) fn draws(&self) -> u64 {
        self.draws.load(Ordering::Relaxed)
    }
}

/// A family that records the time of drawing and applying projections.
#[derive(Debug)]
pub(crate) struct Timed {
    pub(crate) family: Arc<dyn Projection>,
    pub(crate) time: Arc<ProjectionTime>,
}

impl Projection for Timed {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        self.time.draws.fetch_add(1, Ordering::Relaxed);
        let map = self.time.time(|| self.family.fit(data, n_components, seed))?;
        Ok(Box::new(TimedMap {
            map,
            time: Arc::clone(&self.time),
        }))
    }
}

#[derive(Debug)]
struct TimedMap {
    map: Box<dyn LinearMap>,
    time: Arc<ProjectionTime>,
}

impl LinearMap for TimedMap {
    fn n_outputs(&self) -> usize {
        self.map.n_outputs()
    }

    fn n_components(&self) -> usize {
        self.map.n_components()
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        self.time.time(|| self.map.project(y, z))
    }
}
