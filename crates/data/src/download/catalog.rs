//! Which sets are known, where they are given out, and what their files have to be.
//!
//! Lengths and sha256 of the compressed files are those that TensorFlow Datasets publishes
//! (`tensorflow_datasets/url_checksums`); MNIST's were computed again from the files themselves, and so were those of
//! the unpacked files of CIFAR.

use super::Remote;
use crate::Error;

/// A set that can be fetched.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The folder it comes to lie in.
    pub folder: &'static str,
    /// The files that are fetched.
    pub files: &'static [Remote<'static>],
    /// The files that matter once archives are unpacked; empty where nothing is.
    pub unpacked: &'static [Remote<'static>],
    /// Where the files are given out, the first being asked first.
    pub mirrors: &'static [&'static str],
}

/// The set of that name.
pub fn set(name: &str) -> Result<&'static Set, Error> {
    SETS.iter().find(|set| set.name == name).ok_or_else(|| Error::UnknownSet {
        name: name.to_owned(),
        known: SETS.iter().map(|set| set.name.to_owned()).collect(),
    })
}

const fn file(name: &'static str, bytes: u64, sha256: &'static str) -> Remote<'static> {
    Remote { name, bytes, sha256 }
}

/// Every set that can be fetched.
pub const SETS: &[Set] = &[MNIST, FASHION_MNIST, CIFAR_10, CIFAR_100];

const MNIST: Set = Set {
    name: "mnist",
    about: "70,000 handwritten digits, 28 x 28 gray (LeCun, Cortes, Burges)",
    folder: "mnist",
    files: &[
        file(
            "train-images-idx3-ubyte.gz",
            9_912_422,
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        ),
        file(
            "train-labels-idx1-ubyte.gz",
            28_881,
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        ),
        file(
            "t10k-images-idx3-ubyte.gz",
            1_648_877,
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        ),
        file(
            "t10k-labels-idx1-ubyte.gz",
            4_542,
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        ),
    ],
    unpacked: &[],
    mirrors: &[
        "https://storage.googleapis.com/cvdf-datasets/mnist",
        "https://ossci-datasets.s3.amazonaws.com/mnist",
    ],
};

const FASHION_MNIST: Set = Set {
    name: "fashion-mnist",
    about: "70,000 articles of clothing, 28 x 28 gray (Zalando Research)",
    folder: "fashion-mnist",
    files: &[
        file(
            "train-images-idx3-ubyte.gz",
            26_421_880,
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        file(
            "train-labels-idx1-ubyte.gz",
            29_515,
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        file(
            "t10k-images-idx3-ubyte.gz",
            4_422_102,
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        file(
            "t10k-labels-idx1-ubyte.gz",
            5_148,
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ],
    unpacked: &[],
    mirrors: &[
        "https://storage.googleapis.com/tensorflow/tf-keras-datasets",
        "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
    ],
};

const CIFAR_10: Set = Set {
    name: "cifar-10",
    about: "60,000 photos of 10 kinds of things, 32 x 32 in color (Krizhevsky)",
    folder: "cifar-10-batches-bin",
    files: &[file(
        "cifar-10-binary.tar.gz",
        170_052_171,
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    )],
    unpacked: &[
        file(
            "data_batch_1.bin",
            30_730_000,
            "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
        ),
        file(
            "data_batch_2.bin",
            30_730_000,
            "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
        ),
        file(
            "data_batch_3.bin",
            30_730_000,
            "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
        ),
        file(
            "data_batch_4.bin",
            30_730_000,
            "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
        ),
        file(
            "data_batch_5.bin",
            30_730_000,
            "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
        ),
        file(
            "test_batch.bin",
            30_730_000,
            "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
        ),
    ],
    mirrors: &[
        "https://www.cs.toronto.edu/~kriz",
        "https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets",
        "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/gluon/dataset/cifar10",
    ],
};

const CIFAR_100: Set = Set {
    name: "cifar-100",
    about: "60,000 photos of 100 kinds of things in 20 groups, 32 x 32 in color (Krizhevsky)",
    folder: "cifar-100-binary",
    files: &[file(
        "cifar-100-binary.tar.gz",
        168_513_733,
        "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
    )],
    unpacked: &[
        file("train.bin", 153_700_000, "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29"),
        file("test.bin", 30_740_000, "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a"),
    ],
    mirrors: &[
        "https://www.cs.toronto.edu/~kriz",
        "https://mindspore-website.obs.cn-north-4.myhuaweicloud.com/notebook/datasets",
        "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/gluon/dataset/cifar100",
    ],
};
