//! How a command ends when it does not succeed.

use anyhow::Error;
use cleanest::peers;
use std::io::ErrorKind;
use std::process::ExitCode;

/// The command failed at something that was asked rightly.
const FAILED: u8 = 1;
/// The command was asked wrongly: a flag, a file or a setting is to be mended.
const WRONG_USE: u8 = 2;

/// Says on stderr what went wrong and, where one is known, the cure; the exit code says whose turn it is.
pub(crate) fn report(error: &Error) -> ExitCode {
    if reader_left(error) {
        return ExitCode::SUCCESS;
    }
    if let Some(signal) = error.downcast_ref().and_then(cleanest::Error::signal) {
        // All workers stop at the same step, and one says so.
        if peers::joined().is_none_or(|group| group.is_first()) {
            eprintln!("{error}");
        }
        peers::leave();
        return ExitCode::from(128 + signal as u8);
    }
    let code = if error.chain().any(is_wrong_use) { WRONG_USE } else { FAILED };
    ExitCode::from(peers::fail(code, |worker| {
        let worker = worker.map_or(String::new(), |worker| format!("{worker}: "));
        eprintln!("error: {worker}{}", sentence(error));
        if let Some(hint) = error.chain().find_map(hint) {
            eprintln!("hint: {hint}");
        }
    }))
}

/// The error and what caused it, each thing said once: a library's error may already quote its cause.
fn sentence(error: &Error) -> String {
    let mut said = String::new();
    for cause in error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        if !said.contains(&cause) {
            said = if said.is_empty() { cause } else { format!("{said}: {cause}") };
        }
    }
    said
}

/// `cleanest ... | head` closes the pipe early, and that is no failure.
fn reader_left(error: &Error) -> bool {
    let broken = |io: &std::io::Error| io.kind() == ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref().is_some_and(broken))
}

fn hint(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
    let core = cause.downcast_ref::<cleanest_core::Error>().and_then(cleanest_core::Error::hint);
    let run = cause.downcast_ref::<cleanest::Error>().and_then(cleanest::Error::hint);
    core.or(run).or_else(|| cause.downcast_ref::<cleanest_data::Error>().and_then(cleanest_data::Error::hint))
}

fn is_wrong_use(cause: &(dyn std::error::Error + 'static)) -> bool {
    let data = cause.downcast_ref::<cleanest_data::Error>();
    let core = cause.downcast_ref::<cleanest_core::Error>().is_some_and(cleanest_core::Error::is_wrong_use);
    let run = cause.downcast_ref::<cleanest::Error>().is_some_and(cleanest::Error::is_wrong_use);
    core || run
        || cause.is::<crate::commands::WrongUse>()
        || data.is_some_and(cleanest_data::Error::is_wrong_use)
}
