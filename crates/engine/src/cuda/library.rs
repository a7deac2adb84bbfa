//! The libraries of NVIDIA: looked for when the program runs, so that it starts on a machine without them.
//!
//! A library is looked for by its name, where the system looks, and then in the folders that CUDA and Python's packages
//! put it in. Once it is loaded from anywhere, the bindings find it by its name.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    thread,
};

use libloading::Library;
use memmap2::{Advice, Mmap};

use super::Unavailable;

/// A library that is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// What a person calls it.
    pub(super) what: &'static str,
    /// File names that will do, the best first.
    pub(super) names: &'static [&'static str],
    /// Files beside it that it looks for itself.
    beside: &'static [&'static str],
}

/// The driver, which comes with the GPU.
pub(super) const DRIVER: Wanted =
    Wanted { what: "the NVIDIA driver", names: &["libcuda.so.1", "libcuda.so"], beside: &[] };

/// The compiler of our kernels.
pub(super) const NVRTC: Wanted = Wanted {
    what: "NVRTC",
    names: &["libnvrtc.so.13", "libnvrtc.so"],
    beside: &["libnvrtc-builtins.so.13.0", "libnvrtc-builtins.so.13.1", "libnvrtc-builtins.so.13.2"],
};

/// Products of matrices.
pub(super) const CUBLAS: Wanted =
    Wanted { what: "cuBLAS", names: &["libcublas.so.13", "libcublas.so"], beside: &["libcublasLt.so.13"] };

/// Convolutions.
pub(super) const CUDNN: Wanted = Wanted {
    what: "cuDNN",
    names: &["libcudnn.so.9", "libcudnn.so"],
    beside: &[
        "libcudnn_graph.so.9",
        "libcudnn_ops.so.9",
        "libcudnn_engines_precompiled.so.9",
        "libcudnn_engines_runtime_compiled.so.9",
        "libcudnn_heuristic.so.9",
        "libcudnn_cnn.so.9",
    ],
};

/// What GPUs talk to each other with. Only several workers need it.
pub(super) const NCCL: Wanted = Wanted { what: "NCCL", names: &["libnccl.so.2", "libnccl.so"], beside: &[] };

/// All that a GPU needs, in the order they are needed.
pub(super) const ALL: [Wanted; 4] = [DRIVER, NVRTC, CUBLAS, CUDNN];

impl Wanted {
    /// The library by one of its names, once it is loaded.
    pub(super) fn open(&self) -> Result<Library, Unavailable> {
        self.load()?;
        // SAFETY: it is loaded already, so that nothing is initialized.
        let found = self.names.iter().find_map(|&name| unsafe { Library::new(name) }.ok());
        found.ok_or_else(|| Unavailable::Library { what: self.what, names: Vec::new(), places: Vec::new() })
    }

    /// Loads the library for as long as the program runs.
    pub(super) fn load(&self) -> Result<(), Unavailable> {
        if self.names.iter().any(|name| keep(name.as_ref())) {
            self.read_ahead();
            return Ok(());
        }
        let folders = folders();
        for folder in &folders {
            let found = |name: &&&str| folder.join(name).is_file();
            if let Some(name) = self.names.iter().find(found) {
                // Some libraries open others by name alone: those have to be there already.
                self.beside.iter().for_each(|beside| _ = keep(&folder.join(beside)));
                if keep(&folder.join(name)) {
                    return Ok(());
                }
            }
        }
        let folders = folders.iter().map(|folder| folder.display().to_string());
        Err(Unavailable::Library {
            what: self.what,
            names: self.names.iter().map(|&name| name.to_owned()).collect(),
            places: ["the system's folders".to_owned()].into_iter().chain(folders).collect(),
        })
    }
}

impl Wanted {
    /// Has the system read what the library will open later, beside what comes next: after a fresh start of the machine
    /// that is half a gigabyte from the disk.
    fn read_ahead(&self) {
        let Some(folder) = self.names.iter().find_map(|name| folder_of(name)) else { return };
        for file in self.beside.iter().map(|beside| folder.join(beside)) {
            thread::spawn(move || {
                let Ok(file) = std::fs::File::open(file) else { return };
                // SAFETY: the mapping is never read, so it does not matter what happens to the file.
                let mapped = unsafe { Mmap::map(&file) };
                _ = mapped.and_then(|mapped| mapped.advise(Advice::WillNeed));
            });
        }
    }
}

/// The folder a loaded library lies in, as the system tells.
fn folder_of(name: &str) -> Option<PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path =
        maps.lines().find_map(|line| line.split_whitespace().nth(5).filter(|path| path.contains(name)))?;
    Path::new(path).parent().map(Path::to_owned)
}

/// Loads a file and never lets go of it.
fn keep(file: &Path) -> bool {
    // SAFETY: what is named here is a library of NVIDIA, whose initialization does nothing we depend on.
    unsafe { Library::new(file) }.map(std::mem::forget).is_ok()
}

/// Where CUDA's libraries lie when the system does not know of them.
fn folders() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let mut folders = Vec::new();
    for root in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable) {
        folders.push(PathBuf::from(root).join("lib64"));
    }
    folders.push(PathBuf::from("/usr/local/cuda/lib64"));
    for environment in ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable) {
        folders.extend(python_folders(&PathBuf::from(environment)));
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

/// The folders in which Python's packages of NVIDIA keep their libraries.
fn python_folders(environment: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let read = std::fs::read_dir(folder).into_iter().flatten();
        let mut found: Vec<PathBuf> = read.filter_map(|entry| Some(entry.ok()?.path())).collect();
        found.sort();
        found
    };
    let versions = entries(&environment.join("lib"));
    let packages = versions.iter().map(|version| version.join("site-packages").join("nvidia"));
    packages.flat_map(|packages| entries(&packages)).map(|package| package.join("lib")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_nowhere_is_named_with_where_it_was_looked_for() {
        let wanted = Wanted { what: "nothing", names: &["libcleanest-nothing.so.1"], beside: &[] };
        let error = wanted.load().unwrap_err();
        let sentence = error.to_string();
        assert!(
            sentence.starts_with(
                "nothing was not found: looked for libcleanest-nothing.so.1 in the system's folders"
            ),
            "{sentence}"
        );
    }

    #[test]
    fn the_folders_of_python_packages_are_looked_into() {
        let root = std::env::temp_dir().join(format!("cleanest-folders-{}", std::process::id()));
        let folder = root.join("lib/python3.12/site-packages/nvidia/cudnn/lib");
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(python_folders(&root), [folder]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
