//! Parameter files.

use crate::error::CliError;
use crate::unique::Unique;
use serde_json::error::Category;
use serde_json::{Map, Value};
use std::path::Path;

/// Reads parameters from a JSON or TOML file; repeated keys are errors.
pub(super) fn read_parameters(path: &Path) -> Result<Map<String, Value>, CliError> {
    let problem = |problem: String| CliError::Data {
        data: path.display().to_string(),
        problem,
    };
    let text = std::fs::read_to_string(path).map_err(|e| problem(e.to_string()))?;
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    // The TOML parser itself refuses repeated keys.
    let parsed = if is_toml {
        toml::from_str(&text).map_err(|e| e.to_string())
    } else {
        serde_json::from_str(&text)
            .map(|Unique(value)| value)
            .map_err(|e| match e.classify() {
                Category::Syntax | Category::Eof => format!(
                    "not JSON: {e}; parameters are read from JSON, or from TOML if the file is named .toml"
                ),
                Category::Data | Category::Io => e.to_string(),
            })
    };
    match parsed.map_err(problem)? {
        Value::Object(parameters) => {
            let mut spelt = Map::new();
            for (name, value) in parameters {
                let name = name.replace('-', "_");
                if spelt.contains_key(&name) {
                    return Err(problem(format!("{name:?} is given twice, also with hyphens")));
                }
                spelt.insert(name, value);
            }
            Ok(spelt)
        }
        other => Err(problem(format!("{other} is not a table of names and values"))),
    }
}
