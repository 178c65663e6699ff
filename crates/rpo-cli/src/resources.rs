//! Measures the resources used by a command.

use std::time::{Duration, Instant};

/// Measures wall-clock and processor time since its creation.
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: Option<Duration>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: cpu_time(),
        }
    }

    /// Wall-clock seconds since the start.
    pub(crate) fn wall_seconds(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Processor seconds of all threads since the start, if the system reports them.
    pub(crate) fn cpu_seconds(&self) -> Option<f64> {
        Some((cpu_time()? - self.cpu?).as_secs_f64())
    }
}

/// Processor time of this process.
#[cfg(unix)]
fn cpu_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(
        u64::try_from(time.tv_sec).ok()?,
        u32::try_from(time.tv_nsec).ok()?,
    ))
}

#[cfg(not(unix))]
fn cpu_time() -> Option<Duration> {
    None
}

/// The peak memory of this process in bytes, if the system reports it (Linux).
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
