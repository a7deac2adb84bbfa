//! Batches: complete, in an order of their own, and the same after a stop.

use cleanest_data::{
    Augment, Batch, BatchSettings, Batches, Course, Dataset, Error, Example, Options, Order, Standardization,
};
use std::ops::Range;

fn digits() -> Dataset {
    Dataset::open("digits".as_ref(), &Options::default()).unwrap()
}

const AUGMENT: Augment = Augment { padding: 1, flip: true };

fn training(first_step: u64) -> BatchSettings {
    let course = Course::Training { seed: 3, first_step };
    let standardization = Standardization::none(1);
    BatchSettings { size: 100, course, augment: AUGMENT, standardization, worker: (0, 1) }
}

fn once(rows: Range<usize>, augment: Augment) -> BatchSettings {
    BatchSettings { course: Course::Once { rows, seed: 3 }, augment, ..training(0) }
}

fn batches(settings: BatchSettings) -> Batches {
    Batches::new(&digits(), settings).unwrap()
}

#[test]
fn an_epoch_is_every_example_once_and_the_last_batch_is_kept() {
    let epoch: Vec<Batch> = batches(training(0)).take(18).collect();
    assert_eq!(epoch[17].rows.len(), 97);
    let mut rows: Vec<u32> = epoch.iter().flat_map(|batch| batch.rows.clone()).collect();
    assert_ne!(rows[..5], [0, 1, 2, 3, 4]);
    rows.sort_unstable();
    assert_eq!(rows, (0..1797).collect::<Vec<_>>());
}

#[test]
fn workers_cut_the_batch_of_one_into_equal_parts() {
    for size in [2, 3, 98] {
        let whole: Vec<Batch> = batches(training(0)).take(18).collect();
        let part = |rank| batches(BatchSettings { worker: (rank, size), ..training(0) }).take(18);
        let mut together = vec![Vec::new(); 18];
        for rank in 0..size {
            for (step, batch) in part(rank).enumerate() {
                assert_eq!((&batch.rows, &batch.labels), (&whole[step].rows, &whole[step].labels));
                assert!(batch.own.len().abs_diff(batch.rows.len() / size) <= 1);
                if batch.own.is_empty() {
                    // There is still something to compute with.
                    assert_eq!(batch.values, whole[step].values[..64]);
                } else {
                    together[step].extend(batch.values);
                }
            }
        }
        assert!(together.iter().zip(&whole).all(|(values, batch)| *values == batch.values), "{size} workers");
    }
}

#[test]
fn every_epoch_has_an_order_of_its_own() {
    let rows = |seed, epoch: u64| {
        let mut order = Order::shuffled(1797, 100, seed);
        order.rows(epoch * order.steps_per_epoch()).to_vec()
    };
    assert_eq!(rows(3, 5), rows(3, 5));
    assert_ne!(rows(3, 5), rows(3, 6));
    assert_ne!(rows(3, 5), rows(4, 5));
}

#[test]
fn a_run_that_goes_on_sees_what_it_would_have_seen() {
    let whole: Vec<Batch> = batches(training(0)).take(60).collect();
    for first in [1, 17, 18, 41] {
        let resumed: Vec<Batch> = batches(training(first)).take(60 - first as usize).collect();
        assert_eq!(resumed, whole[first as usize..], "from step {first}");
    }
}

#[test]
fn once_is_one_pass_in_order() {
    let pass: Vec<Batch> = batches(once(0..1797, Augment::default())).collect();
    assert_eq!(pass.len(), 18);
    let rows: Vec<u32> = pass.iter().flat_map(|batch| batch.rows.clone()).collect();
    assert_eq!(rows, (0..1797).collect::<Vec<_>>());
    let set = digits();
    let Example::Image(pixels) = set.example(1700) else { panic!() };
    let expected: Vec<f32> = pixels.iter().map(|&pixel| f32::from(pixel) / 255.0).collect();
    assert_eq!(pass[17].values[..64], expected);
    assert_eq!(pass[17].labels[0], set.labels().indices()[1700]);
}

#[test]
fn the_crops_of_a_pass_depend_neither_on_its_batches_nor_on_where_it_begins() {
    let values = |settings| batches(settings).flat_map(|batch| batch.values).collect::<Vec<f32>>();
    let whole = values(once(0..1797, AUGMENT));
    assert_ne!(whole, values(once(0..1797, Augment::default())));
    assert_eq!(whole, values(BatchSettings { size: 7, ..once(0..1797, AUGMENT) }));
    assert_eq!(whole[64 * 1000..64 * 1300], values(once(1000..1300, AUGMENT)));
    let other = Course::Once { rows: 0..1797, seed: 4 };
    assert_ne!(whole, values(BatchSettings { course: other, ..once(0..1797, AUGMENT) }));
}

#[test]
fn batches_by_rows_have_the_crops_of_those_with_numbers() {
    let set = digits();
    let by_rows = Batches::by_rows(&set, once(5..300, AUGMENT)).unwrap();
    for (by_rows, whole) in by_rows.zip(batches(once(5..300, AUGMENT))) {
        assert_eq!(by_rows.rows, whole.rows);
        for (at, (&row, &crop)) in by_rows.rows.iter().zip(&by_rows.crops).enumerate() {
            let Example::Image(pixels) = set.example(row as usize) else { panic!() };
            let mut varied = [0; 64];
            AUGMENT.apply(crop, pixels, set.shape(), &mut varied);
            let expected = varied.map(|pixel| f32::from(pixel) / 255.0);
            assert_eq!(whole.values[at * 64..][..64], expected, "row {row}");
        }
    }
}

#[test]
fn a_batch_does_not_depend_on_its_neighbors() {
    let set = digits();
    let some = set.select(&(0..1000).collect::<Vec<_>>());
    let first = |set: &Dataset| Batches::new(set, training(0)).unwrap().next().unwrap();
    let (all, part) = (first(&set), first(&some));
    for (at, row) in part.rows.iter().enumerate() {
        if let Some(other) = all.rows.iter().position(|known| known == row) {
            assert_eq!(part.values[at * 64..][..64], all.values[other * 64..][..64], "row {row}");
        }
    }
}

#[test]
fn constants_are_those_of_the_set() {
    let set = digits();
    let constants = Standardization::of(&set);
    let pixels: Vec<f64> =
        set.examples().unwrap().pixels().unwrap().iter().map(|&p| f64::from(p) / 255.0).collect();
    let mean = pixels.iter().sum::<f64>() / pixels.len() as f64;
    let variance = pixels.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / pixels.len() as f64;
    assert!((f64::from(constants.mean[0]) - mean).abs() < 1e-6);
    assert!((f64::from(constants.deviation[0]) - variance.sqrt()).abs() < 1e-6);
}

#[test]
fn constants_of_the_paper_are_known_by_name_and_checked() {
    assert_eq!(Standardization::names(), ["mnist", "cifar-10", "cifar-100"]);
    assert_eq!(Standardization::named("cifar-10").unwrap().mean, [0.4914, 0.4822, 0.4465]);
    assert_eq!(Standardization::named("svhn"), None);
    let wrong =
        BatchSettings { standardization: Standardization::none(3), ..once(0..1797, Augment::default()) };
    assert!(matches!(Batches::new(&digits(), wrong), Err(Error::Constants { expected: 1, found: 3 })));
}
