//! A training step asks for no memory once it has been made before.
#![allow(clippy::unwrap_used)]

use cleanest_core::Matrix;
use cleanest_core::estimate::Posteriors;
use cleanest_core::methods::{Alone, Batch, Choice, Method, Task};
use cleanest_core::random::Stream;
use serde_json::json;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting what this thread asks of it.
struct Counting;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const CLASSES: usize = 10;
const EXAMPLES: usize = 64;

/// The method in its last stage.
fn ready(name: &str) -> Box<dyn Method> {
    let given = if name == "known-t" { json!({"noise": "pair:0.3"}) } else { json!({}) };
    let task = Task { classes: CLASSES, steps: 100, seed: 0 };
    let mut method = Choice::with_settings(name, &given).unwrap().build(&task).unwrap();
    if method.stages() > 1 {
        let (posteriors, labels) = (Matrix::identity(CLASSES), (0..CLASSES as u32).collect::<Vec<_>>());
        method.begin(1, Some(&Posteriors::new(&posteriors, &labels).unwrap())).unwrap();
    }
    method
}

#[test]
fn a_step_of_any_method_allocates_nothing_after_the_first() {
    let mut stream = Stream::new(0, "logits", 0);
    let logits = Matrix::from_fn(EXAMPLES, CLASSES, |_, _| 3.0 * stream.normal());
    let labels: Vec<u32> = (0..EXAMPLES).map(|row| (row % CLASSES) as u32).collect();
    for name in Choice::NAMES {
        let (mut method, mut gradient) = (ready(name), Matrix::default());
        let mut step = |step: u64| {
            let batch = Batch { logits: &logits, labels: &labels, seed: 0, step };
            method.loss(&batch, &mut gradient);
            method.update(&batch, &Alone);
        };
        step(0);
        let before = ASKED.get();
        (1..20).for_each(&mut step);
        assert_eq!(ASKED.get() - before, 0, "{name}");
    }
    assert!(ASKED.get() > 0, "the counter counts");
}
