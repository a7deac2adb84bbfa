//! How the first layer reads its input.
//!
//! A convolution of images with one or three channels leaves most of a tensor core idle: channels come in eights. Where
//! such a layer is the only one to read the input, all numbers under its kernel are laid side by side as the batch is
//! gathered, and the convolution becomes one of single pixels.

use super::layout::padded;
use crate::{
    Shape,
    architecture::Layer,
    plan::fuse::{Fused, Fusion},
};

/// More numbers than this under a kernel are not laid side by side: they would be read more often than they save.
const LARGEST_PATCH: usize = 64;

/// The windows through which the input is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Intake {
    /// The layer that reads all numbers under its kernel as one pixel, if there is one.
    pub(super) patched: Option<String>,
    /// The shape of an example.
    image: Shape,
    /// Height and width of what is laid out.
    height: usize,
    width: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
}

impl Intake {
    /// For a network; where the gradient of the input is asked for, the input stays as it is.
    pub(super) fn new(fusion: &Fusion<'_>, input_gradient: bool) -> Self {
        let image = fusion.shapes[0];
        let Shape { height, width, channels } = image;
        let reads = |fused: &&Fused<'_>| fused.input == 0 || fused.residual == Some(0);
        let readers: Vec<&Fused<'_>> = fusion.operations.iter().filter(reads).collect();
        if let ([only], false) = (&readers[..], input_gradient)
            && let Layer::Convolution(settings) = only.node.layer
            && settings.kernel > 1
            && settings.kernel * settings.kernel * channels <= LARGEST_PATCH
        {
            let Shape { height, width, .. } = fusion.shapes[only.output];
            let (kernel, stride, padding) = (settings.kernel, settings.stride, settings.padding);
            return Self {
                patched: Some(only.node.name.clone()),
                image,
                height,
                width,
                kernel,
                stride,
                padding,
            };
        }
        Self { patched: None, image, height, width, kernel: 1, stride: 1, padding: 0 }
    }

    /// The shape the input has in memory.
    pub(super) fn shape(&self) -> Shape {
        let channels = padded(self.kernel * self.kernel * self.image.channels);
        Shape { height: self.height, width: self.width, channels }
    }

    /// The windows as the kernels take them.
    pub(super) fn window(&self) -> [u32; 9] {
        let Shape { height, width, channels } = self.image;
        let Self { kernel, stride, padding, .. } = *self;
        [height, width, self.height, self.width, channels, kernel, kernel, stride, padding].map(|n| n as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, ModelOptions, plan::fuse::fuse};

    fn intake(model: Model, input: Shape, input_gradient: bool) -> Intake {
        let architecture = model.build(&ModelOptions::new(input, 10)).unwrap();
        Intake::new(&fuse(&architecture).unwrap(), input_gradient)
    }

    #[test]
    fn the_first_convolution_of_small_images_reads_patches() {
        let mnist = intake(Model::MnistCnn, Shape::image(28, 28, 1), false);
        assert_eq!((mnist.patched.as_deref(), mnist.shape()), (Some("conv1"), Shape::image(26, 26, 16)));
        let cifar = intake(Model::Resnet18, Shape::image(32, 32, 3), false);
        assert_eq!((cifar.patched.as_deref(), cifar.shape()), (Some("conv1"), Shape::image(32, 32, 32)));
    }

    #[test]
    fn all_other_inputs_stay_as_they_are() {
        let plain = |model, input, gradient| {
            let intake = intake(model, input, gradient);
            assert_eq!(intake.patched, None);
            intake.shape()
        };
        assert_eq!(plain(Model::Resnet18, Shape::image(32, 32, 3), true), Shape::image(32, 32, 8));
        assert_eq!(plain(Model::Resnet18Lio, Shape::image(32, 32, 3), true), Shape::image(32, 32, 8));
        assert_eq!(plain(Model::Resnet50, Shape::image(64, 64, 3), false), Shape::image(64, 64, 8));
        assert_eq!(plain(Model::Mlp, Shape::row(13), false), Shape::row(16));
    }
}
