//! Benchmarks against other libraries, which are installed into a separate environment.

use crate::ci::root;
use anyhow::{Context, ensure};
use std::ffi::OsString;
use std::process::Command;

/// Creates the environment and runs the benchmarks.
///
/// # Errors
/// If a library cannot be installed, or a measurement fails.
pub(crate) fn run(options: &[OsString]) -> anyhow::Result<()> {
    let root = root();
    let environment = root.join("target/peers");
    let python = environment.join("bin/python");
    if !python.exists() {
        let interpreter = std::env::var_os("RPO_PYTHON").unwrap_or_else(|| "python3".into());
        check(Command::new(interpreter).args(["-m", "venv"]).arg(&environment))?;
    }
    let requirements = root.join("benches/peers/requirements.txt");
    let install = ["-m", "pip", "install", "--quiet", "--requirement"];
    check(Command::new(&python).args(install).arg(requirements))?;
    let bench = [
        "run",
        "--release",
        "--package",
        "rpo-benches",
        "--bin",
        "peers",
        "--",
    ];
    check(
        super::cargo(&bench)
            .current_dir(root)
            .arg("--python")
            .arg(python)
            .args(options),
    )
}

fn check(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}
