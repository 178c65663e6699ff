//! The command of `cargo xtask reproduce`.

fn main() -> anyhow::Result<()> {
    rpo_experiments::main()
}
