//! Named tensors: how parameters leave a network and come back.

use std::collections::BTreeMap;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use crate::Error;

/// The name under which the number of steps is kept beside the optimizer's memories.
const STEP: &str = "step";

/// Numbers with a shape, laid out row after row as PyTorch lays them out.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Length of each axis; none for a single number.
    pub shape: Vec<usize>,
    /// The numbers.
    pub values: Vec<f32>,
}

/// Tensors by name, in the order of the names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters {
    tensors: BTreeMap<String, Tensor>,
}

impl Parameters {
    /// No tensors.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tensor of this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.tensors.get(name)
    }

    /// Adds a tensor, or replaces the one of this name.
    pub fn insert(&mut self, name: impl Into<String>, tensor: Tensor) {
        self.tensors.insert(name.into(), tensor);
    }

    /// Takes a tensor out.
    pub fn remove(&mut self, name: &str) -> Option<Tensor> {
        self.tensors.remove(name)
    }

    /// Every tensor with its name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Tensor)> {
        self.tensors.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }

    /// How many tensors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tensors.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// Keeps how many steps an optimizer has made, beside what it remembers.
    pub(crate) fn put_steps(&mut self, steps: u64) {
        // Single precision counts to sixteen million; two numbers count on from there.
        let (high, low) = (steps >> 24, steps & 0xff_ffff);
        self.insert(STEP, Tensor { shape: vec![2], values: vec![low as f32, high as f32] });
    }

    /// How many steps an optimizer had made.
    pub(crate) fn steps(&self) -> Result<u64, Error> {
        let Some(step) = self.tensor(STEP) else {
            return Err(Error::ParameterMissing { name: STEP.into(), expected: vec![2] });
        };
        let &[low, high] = &step.values[..] else {
            let (name, found) = (STEP.into(), step.shape.clone());
            return Err(Error::ParameterShape { name, expected: vec![2], found });
        };
        Ok(low as u64 | ((high as u64) << 24))
    }

    /// The tensors as the bytes of a safetensors file.
    ///
    /// Counts of batches are written as I64, which is what PyTorch expects of `num_batches_tracked`.
    pub fn to_safetensors(&self) -> Result<Vec<u8>, Error> {
        let entry = |(name, tensor): (&String, &Tensor)| {
            let count = name.ends_with("num_batches_tracked");
            let bytes = if count {
                encode(&tensor.values, |value| (value as i64).to_le_bytes())
            } else {
                encode(&tensor.values, f32::to_le_bytes)
            };
            let dtype = if count { Dtype::I64 } else { Dtype::F32 };
            (name.clone(), tensor.shape.clone(), dtype, bytes)
        };
        let encoded: Vec<_> = self.tensors.iter().map(entry).collect();
        let views = encoded
            .iter()
            .map(|(name, shape, dtype, bytes)| Ok((name, TensorView::new(*dtype, shape.clone(), bytes)?)))
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(safetensors::serialize(views, None)?)
    }

    /// The tensors of a safetensors file, as single precision.
    pub fn from_safetensors(bytes: &[u8]) -> Result<Self, Error> {
        let file = SafeTensors::deserialize(bytes)?;
        let mut parameters = Self::new();
        for (name, view) in file.iter() {
            let values = decode(name, view.dtype(), view.data())?;
            parameters.insert(name, Tensor { shape: view.shape().to_vec(), values });
        }
        Ok(parameters)
    }
}

/// Numbers as bytes, `N` each.
fn encode<const N: usize>(values: &[f32], number: impl Fn(f32) -> [u8; N]) -> Vec<u8> {
    let mut bytes = vec![0; N * values.len()];
    for (bytes, &value) in bytes.as_chunks_mut::<N>().0.iter_mut().zip(values) {
        *bytes = number(value);
    }
    bytes
}

/// The numbers of a tensor of any type we read.
fn decode(name: &str, dtype: Dtype, bytes: &[u8]) -> Result<Vec<f32>, Error> {
    fn each<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> f32) -> Vec<f32> {
        let (whole, _) = bytes.as_chunks::<N>();
        whole.iter().map(|&bytes| number(bytes)).collect()
    }
    match dtype {
        Dtype::F32 => Ok(each(bytes, f32::from_le_bytes)),
        Dtype::F64 => Ok(each(bytes, |bytes| f64::from_le_bytes(bytes) as f32)),
        Dtype::BF16 => Ok(each(bytes, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))),
        Dtype::I64 => Ok(each(bytes, |bytes| i64::from_le_bytes(bytes) as f32)),
        other => Err(Error::ParameterType { name: name.into(), found: format!("{other:?}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut parameters = Parameters::new();
        let values = vec![1.0, -2.5, f32::MIN_POSITIVE, 3e38, 0.0, -0.0];
        parameters.insert("conv.weight", Tensor { shape: vec![2, 3], values });
        parameters.insert("bn.num_batches_tracked", Tensor { shape: vec![], values: vec![41.0] });
        let bytes = parameters.to_safetensors().unwrap();
        assert_eq!(Parameters::from_safetensors(&bytes).unwrap(), parameters);
        let file = SafeTensors::deserialize(&bytes).unwrap();
        assert_eq!(file.tensor("bn.num_batches_tracked").unwrap().dtype(), Dtype::I64);
    }

    #[test]
    fn other_types_are_read_or_refused_by_name() {
        assert_eq!(decode("x", Dtype::F64, &2.5_f64.to_le_bytes()).unwrap(), [2.5]);
        assert_eq!(decode("x", Dtype::BF16, &[0x20, 0x40]).unwrap(), [2.5]);
        assert_eq!(decode("x", Dtype::I64, &7_i64.to_le_bytes()).unwrap(), [7.0]);
        let error = decode("fc.bias", Dtype::F16, &[0, 0]).unwrap_err();
        assert_eq!(error.to_string(), "parameter `fc.bias`: expected F32, F64, BF16 or I64, found F16");
    }

    #[test]
    fn bytes_that_are_no_file_are_refused() {
        let error = Parameters::from_safetensors(b"not a file at all").unwrap_err();
        assert!(error.to_string().starts_with("not a safetensors file"), "{error}");
    }
}
