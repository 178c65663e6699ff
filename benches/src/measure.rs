//! Measures times and memory of whole programs.

use std::time::{Duration, Instant};

/// The minimum of several measured times.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// Elapsed time.
    pub wall: Duration,
    /// Processor time of all threads.
    pub cpu: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            wall: Duration::MAX,
            cpu: Duration::MAX,
        }
    }
}

impl Times {
    /// Runs `work` and records its times if they are the smallest so far.
    ///
    /// # Errors
    /// The errors of `work`.
    pub fn of<T, E: std::error::Error + Send + Sync + 'static>(
        &mut self,
        work: impl FnOnce() -> Result<T, E>,
    ) -> anyhow::Result<T> {
        let (wall, cpu) = (Instant::now(), cpu_time()?);
        let result = work()?;
        self.wall = self.wall.min(wall.elapsed());
        self.cpu = self.cpu.min(cpu_time()? - cpu);
        Ok(result)
    }
}

/// Processor time of the process so far.
///
/// # Errors
/// If the system does not report it, as on systems other than Unix.
pub fn cpu_time() -> anyhow::Result<Duration> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Ok(Duration::new(time.tv_sec.try_into()?, time.tv_nsec.try_into()?))
    }
    #[cfg(not(unix))]
    anyhow::bail!("processor time is measured on Unix only")
}

/// Resets the peak memory, if the system supports it.
///
/// # Errors
/// If the system should support it but fails.
pub fn reset_peak() -> std::io::Result<()> {
    if cfg!(target_os = "linux") {
        std::fs::write("/proc/self/clear_refs", "5")?;
    }
    Ok(())
}

/// The peak memory in bytes, if the system reports it.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse()
        .ok()
        .map(|kib: f64| kib * 1024.0)
}
