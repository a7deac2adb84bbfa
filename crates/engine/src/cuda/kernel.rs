//! The kernels there are: `.cu` files of this crate, compiled when the program runs.

/// The sources in the order they are compiled; later ones use earlier ones.
pub(super) const SOURCES: [(&str, &str); 9] = [
    ("number.cu", include_str!("kernels/number.cu")),
    ("walk.cu", include_str!("kernels/walk.cu")),
    ("elementwise.cu", include_str!("kernels/elementwise.cu")),
    ("normalize.cu", include_str!("kernels/normalize.cu")),
    ("bias.cu", include_str!("kernels/bias.cu")),
    ("pool.cu", include_str!("kernels/pool.cu")),
    ("dropout.cu", include_str!("kernels/dropout.cu")),
    ("input.cu", include_str!("kernels/input.cu")),
    ("update.cu", include_str!("kernels/update.cu")),
];

macro_rules! kernels {
    ($($variant:ident $name:literal)+) => {
        /// A kernel of the sources.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum Kernel { $($variant),+ }

        impl Kernel {
            /// Every kernel.
            pub(super) const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Threads of a block of it.
            pub(super) fn threads(self) -> usize {
                let summing = matches!(self, Self::NormalizeObserve | Self::NormalizeReduce | Self::BiasReduce);
                if summing { SUMMING_THREADS } else { THREADS }
            }

            /// The name in the sources.
            pub(super) fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

kernels! {
    Sum "sum"
    Mask "mask"
    Deliver "deliver"
    Pad "pad"
    Unpad "unpad"
    Narrow "narrow"
    NormalizeObserve "normalize_observe"
    NormalizeAgree "normalize_agree"
    NormalizeRecall "normalize_recall"
    NormalizeApply "normalize_apply"
    NormalizeReduce "normalize_reduce"
    NormalizeAgreeBackward "normalize_agree_backward"
    NormalizeSpread "normalize_spread"
    BiasAdd "bias_add"
    BiasReduce "bias_reduce"
    LogitsFinish "logits_finish"
    MaxPool "max_pool"
    MaxPoolBackward "max_pool_backward"
    AveragePool "average_pool"
    AveragePoolBackward "average_pool_backward"
    Dropout "dropout"
    GatherImages "gather_images"
    GatherRows "gather_rows"
    SgdFilters "sgd_filters"
    SgdVectors "sgd_vectors"
    AdamFilters "adam_filters"
    AdamVectors "adam_vectors"
}

/// Threads of a block, as the sources have it.
const THREADS: usize = 256;
/// Threads of a block that sums.
const SUMMING_THREADS: usize = 512;
/// Blocks that share a sum: one on each multiprocessor of a large GPU. Fixed, so that sums are the same on every GPU.
const SUMMING_BLOCKS: usize = 132;
/// Blocks of a pass that sums nothing.
const PASSING_BLOCKS: usize = 132 * 8;
/// Two sums for each of the 64 channels of a group.
const SUMS: usize = 128;

/// Blocks along two axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid(pub(super) u32, pub(super) u32);

/// How a kernel walks over rows of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Walk {
    /// Threads side by side that hold eight channels each.
    pub(super) lanes: u32,
    groups: usize,
    rows: usize,
}

impl Walk {
    /// Over so many rows of so many channels, padding included.
    pub(super) fn new(rows: usize, channels: usize) -> Self {
        let lanes = (channels / 8).next_power_of_two().min(8);
        Self { lanes: lanes as u32, groups: channels.div_ceil(8 * lanes), rows }
    }

    /// Blocks of a pass that sums.
    pub(super) fn summing(self) -> Grid {
        self.grid(SUMMING_THREADS, SUMMING_BLOCKS)
    }

    /// Blocks of a pass that sums and reads a single tensor: two fit where others fit once.
    pub(super) fn observing(self) -> Grid {
        self.grid(SUMMING_THREADS, 2 * SUMMING_BLOCKS)
    }

    /// Blocks of a pass that does not.
    pub(super) fn passing(self) -> Grid {
        self.grid(THREADS, PASSING_BLOCKS)
    }

    /// Bytes for the sums of all blocks.
    pub(super) fn partials(self) -> usize {
        let Grid(groups, splits) = self.observing();
        groups as usize * splits as usize * SUMS * size_of::<f32>()
    }

    /// Bytes for the counters of blocks that have arrived.
    pub(super) fn arrived(self) -> usize {
        self.groups * size_of::<u32>()
    }

    fn grid(self, threads: usize, blocks: usize) -> Grid {
        // Each thread should have a few rows.
        let needed = self.rows.div_ceil(4 * threads / self.lanes as usize).max(1);
        Grid(self.groups as u32, needed.min((blocks / self.groups).max(1)) as u32)
    }
}

/// Blocks for so many things, one a thread, each thread taking several where there are very many.
pub(super) fn blocks(count: usize) -> Grid {
    Grid(count.div_ceil(THREADS).clamp(1, 4 * PASSING_BLOCKS) as u32, 1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The types of the parameters of a kernel, from the sources.
    pub(crate) fn parameters(kernel: Kernel) -> Vec<String> {
        let head = format!("KERNEL {}(", kernel.name());
        let summing = SOURCES.iter().any(|(_, text)| text.contains(&format!("SUMMING_{head}")));
        assert_eq!(summing, kernel.threads() == SUMMING_THREADS, "threads of `{}`", kernel.name());
        let found: Vec<&str> =
            SOURCES.iter().flat_map(|(_, text)| text.split(head.as_str()).skip(1)).collect();
        assert_eq!(found.len(), 1, "`{}` stands in the sources once", kernel.name());
        let list = found[0].split(')').next().unwrap();
        let kind = |parameter: &str| parameter.trim().rsplit_once(' ').unwrap().0.trim().to_owned();
        list.split(',').map(kind).collect()
    }

    #[test]
    fn every_kernel_of_the_sources_is_in_the_list_and_the_other_way_round() {
        let heads = SOURCES.iter().flat_map(|(_, text)| {
            text.lines().filter_map(|line| line.trim_start_matches("SUMMING_").strip_prefix("KERNEL "))
        });
        let mut names: Vec<&str> = heads.map(|head| head.split('(').next().unwrap()).collect();
        let mut listed: Vec<&str> = Kernel::ALL.iter().map(|kernel| kernel.name()).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
        Kernel::ALL.iter().for_each(|&kernel| assert!(!parameters(kernel).is_empty()));
    }

    #[test]
    fn the_sources_agree_on_the_threads_of_a_block() {
        assert!(SOURCES[0].1.contains(&format!("#define THREADS {THREADS}\n")));
        assert!(SOURCES[0].1.contains(&format!("#define SUMMING_THREADS {SUMMING_THREADS}\n")));
    }

    #[test]
    fn a_walk_covers_all_channels_whatever_their_number() {
        for channels in (8..=2048).step_by(8) {
            for rows in [1, 5, 64, 1000, 524_288] {
                let walk = Walk::new(rows, channels);
                let held = walk.groups * 8 * walk.lanes as usize;
                assert!(held >= channels && walk.lanes.is_power_of_two() && walk.lanes <= 8);
                assert!(
                    walk.summing().1 >= 1
                        && walk.partials() <= 4 * SUMS * (2 * SUMMING_BLOCKS).max(walk.groups)
                );
            }
        }
    }
}
