//! Measures parsing speed on this machine: the best of several readings of each given file.
//!
//! ```text
//! cargo run --release -p rpo-data --example parse_speed -- FILE...
//! ```
//! All columns are read as features; for compressed files the compressed size counts.

use rpo_data::read::{ReadOptions, read};
use std::time::Instant;

const READINGS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args_os().skip(1).map(std::path::PathBuf::from) {
        let bytes = std::fs::metadata(&path)?.len() as f64;
        let mut best = f64::INFINITY;
        let mut shape = (0, 0, 0);
        for _ in 0..READINGS {
            let start = Instant::now();
            let data = read(&path, &ReadOptions::default())?;
            best = best.min(start.elapsed().as_secs_f64());
            shape = (data.n_samples(), data.n_features(), data.n_outputs());
        }
        let (megabytes, milliseconds) = (bytes / 1e6, best * 1e3);
        let speed = megabytes / best;
        println!(
            "{speed:7.0} MB/s  {megabytes:8.2} MB  {milliseconds:8.1} ms  {shape:?}  {}",
            path.display()
        );
    }
    Ok(())
}
