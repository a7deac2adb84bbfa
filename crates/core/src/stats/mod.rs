//! Numbers about numbers: accuracy, means over trials, tests of significance, calibration.

mod accuracy;
mod calibration;
mod normal;
mod summary;
mod ttest;

pub use accuracy::{accuracy, top_k};
pub use calibration::{CalibrationBin, calibration_bins, expected_calibration_error};
pub use normal::normal_quantile;
pub use summary::Summary;
pub use ttest::{paired_t_test, welch_t_test};
