//! Downloads, from a server on this machine that does what servers do: answer, break off, lie.

use cleanest_data::Error;
use cleanest_data::download::{Progress, Remote, SETS, Set, fetch, get, set};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The sha256 of `content()`, by `sha256sum`.
const SHA256: &str = "2c4085b1ab9817526311b5a5b04451140dc922067c6922a59a77e1503918357b";

/// What the server does with its n-th connection.
#[derive(Clone, Copy)]
enum Turn {
    /// Answers, with a range if it was asked for one.
    Whole,
    /// Breaks off after so many bytes of the body.
    CutAfter(usize),
    /// Answers with everything, whatever was asked for.
    IgnoresRange,
    /// Answers so.
    Status(u16),
    /// Gives other bytes of the same length.
    Lies,
    /// Goes on after the end.
    TooMuch,
}

/// The first byte each connection asked for, if it asked for less than everything.
type Ranges = Vec<Option<usize>>;

/// A server that knows one file; it lives until the test ends.
struct Server {
    url: String,
    /// The range each connection asked for.
    asked: Arc<Mutex<Ranges>>,
}

fn content() -> Vec<u8> {
    (0..200_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

impl Server {
    fn start(turns: Vec<Turn>) -> Self {
        Self::of(content(), turns)
    }

    fn of(file: Vec<u8>, turns: Vec<Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/set.bin", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for turn in turns {
                let (connection, _) = listener.accept().unwrap();
                answer(connection, turn, file.clone(), &seen);
            }
        });
        Self { url, asked }
    }
}

fn answer(mut connection: TcpStream, turn: Turn, mut body: Vec<u8>, seen: &Mutex<Ranges>) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap() == 1 {
        request.push(byte[0]);
    }
    let request = String::from_utf8(request).unwrap().to_ascii_lowercase();
    let range =
        request.split("range: bytes=").nth(1).map(|rest| rest.split('-').next().unwrap().parse().unwrap());
    // Noted before the answer: who has the answer may look at the notes.
    seen.lock().unwrap().push(range);
    let (status, start, sent) = match turn {
        Turn::Status(status) => (status, 0, 0),
        Turn::IgnoresRange => (200, 0, usize::MAX),
        Turn::CutAfter(sent) => (if range.is_some() { 206 } else { 200 }, range.unwrap_or(0), sent),
        _ => (if range.is_some() { 206 } else { 200 }, range.unwrap_or(0), usize::MAX),
    };
    match turn {
        Turn::Lies => body.iter_mut().for_each(|byte| *byte ^= 1),
        Turn::TooMuch => body.extend([0; 1000]),
        _ => {}
    }
    let body = &body[start..];
    let end = start + body.len() - 1;
    let about = format!("content-length: {}\r\ncontent-range: bytes {start}-{end}/200000\r\n", body.len());
    write!(connection, "HTTP/1.1 {status} So\r\nconnection: close\r\n{about}\r\n").unwrap();
    let _ = connection.write_all(&body[..sent.min(body.len())]);
}

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Progress for Notes {
    fn begin(&self, _: &str, _: u64, _: u64) {}
    fn reached(&self, _: u64) {}
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

fn remote(sha256: &str) -> Remote<'_> {
    Remote { name: "set.bin", bytes: 200_000, sha256 }
}

/// Fetches from a server with these turns; gives the outcome and the ranges that were asked for.
fn fetched(turns: &[&[Turn]], sha256: &str) -> (Result<Vec<u8>, Error>, Vec<Ranges>) {
    let folder = tempfile::tempdir().unwrap();
    let servers: Vec<Server> = turns.iter().map(|turns| Server::start(turns.to_vec())).collect();
    let addresses: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
    let outcome = fetch(&remote(sha256), folder.path(), &addresses, &Notes::default());
    let bytes = outcome.map(|path| std::fs::read(path).unwrap());
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert!(bytes.is_err() || left == 1, "no part is left beside the file");
    (bytes, servers.iter().map(|server| server.asked.lock().unwrap().clone()).collect())
}

#[test]
fn a_file_is_fetched_and_checked() {
    let (bytes, asked) = fetched(&[&[Turn::Whole]], SHA256);
    assert_eq!(bytes.unwrap(), content());
    assert_eq!(asked, [[None]]);
}

#[test]
fn a_cut_connection_is_taken_up_where_it_broke() {
    let turns = [Turn::CutAfter(70_000), Turn::CutAfter(30_000), Turn::Whole];
    let (bytes, asked) = fetched(&[&turns], SHA256);
    assert_eq!(bytes.unwrap(), content());
    assert_eq!(asked, [[None, Some(70_000), Some(100_000)]]);
}

#[test]
fn a_server_that_knows_no_ranges_starts_again() {
    let (bytes, _) = fetched(&[&[Turn::CutAfter(70_000), Turn::IgnoresRange]], SHA256);
    assert_eq!(bytes.unwrap(), content());
}

#[test]
fn another_mirror_goes_on_with_what_the_first_gave() {
    let first = [Turn::CutAfter(70_000), Turn::Status(503)];
    let (bytes, asked) = fetched(&[&first, &[Turn::Whole]], SHA256);
    assert_eq!(bytes.unwrap(), content());
    assert_eq!(asked[1], [Some(70_000)]);
}

#[test]
fn a_wrong_checksum_leaves_nothing_behind_and_asks_the_next() {
    let (bytes, asked) = fetched(&[&[Turn::Lies], &[Turn::Whole]], SHA256);
    assert_eq!(bytes.unwrap(), content());
    assert_eq!(asked[1], [None], "nothing of the wrong file was kept");
    let (error, _) = fetched(&[&[Turn::Lies]], SHA256);
    let error = error.unwrap_err();
    assert!(matches!(&error, Error::Checksum { expected, .. } if expected == SHA256), "{error}");
    assert!(!error.is_wrong_use() && error.hint().is_some());
}

#[test]
fn more_than_the_file_and_other_answers_are_refused() {
    let (error, _) = fetched(&[&[Turn::TooMuch]], SHA256);
    assert!(
        error.unwrap_err().to_string().ends_with("more than the 200000 bytes of the published file came")
    );
    let (error, _) = fetched(&[&[Turn::Status(404)]], SHA256);
    let error = error.unwrap_err();
    assert!(error.to_string().ends_with("did not answer as it should: status 404"), "{error}");
    let (error, _) = fetched(&[], SHA256);
    assert!(matches!(error.unwrap_err(), Error::Network { .. }));
}

#[test]
fn a_file_that_is_here_is_not_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("set.bin"), content()).unwrap();
    let notes = Notes::default();
    fetch(&remote(SHA256), folder.path(), &[], &notes).unwrap();
    assert_eq!(*notes.0.lock().unwrap(), ["set.bin is here already"]);
}

#[test]
fn an_archive_is_fetched_unpacked_and_not_fetched_again() {
    let mut header = tar::Header::new_gnu();
    header.set_size(3);
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_data(&mut header, "small-set/train.bin", &b"abc"[..]).unwrap();
    let archive = crate::fixtures::gzip(&archive.into_inner().unwrap());
    let sum = |bytes: &[u8]| -> &'static str {
        use sha2::Digest as _;
        let digest = cleanest_data::Fingerprint(sha2::Sha256::digest(bytes).into());
        Box::leak(digest.to_string().into_boxed_str())
    };
    let files = [Remote { name: "small.tar.gz", bytes: archive.len() as u64, sha256: sum(&archive) }];
    let unpacked = [Remote { name: "train.bin", bytes: 3, sha256: sum(b"abc") }];
    let set = Set {
        name: "small",
        about: "",
        folder: "small-set",
        files: Box::leak(Box::new(files)),
        unpacked: Box::leak(Box::new(unpacked)),
        mirrors: &[],
    };
    let server = Server::of(archive, vec![Turn::CutAfter(40), Turn::Whole]);
    let mirrors = [server.url.trim_end_matches("/set.bin").to_owned()];
    let folder = tempfile::tempdir().unwrap();
    let path = get(&set, folder.path(), &mirrors, &Notes::default()).unwrap();
    assert_eq!(std::fs::read(path.join("train.bin")).unwrap(), b"abc");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the archive is gone");
    let notes = Notes::default();
    get(&set, folder.path(), &[], &notes).unwrap();
    assert_eq!(*notes.0.lock().unwrap(), ["small is here already"]);
}

#[test]
fn every_set_has_files_checksums_and_several_mirrors() {
    for set in SETS {
        assert!(!set.files.is_empty() && set.mirrors.len() > 1, "{}", set.name);
        assert!(set.mirrors.iter().all(|mirror| mirror.starts_with("https://")), "{}", set.name);
        for file in set.files.iter().chain(set.unpacked) {
            assert_eq!(file.sha256.len(), 64, "{}", file.name);
            assert!(file.sha256.bytes().all(|digit| digit.is_ascii_hexdigit()), "{}", file.name);
        }
    }
    let error = set("imagenet").unwrap_err().to_string();
    assert_eq!(
        error,
        "no set called `imagenet` is published here; there are `mnist`, `fashion-mnist`, `cifar-10`, `cifar-100`"
    );
}

#[test]
fn published_files_that_are_here_and_right_are_left_alone() {
    let Some(root) = std::env::var_os("CLEANEST_DATA") else {
        eprintln!("SKIPPED: CLEANEST_DATA is not set, published files were not checked");
        return;
    };
    for name in ["mnist", "cifar-10", "cifar-100"] {
        let set = cleanest_data::download::Set { mirrors: &[], ..*set(name).unwrap() };
        get(&set, root.as_ref(), &[], &Notes::default()).unwrap();
    }
}
