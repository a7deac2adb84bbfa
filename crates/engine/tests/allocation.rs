//! A training step allocates nothing. The counting allocator is one for the whole program, so this test has its own.
#![allow(clippy::unwrap_used)]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
};

use cleanest_engine::{
    Input, Matrix, Mode, Model, ModelOptions, Normalization, Shape,
    cpu::{self, Algorithm, Settings},
};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread is one of those that train: the test's own may write that it takes long.
    static TRAINS: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: everything is handed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if TRAINS.get() {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        // SAFETY: what the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: what the caller promises.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of five steps after two that warm up.
fn allocations(model: Model, input: Shape, convolution: Algorithm) -> usize {
    let architecture = model.build(&ModelOptions::new(input, 10)).unwrap();
    let mut network =
        cpu::network(&architecture, &Settings { batch: 6, convolution, ..Settings::default() }).unwrap();
    let (pixels, normalization) = (vec![7_u8; 6 * input.size()], Normalization::default());
    let gradient = Matrix::zeros(6, 10);
    let mut before = 0;
    for step in 0..7 {
        if step == 2 {
            before = ALLOCATIONS.load(Ordering::Relaxed);
        }
        let input = Input::Images { pixels: &pixels, normalization: &normalization };
        network.forward(&input, Mode::Train).unwrap();
        network.backward(&gradient).unwrap();
        network.step(1e-3).unwrap();
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// What threads allocate for themselves they do before and after: one pool for all models, because a thread that ends
/// allocates, and a meeting before the first, because a thread that first takes work from another allocates, and small
/// steps on a busy machine may leave it no time for that. All runs on a thread of the pool, whose queue for outsiders
/// grows now and then.
#[test]
fn a_training_step_allocates_nothing() {
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(2).start_handler(|_| TRAINS.set(true)).build().unwrap();
    pool.install(|| {
        let both = Barrier::new(2);
        rayon::join(|| both.wait(), || both.wait());
        for convolution in [Algorithm::Auto, Algorithm::Direct] {
            assert_eq!(allocations(Model::MnistCnn, Shape::image(16, 16, 1), convolution), 0);
            assert_eq!(allocations(Model::Resnet18, Shape::image(16, 16, 3), convolution), 0);
            assert_eq!(allocations(Model::Resnet18Lio, Shape::image(32, 32, 3), convolution), 0);
        }
        assert_eq!(allocations(Model::Mlp, Shape::row(64), Algorithm::Auto), 0);
    });
}
