//! `predict` as a user types it.

use crate::typed;
use image::{Luma, Pixel};
use std::path::Path;

fn said(folder: &Path, words: &str, code: i32) -> String {
    let output = typed(words).current_dir(folder).assert().code(code);
    String::from_utf8(output.get_output().stderr.clone()).unwrap()
}

#[test]
fn a_table_is_fitted_and_new_rows_are_classified() {
    let folder = tempfile::tempdir().unwrap();
    let rows = |from: usize, to: usize, label: bool| {
        let row = |at: usize| {
            let (species, x) = if at.is_multiple_of(2) { ("ant", 0.0) } else { ("bee", 4.0) };
            let wobble = ((at * 37) % 100) as f64 / 50.0 - 1.0;
            let end = if label { format!(",{species}") } else { String::new() };
            format!("{},{}{end}\n", x + wobble, wobble)
        };
        let head = if label { "x,y,species\n" } else { "x,y\n" };
        head.to_owned() + &(from..to).map(row).collect::<String>()
    };
    std::fs::write(folder.path().join("train.csv"), rows(0, 400, true)).unwrap();
    std::fs::write(folder.path().join("new.csv"), rows(400, 420, false)).unwrap();
    typed("fit train.csv --label species --steps 200 --quiet --out run")
        .current_dir(folder.path())
        .assert()
        .success();
    typed("predict run new.csv --out new-classes.csv").current_dir(folder.path()).assert().success();
    let text = std::fs::read_to_string(folder.path().join("new-classes.csv")).unwrap();
    assert_eq!(text.lines().next(), Some("source,class,probability,p(ant),p(bee)"));
    for (row, line) in text.lines().skip(1).enumerate() {
        let class = line.split(',').nth(1).unwrap();
        assert_eq!(class, ["ant", "bee"][row % 2], "row {row}");
    }
    assert_eq!(text.lines().count(), 21);
    typed("predict run new.csv --out p.npy").current_dir(folder.path()).assert().success();
    typed("predict run new.csv --out p.parquet").current_dir(folder.path()).assert().success();
    let refused = said(folder.path(), "predict run new.csv --out p.txt", 2);
    assert!(refused.contains("its name ends in none of .npy, .csv, .parquet"), "{refused}");
}

#[test]
fn what_is_odd_about_new_rows_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..200).map(|at| format!("{},{}\n", ["red", "blue"][at % 2], at % 2)).collect();
    std::fs::write(folder.path().join("train.csv"), format!("color,x,label\n{}", rows.replace(',', ",0.5,")))
        .unwrap();
    std::fs::write(folder.path().join("new.csv"), "color,x\nred,1\ngreen,1\nviolet,\n").unwrap();
    let words = "fit train.csv --steps 20 --missing mean --test train.csv --quiet --out run";
    typed(words).current_dir(folder.path()).assert().success();
    let odd = said(folder.path(), "predict run new.csv --out p.csv", 0);
    let expected = "warning: missing values stand at the mean of their column (1 in all)\n\
        warning: column `color` holds what it did not in the training set, such as `green` (2 in all)\n\
        3 predictions in p.csv\n";
    assert_eq!(odd, expected);
}

/// Forty images of one shade: dark ones, and bright ones.
fn write_shades(folder: &Path) {
    for at in 0..40_u8 {
        let (class, shade) = if at % 2 == 0 { ("dark", at) } else { ("bright", 255 - at) };
        std::fs::create_dir_all(folder.join(class)).unwrap();
        let image = image::GrayImage::from_pixel(8, 8, Luma([shade]));
        image.save(folder.join(class).join(format!("{at}.png"))).unwrap();
    }
}

#[test]
fn one_image_is_classified_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    write_shades(&folder.path().join("images"));
    let words = "fit images --method cce --model linear --steps 200 --folds 0 --quiet --out run";
    typed(words).current_dir(folder.path()).assert().success();
    // Of another size, of another kind and in color.
    let color = Luma([240_u8]).to_rgb();
    image::RgbImage::from_pixel(30, 20, color).save(folder.path().join("snow.gif")).unwrap();
    let output = typed("predict run snow.gif").current_dir(folder.path()).assert().success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let (head, row) = text.split_once('\n').unwrap();
    assert_eq!(head, "source,class,probability,p(bright),p(dark)");
    assert!(row.starts_with("snow.gif,bright,0.9"), "{row}");
    assert_eq!(row.lines().count(), 1);
    let refused = said(folder.path(), "fit snow.gif --out other", 2);
    assert!(refused.contains("`snow.gif` comes without labels"), "{refused}");
}
