//! Published sets, fetched from where they are given out.
//!
//! A file is fetched into a `.part` beside its place, goes on where an earlier attempt was cut, and gets its name only
//! once its sha256 is the published one.

mod catalog;
mod transfer;
mod unpack;

pub use catalog::{SETS, Set, set};

use crate::Error;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A file that is given out somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Remote<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its length.
    pub bytes: u64,
    /// Its sha256, in hexadecimal digits.
    pub sha256: &'a str,
}

/// Who is told how far a download is.
pub trait Progress {
    /// A file of so many bytes begins, some of which are here already.
    fn begin(&self, name: &str, bytes: u64, here: u64);
    /// So many bytes of it are here now.
    fn reached(&self, here: u64);
    /// Something a user may want to know: a mirror that failed, a file that was here already.
    fn note(&self, text: &str);
}

/// Fetches a set into a folder of its own under `into`, and gives that folder. What is there already and right is
/// left alone. `mirrors` are asked before those that are known.
pub fn get(set: &Set, into: &Path, mirrors: &[String], progress: &dyn Progress) -> Result<PathBuf, Error> {
    let folder = into.join(set.folder);
    if set.unpacked.is_empty() {
        for remote in set.files {
            fetch(remote, &folder, &addresses(set, mirrors, remote), progress)?;
        }
        return Ok(folder);
    }
    let here = |file: &Remote<'_>| is_right(&folder.join(file.name), file).unwrap_or(false);
    if set.unpacked.iter().all(here) {
        progress.note(&format!("{} is here already", set.name));
        return Ok(folder);
    }
    for remote in set.files {
        let archive = fetch(remote, into, &addresses(set, mirrors, remote), progress)?;
        unpack::tar_gz(&archive, into)?;
        std::fs::remove_file(&archive).map_err(|source| Error::Write { path: archive, source })?;
    }
    Ok(folder)
}

fn addresses(set: &Set, mirrors: &[String], remote: &Remote<'_>) -> Vec<String> {
    let known = set.mirrors.iter().map(|&mirror| mirror.to_owned());
    let all = mirrors.iter().cloned().chain(known);
    all.map(|mirror| format!("{}/{}", mirror.trim_end_matches('/'), remote.name)).collect()
}

/// Fetches one file into a folder from the first address that gives it whole and right.
pub fn fetch(
    remote: &Remote<'_>,
    folder: &Path,
    addresses: &[String],
    progress: &dyn Progress,
) -> Result<PathBuf, Error> {
    let path = folder.join(remote.name);
    if is_right(&path, remote)? {
        progress.note(&format!("{} is here already", remote.name));
        return Ok(path);
    }
    std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.into(), source })?;
    let mut last = Error::Network { url: remote.name.into(), what: "no address is known".into() };
    for url in addresses {
        match transfer::transfer(url, remote, &path, progress) {
            Ok(()) => return Ok(path),
            Err(error @ Error::Write { .. }) => return Err(error),
            Err(error) => {
                progress.note(&error.to_string());
                last = error;
            }
        }
    }
    Err(last)
}

/// Whether the file is there, of the published length and sha256.
fn is_right(path: &Path, remote: &Remote<'_>) -> Result<bool, Error> {
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() && about.len() == remote.bytes => Ok(sha256(path)? == remote.sha256),
        _ => Ok(false),
    }
}

/// The sha256 of a file, in hexadecimal digits.
fn sha256(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::io(path, source);
    let mut file = File::open(path).map_err(failed)?;
    let (mut sum, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => break,
            count => sum.update(&buffer[..count]),
        }
    }
    Ok(crate::Fingerprint(sum.finalize().into()).to_string())
}
