//! Options that switch something on or off.

use clap::Arg;

/// An argument of an `Option<bool>` whose default depends on the method.
pub(crate) trait Switch {
    /// `--name` and `--name=true` switch on, `--name=false` switches off.
    fn switch(self) -> Self;
}

impl Switch for Arg {
    fn switch(self) -> Self {
        self.value_name("BOOL")
            .num_args(0..=1)
            .default_missing_value("true")
            .require_equals(true)
    }
}
