//! Draws from Dirichlet counts against the moments of the distribution.

use cleanest_core::Matrix;
use cleanest_core::noise::Dirichlet;
use cleanest_core::random::Stream;

const DRAWS: u32 = 100_000;

/// Mean and variance of each entry within four standard errors, found by the draws' own fourth moments.
fn draws_have_the_moments_of(row: &[f64]) {
    let size = row.len();
    let counts = Dirichlet::new(Matrix::from_fn(size, size, |_, column| row[column])).unwrap();
    let mut stream = Stream::new(11, "moments", 0);
    let total: f64 = row.iter().sum();
    let mut sums = vec![[0.0; 4]; size];
    for _ in 0..DRAWS / size as u32 {
        let drawn = counts.draw(&mut stream);
        for entries in drawn.matrix().iter_rows() {
            for ((entry, concentration), sums) in entries.iter().zip(row).zip(&mut sums) {
                assert!(entry.is_finite());
                let off = entry - concentration / total;
                sums.iter_mut().enumerate().for_each(|(power, sum)| *sum += off.powi(power as i32 + 1));
            }
        }
    }
    let n = f64::from(DRAWS / size as u32 * size as u32);
    for (entry, (concentration, sums)) in row.iter().zip(&sums).enumerate() {
        let mean = concentration / total;
        let variance = mean * (1.0 - mean) / (total + 1.0);
        let [first, second, _, fourth] = sums.map(|sum| sum / n);
        if *concentration == 0.0 {
            assert!(second == 0.0, "an exact zero stays zero");
            continue;
        }
        assert!(first.abs() <= 4.0 * (variance / n).sqrt(), "{row:?}, entry {entry}: mean off by {first}");
        let error = ((fourth - second * second).max(0.0) / n).sqrt();
        assert!(
            (second - variance).abs() <= 4.0 * error,
            "{row:?}, entry {entry}: variance {second}, not {variance}"
        );
    }
}

#[test]
fn draws_have_the_mean_and_variance_of_the_distribution() {
    for concentration in [0.01, 0.5, 1.0, 50.0] {
        draws_have_the_moments_of(&[concentration; 4]);
    }
    draws_have_the_moments_of(&[0.01, 0.0, 50.0, 1.0, 0.5]);
    draws_have_the_moments_of(&[0.0, 0.3, 0.0, 7.0]);
}

#[test]
fn the_faintest_counts_still_give_a_distribution() {
    for faint in [1e-3, 1e-6, 1e-12, 1e-100, 1e-300, f64::MIN_POSITIVE] {
        let counts = Dirichlet::new(Matrix::from_fn(4, 4, |_, column| faint * (column + 1) as f64)).unwrap();
        let mut stream = Stream::new(1, "faint", 0);
        let mut chosen = [0_u32; 4];
        for _ in 0..500 {
            for row in counts.draw(&mut stream).matrix().iter_rows() {
                assert!(
                    (row.iter().sum::<f64>() - 1.0).abs() < 1e-12 && row.iter().all(|entry| *entry >= 0.0),
                    "{row:?}"
                );
                chosen[row.iter().position(|entry| *entry > 0.5).unwrap_or(0)] += 1;
            }
        }
        // One label takes all, with the probability its count has among the others.
        if faint <= 1e-6 {
            for (label, &count) in chosen.iter().enumerate() {
                let share = (label + 1) as f64 / 10.0;
                let error = (share * (1.0 - share) / 2000.0).sqrt();
                assert!((f64::from(count) / 2000.0 - share).abs() < 4.0 * error, "{faint}: {chosen:?}");
            }
        }
    }
}

#[test]
fn counts_fade_and_grow_as_the_paper_has_it() {
    let mut counts = Dirichlet::diagonal(2, 10.0).unwrap();
    counts.observe(&Matrix::from_vec(2, vec![3.0, 1.0, 0.0, 0.0]), 0.999, 0.01);
    let expected = [9.99 + 0.03, 0.01, 0.0, 9.99];
    for (count, expected) in counts.counts().values().iter().zip(expected) {
        assert!((count - expected).abs() < 1e-14);
    }
    assert!((counts.mean().row(0)[1] - 0.01 / 10.03).abs() < 1e-15);
}

#[test]
fn a_row_that_is_never_seen_keeps_its_proportions_for_ever() {
    let mut counts = Dirichlet::new(Matrix::from_vec(2, vec![3.0, 1.0, 1.0, 1.0])).unwrap();
    let nothing = Matrix::zeros(2, 2);
    for _ in 0..5000 {
        counts.observe(&nothing, 0.5, 0.01);
    }
    assert!((counts.mean().row(0)[0] - 0.75).abs() < 1e-12);
    assert!(
        counts.draw(&mut Stream::new(0, "faded", 0)).matrix().values().iter().all(|entry| entry.is_finite())
    );
}

#[test]
fn intervals_are_those_of_the_beta_distribution() {
    // Beta(1, 1) is uniform, Beta(2, 1) has the distribution x², Beta(1, 3) has 1 - (1 - x)³.
    let counts = Dirichlet::new(Matrix::from_vec(2, vec![2.0, 1.0, 1.0, 3.0])).unwrap();
    let (low, high) = counts.interval(0.9).unwrap();
    assert!((low[(0, 0)] - 0.05_f64.sqrt()).abs() < 1e-6 && (high[(0, 0)] - 0.95_f64.sqrt()).abs() < 1e-6);
    assert!((low[(1, 0)] - (1.0 - 0.95_f64.cbrt())).abs() < 1e-6, "{}", low[(1, 0)]);
    assert!((high[(1, 0)] - (1.0 - 0.05_f64.cbrt())).abs() < 1e-6);
    let certain = Dirichlet::diagonal(2, 10.0).unwrap();
    let (low, high) = certain.interval(0.95).unwrap();
    assert_eq!(low.values(), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(high.values(), [1.0, 0.0, 0.0, 1.0]);
    assert!(certain.interval(1.0).is_err());
}

#[test]
fn an_interval_covers_as_often_as_it_says() {
    let counts =
        Dirichlet::new(Matrix::from_vec(3, vec![5.0, 2.0, 0.5, 1.0, 30.0, 4.0, 0.1, 0.1, 8.0])).unwrap();
    let (low, high) = counts.interval(0.8).unwrap();
    let mut stream = Stream::new(3, "coverage", 0);
    let mut inside = Matrix::zeros(3, 3);
    for _ in 0..4000 {
        let drawn = counts.draw(&mut stream);
        for (at, entry) in drawn.matrix().values().iter().enumerate() {
            inside.values_mut()[at] +=
                f64::from(u8::from((low.values()[at]..=high.values()[at]).contains(entry)));
        }
    }
    for covered in inside.values().iter().map(|count| count / 4000.0) {
        assert!((covered - 0.8).abs() < 4.0 * (0.16_f64 / 4000.0).sqrt(), "{covered}");
    }
}

#[test]
fn counts_that_are_no_counts_are_refused() {
    assert!(Dirichlet::new(Matrix::from_vec(2, vec![1.0, -1.0, 0.0, 1.0])).is_err());
    assert!(Dirichlet::new(Matrix::from_vec(2, vec![1.0, 1.0, 0.0, 0.0])).is_err(), "a row without anything");
    assert!(Dirichlet::new(Matrix::from_vec(2, vec![1.0, f64::INFINITY, 0.0, 1.0])).is_err());
}
