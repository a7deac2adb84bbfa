//! `cleanest get`.

use crate::cleanest;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

#[test]
fn a_set_nobody_published_is_refused_by_name() {
    cleanest().args(["get", "imagenet"]).assert().code(2).stderr_eq(snapbox::str![[r#"
error: no set called `imagenet` is published here; there are `mnist`, `fashion-mnist`, `cifar-10`, `cifar-100`

"#]]);
}

#[test]
fn a_mirror_that_gives_something_else_is_a_failure_and_leaves_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mirror = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 4096]);
            let _ = write!(connection, "HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    let folder = tempfile::tempdir().unwrap();
    // A proxy that refuses stands for a network that is down: the known mirrors are not asked by a test.
    let get = cleanest().args(["get", "mnist", "--mirror", &mirror, "--into", "here"]).current_dir(&folder);
    let output = get
        .env("NO_PROXY", "127.0.0.1")
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("https_proxy", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("train-images-idx3-ubyte.gz` did not answer as it should: status 404"), "{said}");
    assert!(said.contains("hint: run the same command again: it goes on where it stopped"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path().join("here/mnist")).unwrap().count(), 0);
}
