//! `table`: run folders as the tables of a paper.

use crate::typed;
use std::path::Path;

/// A folder as a run leaves it, with these scores.
fn run(folder: &Path, words: (&str, &str, u64), scores: (f64, f64), more: &str) {
    let (method, noise, seed) = words;
    let name =
        format!("{method}_{}_{seed}{}", noise.replace([':', ','], "-"), more.replace(['\n', ' ', '"'], ""));
    let path = folder.join("runs").join(name);
    std::fs::create_dir_all(&path).unwrap();
    let config = format!(
        "data = \"sets/mnist\"\nmethod = \"{method}\"\nmodel = \"mnist-cnn\"\nnoise = \"{noise}\"\nseed = {seed}\n{more}"
    );
    std::fs::write(path.join("config.toml"), config).unwrap();
    let record = serde_json::json!({
        "version": "0.1.0", "seed": seed, "device": "cpu", "data": "", "test": null, "examples": 1, "parameters": 1,
        "score": { "accuracy": scores.0 / 100.0, "average_tv": scores.1 / 100.0 }, "seconds": 1.0, "finished": 0,
    });
    std::fs::write(path.join("about.json"), record.to_string()).unwrap();
}

fn printed(folder: &Path, words: &str) -> (String, String) {
    let output = typed(&format!("table runs {words}")).current_dir(folder).assert().success();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.get_output().stdout), text(&output.get_output().stderr))
}

/// Three methods whose means and deviations are plain to see.
fn three(folder: &Path) {
    for (seed, offset) in [(0, -1.0), (1, 0.0), (2, 1.0)] {
        run(folder, ("cce", "pair:0.4", seed), (90.0 + offset, 30.0), "");
        run(folder, ("dual-t", "pair:0.4", seed), (98.0 + offset, 4.0 + offset), "");
        run(folder, ("tvd", "pair:0.4", seed), (98.5 + offset, 2.0 + offset), "");
    }
    run(folder, ("tvd", "clean", 0), (99.0, 2.0), "");
}

#[test]
fn cells_are_mean_and_deviation_and_what_cannot_be_told_from_the_best_is_bold() {
    let folder = tempfile::tempdir().unwrap();
    three(folder.path());
    let (text, _) = printed(folder.path(), "");
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    // Welch by hand: 0.5 apart with errors of 0.58 each is nothing, 8.5 apart is everything. Of the distances, 2 apart
    // is t = 2.45 with 4 degrees of freedom, p = 0.035.
    assert_eq!(
        rows,
        [
            "| | clean | pair:0.4 |",
            "|---|---|---|",
            "| cce |  | 90.00(1.00) |",
            "| dual-t |  | **98.00(1.00)** |",
            "| tvd | **99.00** n=1 | **98.50(1.00)** |",
            "| | clean | pair:0.4 |",
            "|---|---|---|",
            "| dual-t |  | 4.00(1.00) |",
            "| tvd | **2.00** n=1 | **2.00(1.00)** |",
        ],
        "{text}"
    );
    assert!(text.starts_with("### mnist, mnist-cnn: accuracy, %\n"), "{text}");
}

#[test]
fn latex_compiles_with_booktabs_and_csv_has_a_line_for_each_cell() {
    let folder = tempfile::tempdir().unwrap();
    three(folder.path());
    let (latex, _) = printed(folder.path(), "--format latex --metric accuracy");
    for part in [
        "\\toprule\n & clean & pair:0.4 \\\\\n",
        "cce & -- & 90.00(1.00) \\\\\n",
        "\\textbf{98.50(1.00)}",
        "\\bottomrule",
    ] {
        assert!(latex.contains(part), "{part}: {latex}");
    }
    let (csv, _) = printed(folder.path(), "--format csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 7, "{csv}");
    let tvd =
        rows.iter().find(|row| &row[3] == "tvd" && &row[4] == "pair:0.4" && &row[2] == "average_tv").unwrap();
    assert_eq!((&tvd[5], tvd[6].parse::<f64>().unwrap().round(), &tvd[8]), ("3", 2.0, "true"));
}

#[test]
fn the_papers_number_stands_beside_ours_where_it_is_known() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), ("tvd", "pair:0.4", 0), (99.3, 2.5), "");
    run(folder.path(), ("t-revision", "pair:0.4", 0), (94.0, 39.0), "");
    let (text, sums) = printed(folder.path(), "--paper");
    assert!(text.contains("| tvd | **99.30** / 99.09 no worse |"), "{text}");
    assert!(text.contains("| tvd | **2.50** / 2.12 behind by 0.38 |"), "{text}");
    assert!(text.contains("| t-revision | 94.00 |"), "{text}");
    assert!(
        sums.contains(
            "accuracy, %: 0 within, 0 better, 0 worse; by our own deviations 0 within, 0 better, 0 worse; without any 1 no worse, \
             0 behind; 1 not known"
        ),
        "{sums}"
    );
}

#[test]
fn what_differs_by_more_than_its_seed_is_never_averaged() {
    let folder = tempfile::tempdir().unwrap();
    for (gamma, accuracy) in [("0.1", 98.0), ("0.2", 97.0)] {
        run(folder.path(), ("tvd", "pair:0.4", 0), (accuracy, 2.0), &format!("[tvd]\ngamma = {gamma}\n"));
    }
    run(folder.path(), ("cce", "pair:0.4", 0), (90.0, 2.0), "");
    let (text, _) = printed(folder.path(), "--metric accuracy");
    for row in ["| cce | 90.00 |", "| tvd tvd.gamma=0.1 | **98.00** |", "| tvd tvd.gamma=0.2 | 97.00 |"] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn what_follows_from_the_split_of_a_seed_tells_no_rows_apart() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, accuracy) in [(0, 97.0), (1, 99.0)] {
        let split = format!("[standardization]\nmean = [0.{seed}5]\ndeviation = [1.0]\n");
        run(folder.path(), ("tvd", "pair:0.4", seed), (accuracy, 2.0), &split);
    }
    let (text, _) = printed(folder.path(), "--metric accuracy");
    // Two trials two apart: their deviation is the root of two.
    assert!(text.contains("| tvd | **98.00(1.41)** |"), "{text}");
    let other = "[standardization]\nmean = [0.0]\ndeviation = [1.0]\n";
    run(folder.path(), ("tvd", "pair:0.4", 0), (90.0, 2.0), other);
    let (text, _) = printed(folder.path(), "--metric accuracy");
    assert!(text.contains("| tvd standardization.mean=[0.0] | 90.00 |"), "{text}");
}

#[test]
fn runs_that_are_not_counted_are_named_with_their_reason() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), ("tvd", "clean", 0), (99.0, 2.0), "");
    run(folder.path(), ("tvd", "clean", 0), (99.0, 2.0), "steps = 2000\n");
    run(folder.path(), ("tvg", "clean", 0), (99.0, 2.0), "");
    run(folder.path(), ("cce", "clean", 0), (99.0, 2.0), "");
    let runs = folder.path().join("runs");
    std::fs::remove_file(runs.join("tvg_clean_0/about.json")).unwrap();
    std::fs::remove_file(runs.join("cce_clean_0/about.json")).unwrap();
    std::fs::write(runs.join("cce_clean_0/failure.txt"), "the loss is NaN at step 7\n").unwrap();
    std::fs::create_dir(runs.join("again")).unwrap();
    for file in ["config.toml", "about.json"] {
        std::fs::copy(runs.join("tvd_clean_0").join(file), runs.join("again").join(file)).unwrap();
    }
    let (text, said) = printed(folder.path(), "");
    for part in [
        "runs/tvg_clean_0`: incomplete",
        "runs/cce_clean_0`: failed: the loss is NaN at step 7",
        "runs/tvd_clean_0`: the same run as runs/again",
    ] {
        assert!(text.contains(part), "{part}: {text}");
        assert!(said.contains(&part.replace('`', "")), "{part}: {said}");
    }
    let nothing = typed("table nothing").current_dir(folder.path()).assert().code(2);
    let said = String::from_utf8(nothing.get_output().stderr.clone()).unwrap();
    assert!(said.starts_with("error: cannot read `nothing`"), "{said}");
}
