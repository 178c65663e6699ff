//! Pipes with names in place of files.

use crate::common::{Folder, grouped, xmlrepo};
use std::process::Command;

/// A pipe with a name, such as the shell makes of `<(program)`, gives its content once.
#[test]
fn a_pipe_is_read_once() {
    let folder = Folder::new();
    let labels = xmlrepo(30, 0);
    folder
        .write(
            "t.csv",
            format!("customer,x,y\n{}", grouped())
                .replace("\nc", "\n1,c")
                .replacen("cust", "id,cust", 1),
        )
        .write("t.txt", &labels);
    let piped = |arguments: &str, file: &str| {
        let mut command = Command::new("sh");
        let script = format!("cat {file} | {} {arguments}", env!("CARGO_BIN_EXE_rpo"));
        let output = command
            .current_dir(folder.path(""))
            .args(["-c", &script])
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let train = "train --id id --group customer --targets y --trees 3 --intervals 0.5";
    folder.ok(&format!("{train} --data t.csv --model file.rpo"));
    let trained = piped(&format!("{train} --data /dev/stdin --model pipe.rpo"), "t.csv");
    assert_eq!((trained.0, trained.2.as_str()), (Some(0), ""));
    let model = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(model("file.rpo") == model("pipe.rpo"));
    // The format is found while a table is looked for.
    folder.ok("train --data t.txt --trees 3 --model labels.rpo");
    let expected = folder.ok("predict --data t.txt --model labels.rpo");
    let predicted = piped("predict --data /dev/stdin --model labels.rpo", "t.txt");
    assert_eq!(predicted, (Some(0), expected, String::new()));

    let (code, _, message) = piped("split --data /dev/stdin --train a.csv --test b.csv", "t.csv");
    assert_eq!(code, Some(1));
    let expected = "error: --data /dev/stdin: split reads the data twice and needs a file";
    assert!(message.starts_with(expected), "{message}");
}
