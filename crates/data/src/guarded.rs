//! Decoders of others, held to our promise that no file makes the program panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `decode` gives; a decoder that panics has met a broken file.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err("the decoder gave up on it".to_owned()))
}
