//! The page in a real browser.

use crate::browser::Browser;
use crate::report::{NAME, SCRIPT, audited, digits, record, suspects};
use cleanest::audit::Suspect;
use cleanest::report;
use serde_json::json;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

/// Where the pictures of the page go, for people to look at.
fn pictures() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("screenshots")
}

/// A page with ten classes, and one with what a careless one would run.
fn pages(folder: &Path) -> (PathBuf, PathBuf) {
    let made = |name: &str, classes: &[&str], suspects: &[Suspect]| {
        let run = audited(&folder.join(name), &record(classes));
        let page = report::page(&run, suspects, Some(&digits())).unwrap();
        std::fs::write(run.file("report.html"), page).unwrap();
        run.file("report.html")
    };
    let calm = made("calm", &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"], &suspects(10));
    let mut suspects = suspects(3);
    suspects.iter_mut().for_each(|suspect| NAME.clone_into(&mut suspect.source));
    (calm, made("hos tile", &[SCRIPT, NAME, "cat"], &suspects))
}

fn nothing_is_wrong(browser: &Browser, page: &Path) {
    let console = browser.log("browser");
    assert!(console.is_empty(), "{console:?}");
    let requests = browser.requests();
    let outside: Vec<&String> = requests.iter().filter(|address| !address.starts_with("data:")).collect();
    let own = page.file_name().unwrap().to_str().unwrap();
    assert!(
        outside.len() == 1 && outside[0].ends_with(own),
        "nothing but the page is asked for: {outside:?}"
    );
    assert_eq!(browser.run("return performance.getEntriesByType('resource').length"), 0);
}

#[test]
fn the_page_opens_and_its_gallery_is_filtered_by_clicking() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    let (page, _) = pages(folder.path());
    browser.resize(1280, 900);
    browser.open(&page);
    assert_eq!(browser.text("h1"), "About 100 ± 20 of 1,000 labels are wrong, 10.0 %.");
    assert_eq!((browser.seen(".gallery > li"), browser.text("#shown")), (20, "20 of 20 shown".into()));
    // Those that were given label 1 are suggested to be 0.
    browser.click("#given option[value='1']");
    assert_eq!((browser.seen(".gallery > li"), browser.text("#shown")), (2, "2 of 20 shown".into()));
    assert_eq!(browser.text(".gallery > li:not([hidden]) .labels strong bdi"), "0");
    browser.click("#suggested option[value='5']");
    assert_eq!((browser.seen(".gallery > li"), browser.seen(".nothing")), (0, 1));
    browser.click("#filter button");
    assert_eq!((browser.seen(".gallery > li"), browser.seen(".nothing")), (20, 0));
    browser.click("#clear");
    assert_eq!(browser.seen(".gallery > li"), 14, "every third is too close to call");
    // The confusions lead to their examples.
    browser.click(".confusions li:first-child a");
    assert_eq!(browser.seen(".gallery > li"), 2);
    nothing_is_wrong(&browser, &page);
}

#[test]
fn a_long_gallery_does_not_put_the_rest_out_of_reach() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    let run = audited(&folder.path().join("run"), &record(&["cat", "dog"]));
    let many: Vec<Suspect> = suspects(2).into_iter().cycle().take(150).collect();
    std::fs::write(run.file("report.html"), report::page(&run, &many, None).unwrap()).unwrap();
    browser.open(&run.file("report.html"));
    assert_eq!((browser.seen(".suspects tbody tr"), browser.text("#shown")), (60, "60 of 150 shown".into()));
    assert_eq!(browser.text("#more"), "Show 90 more");
    browser.click("#more");
    assert_eq!((browser.seen(".suspects tbody tr"), browser.seen("#more")), (150, 0));
    browser.click("#given option[value='1']");
    assert_eq!((browser.seen(".suspects tbody tr"), browser.text("#more")), (60, "Show 15 more".into()));
}

#[test]
fn the_page_is_whole_without_its_script() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    let (page, _) = pages(folder.path());
    browser.emulate("setScriptExecutionDisabled", &json!({"value": true}));
    browser.open(&page);
    assert!(browser.text("h1").starts_with("About 100 ± 20 of 1,000"));
    assert_eq!(browser.seen(".gallery > li"), 20);
    assert_eq!(browser.seen("#filter") + browser.seen("a.show"), 0, "what would do nothing is not shown");
    nothing_is_wrong(&browser, &page);
}

#[test]
fn text_from_files_does_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    let (_, page) = pages(folder.path());
    browser.open(&page);
    assert_eq!(browser.dialog(), None);
    let shown = NAME.replace('\u{1b}', "\u{fffd}");
    assert_eq!(browser.text(".gallery > li:first-child .source"), shown);
    assert_eq!(browser.text(".confusions li:first-child strong"), SCRIPT);
    assert_eq!(browser.run("return document.scripts.length"), 1);
    nothing_is_wrong(&browser, &page);
}

/// Names that only a file system allows: a slash between them makes a `</script>` of two.
#[cfg(unix)]
#[test]
fn files_with_any_name_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    for at in 0..120_u8 {
        let is_dark = at % 2 == 0;
        // Every tenth picture is in the wrong folder.
        let class =
            if is_dark == (at % 10 < 2) { "\"><img src=x onerror=alert(1)>" } else { "<script>alert(2)<" };
        let place = folder.path().join("photos").join(class);
        std::fs::create_dir_all(&place).unwrap();
        let shade =
            |x: u32, y: u32| image::Luma([if is_dark { at / 2 } else { 255 - at / 2 } ^ (x * y) as u8]);
        let picture = image::GrayImage::from_fn(8, 8, shade);
        picture.save(place.join(format!("script>' \" onload=alert(3) {at}.png"))).unwrap();
    }
    crate::typed("fit photos --steps 100 --quiet --out run").current_dir(folder.path()).assert().success();
    browser.open(&folder.path().join("run/report.html"));
    assert_eq!(browser.dialog(), None);
    assert!(browser.seen(".gallery > li img") > 0);
    let sources = browser.run("return [...document.querySelectorAll('.source')].map(p => p.textContent)");
    let is_literal = |source: &&serde_json::Value| {
        source.as_str().unwrap().starts_with("<script>alert(2)</script>' \" onload=alert(3) ")
    };
    assert!(sources.as_array().unwrap().iter().any(|source| is_literal(&source)), "{sources}");
    nothing_is_wrong(&browser, &folder.path().join("run/report.html"));
}

#[test]
fn the_policy_of_the_page_lets_nothing_out_and_nothing_in() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    let (page, _) = pages(folder.path());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let elsewhere = format!("http://{}/", listener.local_addr().unwrap());
    browser.open(&page);
    // What an injected element would try, were there a way to inject one.
    let blocked = browser.run(&format!(
        "return new Promise(done => {{
            const blocked = [];
            document.addEventListener('securitypolicyviolation', event => {{
                blocked.push(event.effectiveDirective);
                if (blocked.length === 5) done(blocked.sort());
            }});
            new Image().src = '{elsewhere}';
            fetch('{elsewhere}').catch(() => {{}});
            const add = (name, words) => document.body.append(Object.assign(document.createElement(name), words));
            add('script', {{src: '{elsewhere}'}});
            add('script', {{textContent: 'alert(3)'}});
            add('iframe', {{src: '{elsewhere}'}});
        }})"
    ));
    let expected = ["connect-src", "frame-src", "img-src", "script-src-elem", "script-src-elem"];
    assert_eq!(blocked, json!(expected));
    assert_eq!(browser.dialog(), None);
    drop(browser);
    // A browser may knock at a door before it knows that it must not enter; it must not say anything there.
    listener.set_nonblocking(true).unwrap();
    while let Ok((mut visitor, _)) = listener.accept() {
        let mut said = String::new();
        visitor.read_to_string(&mut said).unwrap();
        assert_eq!(said, "");
    }
}

#[test]
fn the_page_fits_every_screen() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    let (calm, hostile) = pages(folder.path());
    for (width, height) in [(1280, 900), (390, 844)] {
        for scheme in ["light", "dark"] {
            browser.resize(width, height);
            browser.colors(scheme);
            for (name, page) in [("calm", &calm), ("hostile", &hostile)] {
                browser.open(page);
                let across = browser.run("return document.documentElement.scrollWidth");
                assert_eq!(across, width, "{name}, {scheme}: nothing sticks out to the right");
                let paper = browser.run("return getComputedStyle(document.body).backgroundColor");
                assert_eq!(paper == "rgb(255, 255, 255)", scheme == "light", "{paper}");
                browser.screenshot(&pictures().join(format!("{name}-{width}-{scheme}.png")));
            }
        }
    }
}

#[test]
fn every_text_can_be_read_in_light_and_dark() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::start() else { return };
    let (calm, _) = pages(folder.path());
    // A cell of every shade, with its number.
    let mut shades = record(&["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    let row: Vec<f64> = (0..11).map(|tenths| f64::from(tenths) / 10.0).collect();
    let off = |by: f64| row.iter().map(|shade| (shade + by).min(1.0)).collect::<Vec<f64>>();
    shades.transition.expected = (0..11).map(|at| off(0.01 * f64::from(at))).collect();
    let run = audited(&folder.path().join("shades"), &shades);
    std::fs::write(run.file("report.html"), report::page(&run, &suspects(11), None).unwrap()).unwrap();
    for page in [calm, run.file("report.html")] {
        for scheme in ["light", "dark"] {
            browser.colors(scheme);
            browser.open(&page);
            let poor = browser.run(include_str!("contrast.js"));
            assert_eq!(poor, json!([]), "{scheme}: {}", page.display());
        }
    }
}
