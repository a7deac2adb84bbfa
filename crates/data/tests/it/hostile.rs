//! Files that are broken, or lie: each is refused with an error of its own, and none takes the machine down.

use crate::fixtures::{cifar_record, gzip, idx, npy, npz, parquet_with, png, write};
use cleanest_core::npy::Element;
use cleanest_data::{Dataset, Error, Labeling, Limits, Options};
use std::path::{Path, PathBuf};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn unlabeled() -> Options {
    Options { labeling: Labeling::Absent, ..Options::default() }
}

fn limited(limits: Limits) -> Options {
    Options { limits, ..unlabeled() }
}

/// The error of a file with these bytes; it names the file.
fn refused(name: &str, bytes: &[u8], options: &Options) -> Error {
    let folder = folder();
    let path = write(folder.path(), name, bytes);
    let error = Dataset::open(&path, options).unwrap_err();
    assert!(error.to_string().contains(name) || error.to_string().contains(".npy"), "{error}");
    error
}

#[test]
fn idx_cut_at_every_field_says_where_it_ends() {
    let whole = idx(&[3, 2, 2], 12);
    for length in 0..whole.len() {
        let error = refused("set.idx", &whole[..length], &unlabeled());
        let Error::Truncated { expected, found, .. } = error else { panic!("{length}: {error}") };
        assert_eq!(found, length as u64);
        assert_eq!(expected, if length < 16 { length as u64 / 4 * 4 + 4 } else { 28 });
        let error = refused("set.idx.gz", &gzip(&whole[..length]), &unlabeled());
        assert!(matches!(error, Error::Truncated { .. }), "{length}: {error}");
    }
}

#[test]
fn idx_that_is_something_else_or_too_long_is_refused() {
    let error = refused("set.idx", b"\x00\x00\x09\x03 more", &unlabeled());
    let message = "begins with 0x00000903, expected 0x00000803 or 0x00000804 for images";
    assert!(error.to_string().ends_with(message), "{error}");
    for bytes in [idx(&[3, 2, 2], 13), gzip(&idx(&[3, 2, 2], 13))] {
        assert!(matches!(refused("set.idx", &bytes, &unlabeled()), Error::Trailing { expected: 28, .. }));
    }
    assert!(matches!(refused("set.idx", &idx(&[u32::MAX; 3], 0), &unlabeled()), Error::Overflow { .. }));
    assert!(matches!(refused("set.idx", &idx(&[3, 0, 2], 0), &unlabeled()), Error::ZeroSize { .. }));
    let many = Limits { rows: 2, ..Limits::default() };
    assert!(matches!(refused("set.idx", &idx(&[3, 2, 2], 12), &limited(many)), Error::TooManyRows { .. }));
}

#[test]
fn gzip_that_ends_early_is_damaged_or_has_no_end_is_refused() {
    let whole = gzip(&idx(&[64, 8, 8], 4096));
    for length in [11, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
        let error = refused("set.idx.gz", &whole[..length], &unlabeled());
        assert!(matches!(error, Error::Compressed { .. }), "{length}: {error}");
    }
    let mut changed = whole.clone();
    let last = changed.len() - 6;
    changed[last] ^= 0xff;
    assert!(matches!(refused("set.idx.gz", &changed, &unlabeled()), Error::Compressed { .. }));
    // Eight megabytes of zeros are eight kilobytes of gzip.
    let mut bomb = idx(&[8 << 20, 1, 1], 0);
    bomb.resize(16 + (8 << 20), 0);
    let limits = Limits { decompressed: 1 << 20, ..Limits::default() };
    assert!(matches!(refused("set.idx.gz", &gzip(&bomb), &limited(limits)), Error::Expands { .. }));
    let rows = [b"a\n".to_vec(), b"1234567\n".repeat(1 << 20)].concat();
    let limits = Limits { decompressed: 1 << 20, ..Limits::default() };
    assert!(matches!(refused("t.csv.gz", &gzip(&rows), &limited(limits)), Error::Expands { .. }));
}

#[test]
fn nothing_is_reserved_on_the_word_of_a_header() {
    let huge = idx(&[1_000_000, 1000, 1000], 4);
    let error = refused("set.idx.gz", &gzip(&huge), &unlabeled());
    assert!(matches!(error, Error::Memory { .. } | Error::Truncated { .. }), "{error}");
    let error = refused("set.idx.gz", &gzip(&idx(&[60_000, 1000, 1000], 4)), &unlabeled());
    assert!(matches!(error, Error::Truncated { .. }), "{error}");
}

#[test]
fn cifar_of_another_length_or_class_is_refused() {
    let folder = folder();
    let at = folder.path();
    let write_batches = |last: &[u8]| {
        (1..=4).for_each(|batch| drop(write(at, &format!("data_batch_{batch}.bin"), &cifar_record(&[1], 0))));
        write(at, "data_batch_5.bin", last);
        Dataset::open(at, &Options::default()).unwrap_err()
    };
    let record = cifar_record(&[9], 0);
    for bytes in [&record[..3072], &[record.clone(), vec![0]].concat(), &[]] {
        let error = write_batches(bytes);
        assert!(matches!(error, Error::Records { record: 3073, .. }), "{error}");
    }
    let error = write_batches(&[record.clone(), cifar_record(&[10], 0)].concat());
    assert!(
        error.to_string().ends_with("data_batch_5.bin`, row 2: the label 10 is not in 0 to 9"),
        "{error}"
    );
    std::fs::remove_file(at.join("data_batch_5.bin")).unwrap();
    assert!(matches!(Dataset::open(at, &Options::default()), Err(Error::NotFound { .. })));
    write(at, "data_batch_5.bin", &record);
    write(at, "batches.meta.txt", b"one\ntwo\n");
    let error = Dataset::open(at, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::ClassNames { expected: 10, found: 2, .. }), "{error}");
    write(at, "batches.meta.txt", b"one\ntw\xff\n");
    assert!(matches!(Dataset::open(at, &Options::default()), Err(Error::Utf8 { row: 2, .. })));
}

fn header(dictionary: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((dictionary.len() as u16).to_le_bytes());
    bytes.extend(dictionary.as_bytes());
    bytes
}

#[test]
fn npy_of_objects_or_of_impossible_shape_is_refused() {
    let array = |descr: &str, shape: &str| {
        header(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}"))
    };
    for (bytes, message) in [
        (array("|O", "(3, 2)"), "an array of objects is a pickle, which can run code when opened"),
        (array("<f4", "(-3, 2)"), "a length in the shape is negative"),
        (array("<f4", "(4294967296, 4294967296, 4)"), "the shape has more elements than a file can hold"),
        (array("<U5", "(3,)"), "elements of type `<U5` are not numbers this program reads"),
        (array("<f4", "(3, 2)"), "the shape asks for 24 bytes of numbers, the file has 0"),
    ] {
        let error = refused("x.npy", &bytes, &unlabeled());
        assert!(error.to_string().ends_with(message), "{error}");
        let inside = npz(&[("x.npy", bytes)]);
        let error = refused("x.npz", &inside, &unlabeled());
        assert!(error.to_string().ends_with(message), "{error}");
    }
    assert!(matches!(
        refused("x.npy", &npy(Element::F32, &[4], &[0; 16]), &unlabeled()),
        Error::Shape { .. }
    ));
    assert!(matches!(
        refused("x.npy", &npy(Element::F32, &[4, 0], &[]), &unlabeled()),
        Error::ZeroSize { .. }
    ));
    assert!(matches!(refused("x.npy", &npy(Element::F32, &[0, 4], &[]), &unlabeled()), Error::Empty { .. }));
    assert!(matches!(refused("x.npy", b"", &unlabeled()), Error::Npy { .. }));
}

#[test]
fn npy_of_numbers_that_are_none_is_refused_with_its_place() {
    let floats = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let bytes = npy(Element::F32, &[2, 2], &floats(&[1.0, 2.0, 3.0, f32::NAN]));
    let error = refused("x.npy", &bytes, &unlabeled());
    assert!(error.to_string().ends_with("row 2, column `2`: the value is missing"), "{error}");
    let bytes = npy(Element::F32, &[2, 2], &floats(&[1.0, f32::NEG_INFINITY, 3.0, 4.0]));
    let error = refused("x.npy", &bytes, &unlabeled());
    assert!(
        error.to_string().ends_with("row 1, column `2`: `-inf` is not a finite 32-bit number"),
        "{error}"
    );
    let bytes = npy(Element::F32, &[2, 1, 2], &floats(&[1.0, 2.0, 3.0, 256.0]));
    let error = refused("x.npy", &bytes, &unlabeled());
    assert!(
        error.to_string().ends_with("row 2: the pixel 256 is neither in 0 to 1 nor in 0 to 255"),
        "{error}"
    );
}

#[test]
fn archives_that_are_none_or_too_large_are_refused() {
    assert!(matches!(refused("x.npz", b"PK\x03\x04 and then nothing", &unlabeled()), Error::Archive { .. }));
    let bytes = npz(&[("weights.npy", npy(Element::U8, &[2, 2], &[0; 4]))]);
    let error = refused("x.npz", &bytes, &unlabeled());
    assert!(error.to_string().ends_with("has no array called `x` or `x_train`; it has `weights`"), "{error}");
    let bytes = npz(&[("x.npy", npy(Element::U8, &[1 << 20, 8], &vec![0; 8 << 20]))]);
    assert!(bytes.len() < 1 << 16, "a thousandfold");
    let limits = Limits { decompressed: 1 << 20, ..Limits::default() };
    assert!(matches!(refused("x.npz", &bytes, &limited(limits)), Error::Expands { .. }));
}

#[test]
fn a_field_without_end_is_refused_before_it_fills_the_memory() {
    use std::io::{Seek as _, Write as _};
    let folder = folder();
    // A gigabyte of zero bytes that takes no room on the disk, in quotes and not.
    for start in ["a,label\n1,x\n\"", "a,label\n1,x\n"] {
        let path = folder.path().join("t.csv");
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(start.as_bytes()).unwrap();
        file.seek(std::io::SeekFrom::Start(1 << 30)).unwrap();
        file.write_all(b"0,y\n").unwrap();
        let limits = Limits { row_bytes: 1 << 20, ..Limits::default() };
        let error = Dataset::open(&path, &Options { limits, ..Options::default() }).unwrap_err();
        assert!(matches!(error, Error::RowTooLong { limit: 1_048_576, .. }), "{error}");
    }
}

#[test]
fn more_rows_or_numbers_than_allowed_are_refused() {
    let rows = format!("a,label\n{}", "1,x\n2,y\n".repeat(50));
    let limits = Limits { rows: 99, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    assert!(matches!(refused("t.csv", rows.as_bytes(), &options), Error::TooManyRows { limit: 99, .. }));
    let limits = Limits { memory: 399, ..Limits::default() };
    let options = Options { limits, ..Options::default() };
    assert!(matches!(refused("t.csv", rows.as_bytes(), &options), Error::Memory { limit: 399, .. }));
}

#[test]
fn parquet_with_a_wrong_footer_is_refused() {
    let numbers: Vec<Option<f64>> = (0..50).map(|at| Some(f64::from(at))).collect();
    let whole = parquet_with(&numbers, &["x"; 50]);
    let end = whole.len();
    let mut wrong_magic = whole.clone();
    wrong_magic[end - 1] = b'X';
    let mut wrong_length = whole.clone();
    wrong_length[end - 8..end - 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut damaged = whole.clone();
    damaged[end - 60..end - 40].fill(0xff);
    for bytes in [&wrong_magic, &wrong_length, &damaged, &whole[..end / 2].to_vec(), &Vec::new()] {
        let error = refused("t.parquet", bytes, &Options::default());
        assert!(matches!(error, Error::Parquet { .. }), "{error}");
    }
}

/// A PNG or BMP that declares so many pixels and has none.
fn declared(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"BM".to_vec();
    bytes.extend([0; 8]);
    bytes.extend(54_u32.to_le_bytes());
    bytes.extend(40_u32.to_le_bytes());
    bytes.extend(width.to_le_bytes());
    bytes.extend(height.to_le_bytes());
    bytes.extend([1, 0, 24, 0]);
    bytes.extend([0; 24]);
    bytes
}

fn images(bytes: &[u8], limits: Limits) -> (tempfile::TempDir, Result<Dataset, Error>) {
    let folder = folder();
    png(&folder.path().join("a"), "1.png", [1; 3]);
    png(&folder.path().join("b"), "1.png", [1; 3]);
    write(folder.path(), "b/2.bmp", bytes);
    let set = Dataset::open(folder.path(), &Options { limits, ..Options::default() });
    (folder, set)
}

#[test]
fn an_image_that_declares_too_much_or_nothing_is_set_aside_by_name() {
    for (bytes, reason) in [
        (declared(60_000, 60_000), "declares 60000 x 60000 pixels, 100000000 in all are allowed"),
        (declared(0, 7), "is not an image"),
        (declared(5, 4), "is not an image"),
    ] {
        let (_folder, set) = images(&bytes, Limits::default());
        let set = set.unwrap();
        let left_out = &set.quarantine()[0];
        assert!(left_out.path.ends_with("b/2.bmp"));
        assert!(left_out.reason.contains(reason), "{}", left_out.reason);
    }
    let (_folder, error) = images(b"", Limits { quarantine: 0, ..Limits::default() });
    assert!(matches!(error.unwrap_err(), Error::Quarantine { limit: 0, .. }));
    let (_folder, error) = images(b"", Limits { memory: 100, ..Limits::default() });
    assert!(matches!(error.unwrap_err(), Error::Memory { .. }));
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let path = write(folder.path(), "t.csv", b"a,label\n1,x\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser reads it all the same; everybody else is told.
    match Dataset::open(&path, &Options::default()) {
        Ok(set) => assert_eq!(set.len(), 1),
        Err(error) => assert!(error.to_string().starts_with("cannot read"), "{error}"),
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_refused() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("y.npy")).unwrap();
    let x = write(folder.path(), "x.npy", &npy(Element::U8, &[2, 2], &[0; 4]));
    let options = Options { labels: Some(folder.path().join("y.npy")), ..Options::default() };
    let error = Dataset::open(&x, &options).unwrap_err();
    assert!(error.to_string().contains("y.npy"), "{error}");
}

#[test]
fn an_empty_folder_is_none_of_the_formats() {
    let folder = folder();
    let path: PathBuf = Path::new(folder.path()).join("nothing");
    std::fs::create_dir(&path).unwrap();
    assert!(matches!(Dataset::open(&path, &Options::default()), Err(Error::Unrecognized { .. })));
}
