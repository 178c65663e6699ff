//! Benchmark sets on the command line, if available.

use crate::common::{Folder, folder_of, number};

/// LRAP of the forest paper's Table 1 with m = round(ln d) per-tree Gaussian components, and how far a single split may
/// deviate: two of the published standard deviations, 1.4 and 0.7 points.
#[test]
fn published_scores_are_reached() {
    if folder_of("RPO_DATA").is_none() {
        return;
    }
    let folder = Folder::new();
    for (set, expected, margin) in [("emotions", 0.81, 0.03), ("bibtex", 0.548, 0.014)] {
        let train =
            format!("train --data @{set} --model {set}.rpo --projection gaussian --components ln --oob");
        let trained = folder.json(&train);
        let scores = folder.json(&format!("evaluate --data @{set} --model {set}.rpo"));
        let lrap = number(&scores, "lrap");
        assert!((lrap - expected).abs() < margin, "{set}: LRAP {lrap}");
        // A sample is out of bag for 37 of the 100 trees: with fewer trees, the score is lower.
        let oob = number(&trained, "oob_lrap");
        assert!(
            (-0.02..0.06).contains(&(lrap - oob)),
            "{set}: out of bag {oob}, test {lrap}"
        );
        for p in ["p@1", "p@3", "p@5"] {
            assert!((0.1..=1.0).contains(&number(&scores, p)), "{scores}");
        }
    }
}
