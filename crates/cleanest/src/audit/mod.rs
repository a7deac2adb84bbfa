//! The audit: which labels are wrong, how many, and what they should be.

mod examine;
mod finding;
mod fix;
mod issues;
mod mergeable;
mod of_run;
mod passes;
mod pieces;
mod record;
mod score;
mod suspects;
mod suspects_parquet;
mod table;

pub use examine::{Audit, KnownNoise, Question, Rank};
pub use finding::{ABSTAINS_BELOW, Finding};
pub use fix::{Cleaning, Fix};
pub use issues::{Cut, Filter, Quality, ranked};
pub use mergeable::{Issue, Mergeable};
pub use of_run::{Judged, audit_run, re_audit};
pub use pieces::{Floats, Integers, Pieces};
pub use record::{
    AuditRecord, AuditScore, CalibrationRecord, ClassRecord, Confident, Estimate, Intervals, ListSize,
    Posterior, PrecisionAt, Provenance, Suspect,
};
pub use score::Truth;
pub use suspects::{Sources, Suspects};
pub use suspects_parquet::read_suspects;
pub use table::Table;
