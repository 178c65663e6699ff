//! Files are either complete or absent.

use rpo::{FileTarget, TargetError};
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

/// A target whose unfinished file has vanished, so that the system cannot rename it.
#[cfg(unix)]
fn without_part(path: &Path) -> FileTarget {
    let mut target = FileTarget::new(path).unwrap();
    target.put(b"whole").unwrap();
    let folder = path.parent().unwrap();
    let parts = files(folder).into_iter().filter(|name| name.ends_with(".part"));
    parts.for_each(|name| fs::remove_file(folder.join(name)).unwrap());
    target
}

#[test]
#[cfg(unix)]
fn what_cannot_be_renamed_is_written_into_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    fs::write(&path, "an earlier, longer content").unwrap();
    without_part(&path).finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
    assert_eq!(files(folder.path()), ["m"]);
}

#[test]
#[cfg(unix)]
fn what_cannot_be_written_at_all_is_kept_under_another_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    let kept = folder.path().join("m.complete-1");
    fs::write(folder.path().join("m.complete"), "of someone else").unwrap();
    let mut target = FileTarget::new(&path).unwrap();
    target.put(b"whole").unwrap();
    fs::create_dir(&path).unwrap();
    let e = target.finish().unwrap_err();
    assert!(
        matches!(&e, TargetError::Kept { path: p, kept: k, .. } if *p == path && *k == kept),
        "{e:?}"
    );
    assert!(
        e.to_string().ends_with(&format!("; it is {}", kept.display())),
        "{e}"
    );
    assert_eq!(fs::read_to_string(&kept).unwrap(), "whole");
    assert_eq!(files(folder.path()), ["m", "m.complete", "m.complete-1"]);
    // Nothing can be kept of a file that has no name any more.
    fs::remove_dir(&path).unwrap();
    let target = without_part(&path);
    fs::create_dir(&path).unwrap();
    assert!(matches!(target.finish(), Err(TargetError::Io { .. })));
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
        std::os::unix::fs::symlink("/dev/stdout", at("out")).unwrap();
        for name in [
            at("out").as_path(),
            Path::new("/dev/stdout"),
            Path::new("/dev/fd/1"),
        ] {
            assert_eq!(FileTarget::place(name), None);
            assert!(FileTarget::is_standard_output(name), "{}", name.display());
        }
        assert!(!FileTarget::is_standard_output("/dev/stderr"));
        assert!(!FileTarget::is_standard_output(at("1")));
    }
}
