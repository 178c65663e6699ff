//! Methods with parameters, and parameter spaces. The input is a line with the name of a method, lines `NAME VALUE`
//! with its parameters, and lines `NAME=VALUES` with a space.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rpo::core::Seed;
use rpo::tune::{SearchOrder, Tuning};
use rpo::{Estimator, Method};

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let Ok(mut method) = Method::named(lines.next().unwrap_or_default()) else {
        return;
    };
    let mut space = Vec::new();
    for line in lines {
        match line.split_once(' ') {
            Some((name, value)) if !name.contains('=') => match method.clone().with(name, value) {
                Ok(changed) => method = changed,
                Err(e) => assert!(!e.to_string().is_empty()),
            },
            _ => space.push(line),
        }
    }
    match method.check() {
        Ok(()) => assert_eq!(method.check(), Ok(()), "checking changes nothing"),
        Err(e) => assert!(!e.to_string().is_empty()),
    }
    for order in [SearchOrder::Grid, SearchOrder::Random] {
        let tuning = Tuning {
            order,
            ..Tuning::new(method.clone(), space.iter().copied(), 1)
        };
        match tuning.space() {
            Ok(space) => {
                let setting = || {
                    space
                        .settings(order, Seed::new(1))
                        .map(|mut settings| settings.nth(3))
                };
                assert_eq!(setting(), setting());
            }
            Err(e) => assert!(!e.to_string().is_empty()),
        }
    }
});
