//! Descriptors of cuDNN's graph interface: things with attributes, which become fixed when they are finished.

use std::ffi::c_void;

use cudarc::cudnn::sys::{
    self, cudnnBackendAttributeName_t as Attribute, cudnnBackendAttributeType_t as Type,
    cudnnBackendDescriptor_t, cudnnBackendDescriptorType_t as Kind, cudnnDataType_t, cudnnStatus_t,
};

use crate::Error;

/// A descriptor, destroyed when it is dropped.
#[derive(Debug)]
pub(super) struct Descriptor(cudnnBackendDescriptor_t);

/// Says what was tried when cuDNN refused.
pub(super) fn checked(call: &'static str, status: cudnnStatus_t) -> Result<(), Error> {
    if status == cudnnStatus_t::CUDNN_STATUS_SUCCESS {
        return Ok(());
    }
    Err(Error::Cuda { call, problem: format!("cuDNN says {status:?}") })
}

impl Descriptor {
    /// A descriptor without attributes yet.
    pub(super) fn new(kind: Kind) -> Result<Self, Error> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the place can be written; what comes back is ours to destroy.
        checked("making a descriptor", unsafe { sys::cudnnBackendCreateDescriptor(kind, &raw mut raw) })?;
        Ok(Self(raw))
    }

    /// Gives it an attribute; the values are copied. `T` must be what cuDNN takes for `kind`.
    pub(super) fn set<T: Copy>(&self, attribute: Attribute, kind: Type, values: &[T]) -> Result<(), Error> {
        let (count, start) = (values.len() as i64, values.as_ptr().cast::<c_void>());
        // SAFETY: there are `count` values at `start`, and they are only read.
        checked("describing a convolution", unsafe {
            sys::cudnnBackendSetAttribute(self.0, attribute, kind, count, start)
        })
    }

    /// Gives it other descriptors as an attribute.
    pub(super) fn set_descriptors(&self, attribute: Attribute, others: &[&Self]) -> Result<(), Error> {
        let raw: Vec<_> = others.iter().map(|other| other.0).collect();
        self.set(attribute, Type::CUDNN_TYPE_BACKEND_DESCRIPTOR, &raw)
    }

    /// Whole numbers as an attribute.
    pub(super) fn set_numbers(&self, attribute: Attribute, numbers: &[i64]) -> Result<(), Error> {
        self.set(attribute, Type::CUDNN_TYPE_INT64, numbers)
    }

    /// Fixes the attributes.
    pub(super) fn finish(self, call: &'static str) -> Result<Self, Error> {
        // SAFETY: the descriptor is ours.
        checked(call, unsafe { sys::cudnnBackendFinalize(self.0) })?;
        Ok(self)
    }

    /// Reads an attribute into `values`, and says how many there are. `T` must be what cuDNN gives for `kind`.
    pub(super) fn get<T>(&self, attribute: Attribute, kind: Type, values: &mut [T]) -> Result<usize, Error> {
        let (room, mut count) = (values.len() as i64, 0);
        let start = if values.is_empty() { std::ptr::null_mut() } else { values.as_mut_ptr().cast() };
        // SAFETY: there is room for as many values as are asked for.
        checked("asking cuDNN", unsafe {
            sys::cudnnBackendGetAttribute(self.0, attribute, kind, room, &raw mut count, start)
        })?;
        Ok(count.max(0) as usize)
    }

    /// How many descriptors an attribute has.
    pub(super) fn count(&self, attribute: Attribute) -> Result<usize, Error> {
        self.get::<cudnnBackendDescriptor_t>(attribute, Type::CUDNN_TYPE_BACKEND_DESCRIPTOR, &mut [])
    }

    /// So many descriptors of an attribute, or as many as there are.
    pub(super) fn descriptors(
        &self,
        attribute: Attribute,
        kind: Kind,
        count: usize,
    ) -> Result<Vec<Self>, Error> {
        let mut others = (0..count).map(|_| Self::new(kind)).collect::<Result<Vec<_>, _>>()?;
        let mut raw: Vec<_> = others.iter().map(|other| other.0).collect();
        let given = self.get(attribute, Type::CUDNN_TYPE_BACKEND_DESCRIPTOR, &mut raw)?;
        others.truncate(given);
        Ok(others)
    }

    /// The descriptor as cuDNN takes it.
    pub(super) fn raw(&self) -> cudnnBackendDescriptor_t {
        self.0
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: it was made by `new` and is destroyed once.
        unsafe { sys::cudnnBackendDestroyDescriptor(self.0) };
    }
}

/// A tensor whose channels lie side by side; `dimensions` are batch or outputs, channels, height, width.
pub(super) fn tensor(
    name: i64,
    data_type: cudnnDataType_t,
    dimensions: [usize; 4],
    held: bool,
) -> Result<Descriptor, Error> {
    let dimensions = dimensions.map(|length| length as i64);
    let [_, channels, height, width] = dimensions;
    let strides = [channels * height * width, 1, channels * width, channels];
    let tensor = Descriptor::new(Kind::CUDNN_BACKEND_TENSOR_DESCRIPTOR)?;
    tensor.set(Attribute::CUDNN_ATTR_TENSOR_DATA_TYPE, Type::CUDNN_TYPE_DATA_TYPE, &[data_type])?;
    tensor.set_numbers(Attribute::CUDNN_ATTR_TENSOR_DIMENSIONS, &dimensions)?;
    tensor.set_numbers(Attribute::CUDNN_ATTR_TENSOR_STRIDES, &strides)?;
    tensor.set_numbers(Attribute::CUDNN_ATTR_TENSOR_UNIQUE_ID, &[name])?;
    tensor.set_numbers(Attribute::CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, &[16])?;
    if !held {
        // A number that only passes from one operation to the next has no memory.
        tensor.set(Attribute::CUDNN_ATTR_TENSOR_IS_VIRTUAL, Type::CUDNN_TYPE_BOOLEAN, &[true])?;
    }
    tensor.finish("describing a tensor")
}
