//! Which image files a folder holds.

use crate::{Error, Limits, Warning};
use std::path::{Component, Path, PathBuf};

/// Endings of the names of images that can be decoded.
const EXTENSIONS: [&str; 12] =
    ["jpg", "jpeg", "png", "webp", "bmp", "gif", "tif", "tiff", "ppm", "pgm", "pbm", "pnm"];

/// The images under a folder, in the order of their names, and what else lies there.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// The images, named from the folder.
    pub(crate) files: Vec<PathBuf>,
    passed_over: usize,
    example: Option<PathBuf>,
}

impl Listing {
    /// Lists the images under `folder`, at any depth; links are followed.
    pub(crate) fn of(folder: &Path, limits: &Limits) -> Result<Self, Error> {
        let mut listing = Self::default();
        listing.walk(folder, Path::new(""), &mut Vec::new(), limits)?;
        Ok(listing)
    }

    /// A single image, named from the folder it lies in.
    pub(crate) fn one(path: &Path) -> Self {
        Self { files: path.file_name().map(PathBuf::from).into_iter().collect(), ..Self::default() }
    }

    fn walk(
        &mut self,
        root: &Path,
        inside: &Path,
        above: &mut Vec<PathBuf>,
        limits: &Limits,
    ) -> Result<(), Error> {
        let folder = root.join(inside);
        let real = folder.canonicalize().map_err(|source| Error::io(&folder, source))?;
        if above.contains(&real) {
            return Err(Error::Loop { path: folder });
        }
        above.push(real);
        for name in names(&folder)? {
            let (path, inside) = (folder.join(&name), inside.join(&name));
            if path.is_dir() {
                self.walk(root, &inside, above, limits)?;
            } else if is_image(&path) {
                self.files.push(inside);
            } else if !name.starts_with('.') {
                self.passed_over += 1;
                self.example.get_or_insert(inside);
            }
            if self.files.len() > limits.rows {
                return Err(Error::TooManyRows { path: root.into(), limit: limits.rows });
            }
        }
        above.pop();
        Ok(())
    }

    /// What to say of the files that are no images.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let example = self.example.as_ref()?.to_string_lossy().into_owned();
        Some(Warning::PassedOver { count: self.passed_over, example })
    }
}

/// The names in a folder, sorted. Names that are not Unicode are no names of ours.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let failed = |source| Error::io(folder, source);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether it is named like an image.
pub(crate) fn is_image(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Whether a folder looks as if images were in it: one is there, or a folder that may hold some.
pub(crate) fn image_in(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| is_image(&entry.path()) || entry.path().is_dir())
}

/// The name of a file in a folder, unless it leads out of it.
pub(crate) fn inside(list: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = Path::new(name);
    let stays = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if stays && !name.is_empty() {
        return Ok(path.into());
    }
    Err(Error::Outside { path: list.into(), name: crate::table::shown(name.as_bytes()) })
}
