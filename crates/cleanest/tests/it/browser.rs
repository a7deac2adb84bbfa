//! A real browser, driven by the few words of WebDriver that the tests need.
//!
//! W3C WebDriver is JSON over HTTP: `chromedriver` listens, `ureq` talks. `CLEANEST_BROWSER=required` makes a missing
//! browser a failure instead of a test that says it was skipped.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A window of Chromium without a screen.
pub(crate) struct Browser {
    driver: Child,
    session: String,
    agent: ureq::Agent,
}

impl Browser {
    /// Starts one; none where none is installed.
    pub(crate) fn start() -> Option<Self> {
        let spawned = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn();
        let Ok(mut driver) = spawned else {
            let required = std::env::var("CLEANEST_BROWSER").is_ok_and(|wish| wish == "required");
            assert!(!required, "chromedriver is not installed");
            eprintln!("SKIPPED: chromedriver is not installed: the page was not opened in a browser");
            return None;
        };
        let said = BufReader::new(driver.stdout.take().unwrap());
        let port = said.lines().find_map(|line| {
            let line = line.unwrap();
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let base = format!("http://127.0.0.1:{}/session", port.expect("the driver names its port"));
        let settings = ureq::Agent::config_builder().http_status_as_error(false).proxy(None).build();
        let mut browser = Self { driver, session: base.clone(), agent: settings.into() };
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "unhandledPromptBehavior": "ignore",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let made = browser.post("", &wanted);
        browser.session =
            format!("{base}/{}", made["sessionId"].as_str().unwrap_or_else(|| panic!("no browser: {made}")));
        Some(browser)
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let request = self.agent.post(format!("{}{path}", self.session));
        let answer = request.header("content-type", "application/json").send(body.to_string());
        Self::value(&answer.unwrap().body_mut().read_to_string().unwrap())
    }

    fn get(&self, path: &str) -> Value {
        let mut answer = self.agent.get(format!("{}{path}", self.session)).call().unwrap();
        Self::value(&answer.body_mut().with_config().limit(50_000_000).read_to_string().unwrap())
    }

    fn value(text: &str) -> Value {
        let answer: Value = serde_json::from_str(text).unwrap();
        answer["value"].clone()
    }

    /// What the browser does outside of the standard: emulate a phone, the dark, no script.
    pub(crate) fn emulate(&self, what: &str, how: &Value) {
        let command = json!({"cmd": format!("Emulation.{what}"), "params": how});
        let answer = self.post("/goog/cdp/execute", &command);
        assert!(answer["error"].is_null(), "{what}: {answer}");
    }

    /// A window of this many pixels.
    pub(crate) fn resize(&self, width: u32, height: u32) {
        let is_phone = width < 500;
        let how = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
        self.emulate("setDeviceMetricsOverride", &how);
    }

    /// As a system that is set to `light` or `dark`.
    pub(crate) fn colors(&self, scheme: &str) {
        let feature = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.emulate("setEmulatedMedia", &feature);
    }

    /// Opens a file.
    pub(crate) fn open(&self, page: &Path) {
        let address = format!("file://{}", page.display()).replace(' ', "%20");
        let answer = self.post("/url", &json!({"url": address}));
        assert!(answer.is_null(), "{answer}");
    }

    /// Runs a function of the tests in the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        let answer = self.post("/execute/sync", &json!({"script": script, "args": []}));
        assert!(answer.get("error").is_none(), "{script}: {answer}");
        answer
    }

    fn element(&self, css: &str) -> String {
        let answer = self.post("/element", &json!({"using": "css selector", "value": css}));
        let element = answer.as_object().and_then(|element| element.values().next()).and_then(Value::as_str);
        element.unwrap_or_else(|| panic!("{css}: {answer}")).to_owned()
    }

    /// Clicks on an element as a person does: it has to be seen.
    pub(crate) fn click(&self, css: &str) {
        let answer = self.post(&format!("/element/{}/click", self.element(css)), &json!({}));
        assert!(answer.is_null(), "{css}: {answer}");
    }

    /// The text of an element as it is seen.
    pub(crate) fn text(&self, css: &str) -> String {
        let text = self.get(&format!("/element/{}/text", self.element(css)));
        text.as_str().unwrap_or_else(|| panic!("{css}: {text}")).replace('\u{a0}', " ")
    }

    /// How many elements there are that can be seen.
    pub(crate) fn seen(&self, css: &str) -> u64 {
        let script = format!(
            "return [...document.querySelectorAll({css:?})].filter(element => element.offsetParent !== null).length"
        );
        self.run(&script).as_u64().unwrap()
    }

    /// The text of the dialog that is open, if there is one.
    pub(crate) fn dialog(&self) -> Option<String> {
        self.get("/alert/text").as_str().map(str::to_owned)
    }

    /// What was said since this was last asked: `browser` is the console, `performance` what went over the network.
    pub(crate) fn log(&self, kind: &str) -> Vec<String> {
        let entries = self.post("/se/log", &json!({"type": kind}));
        let entries = entries.as_array().unwrap_or_else(|| panic!("{entries}")).iter();
        entries.map(|entry| entry["message"].as_str().unwrap().to_owned()).collect()
    }

    /// The addresses that were asked for since this was last asked.
    pub(crate) fn requests(&self) -> Vec<String> {
        let events = self.log("performance").into_iter().map(|event| serde_json::from_str(&event).unwrap());
        let sent = events.filter(|event: &Value| event["message"]["method"] == "Network.requestWillBeSent");
        sent.map(|event| event["message"]["params"]["request"]["url"].as_str().unwrap().to_owned()).collect()
    }

    /// Takes a picture of the whole page.
    pub(crate) fn screenshot(&self, file: &Path) {
        let whole = json!({"cmd": "Page.captureScreenshot", "params": {"captureBeyondViewport": true}});
        let taken = self.post("/goog/cdp/execute", &whole);
        let bytes = taken["data"].as_str().unwrap_or_else(|| panic!("{taken}"));
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, base64::Engine::decode(&base64::prelude::BASE64_STANDARD, bytes).unwrap())
            .unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
