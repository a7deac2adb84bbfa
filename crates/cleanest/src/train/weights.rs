//! Weights that a network begins with, from a file of somebody else's training.
//!
//! Parameters have PyTorch's names and layouts, and those of the residual networks torchvision's, so that its files
//! load as they are. The last layer is drawn anew where the file tells other classes apart; any other difference is
//! named, all of them at once.

use super::passes::Architect;
use crate::Error;
use cleanest_engine::peers::Group;
use cleanest_engine::{Network, Parameters};
use std::path::Path;

/// What a checkpoint of a network that was trained on several devices puts before each name.
const PARALLEL: &str = "module.";
/// How many differences are named.
const NAMED: usize = 8;

impl Architect {
    /// A network as a run begins with it: drawn, or with the weights that were asked for.
    pub(super) fn begin(&self, seed: u64, note: &mut dyn FnMut(&str)) -> Result<Box<dyn Network>, Error> {
        let mut network = self.network(seed)?;
        if let Some(path) = self.weights() {
            let file = read(path)?;
            let fitted = fit(&file, network.parameters()?, (&self.name(), &self.last_layer()));
            let (parameters, sentences) =
                fitted.map_err(|problem| Error::Malformed { path: path.to_owned(), problem })?;
            network.load(&parameters)?;
            sentences.iter().for_each(|sentence| note(&format!("`{}`: {sentence}", path.display())));
        }
        Ok(network)
    }
}

impl Architect {
    /// The same where several workers begin: all of them with what the first has.
    pub(super) fn begin_together(
        &self,
        seed: u64,
        group: &dyn Group,
        note: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn Network>, Error> {
        if group.size() == 1 || self.weights().is_none() {
            return self.begin(seed, note);
        }
        let mut network = if group.is_first() { self.begin(seed, note)? } else { self.network(seed)? };
        let mine = if group.is_first() { network.parameters()?.to_safetensors()? } else { Vec::new() };
        network.load(&Parameters::from_safetensors(&group.of_first(mine))?)?;
        Ok(network)
    }
}

fn read(path: &Path) -> Result<Parameters, Error> {
    let bytes = std::fs::read(path).map_err(Error::read(path))?;
    let file = Parameters::from_safetensors(&bytes)
        .map_err(|problem| Error::Malformed { path: path.to_owned(), problem: problem.to_string() })?;
    if file.is_empty() || file.iter().any(|(name, _)| !name.starts_with(PARALLEL)) {
        return Ok(file);
    }
    let mut bare = Parameters::new();
    for (name, tensor) in file.iter() {
        bare.insert(&name[PARALLEL.len()..], tensor.clone());
    }
    Ok(bare)
}

/// The parameters of the file in place of those that were drawn, and what is to be said; or what does not fit.
fn fit(
    file: &Parameters,
    mut drawn: Parameters,
    (model, last): (&str, &str),
) -> Result<(Parameters, Vec<String>), String> {
    let names: Vec<String> = drawn.iter().map(|(name, _)| name.to_owned()).collect();
    let is_last = |name: &str| name.strip_prefix(last).is_some_and(|rest| rest.starts_with('.'));
    let (mut problems, mut replaced) = (Vec::new(), None);
    for name in &names {
        let expected = drawn.tensor(name).map(|tensor| tensor.shape.clone()).unwrap_or_default();
        match file.tensor(name) {
            Some(found) if found.shape == expected => drawn.insert(name.as_str(), found.clone()),
            Some(found) if is_last(name) && found.shape.get(1..) == expected.get(1..) => {
                replaced = Some((found.shape[0], expected[0]));
            }
            Some(found) => {
                problems.push(format!("`{name}` has shape {:?}, expected {expected:?}", found.shape));
            }
            // Files of torchvision's early days do not count batches.
            None if name.ends_with("num_batches_tracked") => {}
            None => problems.push(format!("`{name}` is missing")),
        }
    }
    let strange = file.iter().filter(|(name, _)| drawn.tensor(name).is_none());
    problems.extend(strange.map(|(name, _)| format!("`{name}` belongs to no layer of `{model}`")));
    if problems.is_empty() {
        let sentence = |(found, expected)| {
            format!("it tells {found} classes apart, the data have {expected}: layer `{last}` is drawn anew")
        };
        return Ok((drawn, replaced.map(sentence).into_iter().collect()));
    }
    let more = problems.len().saturating_sub(NAMED);
    problems.truncate(NAMED);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    Err(format!("the weights do not fit `{model}`: {}{rest}", problems.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cleanest_engine::Tensor;

    fn parameters(shapes: &[(&str, &[usize])], value: f32) -> Parameters {
        let mut parameters = Parameters::new();
        for (name, shape) in shapes {
            let values = vec![value; shape.iter().product()];
            parameters.insert(*name, Tensor { shape: shape.to_vec(), values });
        }
        parameters
    }

    fn drawn() -> Parameters {
        let shapes: [(&str, &[usize]); 4] = [
            ("conv1.weight", &[2, 3]),
            ("bn1.num_batches_tracked", &[]),
            ("fc.weight", &[14, 2]),
            ("fc.bias", &[14]),
        ];
        parameters(&shapes, 0.0)
    }

    #[test]
    fn the_last_layer_is_drawn_anew_where_the_classes_are_others() {
        let file =
            parameters(&[("conv1.weight", &[2, 3]), ("fc.weight", &[1000, 2]), ("fc.bias", &[1000])], 1.0);
        let (fitted, said) = fit(&file, drawn(), ("resnet50", "fc")).unwrap();
        assert_eq!(fitted.tensor("conv1.weight").unwrap().values, [1.0; 6]);
        assert_eq!(fitted.tensor("fc.weight").unwrap().values, [0.0; 28]);
        assert_eq!(said, ["it tells 1000 classes apart, the data have 14: layer `fc` is drawn anew"]);
    }

    #[test]
    fn every_other_difference_is_named() {
        let file =
            parameters(&[("conv1.weight", &[2, 5]), ("fc.weight", &[14, 2]), ("head.bias", &[14])], 1.0);
        let problem = fit(&file, drawn(), ("resnet50", "fc")).unwrap_err();
        assert_eq!(
            problem,
            "the weights do not fit `resnet50`: `conv1.weight` has shape [2, 5], expected [2, 3]; `fc.bias` is \
            missing; `head.bias` belongs to no layer of `resnet50`"
        );
    }
}
