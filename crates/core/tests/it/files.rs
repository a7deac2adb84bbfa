//! Transition matrices in files: what is written is read, what is broken is named.

use cleanest_core::Matrix;
use cleanest_core::noise::{Noise, Transition};
use proptest::prelude::*;
use std::path::Path;

fn any_transition() -> impl Strategy<Value = Transition> {
    (2_usize..12, any::<u64>())
        .prop_map(|(classes, seed)| "random:0.4".parse::<Noise>().unwrap().transition(classes, seed).unwrap())
}

proptest! {
    #[test]
    fn every_format_keeps_every_bit(transition in any_transition(), names in any::<bool>()) {
        let awkward = |class: usize| format!("class \"{class}\", <b>\n=1+1");
        let classes = transition.classes();
        let transition = if names {
            transition.with_names((0..classes).map(awkward).collect()).unwrap()
        } else {
            transition
        };
        let folder = tempfile::tempdir().unwrap();
        for file in ["t.json", "t.csv", "t.npy"] {
            let path = folder.path().join(file);
            transition.write(&path).unwrap();
            let read = Transition::read(&path).unwrap();
            prop_assert_eq!(read.matrix(), transition.matrix());
            if file != "t.npy" {
                prop_assert_eq!(read.names(), transition.names());
            }
        }
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left aside");
    }
}

#[test]
fn plain_rows_are_read_too() {
    let expected = Matrix::from_vec(2, vec![0.9, 0.1, 0.25, 0.75]);
    let json = Transition::from_json(b"[[0.9, 0.1], [0.25, 0.75]]").unwrap();
    let csv = Transition::from_csv(b"0.9,0.1\r\n 0.25, 0.75\n").unwrap();
    let named = Transition::from_csv(b"true class,cat,dog\ncat,0.9,0.1\ndog,0.25,0.75\n").unwrap();
    assert_eq!(json.matrix(), &expected);
    assert_eq!(csv.matrix(), &expected);
    assert_eq!(named.names().unwrap(), ["cat", "dog"]);
}

#[test]
fn arrays_of_other_orders_and_sizes_of_number_are_read() {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let header = b"{'descr': '>f4', 'fortran_order': True, 'shape': (2, 2)}";
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header);
    for value in [0.75_f32, 0.5, 0.25, 0.5] {
        bytes.extend(value.to_be_bytes());
    }
    assert_eq!(Transition::from_npy(&bytes).unwrap().matrix().values(), [0.75, 0.25, 0.5, 0.5]);
}

#[test]
fn a_broken_file_is_named_with_the_place_and_the_cure() {
    let folder = tempfile::tempdir().unwrap();
    let said = |file: &str, content: &[u8]| {
        let path = folder.path().join(file);
        std::fs::write(&path, content).unwrap();
        let text = Transition::read(&path).unwrap_err().to_string();
        text.replace(&folder.path().display().to_string(), "DIR")
    };
    assert_eq!(said("a.csv", b"0.9,0.1\n0.2,x\n"), "`DIR/a.csv`: line 2, column 2 is not a number: `x`");
    assert_eq!(
        said("b.csv", b"0.9,0.1\n0.2\n"),
        "`DIR/b.csv`: row 1 (from 0) has 1 entries where the matrix has 2 rows"
    );
    assert_eq!(said("c.csv", b""), "`DIR/c.csv`: there must be at least two classes: 0");
    assert_eq!(
        said("d.json", b"[[0.9, 0.2], [0, 1]]"),
        "`DIR/d.json`: row 0 (from 0) of the transition matrix must sum to 1: 1.1"
    );
    assert!(
        said("e.json", b"{\"transition\": 3}").starts_with("`DIR/e.json`: not JSON of a transition matrix: ")
    );
    assert!(said("e.json", &[0xff, 0xfe]).starts_with("`DIR/e.json`: not JSON of a transition matrix: "));
    assert_eq!(said("f.npy", b"hello"), "`DIR/f.npy`: not an npy file: it does not begin with \\x93NUMPY");
    assert_eq!(
        said("g.txt", b"1 0\n0 1"),
        "`DIR/g.txt` is not a file of a transition matrix: its name ends in none of .json, .csv, .npy"
    );
    assert_eq!(
        said("h.json", b"{\"classes\": [\"a\"], \"transition\": [[1, 0], [0, 1]]}"),
        "`DIR/h.json`: 2 classes were expected, 1 were found in the list of names"
    );
    let missing = Transition::read(Path::new("/nowhere/t.json")).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read `/nowhere/t.json`: "), "{missing}");
}

#[test]
fn a_matrix_that_cannot_be_written_leaves_nothing_behind() {
    let error = Transition::identity(2).write(Path::new("/nowhere/t.json")).unwrap_err().to_string();
    assert!(error.starts_with("cannot write `/nowhere/t.json`: "), "{error}");
}

#[test]
fn noise_from_a_file_must_have_the_asked_number_of_classes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    Transition::identity(3).write(&path).unwrap();
    let noise: Noise = format!("file:{}", path.display()).parse().unwrap();
    assert_eq!(noise.transition(3, 0).unwrap(), Transition::identity(3));
    let error = noise.transition(10, 0).unwrap_err().to_string();
    assert!(error.ends_with("t.csv`: 10 classes were expected, 3 were found in the matrix"), "{error}");
}
