//! Evaluations that threads share.

use ndarray::Array2;
use rayon::prelude::*;
use rpo_metrics::{Evaluation, EvaluationOptions, TopK};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Some tasks select the best labels of a shared evaluation while others keep further threads busy in parallel, so
/// that these take parts of the selections.
#[test]
fn tasks_of_one_pool_may_share_an_evaluation() {
    let (done, is_done) = mpsc::channel();
    // A deadlock must fail instead of waiting forever.
    thread::spawn(move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        let truth = Array2::<f32>::eye(1_000);
        let truth = truth.slice(ndarray::s![.., ..8]);
        let scores = Array2::from_shape_fn((1_000, 8), |(i, j)| ((7 * i + 5 * j) % 11) as f32);
        pool.install(|| {
            for _ in 0..50 {
                let shared = Evaluation::new(truth.into(), scores.view(), EvaluationOptions::default());
                (1..65_usize).into_par_iter().for_each(|k| {
                    let top = match k % 2 {
                        0 => shared.top_k(k).unwrap(),
                        _ => TopK::from_scores(scores.view(), k).unwrap().into(),
                    };
                    assert!(top.k() >= k);
                });
            }
        });
        done.send(()).unwrap();
    });
    is_done
        .recv_timeout(Duration::from_secs(60))
        .expect("no deadlock");
}
