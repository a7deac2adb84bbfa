//! Archives unpacked with suspicion: files and folders only, and none outside.

use crate::Error;
use crate::image_files::inside;
use flate2::read::GzDecoder;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use tar::{Archive, EntryType};

/// The published archives hold less than a quarter of this.
const MOST_BYTES: u64 = 1 << 30;

/// Unpacks a `.tar.gz` into a folder.
pub(super) fn tar_gz(archive: &Path, into: &Path) -> Result<(), Error> {
    let damaged = |source: io::Error| Error::Compressed { path: archive.into(), source };
    let file = File::open(archive).map_err(|source| Error::io(archive, source))?;
    let reader = GzDecoder::new(io::BufReader::new(file)).take(MOST_BYTES);
    for entry in Archive::new(reader).entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = into.join(inside(archive, &name)?);
        let failed = |source: io::Error| Error::Write { path: path.clone(), source };
        match entry.header().entry_type() {
            EntryType::Directory => std::fs::create_dir_all(&path).map_err(failed)?,
            EntryType::Regular => {
                std::fs::create_dir_all(path.parent().unwrap_or(into)).map_err(failed)?;
                let mut file = File::create(&path).map_err(failed)?;
                io::copy(&mut entry, &mut file).map_err(failed)?;
            }
            EntryType::XGlobalHeader | EntryType::XHeader => {}
            // A link can lead anywhere.
            _ => return Err(Error::Outside { path: archive.into(), name }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};

    fn archive(folder: &Path, build: impl FnOnce(&mut tar::Builder<GzEncoder<File>>)) -> std::path::PathBuf {
        let path = folder.join("set.tar.gz");
        let encoder = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
        let mut builder = tar::Builder::new(encoder);
        build(&mut builder);
        builder.into_inner().unwrap().finish().unwrap();
        path
    }

    /// An entry whose name is written as it is, which the builder would refuse to do.
    fn raw(builder: &mut tar::Builder<GzEncoder<File>>, name: &str, kind: EntryType, link: Option<&str>) {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        if let Some(link) = link {
            header.set_link_name(link).unwrap();
        }
        header.set_size(0);
        header.set_cksum();
        builder.append(&header, io::empty()).unwrap();
    }

    #[test]
    fn files_are_unpacked_into_their_folders() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), |builder| {
            let mut header = tar::Header::new_gnu();
            header.set_size(3);
            builder.append_data(&mut header, "set/deep/a.bin", &b"abc"[..]).unwrap();
        });
        tar_gz(&path, folder.path()).unwrap();
        assert_eq!(std::fs::read(folder.path().join("set/deep/a.bin")).unwrap(), b"abc");
    }

    #[test]
    fn names_and_links_that_lead_outside_are_refused() {
        let names =
            [("../evil", EntryType::Regular), ("/etc/evil", EntryType::Regular), ("a", EntryType::Symlink)];
        for (name, kind) in names {
            let folder = tempfile::tempdir().unwrap();
            let link = (kind == EntryType::Symlink).then_some("/etc");
            let path = archive(folder.path(), |builder| raw(builder, name, kind, link));
            let error = tar_gz(&path, folder.path()).unwrap_err();
            assert!(error.to_string().ends_with(&format!("the name `{name}` leaves the folder")), "{error}");
        }
    }

    #[test]
    fn a_damaged_archive_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), |builder| raw(builder, "a", EntryType::Regular, None));
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert!(matches!(tar_gz(&path, folder.path()), Err(Error::Compressed { .. })));
    }
}
