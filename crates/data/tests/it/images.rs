//! Folders of images.

use crate::fixtures::{png, write};
use cleanest_data::{Color, Dataset, Error, Example, Labeling, Limits, Options, Shape, Source, Warning};
use image::{ImageFormat, Rgb, RgbImage};
use std::path::Path;

fn shape(height: usize, width: usize, channels: usize) -> Shape {
    Shape::Image { height, width, channels }
}

fn save(folder: &Path, name: &str, (width, height): (u32, u32), format: ImageFormat) {
    let path = write(folder, name, b"");
    RgbImage::from_pixel(width, height, Rgb([200, 100, 50])).save_with_format(path, format).unwrap();
}

#[test]
fn every_kind_of_image_is_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = [
        ("jpg", ImageFormat::Jpeg),
        ("PNG", ImageFormat::Png),
        ("webp", ImageFormat::WebP),
        ("bmp", ImageFormat::Bmp),
        ("gif", ImageFormat::Gif),
        ("tif", ImageFormat::Tiff),
        ("ppm", ImageFormat::Pnm),
    ];
    for (ending, format) in kinds {
        save(folder.path(), &format!("a/one.{ending}"), (16, 8), format);
        save(folder.path(), &format!("b/deeper/two.{ending}"), (16, 8), format);
    }
    write(folder.path(), "a/notes.txt", b"not an image");
    let set = Dataset::open(folder.path(), &Options::default()).unwrap();
    assert_eq!((set.len(), set.shape()), (14, shape(8, 16, 3)));
    for row in 0..14 {
        let Example::Image(pixels) = set.example(row) else { panic!() };
        let close =
            |pixel: &[u8]| pixel.iter().zip([200, 100, 50]).all(|(a, b): (&u8, u8)| a.abs_diff(b) < 4);
        assert!(pixels.chunks(3).all(close), "{:?}", set.source(row));
    }
    assert_eq!(set.source(7), Source::File("b/deeper/two.PNG"));
    let passed = Warning::PassedOver { count: 1, example: "a/notes.txt".into() };
    assert_eq!(set.warnings(), [passed]);
}

#[test]
fn images_of_many_sizes_are_brought_to_one() {
    let folder = tempfile::tempdir().unwrap();
    for (name, size) in [("a/1.png", (40, 20)), ("a/2.png", (30, 30)), ("b/3.png", (20, 60))] {
        save(folder.path(), name, size, ImageFormat::Png);
    }
    let set = Dataset::open(folder.path(), &Options::default()).unwrap();
    assert_eq!(set.shape(), shape(20, 20, 3));
    assert!(matches!(set.warnings(), [.., Warning::Resized { sizes: 3, .. }]), "{:?}", set.warnings());
    let options = Options { image_size: Some([7, 9]), color: Color::Gray, ..Options::default() };
    let set = Dataset::open(folder.path(), &options).unwrap();
    assert_eq!(set.shape(), shape(7, 9, 1));
}

#[test]
fn the_middle_is_cut_out_of_a_long_image() {
    let folder = tempfile::tempdir().unwrap();
    let bars =
        RgbImage::from_fn(30, 10, |x, _| if (10..20).contains(&x) { Rgb([255; 3]) } else { Rgb([0; 3]) });
    for class in ["a", "b"] {
        std::fs::create_dir(folder.path().join(class)).unwrap();
        bars.save(folder.path().join(class).join("bars.png")).unwrap();
    }
    let set =
        Dataset::open(folder.path(), &Options { image_size: Some([10, 10]), ..Options::default() }).unwrap();
    assert_eq!(set.example(0), Example::Image(&[255; 300]));
}

#[test]
fn gray_images_stay_gray_unless_colors_are_among_them() {
    let folder = tempfile::tempdir().unwrap();
    for class in ["a", "b"] {
        std::fs::create_dir(folder.path().join(class)).unwrap();
        image::GrayImage::from_pixel(3, 3, image::Luma([9]))
            .save(folder.path().join(class).join("g.png"))
            .unwrap();
    }
    assert_eq!(Dataset::open(folder.path(), &Options::default()).unwrap().shape(), shape(3, 3, 1));
    save(folder.path(), "b/color.png", (3, 3), ImageFormat::Png);
    let set = Dataset::open(folder.path(), &Options::default()).unwrap();
    assert_eq!(set.shape(), shape(3, 3, 3));
    assert_eq!(set.example(0), Example::Image(&[9; 27]));
}

#[test]
fn a_list_says_which_image_is_what() {
    for (name, list) in [
        ("metadata.csv", "file_name,label\nb.png,owl\nsub/a.png,cat\n"),
        (
            "metadata.jsonl",
            "{\"file_name\":\"b.png\",\"label\":\"owl\"}\n{\"file_name\":\"sub/a.png\",\"label\":\"cat\"}\n",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        png(&folder.path().join("sub"), "a.png", [1, 1, 1]);
        png(folder.path(), "b.png", [2, 2, 2]);
        write(folder.path(), name, list.as_bytes());
        let set = Dataset::open(folder.path(), &Options::default()).unwrap();
        assert_eq!(set.labels().indices(), [1, 0]);
        assert_eq!(set.source(0), Source::File("b.png"));
        assert_eq!(set.example(0), Example::Image(&[2; 60]));
    }
}

#[test]
fn a_list_cannot_lead_out_of_its_folder() {
    for name in ["../secret.png", "/etc/passwd", "a/../../b.png"] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "metadata.csv", format!("file_name,label\n{name},x\n").as_bytes());
        let error = Dataset::open(folder.path(), &Options::default()).unwrap_err();
        assert!(error.to_string().ends_with(&format!("the name `{name}` leaves the folder")), "{error}");
    }
}

#[test]
fn a_broken_image_is_set_aside_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    for class in ["a", "b"] {
        (0..3).for_each(|at| drop(png(&folder.path().join(class), &format!("{at}.png"), [at; 3])));
    }
    let whole = std::fs::read(folder.path().join("a/1.png")).unwrap();
    write(folder.path(), "a/1.png", &whole[..whole.len() / 2]);
    write(folder.path(), "b/0.png", b"not a picture");
    let set = Dataset::open(folder.path(), &Options::default()).unwrap();
    assert_eq!((set.len(), set.labels().indices()), (4, &[0, 0, 1, 1][..]));
    let left_out: Vec<_> = set.quarantine().iter().map(|file| file.path.file_name().unwrap()).collect();
    assert_eq!(left_out, ["1.png", "0.png"]);
    assert!(set.warnings().contains(&Warning::Quarantined { count: 2 }));
    assert_eq!(set.example(1), Example::Image(&[2; 60]), "a/2.png moved up");
}

#[test]
fn a_jpeg_that_was_cut_is_not_filled_with_gray() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a/1.jpg", "a/2.jpg", "b/3.jpg"] {
        save(folder.path(), name, (64, 64), ImageFormat::Jpeg);
    }
    let whole = std::fs::read(folder.path().join("a/2.jpg")).unwrap();
    for length in [whole.len() - 2, whole.len() * 3 / 4] {
        write(folder.path(), "a/2.jpg", &whole[..length]);
        let set = Dataset::open(folder.path(), &Options::default()).unwrap();
        assert_eq!((set.len(), set.quarantine().len()), (2, 1), "cut to {length} of {} bytes", whole.len());
    }
}

#[test]
fn too_many_broken_images_stop_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    (0..4).for_each(|at| drop(write(folder.path(), &format!("a/{at}.jpg"), b"broken")));
    png(&folder.path().join("b"), "fine.png", [1; 3]);
    let limits = Limits { quarantine: 3, ..Limits::default() };
    let error = Dataset::open(folder.path(), &Options { limits, ..Options::default() }).unwrap_err();
    assert!(matches!(error, Error::Quarantine { limit: 3, .. }), "{error}");
    assert!(error.to_string().contains("a/0.jpg"), "{error}");
    assert!(error.hint().unwrap().contains("cleanest inspect"));
}

#[test]
fn images_can_come_without_classes() {
    let folder = tempfile::tempdir().unwrap();
    png(folder.path(), "1.png", [1; 3]);
    let error = Dataset::open(folder.path(), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Unlabeled { .. }), "{error}");
    let options = Options { labeling: Labeling::Absent, ..Options::default() };
    assert_eq!(Dataset::open(folder.path(), &options).unwrap().len(), 1);
}

#[cfg(unix)]
#[test]
fn a_folder_that_contains_itself_is_named() {
    let folder = tempfile::tempdir().unwrap();
    png(&folder.path().join("a"), "1.png", [1; 3]);
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/again")).unwrap();
    let error = Dataset::open(folder.path(), &Options::default()).unwrap_err();
    assert!(error.to_string().ends_with("a/again` contains itself through a link"), "{error}");
    let circle = folder.path().join("circle.csv");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    assert!(matches!(Dataset::open(&circle, &Options::default()), Err(Error::Loop { .. })));
}

#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    png(&folder.path().join("a"), "1.png", [1; 3]);
    png(&folder.path().join("b"), "1.png", [1; 3]);
    std::os::unix::fs::symlink("/nowhere/at/all.png", folder.path().join("a/2.png")).unwrap();
    let set = Dataset::open(folder.path(), &Options::default()).unwrap();
    assert_eq!((set.len(), set.quarantine().len()), (2, 1));
}
