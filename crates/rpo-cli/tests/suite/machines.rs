//! One seed gives the same model on every machine: the bytes are equal with the C library's functions for processors
//! with fused multiply-add and for those without, which round differently.
//!
//! On systems without the GNU C library, both runs are equal, and the test shows nothing.

use crate::common::Folder;
use crate::stability::data;
use std::fs;

/// Disables the variants for newer processors, by the names that different versions of the library use.
const PLAIN: &str = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-FMA4,-FMA4_Usable,-AVX512F";

/// Methods that use exponentials, logarithms, powers, angles or normal numbers.
const MODELS: [(&str, &str); 20] = [
    ("labels", "logistic-regression"),
    ("texts", "logistic-regression"),
    ("labels", "label-embedding --epochs 20"),
    ("texts", "label-embedding --kernel student:2.5 --epochs 20"),
    ("labels", "label-embedding --mode cs --kernel cauchy-iid"),
    ("labels", "label-embedding --link-loss squared"),
    ("labels", "one-vs-rest --loss logistic"),
    ("texts", "label-tree --clusters 3 --leaf-labels 4 --loss logistic"),
    ("labels", "structured-forest --trees 5"),
    ("labels", "structured-forest --trees 5 --variant sf-lr-cs"),
    ("labels", "gbmort --loss logistic"),
    ("labels", "single-target-gbrt --loss logistic --iterations 30"),
    ("labels", "gbrt-relabel-rpo --loss logistic --line-search exact"),
    ("labels-as-numbers", "gbmort --loss poisson --iterations 30"),
    ("labels-as-numbers", "gbmort --loss tweedie --iterations 30"),
    ("labels", "random-forest --trees 5 --criterion entropy"),
    ("labels", "random-forest --trees 5 --projection gaussian"),
    ("numbers", "extra-trees --trees 5 --projection pca --components 2"),
    (
        "texts",
        "random-forest --trees 5 --projection sparse --components 5",
    ),
    ("texts", "craftml --trees 5 --feature-weights idf --normalize l2"),
];

#[test]
fn models_and_predictions_are_the_same_bytes() {
    let folder = Folder::new();
    data::write(&folder);
    let run = |arguments: &str, tunables: &str| {
        let mut command = folder.command(arguments);
        let output = command.env("GLIBC_TUNABLES", tunables).output().unwrap();
        let problem = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "rpo {arguments}: {problem}");
        output.stdout
    };
    let differing: Vec<&str> = MODELS
        .into_iter()
        .filter(|(set, method)| {
            let (train, test) = data::options(set);
            let [one, other] = ["", PLAIN].map(|tunables| {
                run(
                    &format!("train --method {method} {train} --model m.rpo"),
                    tunables,
                );
                let predicted = run(&format!("predict {test} --model m.rpo"), tunables);
                (fs::read(folder.path("m.rpo")).unwrap(), predicted)
            });
            one != other
        })
        .map(|(_, method)| method)
        .collect();
    assert!(differing.is_empty(), "{differing:?}");
}
