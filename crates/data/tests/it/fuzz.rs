//! Bytes that nobody meant as a file, and files with some bytes changed: no panic, whatever they are.

use crate::fixtures::{fixture, write};
use cleanest_data::{Dataset, Limits, Options, labels};
use proptest::prelude::*;

/// Limits small enough that no accident takes long.
fn small(options: &Options) -> Options {
    let limits = Limits { decompressed: 1 << 20, memory: 1 << 20, row_bytes: 1 << 16, ..Limits::default() };
    Options { limits, ..options.clone() }
}

/// Puts the bytes in the place of the file of a fixture, as they are and after some of the file's own.
fn attack(format: &str, bytes: &[u8], kept: usize) {
    let fixture = fixture(format);
    let file = fixture.file.as_ref().unwrap();
    let whole = std::fs::read(file).unwrap();
    let options = small(&fixture.options);
    std::fs::write(file, bytes).unwrap();
    let _ = Dataset::open(&fixture.path, &options);
    let mut mixed = whole[..kept.min(whole.len())].to_vec();
    mixed.extend(bytes);
    std::fs::write(file, &mixed).unwrap();
    let _ = Dataset::open(&fixture.path, &options);
}

/// Text that looks like a table often enough.
fn table() -> impl Strategy<Value = Vec<u8>> {
    let byte =
        prop_oneof![8 => prop::sample::select(b"0123456789,.\n\r\"-eE;\t abNn".to_vec()), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_bytes_make_idx_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), kept in 0_usize..24) {
        attack("idx", &bytes, kept);
    }

    #[test]
    fn no_bytes_make_cifar_panic(bytes in prop::collection::vec(any::<u8>(), 0..4000), kept in 0_usize..3073) {
        attack("cifar", &bytes, kept);
    }

    #[test]
    fn no_bytes_make_npy_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), kept in 0_usize..140) {
        attack("npy", &bytes, kept);
    }

    #[test]
    fn no_bytes_make_csv_panic(bytes in table(), kept in 0_usize..30) {
        attack("csv", &bytes, kept);
        let folder = tempfile::tempdir().unwrap();
        let _ = labels::read(&write(folder.path(), "y.csv", &bytes), &Options::default());
    }

    #[test]
    fn no_bytes_make_jsonl_panic(bytes in table(), kept in 0_usize..60) {
        attack("jsonl", &bytes, kept);
    }
}
