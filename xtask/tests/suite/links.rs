//! Checks that links between files of the repository are valid.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn relative_links_lead_to_files() {
    let mut pages = Vec::new();
    markdown(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut pages);
    let (mut checked, mut broken) = (0, Vec::new());
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        // Links to other sites and to items of the crates' documentation are not files.
        let files = targets.filter(|t| !t.contains("://") && !t.contains("::"));
        for target in files
            .filter_map(|t| t.split('#').next())
            .filter(|t| !t.is_empty())
        {
            checked += 1;
            let folder = page.parent().unwrap();
            if !folder.join(target).exists() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(checked > 0, "there are links");
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Collects the Markdown files below a folder, except in build and hidden folders.
fn markdown(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with("target") && !name.starts_with('.') {
            markdown(&path, pages);
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
}
