//! Files that are there whole or not at all.

use crate::Error;
use cleanest_core::Matrix;
use cleanest_core::npy::{Element, Header};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Writes a file aside, makes sure it is on the disk, and moves it to its place.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".tmp");
    let aside = Path::new(&aside);
    let written = write_synced(aside, bytes).and_then(|()| std::fs::rename(aside, path));
    written.map_err(|source| {
        // What could not be finished is not left lying about; the first failure is the one to tell.
        let _ = std::fs::remove_file(aside);
        Error::Write { path: path.to_owned(), source }
    })?;
    path.parent().map_or(Ok(()), sync_folder).map_err(Error::write(path))
}

/// The same for a file that is written piece by piece.
pub(crate) fn write_gradually(
    path: &Path,
    write: impl FnOnce(&mut std::io::BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), Error> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".tmp");
    let aside = Path::new(&aside);
    let written = File::create(aside).and_then(|file| {
        let mut file = std::io::BufWriter::with_capacity(1 << 16, file);
        write(&mut file)?;
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(aside, path)
    });
    written.map_err(|source| {
        let _ = std::fs::remove_file(aside);
        Error::Write { path: path.to_owned(), source }
    })?;
    path.parent().map_or(Ok(()), sync_folder).map_err(Error::write(path))
}

/// Probabilities as the bytes of an npy file of f4.
pub(crate) fn npy_of(probabilities: &Matrix) -> Vec<u8> {
    let mut bytes = Header::write(Element::F32, &[probabilities.rows(), probabilities.columns()]);
    bytes.extend(probabilities.values().iter().flat_map(|&p| (p as f32).to_le_bytes()));
    bytes
}

/// Writes a file and waits until it is on the disk.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    // Windows has no way to do this, and does not need one.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
