//! The audit: which labels are wrong, how many, and what they should be.

mod record;

pub use record::{
    AuditRecord, AuditScore, CalibrationRecord, ClassRecord, Confident, Estimate, Intervals, ListSize,
    Posterior, PrecisionAt, Provenance, Suspect,
};
