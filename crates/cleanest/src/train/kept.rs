//! Sets that a GPU keeps, so that a batch is sent as its row numbers.

use super::passes::{predict, predict_kept};
use crate::Error;
use cleanest_core::Matrix;
use cleanest_data::{Augment, Batch, Dataset, Example, Shape, Standardization};
use cleanest_engine::peers::{Group, part};
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

/// The probabilities of a set, by its rows if the network keeps it.
pub(super) fn probabilities(
    network: &mut dyn Network,
    (set, kept): (&Dataset, Option<Kept>),
    standardization: &Standardization,
) -> Result<Matrix, Error> {
    match kept {
        Some(kept) => predict_kept(network, kept, 0..set.len()),
        None => predict(network, set, standardization),
    }
}

/// The same where several workers have the network: each takes a part of the set.
pub(super) fn probabilities_together(
    group: &dyn Group,
    network: &mut dyn Network,
    (set, kept): (&Dataset, Option<Kept>),
    standardization: &Standardization,
) -> Result<Matrix, Error> {
    if group.size() == 1 {
        return probabilities(network, (set, kept), standardization);
    }
    let (classes, size) = (set.labels().classes().len(), group.size());
    let own = part(set.len(), group.rank(), size);
    let found = match kept {
        _ if own.is_empty() => Matrix::default(),
        Some(kept) => predict_kept(network, kept, own)?,
        None => {
            let rows: Vec<u32> = own.map(|row| row as u32).collect();
            predict(network, &set.select(&rows), standardization)?
        }
    };
    let mine: Vec<u8> = found.values().iter().flat_map(|p| p.to_le_bytes()).collect();
    let lengths: Vec<usize> = (0..size).map(|rank| 8 * classes * part(set.len(), rank, size).len()).collect();
    let all = group.gather_known(&mine, &lengths);
    let values = all.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()));
    Ok(Matrix::from_vec(classes, values.collect()))
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
