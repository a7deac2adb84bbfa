//! Clothing1M as it is given out: lists of images, lists of labels, and a tree of JPEG files.
//!
//! The training part is the million images with the labels of the web shops they came from; the test part those that
//! people looked at for that purpose. Xiao, Xia, Yang, Huang and Wang, "Learning from massive noisy labeled data for
//! image classification", CVPR 2015.

use super::Format;
use crate::image_files::{self, inside};
use crate::labels::{Classes, Labels};
use crate::{Dataset, Error, Labeling, Options, Part, source, table};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The classes, where the folder has no file of their names.
const CLASSES: [&str; 14] = [
    "T-Shirt", "Shirt", "Knitwear", "Chiffon", "Sweater", "Hoodie", "Windbreaker", "Jacket", "Down Coat", "Suit",
    "Shawl", "Dress", "Vest", "Underwear",
];
/// The file of their names.
const NAMES: &str = "category_names_eng.txt";
/// Folders the lists may lie in, seen from the top.
const PLACES: [&str; 2] = ["", "annotations"];
/// What every published name of an image begins with.
const TREE: &str = "images/";

pub(super) const FORMAT: Format = Format {
    name: "clothing1m",
    about: "the folder of Clothing1M: noisy_train_key_list.txt, noisy_label_kv.txt and images/, as given out",
    recognizes: |path| Lists::of(path, Part::Train).is_some(),
    has_test: |path| Lists::of(path, Part::Test).is_some(),
    self_contained: true,
    read,
};

/// The two lists of a part.
struct Lists {
    keys: PathBuf,
    labels: PathBuf,
    names: PathBuf,
}

impl Lists {
    /// The lists of a part, if the folder has them.
    fn of(folder: &Path, part: Part) -> Option<Self> {
        let (keys, labels) = match part {
            Part::Train => ("noisy_train_key_list.txt", "noisy_label_kv.txt"),
            Part::Test => ("clean_test_key_list.txt", "clean_label_kv.txt"),
        };
        let place = |place: &&&str| folder.join(place).join(keys).is_file();
        let place = folder.join(PLACES.iter().find(place)?);
        Some(Self { keys: place.join(keys), labels: place.join(labels), names: place.join(NAMES) })
    }
}

fn read(path: &Path, part: Part, options: &Options) -> Result<Dataset, Error> {
    let lists = Lists::of(path, part).ok_or_else(|| Error::NoTestPart { path: path.into() })?;
    let text = text(&lists.keys, options)?;
    let keys: Vec<&str> = text.lines().map(str::trim).filter(|key| !key.is_empty()).collect();
    if keys.len() > options.limits.rows {
        return Err(Error::TooManyRows { path: lists.keys, limit: options.limits.rows });
    }
    let labels = match options.labeling {
        Labeling::Absent => Labels::absent(options)?,
        Labeling::Required => labels(&lists, &keys, options)?.listed_as(path, options.classes.as_deref())?,
    };
    // Some unpack the ten folders of images without the folder around them.
    let bare = !path.join(TREE).is_dir();
    let file = |key: &&str| inside(&lists.keys, if bare { key.strip_prefix(TREE).unwrap_or(key) } else { key });
    let files = keys.iter().map(file).collect::<Result<Vec<_>, _>>()?;
    if files.is_empty() {
        return Err(Error::Empty { path: lists.keys });
    }
    let decoded = image_files::decode(path, &files, options)?;
    let labels = if labels.is_empty() { labels } else { labels.select(&decoded.kept) };
    let set = Dataset::new(FORMAT.name, decoded.examples, labels).with_origin(decoded.origin);
    Ok(set.with_quarantine(decoded.quarantine).with_warnings(decoded.warnings))
}

/// The label of each key.
fn labels(lists: &Lists, keys: &[&str], options: &Options) -> Result<Labels, Error> {
    let names = class_names(&lists.names, options)?;
    let text = text(&lists.labels, options)?;
    let mut known: HashMap<&str, u32> = HashMap::with_capacity(keys.len());
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let found = line.trim().rsplit_once(char::is_whitespace);
        let pair = found.and_then(|(key, label)| Some((key.trim_end(), label.parse::<i64>().ok()?)));
        let (path, row) = (lists.labels.clone(), at + 1);
        let Some((key, label)) = pair else {
            return Err(Error::KeyAndLabel { path, row, found: table::shown(line.as_bytes()) });
        };
        let classes = names.len();
        let in_range = u32::try_from(label).ok().filter(|&label| (label as usize) < classes);
        known.insert(key, in_range.ok_or(Error::LabelRange { path, row, found: label, classes })?);
    }
    let label = |(at, key): (usize, &&str)| {
        known.get(key).copied().ok_or_else(|| Error::KeyWithoutLabel {
            path: lists.keys.clone(),
            row: at + 1,
            key: table::shown(key.as_bytes()),
            labels: lists.labels.clone(),
        })
    };
    let indices = keys.iter().enumerate().map(label).collect::<Result<_, _>>()?;
    Ok(Labels::new(indices, Classes::new(names)?))
}

/// The names of the fourteen classes: the file's, or the published ones.
fn class_names(path: &Path, options: &Options) -> Result<Vec<String>, Error> {
    if !path.is_file() {
        return Ok(CLASSES.map(str::to_owned).to_vec());
    }
    let text = text(path, options)?;
    let names: Vec<String> = text.lines().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if names.len() != CLASSES.len() {
        return Err(Error::ClassNames { path: path.into(), expected: CLASSES.len(), found: names.len() });
    }
    Ok(names)
}

/// A list as text; a name that is not Unicode is shown as far as it can be, and will not be found.
fn text(path: &Path, options: &Options) -> Result<String, Error> {
    let bytes = source::whole(path, &options.limits)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
