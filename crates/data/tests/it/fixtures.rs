//! Small sets of every format, made by the tests: six examples of three classes, in the order 0, 1, 2, 0, 1, 2.

use cleanest_core::npy::{Element, Header};
use cleanest_data::Options;
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::basic::{LogicalType, Repetition, Type};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as Schema;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// The labels of every fixture.
pub(crate) const LABELS: [u32; 6] = [0, 1, 2, 0, 1, 2];

/// A set on the disk, and how to read it.
pub(crate) struct Fixture {
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    /// The file that a test may break.
    pub(crate) file: Option<PathBuf>,
    /// Kept so that the files live as long as the fixture.
    _folder: Option<TempDir>,
}

/// A fixture for a format of the list; a new format needs one here.
pub(crate) fn fixture(format: &str) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut options = Options::default();
    let (path, file) = match format {
        "digits" => {
            return Fixture { path: "digits".into(), options, file: None, _folder: None };
        }
        "idx" => {
            write(at, "train-images-idx3-ubyte", &idx(&[6, 2, 3], 36));
            write(at, "train-labels-idx1-ubyte.gz", &gzip(&idx_labels()));
            (at.to_path_buf(), Some(at.join("train-images-idx3-ubyte")))
        }
        "cifar" => {
            cifar_10(at);
            (at.to_path_buf(), Some(at.join("data_batch_2.bin")))
        }
        "clothing1m" => {
            clothing1m(at);
            (at.to_path_buf(), Some(at.join("noisy_train_key_list.txt")))
        }
        "npy" => {
            options.labels = Some(write(at, "y.npy", &npy_labels()));
            let file = write(at, "x.npy", &npy_features());
            (file.clone(), Some(file))
        }
        "npz" => {
            let file = write(at, "set.npz", &npz(&[("x.npy", npy_features()), ("y.npy", npy_labels())]));
            (file.clone(), Some(file))
        }
        "csv" => {
            let file = write(at, "set.csv", b"a,b,label\n1,2,x\n3,4,y\n5,6,z\n7,8,x\n9,1,y\n2,3,z\n");
            (file.clone(), Some(file))
        }
        "jsonl" => {
            let row = |at: usize| {
                format!("{{\"a\": {at}, \"b\": 0.5, \"label\": \"{}\"}}\n", ["x", "y", "z"][at % 3])
            };
            let file = write(at, "set.jsonl", (0..6).map(row).collect::<String>().as_bytes());
            (file.clone(), Some(file))
        }
        "parquet" => {
            let file = write(at, "set.parquet", &parquet());
            (file.clone(), Some(file))
        }
        "image-folder" => {
            for (row, class) in ["cat", "dog", "owl", "cat", "dog", "owl"].iter().enumerate() {
                png(&at.join(class), &format!("{row}.png"), [row as u8, 1, 2]);
            }
            (at.to_path_buf(), Some(at.join("cat/0.png")))
        }
        other => panic!("write a fixture for the format `{other}`"),
    };
    Fixture { path, options, file, _folder: Some(folder) }
}

/// Writes a file, and gives its path.
pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, bytes).unwrap();
    path
}

/// An IDX file with these lengths and so many bytes.
pub(crate) fn idx(lengths: &[u32], bytes: usize) -> Vec<u8> {
    let mut file = vec![0, 0, 8, lengths.len() as u8];
    file.extend(lengths.iter().flat_map(|length| length.to_be_bytes()));
    file.extend((0..bytes).map(|at| at as u8));
    file
}

pub(crate) fn idx_labels() -> Vec<u8> {
    let mut file = idx(&[6], 0);
    file.extend(LABELS.map(|label| label as u8));
    file
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// CIFAR-10 with two records in the first, third and fifth file and none in the others; their labels are `LABELS`.
fn cifar_10(folder: &Path) {
    for batch in 1..=5_u8 {
        let labels: &[u32] = match batch {
            1 => &LABELS[..2],
            2 => &LABELS[2..3],
            3 => &LABELS[3..4],
            4 => &LABELS[4..5],
            _ => &LABELS[5..],
        };
        let records: Vec<u8> = labels.iter().flat_map(|&label| cifar_record(&[label as u8], batch)).collect();
        write(folder, &format!("data_batch_{batch}.bin"), &records);
    }
    write(
        folder,
        "batches.meta.txt",
        b"airplane\nautomobile\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n",
    );
}

/// Six images in the layout of Clothing1M.
fn clothing1m(folder: &Path) {
    let key = |at: usize| format!("images/{at}/0{at}/{at}.jpg");
    for at in 0..6 {
        let image = folder.join(key(at));
        std::fs::create_dir_all(image.parent().unwrap()).unwrap();
        image::RgbImage::from_pixel(5, 4, image::Rgb([at as u8, 1, 2])).save(&image).unwrap();
    }
    let keys: String = (0..6).map(|at| key(at) + "\n").collect();
    write(folder, "noisy_train_key_list.txt", keys.as_bytes());
    let labels: String = (0..6).map(|at| format!("{} {}\n", key(at), LABELS[at])).collect();
    write(folder, "noisy_label_kv.txt", labels.as_bytes());
}

/// A record: its labels, a red plane of `red`, and green and blue planes of 1 and 2.
pub(crate) fn cifar_record(labels: &[u8], red: u8) -> Vec<u8> {
    let planes = [red, 1, 2].into_iter().flat_map(|value| std::iter::repeat_n(value, 1024));
    labels.iter().copied().chain(planes).collect()
}

pub(crate) fn npy(element: Element, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let mut file = Header::write(element, shape);
    file.extend(data);
    file
}

fn npy_features() -> Vec<u8> {
    let values: Vec<u8> = (0..24_u8).flat_map(|at| f32::from(at).to_le_bytes()).collect();
    npy(Element::F32, &[6, 4], &values)
}

fn npy_labels() -> Vec<u8> {
    let values: Vec<u8> = LABELS.iter().flat_map(|&label| i64::from(label).to_le_bytes()).collect();
    npy(Element::I64, &[6], &values)
}

pub(crate) fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A table of a column of numbers, one of them null where `gap` says so, and one of labels; two groups of rows.
pub(crate) fn parquet_with(numbers: &[Option<f64>], labels: &[&str]) -> Vec<u8> {
    let column = |name: &str, kind: Type, logical: Option<LogicalType>| {
        let column = Schema::primitive_type_builder(name, kind).with_repetition(Repetition::OPTIONAL);
        Arc::new(column.with_logical_type(logical).build().unwrap())
    };
    let columns =
        vec![column("a", Type::DOUBLE, None), column("label", Type::BYTE_ARRAY, Some(LogicalType::String))];
    let schema = Arc::new(Schema::group_type_builder("schema").with_fields(columns).build().unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::builder().build())).unwrap();
    let half = numbers.len().div_ceil(2).max(1);
    for (numbers, labels) in numbers.chunks(half).zip(labels.chunks(half)) {
        let mut group = writer.next_row_group().unwrap();
        let levels: Vec<i16> = numbers.iter().map(|number| i16::from(number.is_some())).collect();
        let values: Vec<f64> = numbers.iter().flatten().copied().collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&values, Some(&levels), None).unwrap();
        column.close().unwrap();
        let texts: Vec<ByteArray> = labels.iter().map(|&text| ByteArray::from(text)).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&vec![1; texts.len()]), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn parquet() -> Vec<u8> {
    let numbers: Vec<Option<f64>> = (0..6).map(|at| Some(f64::from(at))).collect();
    parquet_with(&numbers, &["x", "y", "z", "x", "y", "z"])
}

/// An image of 4 x 5 pixels of one color.
pub(crate) fn png(folder: &Path, name: &str, color: [u8; 3]) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join(name);
    image::RgbImage::from_pixel(5, 4, image::Rgb(color)).save(&path).unwrap();
    path
}
