//! What is trained, and on what.
