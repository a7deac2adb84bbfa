//! `plot`: the figures a file lists, and the matrices of many runs.

use crate::typed;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn draw(folder: &Path, words: &str, code: i32) -> (String, String) {
    let output = typed(&format!("plot {words}")).current_dir(folder).assert().code(code);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.get_output().stdout), text(&output.get_output().stderr))
}

#[test]
fn the_files_figures_that_need_no_run_are_drawn_and_the_others_named() {
    let folder = tempfile::tempdir().unwrap();
    let list = repository().join("experiments/paper/figures.toml");
    // Somewhere without results: there are no runs to draw.
    let (files, said) = draw(folder.path(), &format!("{} --out figures", list.display()), 0);
    let drawn = ["T_synthetic", "simplex_noises", "overconfidence", "entropies", "convex_hulls"];
    let expected: Vec<String> = drawn.iter().map(|name| format!("figures/{name}.svg")).collect();
    assert_eq!(files.lines().collect::<Vec<_>>(), expected);
    for name in ["T_mnist", "T_cifar10", "T_cifar100"] {
        assert!(said.contains(&format!("left out: {name}: there is no `results/paper/")), "{said}");
    }
    for name in drawn {
        let svg = std::fs::read_to_string(folder.path().join(format!("figures/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    }
    // What is drawn without a network is the same everywhere, and is what is committed.
    for name in &drawn[..2] {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(format!("{name}.svg"))).unwrap();
        assert_eq!(
            read(&folder.path().join("figures")),
            read(&repository().join("results/paper/figures")),
            "{name}"
        );
    }
}

#[test]
fn matrices_of_many_runs_stand_side_by_side_the_true_one_first() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = "data = \"digits\"\nsteps = 20\naudit = false\nkeep = \"small\"\nout = \"runs\"\n[grid]\n\
        method = [\"cce\", \"forward\", \"tvd\"]\nnoise = [\"pair:0.3\", \"clean\"]\nseed = [0]\n";
    std::fs::write(folder.path().join("s.toml"), sweep).unwrap();
    typed("sweep s.toml --quiet").current_dir(folder.path()).assert().success();
    let (files, _) = draw(folder.path(), "runs --out figures", 0);
    assert_eq!(files, "figures/transitions.svg\n");
    let svg = std::fs::read_to_string(folder.path().join("figures/transitions.svg")).unwrap();
    // Two noises by the truth and the two methods that have an estimate.
    assert_eq!(svg.matches("viewBox=\"0 0 160 160\"").count(), 6, "{svg}");
    let places: Vec<usize> = [">true<", ">forward<", ">tvd<"]
        .iter()
        .map(|name| svg.find(name).unwrap_or_else(|| panic!("{name}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(svg.find(">clean<") < svg.find(">pair:0.3<"), "noises are in the order of their list");
    let (_, said) = draw(folder.path(), "runs --out figures --seed 7", 2);
    assert!(said.contains("no complete run of these methods has the seed 7"), "{said}");
}

#[test]
fn a_list_with_a_mistake_is_refused_by_file() {
    let folder = tempfile::tempdir().unwrap();
    for (figure, expected) in [
        ("kind = \"pie\"", "unknown variant `pie`"),
        ("kind = \"simplex\"\nnoises = [\"pair\"]", "pair"),
        ("kind = \"simplex\"\nnoises = []\ncolor = 1", "color"),
    ] {
        let text = format!("out = \"f\"\n[[figure]]\nname = \"x\"\ntitle = \"\"\n{figure}\n");
        std::fs::write(folder.path().join("f.toml"), text).unwrap();
        let (_, said) = draw(folder.path(), "f.toml", 2);
        assert!(said.starts_with("error: `f.toml`: ") && said.contains(expected), "{said}");
    }
    let (_, said) = draw(folder.path(), ".", 2);
    assert!(said.starts_with("error: no folder for the figures is given"), "{said}");
}
