//! Where examples come from.
#![forbid(unsafe_code)]
