//! Sets that a GPU keeps, so that a batch is sent as its row numbers.

use crate::Error;
use cleanest_data::{Augment, Batch, Dataset, Example, Shape, Standardization};
use cleanest_engine::{Crop, Input, Kept, Network, Normalization, Set};

/// Gives a set to the network to keep; none where it would gain nothing or does not fit.
pub(super) fn keep(
    network: &mut dyn Network,
    set: &Dataset,
    standardization: &Standardization,
) -> Result<Option<Kept>, Error> {
    standardization.check(set.shape())?;
    let normalization =
        Normalization { mean: standardization.mean.clone(), deviation: standardization.deviation.clone() };
    let normalization = &normalization;
    // A set that is a part of another has to be gathered first.
    let whole = set.examples();
    Ok(match set.shape() {
        Shape::Image { .. } => match whole.and_then(|examples| examples.pixels()) {
            Some(pixels) => network.keep(&Set::Images { pixels, normalization })?,
            None => network.keep(&Set::Images { pixels: &gathered(set, pixels_of), normalization })?,
        },
        Shape::Row(_) => match whole.and_then(|examples| examples.values()) {
            Some(numbers) => network.keep(&Set::Rows { numbers, normalization })?,
            None => network.keep(&Set::Rows { numbers: &gathered(set, numbers_of), normalization })?,
        },
    })
}

/// A batch as the network takes it: rows of a set it keeps, or numbers.
pub(super) fn input<'a>(
    kept: Option<Kept>,
    batch: &'a Batch,
    augment: Augment,
    crops: &'a mut Vec<Crop>,
) -> Input<'a> {
    let Some(set) = kept else { return Input::Rows(&batch.values) };
    let offset = |place: usize| (place as i64 - augment.padding as i64) as i16;
    crops.clear();
    crops.extend(batch.crops.iter().map(|crop| Crop {
        top: offset(crop.top),
        left: offset(crop.left),
        flipped: crop.flipped,
    }));
    Input::Kept { set, rows: &batch.rows[batch.computed()], crops }
}

fn gathered<T: Copy>(set: &Dataset, numbers: for<'a> fn(Example<'a>) -> &'a [T]) -> Vec<T> {
    (0..set.len()).flat_map(|row| numbers(set.example(row))).copied().collect()
}

fn pixels_of(example: Example<'_>) -> &[u8] {
    match example {
        Example::Image(pixels) => pixels,
        Example::Row(_) => &[],
    }
}

fn numbers_of(example: Example<'_>) -> &[f32] {
    match example {
        Example::Row(numbers) => numbers,
        Example::Image(_) => &[],
    }
}
