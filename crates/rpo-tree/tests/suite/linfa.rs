//! k-means compared with that of linfa-clustering: the same start must lead to the same clusters.

use linfa::DatasetBase;
use linfa::traits::{Fit, Predict};
use linfa_clustering::{KMeans as Linfa, KMeansInit};
use ndarray::Array2;
use proptest::prelude::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rpo_core::Seed;
use rpo_tree::cluster::{Geometry, KMeansOptions, KMeansParams};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_same_start_leads_to_the_same_clusters(
        n in 12_usize..60,
        p in 1_usize..6,
        k in 2_usize..5,
        seed in any::<u64>(),
    ) {
        let mut rng = Seed::new(seed).rng();
        // Rows around k centres that are far apart: no row is near a border between two of them.
        let x = Array2::from_shape_fn((n, p), |(i, _)| 10.0 * (i % k) as f64 + rng.gen_range(-3.0..3.0));
        let x = x.mapv(|v| f64::from(v as f32));
        let start = x.slice(ndarray::s![..k, ..]).to_owned();

        let theirs = Linfa::params_with_rng(k, ChaCha8Rng::seed_from_u64(0))
            .init_method(KMeansInit::Precomputed(start.clone()))
            .max_n_iterations(300)
            .tolerance(1e-12)
            .n_runs(1)
            .fit(&DatasetBase::from(x.clone()))
            .unwrap();
        let options = KMeansOptions { centres: Some(start.view()), ..KMeansOptions::default() };
        let ours = KMeansParams::new(Geometry::Euclidean, k).fit((&x.mapv(|v| v as f32)).into(), &options, Seed::new(0)).unwrap();

        let labels: Vec<usize> = ours.labels.iter().map(|&label| label as usize).collect();
        prop_assert_eq!(labels, theirs.predict(&x).to_vec());
        for (a, b) in ours.centres.iter().zip(theirs.centroids()) {
            prop_assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{} against {}", a, b);
        }
    }
}
