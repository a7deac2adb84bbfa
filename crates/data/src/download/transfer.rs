//! One file from one address, over as many connections as it takes.

use super::{Progress, Remote, sha256};
use crate::Error;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

/// Connections that may be cut before the address is given up, if each brought something.
const MOST_CONNECTIONS: usize = 50;
/// How long an address may be silent.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fetches the file from `url` until it is whole, checks it, and puts it at `path`.
pub(super) fn transfer(
    url: &str,
    remote: &Remote<'_>,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let part = path.with_file_name(format!("{}.part", remote.name));
    let mut cut = None;
    for _ in 0..MOST_CONNECTIONS {
        let before = length(&part);
        if before >= remote.bytes {
            break;
        }
        match connect(url, remote, &part, before, progress) {
            Err(Error::Network { url, what }) if length(&part) > before => {
                cut = Some(Error::Network { url, what });
            }
            outcome => outcome?,
        }
    }
    let here = length(&part);
    if here < remote.bytes {
        let what = format!("{here} of {} bytes came", remote.bytes);
        return Err(cut.unwrap_or(Error::Network { url: url.into(), what }));
    }
    let found = sha256(&part)?;
    if found != remote.sha256 {
        std::fs::remove_file(&part).map_err(|source| Error::Write { path: part.clone(), source })?;
        return Err(Error::Checksum { url: url.into(), expected: remote.sha256.into(), found });
    }
    std::fs::rename(&part, path).map_err(|source| Error::Write { path: path.into(), source })
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |about| about.len())
}

/// One connection: asks for what is not here yet, and appends what comes.
fn connect(
    url: &str,
    remote: &Remote<'_>,
    part: &Path,
    have: u64,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let failed = |what: String| Error::Network { url: url.into(), what };
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE))
        .user_agent(concat!("cleanest/", env!("CARGO_PKG_VERSION")))
        .build();
    let mut request = config.new_agent().get(url);
    if have > 0 {
        request = request.header("range", format!("bytes={have}-"));
    }
    let answer = request.call().map_err(|error| failed(error.to_string()))?;
    let here = match answer.status().as_u16() {
        206 if begins_at(answer.headers(), have) => have,
        200 => 0,
        status => return Err(failed(format!("status {status}"))),
    };
    let mut file = open(part, here)?;
    progress.begin(remote.name, remote.bytes, here);
    copy(answer.into_body(), &mut file, (part, url), (here, remote.bytes), progress)
}

/// Whether a partial answer begins where the file here ends.
fn begins_at(headers: &ureq::http::HeaderMap, have: u64) -> bool {
    let range = headers.get("content-range").and_then(|value| value.to_str().ok()).unwrap_or_default();
    range.strip_prefix("bytes ").and_then(|range| range.split('-').next()) == Some(&have.to_string())
}

/// The file to append to, cut to what of it is kept.
fn open(part: &Path, keep: u64) -> Result<File, Error> {
    let failed = |source| Error::Write { path: part.into(), source };
    let file = OpenOptions::new().create(true).append(true).open(part).map_err(failed)?;
    file.set_len(keep).map_err(failed)?;
    Ok(file)
}

/// Writes what comes to the file, and not more than the file is long.
fn copy(
    body: ureq::Body,
    file: &mut File,
    (part, url): (&Path, &str),
    (mut here, bytes): (u64, u64),
    progress: &dyn Progress,
) -> Result<(), Error> {
    let failed = |what: String| Error::Network { url: url.into(), what };
    let mut reader = body.into_with_config().limit(u64::MAX).reader();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = reader.read(&mut buffer).map_err(|error| failed(error.to_string()))?;
        if count == 0 {
            break;
        }
        if here + count as u64 > bytes {
            // Longer than the published file: none of it can be trusted.
            file.set_len(0).map_err(|source| Error::Write { path: part.into(), source })?;
            return Err(failed(format!("more than the {bytes} bytes of the published file came")));
        }
        file.write_all(&buffer[..count]).map_err(|source| Error::Write { path: part.into(), source })?;
        here += count as u64;
        progress.reached(here);
    }
    if here < bytes {
        return Err(failed(format!("the connection ended after {here} of {bytes} bytes")));
    }
    Ok(())
}
