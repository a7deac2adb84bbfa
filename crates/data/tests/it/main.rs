//! Reading data, as a user brings it and as nobody should.

mod batches;
mod conformance;
mod fixtures;
mod fuzz;
mod hostile;
mod images;
mod labels;
mod parts;
mod real;
mod tables;
