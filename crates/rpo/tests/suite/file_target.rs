//! Files are either complete or absent.

use rpo::FileTarget;
use std::fs;
use std::path::Path;

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The leftovers of a killed process are removed by the next process that writes to the folder; files being written,
/// and files with other names, are kept.
#[test]
#[cfg(unix)]
fn parts_of_dead_processes_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at(".rpo-dead.part"), "half").unwrap();
    fs::write(at(".rpo-dead.txt"), "whole").unwrap();
    let mut first = FileTarget::new(at("a")).unwrap();
    assert_eq!(files(folder.path()).len(), 2, "{:?}", files(folder.path()));
    let mut second = FileTarget::new(at("b")).unwrap();
    assert_eq!(files(folder.path()).len(), 3, "the first is still written");
    first.put(b"first").unwrap();
    second.put(b"second").unwrap();
    second.finish().unwrap();
    first.finish().unwrap();
    assert_eq!(files(folder.path()), [".rpo-dead.txt", "a", "b"]);
    assert_eq!(fs::read(at("a")).unwrap(), b"first");
}

#[test]
#[cfg(unix)]
fn a_link_to_nothing_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("models")).unwrap();
    std::os::unix::fs::symlink("models/m", at("middle")).unwrap();
    std::os::unix::fs::symlink("middle", at("link")).unwrap();
    for content in ["made", "replaced"] {
        let mut target = FileTarget::new(at("link")).unwrap();
        target.put(content.as_bytes()).unwrap();
        target.finish().unwrap();
        assert_eq!(fs::read_to_string(at("models/m")).unwrap(), content);
    }
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    assert_eq!(files(&at("models")), ["m"]);
    // The system refuses a link to itself.
    std::os::unix::fs::symlink("circle", at("circle")).unwrap();
    assert!(FileTarget::new(at("circle")).is_err());
}

#[test]
fn paths_of_one_file_have_one_place() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("models")).unwrap();
    fs::write(at("m"), "there").unwrap();
    let place = |name: &str| FileTarget::place(at(name)).unwrap();
    assert_eq!(place("m"), place("models/../m"));
    assert_eq!(place("not"), place("models/../not"));
    assert_ne!(place("not"), place("models/not"));
    assert_eq!(FileTarget::place(at("nowhere/m")), None);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../m", at("models/link")).unwrap();
        std::os::unix::fs::symlink("models/not", at("link")).unwrap();
        assert_eq!(place("models/link"), place("m"));
        assert_eq!(place("link"), place("models/not"));
        assert_eq!(FileTarget::place("/dev/null"), None);
    }
}
