//! The networks there are, by name. A new model is one file, and one entry in the list below.

mod linear;
mod mlp;
mod mnist_cnn;
mod resnet;
mod resnet_lio;

use std::{fmt, str::FromStr};

use crate::{
    Error,
    architecture::{Architecture, Shape},
};

/// What a model is built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelOptions {
    /// The shape of an example.
    pub input: Shape,
    /// How many classes the logits tell apart.
    pub classes: usize,
    /// Sizes of the hidden layers; only `mlp` has a choice.
    pub hidden: Vec<usize>,
}

impl ModelOptions {
    /// Options for this input and this many classes; two hidden layers of 256 where a model asks.
    #[must_use]
    pub fn new(input: Shape, classes: usize) -> Self {
        Self { input, classes, hidden: vec![256, 256] }
    }
}

macro_rules! models {
    ($($variant:ident $name:literal $about:literal => $build:path;)+) => {
        /// A network that can be asked for by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Model { $(#[doc = $about] $variant),+ }

        impl Model {
            /// Every model.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the command line and in files.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// One line that says what it is.
            #[must_use]
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),+ }
            }

            /// The layers of the model.
            pub fn build(self, options: &ModelOptions) -> Result<Architecture, Error> {
                match self { $(Self::$variant => $build(options)),+ }
            }
        }
    };
}

models! {
    Linear "linear" "Logistic regression: one linear layer." => linear::linear;
    Mlp "mlp" "Linear layers with ReLU between them; the sizes are an option." => mlp::mlp;
    MnistCnn "mnist-cnn" "Four convolutions and two linear layers, the paper's network for MNIST." => mnist_cnn::mnist_cnn;
    Resnet18 "resnet18" "ResNet-18 for small images: a 3x3 stem, no pool after it." => resnet::resnet18;
    Resnet18Lio "resnet18-lio" "ResNet-18 as the paper's authors ran it, the slip in its blocks included." => resnet_lio::resnet18_lio;
    Resnet50 "resnet50" "ResNet-50 for ImageNet sizes, with torchvision's parameter names." => resnet::resnet50;
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Model {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let expected = || Self::ALL.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ");
        let known = Self::ALL.iter().find(|model| model.name() == name).copied();
        known.ok_or_else(|| Error::Model { expected: expected(), found: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(model: Model, input: Shape, classes: usize) -> usize {
        model.build(&ModelOptions::new(input, classes)).unwrap().parameter_count()
    }

    #[test]
    fn the_models_have_as_many_parameters_as_published() {
        let (mnist, cifar) = (Shape::image(28, 28, 1), Shape::image(32, 32, 3));
        assert_eq!(count(Model::MnistCnn, mnist, 10), 885_610);
        assert_eq!(count(Model::Resnet18, cifar, 10), 11_173_962);
        assert_eq!(count(Model::Resnet18Lio, cifar, 10), 11_171_146);
        assert_eq!(count(Model::Resnet18Lio, cifar, 100), 11_217_316);
        assert_eq!(count(Model::Resnet50, Shape::image(224, 224, 3), 1000), 25_557_032);
        assert_eq!(count(Model::Linear, mnist, 10), 7_850);
        assert_eq!(count(Model::Mlp, Shape::row(512), 10), 512 * 256 + 256 + 256 * 256 + 256 + 2570);
    }

    #[test]
    fn a_model_is_found_by_the_name_it_shows() {
        for &model in Model::ALL {
            assert_eq!(model.to_string().parse::<Model>().unwrap(), model);
            assert!(!model.about().is_empty());
        }
        let error = "resnet19".parse::<Model>().unwrap_err();
        assert!(
            error.to_string().starts_with("unknown model `resnet19`: expected one of linear, mlp"),
            "{error}"
        );
    }

    #[test]
    fn an_image_too_small_is_refused_by_the_layer_that_cannot_take_it() {
        let error = Model::MnistCnn.build(&ModelOptions::new(Shape::image(8, 8, 1), 10)).unwrap_err();
        assert!(error.to_string().contains("layer `conv4`"), "{error}");
    }

    #[test]
    fn resnet50_has_the_names_torchvision_gave() {
        let net = Model::Resnet50.build(&ModelOptions::new(Shape::image(224, 224, 3), 1000)).unwrap();
        let specs = net.parameters();
        let shape = |name: &str| specs.iter().find(|spec| spec.name == name).map(|spec| spec.shape.clone());
        assert_eq!(specs.len(), 320);
        assert_eq!(shape("conv1.weight"), Some(vec![64, 3, 7, 7]));
        assert_eq!(shape("layer1.0.downsample.0.weight"), Some(vec![256, 64, 1, 1]));
        assert_eq!(shape("layer2.0.conv2.weight"), Some(vec![128, 128, 3, 3]));
        assert_eq!(shape("layer4.2.bn3.running_var"), Some(vec![2048]));
        assert_eq!(shape("bn1.num_batches_tracked"), Some(vec![]));
        assert_eq!(shape("fc.weight"), Some(vec![1000, 2048]));
    }
}
