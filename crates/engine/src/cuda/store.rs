//! Where each parameter lies on the GPU, and how it is laid out there and in PyTorch.
//!
//! Filters lie `[out][height][width][in]`, channels padded; they are what convolutions and products read. Everything else
//! that is trained is a vector. Filters come first, then vectors, and of each kind those a gradient reaches.

use std::ops::Range;

use super::layout::padded;
use crate::{
    Error, Parameters, Shape, Tensor,
    architecture::{Architecture, ParameterSpec, Role},
    plan::fuse::Fusion,
};

/// Parameters begin at a multiple of this many numbers.
const ALIGNMENT: usize = 64;

/// Which list a parameter is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Filter,
    Vector,
    Statistic,
}

/// One parameter and its place.
#[derive(Clone, Debug)]
struct Entry {
    spec: ParameterSpec,
    kind: Kind,
    /// Whether it moves with a gradient.
    trained: bool,
    /// Its first number in the list of its kind.
    start: usize,
    /// Outputs, pixels under the kernel and inputs of a filter, without padding.
    filter: [usize; 3],
    /// Whether the inputs of all pixels are padded together, because they are read as one.
    patched: bool,
}

/// The length of a list, and how much of it is trained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) length: usize,
    pub(super) trained: usize,
}

/// All parameters of a network and their places.
#[derive(Clone, Debug)]
pub(super) struct Store {
    architecture: String,
    entries: Vec<Entry>,
    pub(super) filters: Extent,
    pub(super) vectors: Extent,
    pub(super) statistics: usize,
}

impl Store {
    /// Gives every parameter a place; `patched` is the layer that reads all that lies under its kernel as one pixel.
    pub(super) fn new(architecture: &Architecture, fusion: &Fusion<'_>, patched: Option<&str>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        for spec in architecture.parameters() {
            let layer = spec.name.rsplit_once('.').map_or("", |(layer, _)| layer);
            let fused = fusion.operations.iter().find(|fused| fused.node.name == layer);
            let trained = spec.role.is_trained() && fused.is_some_and(|fused| fused.alive);
            let kind = match spec.role {
                Role::Weight => Kind::Filter,
                role if role.is_trained() => Kind::Vector,
                _ => Kind::Statistic,
            };
            let filter = filter_of(&spec, fused.map(|fused| fusion.shapes[fused.input]));
            let patched = kind == Kind::Filter && patched == Some(layer);
            entries.push(Entry { spec: spec.clone(), kind, trained, start: 0, filter, patched });
        }
        let mut place = |kind: Kind| {
            let mut extent = Extent::default();
            for trained in [true, false] {
                for entry in entries.iter_mut().filter(|entry| (entry.kind, entry.trained) == (kind, trained))
                {
                    entry.start = extent.length;
                    extent.length += entry.room().next_multiple_of(ALIGNMENT);
                }
                extent.trained = if trained { extent.length } else { extent.trained };
            }
            extent
        };
        let (filters, vectors) = (place(Kind::Filter), place(Kind::Vector));
        let statistics = place(Kind::Statistic).length;
        Self { architecture: architecture.name().into(), entries, filters, vectors, statistics }
    }

    /// Filters and vectors together.
    pub(super) fn weights(&self) -> usize {
        self.filters.length + self.vectors.length
    }

    /// The kind of a parameter, and its first number in the list of its kind.
    pub(super) fn find(&self, layer: &str, what: &str) -> Option<(Kind, usize)> {
        let mine = |entry: &&Entry| {
            entry.spec.name.strip_prefix(layer).and_then(|rest| rest.strip_prefix('.')) == Some(what)
        };
        let entry = self.entries.iter().find(mine)?;
        Some((entry.kind, entry.start))
    }

    /// Where the filter of a layer lies in its list, if it has one that is trained, with what pads it.
    pub(super) fn filter(&self, layer: &str) -> Option<Range<usize>> {
        let mine = |entry: &&Entry| {
            let name = entry.spec.name.strip_prefix(layer).and_then(|rest| rest.strip_prefix('.'));
            entry.kind == Kind::Filter && entry.trained && name.is_some()
        };
        let entry = self.entries.iter().find(mine)?;
        Some(entry.start..entry.start + entry.room().next_multiple_of(ALIGNMENT))
    }

    /// Weights and statistics where PyTorch starts them.
    pub(super) fn initial(&self, seed: u64) -> (Vec<f32>, Vec<f32>) {
        let (mut weights, mut statistics) = (vec![0.0; self.weights()], vec![0.0; self.statistics]);
        for entry in &self.entries {
            entry.write(&entry.spec.initial(seed), self.list_of(entry, &mut weights, &mut statistics));
        }
        (weights, statistics)
    }

    /// Every parameter by name.
    pub(super) fn parameters(&self, weights: &[f32], statistics: &[f32]) -> Parameters {
        let mut parameters = Parameters::new();
        for entry in &self.entries {
            let list =
                if entry.kind == Kind::Statistic { statistics } else { &weights[self.offset(entry)..] };
            parameters.insert(&entry.spec.name, entry.tensor(list));
        }
        parameters
    }

    /// The lists of these parameters: all of them fit, or the first that does not is named.
    pub(super) fn lists(&self, parameters: &Parameters) -> Result<(Vec<f32>, Vec<f32>), Error> {
        let known = |name: &str| self.entries.iter().any(|entry| entry.spec.name == name);
        if let Some((name, _)) = parameters.iter().find(|(name, _)| !known(name)) {
            let (name, architecture) = (name.into(), self.architecture.clone());
            return Err(Error::ParameterUnknown { name, architecture });
        }
        let (mut weights, mut statistics) = (vec![0.0; self.weights()], vec![0.0; self.statistics]);
        for entry in &self.entries {
            entry.check(parameters, "")?;
            if let Some(tensor) = parameters.tensor(&entry.spec.name) {
                entry.write(&tensor.values, self.list_of(entry, &mut weights, &mut statistics));
            }
        }
        Ok((weights, statistics))
    }

    /// The trained parameters of another list: gradients, or what an optimizer remembers.
    pub(super) fn trained_of(&self, weights: &[f32], suffix: &str, into: &mut Parameters) {
        for entry in self.entries.iter().filter(|entry| entry.trained) {
            into.insert(format!("{}{suffix}", entry.spec.name), entry.tensor(&weights[self.offset(entry)..]));
        }
    }

    /// The list of what an optimizer remembered under this suffix.
    pub(super) fn trained_list(&self, parameters: &Parameters, suffix: &str) -> Result<Vec<f32>, Error> {
        let mut weights = vec![0.0; self.weights()];
        for entry in self.entries.iter().filter(|entry| entry.trained) {
            entry.check(parameters, suffix)?;
            if let Some(tensor) = parameters.tensor(&format!("{}{suffix}", entry.spec.name)) {
                entry.write(&tensor.values, &mut weights[self.offset(entry)..]);
            }
        }
        Ok(weights)
    }

    /// Where the list of a weight begins among all weights.
    fn offset(&self, entry: &Entry) -> usize {
        if entry.kind == Kind::Vector { self.filters.length } else { 0 }
    }

    fn list_of<'a>(&self, entry: &Entry, weights: &'a mut [f32], statistics: &'a mut [f32]) -> &'a mut [f32] {
        if entry.kind == Kind::Statistic { statistics } else { &mut weights[self.offset(entry)..] }
    }
}

/// Outputs, pixels and inputs of a filter: a linear layer's covers the whole image it reads.
fn filter_of(spec: &ParameterSpec, input: Option<Shape>) -> [usize; 3] {
    match (&spec.shape[..], input) {
        (&[out, inputs, height, width], _) => [out, height * width, inputs],
        (&[out, _], Some(image)) => [out, image.height * image.width, image.channels],
        _ => [1, 1, spec.size()],
    }
}

impl Entry {
    /// Numbers it takes, padding included; a vector is not padded as a filter with one output would be.
    fn room(&self) -> usize {
        let outputs = self.filter[0];
        if self.kind == Kind::Filter { padded(outputs) * self.apart().0 } else { padded(self.filter[2]) }
    }

    /// Numbers from one output to the next, and from one pixel to the next.
    fn apart(&self) -> (usize, usize) {
        let [_, pixels, inputs] = self.filter;
        if self.patched {
            (padded(pixels * inputs), inputs)
        } else {
            (pixels * padded(inputs), padded(inputs))
        }
    }

    /// Older files have no count of batches; everything else must be there and fit.
    fn check(&self, parameters: &Parameters, suffix: &str) -> Result<(), Error> {
        let (name, expected) = (format!("{}{suffix}", self.spec.name), self.spec.shape.clone());
        match parameters.tensor(&name) {
            None if self.spec.role == Role::BatchesTracked => Ok(()),
            None => Err(Error::ParameterMissing { name, expected }),
            Some(tensor) if tensor.shape != expected || tensor.values.len() != self.spec.size() => {
                Err(Error::ParameterShape { name, expected, found: tensor.shape.clone() })
            }
            Some(_) => Ok(()),
        }
    }

    /// Calls `visit(ours, theirs)` with the places of every number in our layout and in PyTorch's.
    fn visit(&self, mut visit: impl FnMut(usize, usize)) {
        let ([outputs, pixels, inputs], apart) = (self.filter, self.apart());
        for (output, pixel) in (0..outputs).flat_map(|output| (0..pixels).map(move |pixel| (output, pixel))) {
            let ours = self.start + output * apart.0 + pixel * apart.1;
            (0..inputs).for_each(|input| visit(ours + input, (output * inputs + input) * pixels + pixel));
        }
    }

    fn tensor(&self, from: &[f32]) -> Tensor {
        let mut values = vec![0.0; self.spec.size()];
        self.visit(|ours, theirs| values[theirs] = from[ours]);
        Tensor { shape: self.spec.shape.clone(), values }
    }

    fn write(&self, values: &[f32], to: &mut [f32]) {
        self.visit(|ours, theirs| to[ours] = values[theirs]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, ModelOptions, plan::fuse::fuse};

    #[test]
    fn parameters_of_every_model_come_back_as_they_went_in() {
        for &model in Model::ALL {
            let architecture = model.build(&ModelOptions::new(Shape::image(32, 32, 3), 10)).unwrap();
            let fusion = fuse(&architecture).unwrap();
            for patched in [None, Some("conv1")] {
                let store = Store::new(&architecture, &fusion, patched);
                let (weights, statistics) = store.initial(7);
                let parameters = store.parameters(&weights, &statistics);
                for spec in architecture.parameters() {
                    assert_eq!(
                        parameters.tensor(&spec.name).unwrap().values,
                        spec.initial(7),
                        "{}",
                        spec.name
                    );
                }
                assert_eq!(store.lists(&parameters).unwrap(), (weights, statistics), "{model}");
            }
        }
    }

    #[test]
    fn what_no_gradient_reaches_lies_behind_what_is_trained() {
        let architecture = Model::Resnet18Lio.build(&ModelOptions::new(Shape::image(32, 32, 3), 10)).unwrap();
        let store = Store::new(&architecture, &fuse(&architecture).unwrap(), None);
        assert_eq!(store.filters.trained, store.filters.length);
        assert!(store.vectors.trained < store.vectors.length);
        let mut trained = Parameters::new();
        store.trained_of(&vec![0.0; store.weights()], ".exp_avg", &mut trained);
        assert!(trained.tensor("layer1.0.bn1.weight.exp_avg").is_none());
        assert!(trained.tensor("layer2.0.bn1.weight.exp_avg").is_some());
        let error = store.trained_list(&Parameters::new(), ".exp_avg").unwrap_err();
        assert_eq!(
            error.to_string(),
            "parameter `conv1.weight.exp_avg` is missing: expected shape [64, 3, 3, 3]"
        );
    }
}
