//! What GPUs talk to each other with: NCCL, looked for when it is first needed.
//!
//! Its functions are named here rather than taken from `cudarc`, which does not know the name its file has (`libnccl.so.2`)
//! and would end the program where it is missing. There are few, and they have not changed since NCCL 2.11.

use std::ffi::{CStr, c_char, c_int, c_void};

use libloading::{Library, Symbol};

use super::library;
use crate::Error;

/// What the first worker makes and all begin with.
pub(crate) type Id = [u8; 128];

/// An [`Id`] as it is handed over.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UniqueId {
    pub(super) bytes: Id,
}

/// Kinds of numbers, as NCCL counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Byte = 1,
    Single = 7,
    Double = 8,
    Half = 9,
}

const INVALID_USAGE: c_int = 5;
pub(super) const SUM: c_int = 0;
/// A factor that is read at once, from the host.
pub(super) const IMMEDIATE: c_int = 1;

pub(super) type Handle = *mut c_void;

/// The functions of the library.
#[derive(Debug)]
pub(super) struct Functions {
    id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    pub(super) begin: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int,
    pub(super) end: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) all_reduce:
        unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, Handle, Handle) -> c_int,
    pub(super) all_gather:
        unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, Handle, Handle) -> c_int,
    pub(super) weighted: unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, c_int, Handle) -> c_int,
    pub(super) forget: unsafe extern "C" fn(c_int, Handle) -> c_int,
    sentence: unsafe extern "C" fn(c_int) -> *const c_char,
}

impl Functions {
    /// Finds them.
    pub(super) fn load() -> Result<Self, Error> {
        let library = Box::leak(Box::new(library::NCCL.open()?));
        // SAFETY: the types are those of `nccl.h`, and the library is never unloaded.
        unsafe {
            Ok(Self {
                id: *named(library, b"ncclGetUniqueId\0")?,
                begin: *named(library, b"ncclCommInitRank\0")?,
                end: *named(library, b"ncclCommDestroy\0")?,
                all_reduce: *named(library, b"ncclAllReduce\0")?,
                all_gather: *named(library, b"ncclAllGather\0")?,
                weighted: *named(library, b"ncclRedOpCreatePreMulSum\0")?,
                forget: *named(library, b"ncclRedOpDestroy\0")?,
                sentence: *named(library, b"ncclGetErrorString\0")?,
            })
        }
    }

    pub(super) fn checked(&self, call: &'static str, code: c_int) -> Result<(), Error> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the library answers every code with a text that stays.
        let text = unsafe { CStr::from_ptr((self.sentence)(code)) };
        // What it answers, above all, when two workers have the same GPU.
        let more = if code == INVALID_USAGE { "; every worker needs a GPU of its own" } else { "" };
        Err(Error::Cuda { call, problem: format!("NCCL says: {}{more}", text.to_string_lossy()) })
    }
}

/// A function by its name.
///
/// # Safety
/// It must have this type.
unsafe fn named<'a, T>(library: &'a Library, name: &[u8]) -> Result<Symbol<'a, T>, Error> {
    // SAFETY: what the caller promises.
    unsafe { library.get(name) }
        .map_err(|problem| Error::Cuda { call: "looking for NCCL", problem: problem.to_string() })
}

/// Whether NCCL is on this machine.
pub(crate) fn present() -> Result<(), Error> {
    Ok(library::NCCL.load()?)
}

/// What all workers begin with; one of them makes it.
pub(crate) fn new_id() -> Result<Id, Error> {
    let functions = Functions::load()?;
    let mut id = UniqueId { bytes: [0; 128] };
    // SAFETY: there is room for it.
    functions.checked("making an id", unsafe { (functions.id)(&raw mut id) })?;
    Ok(id.bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nccl_is_missing_a_sentence_says_so() {
        match present() {
            Ok(()) => assert!(Functions::load().is_ok()),
            Err(missing) => {
                let said = missing.to_string();
                assert!(said.starts_with("NCCL was not found: looked for libnccl.so.2"), "{said}");
            }
        }
    }
}
