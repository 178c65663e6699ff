//! The first entries of every family for seed 1. A change here changes every model grown from the same seed: it is
//! value-breaking and needs a line in the changelog.

use crate::common::{dense_matrix, random_families};
use rpo_core::Seed;

type Entry = (usize, usize, f32);

/// (output, component, value) of the first four nonzero entries, output by output; d = 60, m = 40.
const FIRST: [(&str, [Entry; 4]); 10] = [
    (
        "gaussian",
        [
            (0, 0, -0.09388527),
            (0, 1, 0.31672215),
            (0, 2, 0.18208642),
            (0, 3, 0.113024466),
        ],
    ),
    (
        "rademacher",
        [
            (0, 0, 0.15811388),
            (0, 1, 0.15811388),
            (0, 2, -0.15811388),
            (0, 3, 0.15811388),
        ],
    ),
    (
        "achlioptas",
        [
            (0, 1, 0.2738613),
            (0, 4, -0.2738613),
            (0, 8, -0.2738613),
            (0, 12, -0.2738613),
        ],
    ),
    (
        "rademacher:40",
        [(0, 1, 1.0), (1, 5, 1.0), (1, 32, -1.0), (4, 14, 1.0)],
    ),
    (
        "rademacher:90",
        [(1, 34, -1.5), (9, 31, 1.5), (11, 4, -1.5), (15, 32, -1.5)],
    ),
    (
        "sparse",
        [
            (0, 1, 0.44005588),
            (0, 4, -0.44005588),
            (0, 12, -0.44005588),
            (0, 13, -0.44005588),
        ],
    ),
    (
        "hadamard",
        [
            (0, 0, 0.15811388),
            (0, 1, 0.15811388),
            (0, 2, -0.15811388),
            (0, 3, -0.15811388),
        ],
    ),
    (
        "subsample",
        [
            (0, 1, 1.2247449),
            (1, 21, 1.2247449),
            (3, 8, 1.2247449),
            (4, 37, 1.2247449),
        ],
    ),
    (
        "subsample-replace",
        [
            (1, 18, 1.2247449),
            (2, 14, 1.2247449),
            (2, 28, 1.2247449),
            (3, 35, 1.2247449),
        ],
    ),
    (
        "hashing",
        [(0, 24, -1.0), (1, 14, -1.0), (2, 37, -1.0), (3, 29, 1.0)],
    ),
];

#[test]
fn first_entries_for_seed_1() {
    for ((name, family), (expected_name, expected)) in random_families().into_iter().zip(FIRST) {
        assert_eq!(name, expected_name);
        let phi = dense_matrix(&*family.draw(60, 40, Seed::new(1)).unwrap());
        let entries = phi.t();
        let found = entries
            .indexed_iter()
            .filter(|(_, v)| **v != 0.0)
            .map(|((j, k), &v)| (j, k, v));
        assert_eq!(found.take(4).collect::<Vec<_>>(), expected, "{name}");
    }
    assert_eq!(random_families().len(), FIRST.len());
}
