//! `rpo completions` and `rpo man`: shell completions and manual pages.

use crate::error::CliError;
use crate::output::{Output, print};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::fs;
use std::path::PathBuf;

/// Print the completions of a shell.
///
/// For bash, for instance: `rpo completions bash > ~/.local/share/bash-completion/completions/rpo`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Cli::command(), "rpo", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}

/// Write the manual pages, rpo.1 and one for each command, to a folder, which is made if there is none.
#[derive(Debug, Args)]
pub(crate) struct Manual {
    /// The folder, such as ~/.local/share/man/man1.
    folder: PathBuf,
}

impl Manual {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        fs::create_dir_all(&self.folder).map_err(|e| CliError::NotWritten {
            kind: e.kind(),
            message: format!("FOLDER {}: {e}", self.folder.display()),
        })?;
        let mut program = crate::Cli::command();
        program.build();
        self.write(&program, "rpo")?;
        for command in program.get_subcommands() {
            self.write(command, &format!("rpo-{}", command.get_name()))?;
        }
        Ok(())
    }

    fn write(&self, command: &clap::Command, name: &str) -> Result<(), CliError> {
        let mut page = Vec::new();
        let manual = clap_mangen::Man::new(command.clone()).title(name.to_uppercase());
        manual.render(&mut page)?;
        let mut out = Output::new(Some(&self.folder.join(format!("{name}.1"))))?;
        out.put(&page)?;
        out.finish()
    }
}
