//! The `rpo` command.

fn main() -> std::process::ExitCode {
    rpo_cli::main()
}
