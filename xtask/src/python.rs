//! Checks of the Python package: the wheel is built, installed in a fresh environment and tested there.

use crate::ci::{Checks, root};
use anyhow::{Context, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Variable that names the interpreter; without it, the newest one found is used.
const INTERPRETER: &str = "RPO_PYTHON";
/// Names of interpreters to try, and the check for the oldest supported version.
const NAMES: [&str; 5] = ["python3.13", "python3.12", "python3.11", "python3.10", "python3"];
const OLD_ENOUGH: &str = "import sys, venv; sys.exit(sys.version_info < (3, 10))";

/// Variable that names the free-threaded interpreter; without it, the newest one found is used.
const FREE_THREADED: &str = "RPO_PYTHON_FREE_THREADED";
/// Names of free-threaded interpreters to try, and the check for the oldest version supported by pyo3.
const FREE_THREADED_NAMES: [&str; 2] = ["python3.15t", "python3.14t"];
const IS_FREE_THREADED: &str = "import sys, sysconfig, venv; \
    sys.exit(sys.version_info < (3, 14) or not sysconfig.get_config_var('Py_GIL_DISABLED'))";

/// Runs every check of the package and sums up, including those with a free-threaded interpreter, if one is found.
///
/// # Errors
/// If a check fails, or no suitable Python is found.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut checks = Checks::default();
    if !add_to(&mut checks)? {
        bail!("Python 3.10 or newer is needed; {INTERPRETER} names one");
    }
    if let Some(python) = find(FREE_THREADED, &FREE_THREADED_NAMES, IS_FREE_THREADED)? {
        add_free_threaded(&mut checks, &python)?;
    }
    checks.sum_up()
}

/// Adds the checks of the package; returns false if no suitable Python is found.
///
/// # Errors
/// If the interpreter named in the environment is unsuitable, or the tools cannot be installed.
pub(crate) fn add_to(checks: &mut Checks) -> anyhow::Result<bool> {
    let Some(python) = find(INTERPRETER, &NAMES, OLD_ENOUGH)? else {
        return Ok(false);
    };
    let formatting = ["fmt", "--manifest-path", "python/Cargo.toml", "--check"];
    checks.cargo("python: formatting", &formatting)?;
    // The folder of the workspace's builds has most dependencies already.
    let target = root().join("target");
    let lints = [
        "clippy",
        "--locked",
        "--manifest-path",
        "python/Cargo.toml",
        "--",
        "-D",
        "warnings",
    ];
    let mut lints = crate::cargo(&lints);
    lints.current_dir(root()).env("CARGO_TARGET_DIR", &target);
    checks.check("python: lints", &mut lints)?;
    let environment = Environment::fresh(&python, target.join("python"))?;
    checks.check("python: wheel", &mut environment.build(&target))?;
    let Some(wheel) = environment.wheel() else {
        return Ok(true);
    };
    let mut install = environment.tool("pip");
    install.args(["install", "--quiet", &format!("{}[test]", wheel.display())]);
    checks.check("python: installation", &mut install)?;

    let package = root().join("python");
    for (name, tool, words) in [
        ("python: ruff format", "ruff", &["format", "--check", "."][..]),
        ("python: ruff", "ruff", &["check", "."]),
        ("python: mypy", "mypy", &[]),
    ] {
        checks.check(name, environment.tool(tool).args(words).current_dir(&package))?;
    }
    // Run outside of the package's folder, so that the installed package is tested.
    let away = &environment.folder;
    let mut types = environment.tool("pyright");
    types.args(["--verifytypes", "rpo", "--ignoreexternal"]);
    // Pyright looks for packages in the active environment.
    types.env("VIRTUAL_ENV", environment.folder.join("venv"));
    types.env("PATH", environment.path()?);
    checks.check("python: public types", types.current_dir(away))?;
    checks.cargo(
        "python: command",
        &[
            "build",
            "--locked",
            "--workspace",
            "--all-features",
            "--bin",
            "rpo",
        ],
    )?;
    let mut tests = environment.tool("pytest");
    tests
        .arg("-c")
        .arg(package.join("pyproject.toml"))
        .arg(package.join("tests"));
    tests
        .current_dir(away)
        .env("RPO_COMMAND", target.join("debug/rpo"));
    checks.check("python: tests", &mut tests)?;
    let mut examples = environment.tool("pytest");
    examples
        .args([
            "--doctest-modules",
            "--doctest-ignore-import-errors",
            "--pyargs",
            "rpo",
            "-c",
        ])
        .arg(package.join("pyproject.toml"));
    checks.check("python: examples in documentation", examples.current_dir(away))?;
    Ok(true)
}

/// Adds the tests with a free-threaded interpreter, which needs its own wheel: the stable ABI does not support it.
///
/// Packages that the tests compare with are installed if they support this interpreter; the other tests are skipped.
fn add_free_threaded(checks: &mut Checks, python: &Path) -> anyhow::Result<()> {
    let target = root().join("target");
    let environment = Environment::fresh(python, target.join("python-free-threaded"))?;
    let mut build = environment.build(&target);
    checks.check("python: free-threaded wheel", &mut build)?;
    let Some(wheel) = environment.wheel() else {
        return Ok(());
    };
    let mut install = environment.tool("pip");
    install
        .args(["install", "--quiet", "pytest>=8", "pandas>=2.2"])
        .arg(wheel);
    checks.check("python: free-threaded installation", &mut install)?;
    let package = root().join("python");
    let mut tests = environment.tool("pytest");
    tests
        .arg("-c")
        .arg(package.join("pyproject.toml"))
        .arg(package.join("tests"));
    tests
        .current_dir(&environment.folder)
        .env("RPO_COMMAND", target.join("debug/rpo"));
    checks.check("python: free-threaded tests", &mut tests)
}

/// Returns the interpreter named by a variable, or else the first of some names with which the check program succeeds.
fn find(variable: &str, names: &[&str], program: &str) -> anyhow::Result<Option<PathBuf>> {
    let serves = |python: &Path| {
        let mut command = Command::new(python);
        command
            .args(["-c", program])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    match std::env::var_os(variable) {
        Some(named) if serves(named.as_ref()) => Ok(Some(named.into())),
        Some(named) => bail!(
            "{variable} is {}, which is too old, or not such a Python",
            named.display()
        ),
        None => Ok(names.iter().map(PathBuf::from).find(|python| serves(python))),
    }
}

/// A Python environment with the tools, in its own folder.
struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Creates a fresh environment with the build tool for the wheel.
    fn fresh(python: &Path, folder: PathBuf) -> anyhow::Result<Self> {
        let environment = Self { folder };
        std::fs::remove_dir_all(environment.wheels()).or_else(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(e),
        })?;
        let place = environment.folder.join("venv");
        let mut venv = Command::new(python);
        run_to_end(venv.args(["-m", "venv", "--clear"]).arg(place))?;
        let maturin = ["install", "--quiet", "maturin>=1.9,<2"];
        run_to_end(environment.tool("pip").args(maturin))?;
        Ok(environment)
    }

    /// The path of a program in the environment.
    fn program(&self, name: &str) -> PathBuf {
        let folder = if cfg!(windows) { "Scripts" } else { "bin" };
        self.folder.join("venv").join(folder).join(name)
    }

    fn tool(&self, name: &str) -> Command {
        Command::new(self.program(name))
    }

    /// The command that builds the wheel in a given build folder.
    fn build(&self, folder: &Path) -> Command {
        let mut build = self.tool("maturin");
        build.args(["build", "--manifest-path", "python/Cargo.toml", "--out"]);
        build
            .arg(self.wheels())
            .arg("--interpreter")
            .arg(self.program("python"));
        build.current_dir(root()).env("CARGO_TARGET_DIR", folder);
        build
    }

    /// The search path with the environment's programs first.
    fn path(&self) -> anyhow::Result<OsString> {
        let programs = self.program("python");
        let own = programs.parent().map(Path::to_owned);
        let others = std::env::var_os("PATH").unwrap_or_default();
        let all = own.into_iter().chain(std::env::split_paths(&others));
        std::env::join_paths(all).context("a folder of the search path")
    }

    fn wheels(&self) -> PathBuf {
        self.folder.join("wheels")
    }

    /// The built wheel, if it exists.
    fn wheel(&self) -> Option<PathBuf> {
        let built = std::fs::read_dir(self.wheels()).ok()?;
        built.filter_map(|entry| Some(entry.ok()?.path())).next()
    }
}

fn run_to_end(command: &mut Command) -> anyhow::Result<()> {
    let status = command
        .status()
        .with_context(|| format!("{command:?} does not run"))?;
    match status.success() {
        true => Ok(()),
        false => bail!("{command:?}: {status}"),
    }
}
