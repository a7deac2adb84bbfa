//! The noise is recovered from noisy labels alone, by the methods that can and not by the one that cannot.

use crate::mixture::{Mixture, train};
use cleanest_core::methods::Choice;
use cleanest_core::noise::{Noise, Transition};

fn pair() -> Transition {
    "pair:0.4".parse::<Noise>().unwrap().transition(3, 0).unwrap()
}

/// Average TV of the noise as the method says it and as its classifier implies it.
fn errors(method: &str, seed: u64) -> (Option<f64>, f64) {
    let outcome = train(&Mixture::SEPARATED, &pair(), &Choice::named(method).unwrap(), seed);
    let error = |found: &Transition| found.average_tv(&pair()).unwrap();
    (outcome.learnt.as_ref().map(error), error(&outcome.implied))
}

#[test]
fn tvd_and_tvg_recover_pair_noise() {
    assert!(
        (Transition::identity(3).average_tv(&pair()).unwrap() - 0.4).abs() < 1e-15,
        "where an untaught T stands"
    );
    for method in ["tvd", "tvg"] {
        for seed in 0..3 {
            let (learnt, implied) = errors(method, seed);
            assert!(learnt.unwrap() < 0.05, "{method}, seed {seed}: {learnt:?}");
            assert!(implied < 0.05, "{method}, seed {seed}: {implied}");
        }
    }
}

#[test]
fn plain_cross_entropy_does_not() {
    for seed in 0..3 {
        let (learnt, implied) = errors("cce", seed);
        assert!(learnt.is_none() && implied > 0.2, "seed {seed}: {implied}");
    }
}
