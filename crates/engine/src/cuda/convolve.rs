//! A pass of a convolution as a graph of cuDNN's operations, and the plans cuDNN proposes for it.

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Attribute, cudnnBackendAttributeType_t as Type,
    cudnnBackendDescriptorType_t as Kind, cudnnBackendHeurMode_t as Heuristic, cudnnConvolutionMode_t,
    cudnnDataType_t, cudnnHandle_t, cudnnPointwiseMode_t as Pointwise,
};

use super::{
    Precision,
    command::{Direction, Geometry},
    descriptor::{Descriptor, tensor},
};
use crate::Error;

/// The names tensors are bound by: input, filter, output, bias.
pub(super) const NAMES: [i64; 4] = [1, 2, 3, 4];
/// Names of what passes between operations.
const BETWEEN: [i64; 2] = [10, 11];
/// Proposals that are looked at.
const PROPOSALS: usize = 24;
/// Notes cuDNN puts on an engine, by their numbers in its interface.
const TENSOR_CORE: i32 = 0;
const DOWN_CONVERTED: i32 = 1;
const NOT_DETERMINISTIC: i32 = 4;

/// A pass of a convolution, described; descriptors live as long as what was made from them.
#[derive(Debug)]
pub(super) struct Graph {
    graph: Descriptor,
    _parts: Vec<Descriptor>,
}

/// How cuDNN would do a pass.
#[derive(Debug)]
pub(super) struct Proposal {
    config: Descriptor,
    notes: Vec<i32>,
    engine: i64,
}

/// How a pass is done: built, and ready to run.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) descriptor: Descriptor,
    /// Bytes it needs beside its tensors.
    pub(super) workspace: usize,
}

impl Graph {
    /// Describes a pass.
    pub(super) fn new(
        handle: cudnnHandle_t,
        geometry: Geometry,
        direction: Direction,
        precision: Precision,
    ) -> Result<Self, Error> {
        let (number, single) = (data_type(precision), cudnnDataType_t::CUDNN_DATA_FLOAT);
        let Geometry { batch, height, width, inputs, outputs, kernel, .. } = geometry;
        let (out_height, out_width) = geometry.output();
        let output = [batch, outputs, out_height, out_width];
        let input = tensor(NAMES[0], number, [batch, inputs, height, width], true)?;
        let filter = tensor(NAMES[1], number, [outputs, inputs, kernel, kernel], true)?;
        let result = tensor(NAMES[2], number, output, true)?;
        let mut parts = Vec::new();
        let mut operations = Vec::new();
        if let Direction::Biased { relu } = direction {
            let product = tensor(BETWEEN[0], single, output, false)?;
            let bias = tensor(NAMES[3], single, [1, outputs, 1, 1], true)?;
            operations.push(operation(geometry, direction, [&input, &filter, &product], &mut parts)?);
            if relu {
                let biased = tensor(BETWEEN[1], single, output, false)?;
                operations.push(pointwise(
                    Pointwise::CUDNN_POINTWISE_ADD,
                    &product,
                    Some(&bias),
                    &biased,
                    &mut parts,
                )?);
                operations.push(pointwise(
                    Pointwise::CUDNN_POINTWISE_RELU_FWD,
                    &biased,
                    None,
                    &result,
                    &mut parts,
                )?);
                parts.push(biased);
            } else {
                operations.push(pointwise(
                    Pointwise::CUDNN_POINTWISE_ADD,
                    &product,
                    Some(&bias),
                    &result,
                    &mut parts,
                )?);
            }
            parts.extend([product, bias]);
        } else {
            operations.push(operation(geometry, direction, [&input, &filter, &result], &mut parts)?);
        }
        let graph = Descriptor::new(Kind::CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR)?;
        graph.set(Attribute::CUDNN_ATTR_OPERATIONGRAPH_HANDLE, Type::CUDNN_TYPE_HANDLE, &[handle])?;
        let all: Vec<&Descriptor> = operations.iter().collect();
        graph.set_descriptors(Attribute::CUDNN_ATTR_OPERATIONGRAPH_OPS, &all)?;
        let graph = graph.finish("describing a convolution")?;
        parts.extend(operations);
        parts.extend([input, filter, result]);
        Ok(Self { graph, _parts: parts })
    }

    /// What cuDNN proposes, the most promising first.
    pub(super) fn proposals(&self) -> Vec<Proposal> {
        let modes = [Heuristic::CUDNN_HEUR_MODE_A, Heuristic::CUDNN_HEUR_MODE_FALLBACK];
        modes.into_iter().flat_map(|mode| self.proposals_of(mode).unwrap_or_default()).collect()
    }

    fn proposals_of(&self, mode: Heuristic) -> Result<Vec<Proposal>, Error> {
        let heuristic = Descriptor::new(Kind::CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR)?;
        heuristic.set_descriptors(Attribute::CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, &[&self.graph])?;
        heuristic.set(Attribute::CUDNN_ATTR_ENGINEHEUR_MODE, Type::CUDNN_TYPE_HEUR_MODE, &[mode])?;
        let heuristic = heuristic.finish("asking for plans")?;
        let kind = Kind::CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
        let results = Attribute::CUDNN_ATTR_ENGINEHEUR_RESULTS;
        let count = heuristic.count(results)?.min(PROPOSALS);
        let configs = if count == 0 { Vec::new() } else { heuristic.descriptors(results, kind, count)? };
        configs.into_iter().map(Proposal::new).collect()
    }
}

impl Proposal {
    fn new(config: Descriptor) -> Result<Self, Error> {
        let kind = Kind::CUDNN_BACKEND_ENGINE_DESCRIPTOR;
        let engines = config.descriptors(Attribute::CUDNN_ATTR_ENGINECFG_ENGINE, kind, 1)?;
        // Read as plain numbers: a newer cuDNN may know notes that we do not.
        let mut notes = vec![-1_i32; 32];
        let mut index = [0_i64];
        for engine in &engines {
            engine.get(Attribute::CUDNN_ATTR_ENGINE_GLOBAL_INDEX, Type::CUDNN_TYPE_INT64, &mut index)?;
            let attribute = Attribute::CUDNN_ATTR_ENGINE_NUMERICAL_NOTE;
            let count = engine.get(attribute, Type::CUDNN_TYPE_NUMERICAL_NOTE, &mut notes)?;
            notes.truncate(count);
        }
        Ok(Self { config, notes, engine: index[0] })
    }

    /// The number of its engine: newer engines, written for newer GPUs, have larger ones.
    pub(super) fn engine(&self) -> i64 {
        self.engine
    }

    /// Whether it multiplies on tensor cores.
    pub(super) fn is_on_tensor_cores(&self) -> bool {
        self.notes.contains(&TENSOR_CORE)
    }

    /// Whether it computes in the precision that was asked for.
    pub(super) fn is_precise(&self, precision: Precision) -> bool {
        match precision {
            Precision::Bf16 => true,
            Precision::Tf32 => !self.notes.contains(&DOWN_CONVERTED),
            Precision::F32 => !self.notes.contains(&DOWN_CONVERTED) && !self.notes.contains(&TENSOR_CORE),
        }
    }

    /// Whether it gives the same bits each time.
    pub(super) fn is_deterministic(&self) -> bool {
        !self.notes.contains(&NOT_DETERMINISTIC)
    }

    /// Builds the plan, if cuDNN can after all.
    pub(super) fn build(&self, handle: cudnnHandle_t) -> Result<Plan, Error> {
        let plan = Descriptor::new(Kind::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)?;
        plan.set(Attribute::CUDNN_ATTR_EXECUTION_PLAN_HANDLE, Type::CUDNN_TYPE_HANDLE, &[handle])?;
        plan.set_descriptors(Attribute::CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &[&self.config])?;
        let descriptor = plan.finish("building a plan")?;
        let mut bytes = [0_i64];
        let attribute = Attribute::CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE;
        descriptor.get(attribute, Type::CUDNN_TYPE_INT64, &mut bytes)?;
        Ok(Plan { descriptor, workspace: bytes[0].max(0) as usize })
    }
}

fn data_type(precision: Precision) -> cudnnDataType_t {
    match precision {
        Precision::Bf16 => cudnnDataType_t::CUDNN_DATA_BFLOAT16,
        Precision::Tf32 | Precision::F32 => cudnnDataType_t::CUDNN_DATA_FLOAT,
    }
}

/// The convolution itself, in one of its three directions.
fn operation(
    geometry: Geometry,
    direction: Direction,
    [input, filter, output]: [&Descriptor; 3],
    parts: &mut Vec<Descriptor>,
) -> Result<Descriptor, Error> {
    use Attribute as A;
    let convolution = convolution(geometry)?;
    let (kind, names, beta) = match direction {
        Direction::Forward | Direction::Biased { .. } => (
            Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            [
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
            ],
            0.0_f32,
        ),
        Direction::Data { add } => (
            Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            [
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
            ],
            f32::from(u8::from(add)),
        ),
        Direction::Filter => (
            Kind::CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            [
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                A::CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
            ],
            0.0,
        ),
    };
    let operation = Descriptor::new(kind)?;
    for (attribute, descriptor) in names.into_iter().zip([&convolution, input, filter, output]) {
        operation.set_descriptors(attribute, &[descriptor])?;
    }
    operation.set(names[4], Type::CUDNN_TYPE_FLOAT, &[1.0_f32])?;
    operation.set(names[5], Type::CUDNN_TYPE_FLOAT, &[beta])?;
    parts.push(convolution);
    operation.finish("describing a convolution")
}

fn convolution(geometry: Geometry) -> Result<Descriptor, Error> {
    let (stride, padding) = ([geometry.stride as i64; 2], [geometry.padding as i64; 2]);
    let convolution = Descriptor::new(Kind::CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR)?;
    let (single, mode) = (cudnnDataType_t::CUDNN_DATA_FLOAT, cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION);
    convolution.set(Attribute::CUDNN_ATTR_CONVOLUTION_COMP_TYPE, Type::CUDNN_TYPE_DATA_TYPE, &[single])?;
    convolution.set(
        Attribute::CUDNN_ATTR_CONVOLUTION_CONV_MODE,
        Type::CUDNN_TYPE_CONVOLUTION_MODE,
        &[mode],
    )?;
    convolution.set_numbers(Attribute::CUDNN_ATTR_CONVOLUTION_DILATIONS, &[1, 1])?;
    convolution.set_numbers(Attribute::CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, &stride)?;
    convolution.set_numbers(Attribute::CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, &padding)?;
    convolution.set_numbers(Attribute::CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, &padding)?;
    convolution.set_numbers(Attribute::CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, &[2])?;
    convolution.finish("describing a convolution")
}

/// An operation on each number, with another tensor if it needs one.
fn pointwise(
    mode: Pointwise,
    input: &Descriptor,
    other: Option<&Descriptor>,
    output: &Descriptor,
    parts: &mut Vec<Descriptor>,
) -> Result<Descriptor, Error> {
    let what = Descriptor::new(Kind::CUDNN_BACKEND_POINTWISE_DESCRIPTOR)?;
    let single = cudnnDataType_t::CUDNN_DATA_FLOAT;
    what.set(Attribute::CUDNN_ATTR_POINTWISE_MODE, Type::CUDNN_TYPE_POINTWISE_MODE, &[mode])?;
    what.set(Attribute::CUDNN_ATTR_POINTWISE_MATH_PREC, Type::CUDNN_TYPE_DATA_TYPE, &[single])?;
    let what = what.finish("describing a pointwise operation")?;
    let operation = Descriptor::new(Kind::CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR)?;
    operation.set_descriptors(Attribute::CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &[&what])?;
    operation.set_descriptors(Attribute::CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &[input])?;
    if let Some(other) = other {
        operation.set_descriptors(Attribute::CUDNN_ATTR_OPERATION_POINTWISE_BDESC, &[other])?;
    }
    operation.set_descriptors(Attribute::CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &[output])?;
    parts.push(what);
    operation.finish("describing a pointwise operation")
}
