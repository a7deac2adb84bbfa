//! The order of the classes of CIFAR in the experiments of the paper.
//!
//! Pair noise turns each class into the next. The authors number the classes so that the next one looks alike, which
//! the paper does not say; without it the tables cannot be made again.

use crate::labels::{Classes, Labels};

/// CIFAR-10 as the authors number it.
const CIFAR_10: [&str; 10] =
    ["airplane", "ship", "automobile", "truck", "bird", "deer", "frog", "cat", "dog", "horse"];

/// The new number of each class of CIFAR-10, if these are its names.
pub(crate) fn cifar_10(names: &[String]) -> Option<Vec<u32>> {
    let place = |name: &String| CIFAR_10.iter().position(|known| known == name).map(|at| at as u32);
    names.iter().map(place).collect()
}

/// The new number of each class of CIFAR-100: five times its coarse class, plus its place among its siblings. The
/// published numbers are alphabetical, so that the place by number is the place by name.
pub(crate) fn cifar_100(coarse: &[u8]) -> Vec<u32> {
    let place = |fine: usize| {
        let before = memchr::memchr_iter(coarse[fine], &coarse[..fine]).count();
        // Five classes share a coarse class; more would collide, and cannot be: see `reorder`.
        u32::from(coarse[fine]) * 5 + before as u32
    };
    (0..coarse.len()).map(place).collect()
}

/// The labels with their classes renumbered; as they were, if two classes would share a number.
pub(crate) fn reorder(labels: &Labels, order: &[u32]) -> Labels {
    let mut names = vec![None; order.len()];
    for (name, &place) in labels.classes().names().iter().zip(order) {
        if let Some(slot) = names.get_mut(place as usize) {
            *slot = Some(name.clone());
        }
    }
    let names: Option<Vec<String>> = names.into_iter().collect();
    match names.map(Classes::new) {
        Some(Ok(classes)) => {
            Labels::new(labels.indices().iter().map(|&index| order[index as usize]).collect(), classes)
        }
        _ => labels.clone(),
    }
}
