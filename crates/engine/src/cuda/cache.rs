//! What was found out once and is true on the next start: compiled kernels, and the fastest plans.
//!
//! The folder is `CLEANEST_CACHE`, or `cleanest` in the user's cache folder. Whatever cannot be read or written is
//! computed anew: a cache is never a reason to fail.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The folder, if there is a place for one.
fn folder() -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("CLEANEST_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("cleanest")))
        .or_else(|| variable("HOME").map(|home| home.join(".cache").join("cleanest")))
}

/// A file of the cache.
pub(super) fn read(name: &str) -> Option<Vec<u8>> {
    fs::read(folder()?.join(name)).ok()
}

/// Keeps a file; readers see the old one or the new one, and no half of either.
pub(super) fn write(name: &str, bytes: &[u8]) {
    let Some(folder) = folder() else { return };
    let aside = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let kept = fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&aside, bytes))
        .and_then(|()| fs::rename(&aside, folder.join(name)));
    if kept.is_err() {
        let _ = fs::remove_file(Path::new(&aside));
    }
}

/// FNV-1a over some texts: a name for what was made from them.
pub(super) fn digest<'a>(texts: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = texts.into_iter().flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A name that can be a file's.
pub(super) fn file_name(text: &str) -> String {
    let kept = |letter: char| if letter.is_ascii_alphanumeric() || letter == '.' { letter } else { '-' };
    text.chars().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_sources_have_another_name() {
        assert_ne!(digest(["a", "b"]), digest(["ab"]));
        assert_ne!(digest(["a"]), digest(["b"]));
        assert_eq!(file_name("NVIDIA H200 / 9.14"), "NVIDIA-H200---9.14");
    }
}
