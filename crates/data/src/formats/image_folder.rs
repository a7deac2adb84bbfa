//! Folders of images: a sub-folder for each class, or a list that says which image is what.
//!
//! A folder with `train` and `test` (or `val`) in it is a set in two parts. One image is a set without labels.

use super::Format;
use crate::image_files::{self, Listing, image_in, inside, is_image};
use crate::labels::{Labels, Raw, read_beside};
use crate::table::{self, Codes, Request};
use crate::{Dataset, Error, Labeling, Options, Part, Warning};
use std::path::{Path, PathBuf};

/// Lists of images and labels, by the names they usually have.
const LISTS: [&str; 3] = ["metadata.csv", "metadata.jsonl", "metadata.parquet"];
/// Folders of a test part, the first one that is there.
const TESTS: [&str; 4] = ["test", "val", "valid", "validation"];

pub(super) const FORMAT: Format = Format {
    name: "image-folder",
    about: "JPEG, PNG, WebP, TIFF, BMP, GIF, PNM images: a folder with one for each class or a list metadata.csv|jsonl|parquet",
    recognizes: |path| is_one(path) || path.is_dir() && (list(path).is_some() || image_in(path)),
    has_test: |path| test_folder(path).is_some(),
    self_contained: false,
    read,
};

fn read(path: &Path, part: Part, options: &Options) -> Result<Dataset, Error> {
    let folder = match (test_folder(path), part) {
        (None, _) if is_one(path) => path.parent().unwrap_or(Path::new("")).to_path_buf(),
        (None, _) => path.to_path_buf(),
        (Some(_), Part::Train) => path.join("train"),
        (Some(test), Part::Test) => test,
    };
    let (files, labels, mut warnings) = if is_one(path) {
        labeled(&folder, Listing::one(path), options)?
    } else if let Some(list) = list(&folder) {
        listed(&list, options)?
    } else {
        labeled(&folder, Listing::of(&folder, &options.limits)?, options)?
    };
    if files.is_empty() {
        return Err(Error::Empty { path: folder });
    }
    let decoded = image_files::decode(&folder, &files, options)?;
    let labels = if labels.is_empty() { labels } else { labels.select(&decoded.kept) };
    warnings.extend(decoded.warnings);
    let set = Dataset::new(FORMAT.name, decoded.examples, labels).with_origin(decoded.origin);
    Ok(set.with_quarantine(decoded.quarantine).with_warnings(warnings))
}

/// The folder of the test part, if there are two parts.
fn test_folder(path: &Path) -> Option<PathBuf> {
    let holds_folders = |folder: &Path| {
        let entries = std::fs::read_dir(folder).ok()?;
        entries.flatten().any(|entry| entry.path().is_dir()).then_some(())
    };
    let is_part = |folder: &Path| list(folder).is_some() || holds_folders(folder).is_some();
    let test = TESTS.iter().map(|name| path.join(name)).find(|folder| is_part(folder))?;
    is_part(&path.join("train")).then_some(test)
}

/// Whether it is an image, not a folder.
fn is_one(path: &Path) -> bool {
    is_image(path) && path.is_file()
}

fn list(folder: &Path) -> Option<PathBuf> {
    LISTS.iter().map(|name| folder.join(name)).find(|file| file.is_file())
}

/// The images that were found in a folder, and their labels.
fn labeled(
    folder: &Path,
    listing: Listing,
    options: &Options,
) -> Result<(Vec<PathBuf>, Labels, Vec<Warning>), Error> {
    let warnings = listing.warning().into_iter().collect();
    let labels = match (options.labeling, &options.labels) {
        (Labeling::Absent, _) => Labels::absent(options)?,
        (_, Some(file)) => read_beside(file, listing.files.len(), options)?,
        _ => by_folder(folder, &listing.files)?.resolve(folder, options.classes.as_deref())?,
    };
    Ok((listing.files, labels, warnings))
}

/// The label of each image is the folder it lies in, seen from the top.
fn by_folder(folder: &Path, files: &[PathBuf]) -> Result<Raw, Error> {
    let mut codes = Codes::default();
    for file in files {
        let mut parts = file.components();
        let class = parts.next().filter(|_| parts.next().is_some());
        let class = class.and_then(|class| class.as_os_str().to_str());
        let class = class.ok_or_else(|| Error::Unlabeled { path: folder.join(file) })?;
        codes.push(class.as_bytes());
    }
    Ok(Raw::texts(codes))
}

/// Images and labels as a list has them.
fn listed(list: &Path, options: &Options) -> Result<(Vec<PathBuf>, Labels, Vec<Warning>), Error> {
    let mut table = table::read(list, Request::Texts("file_name"), options)?;
    let names = table.categories.remove(0);
    let files = (0..names.rows.len()).map(|row| inside(list, names.text(row).unwrap_or_default()));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let labels = match (options.labeling, &options.labels) {
        (Labeling::Absent, _) => Labels::absent(options)?,
        (_, Some(file)) => read_beside(file, files.len(), options)?,
        _ => Raw::texts(table.labels).resolve(list, options.classes.as_deref())?,
    };
    Ok((files, labels, Vec::new()))
}
