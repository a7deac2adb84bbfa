//! Before workers begin: whether all of them are about to do the same.

use super::RunFolder;
use crate::Error;
use crate::experiment::{Config, Prepared};
use cleanest_engine::Device;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Keys that need not be the same: what the files hold is compared, and every machine has its own devices.
const OWN: [&str; 4] = ["data", "test", "weights", "device"];

/// What a worker is about to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Plan {
    version: String,
    /// sha256 of the training set.
    data: String,
    /// sha256 of the test set.
    test: Option<String>,
    /// Every setting as it is written.
    settings: BTreeMap<String, String>,
}

impl Plan {
    fn of(data: &Prepared, config: &Config) -> Result<Self, Error> {
        let table: Table = config.to_toml()?.parse().unwrap_or_default();
        let mut settings = BTreeMap::new();
        flatten("", &Value::Table(table), &mut settings);
        settings.retain(|key, _| !OWN.contains(&key.as_str()));
        let kind = if config.device.starts_with("cuda") { "a GPU" } else { "the CPU" };
        settings.insert("device".into(), kind.into());
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").into(),
            data: data.train.fingerprint().to_string(),
            test: data.test.as_ref().map(|test| test.fingerprint().to_string()),
            settings,
        })
    }

    /// What another worker is about to do differently.
    fn difference(&self, other: &Self) -> Option<String> {
        if other.version != self.version {
            return Some(format!("has version {}, and the first worker {}", other.version, self.version));
        }
        let none = || "none".to_owned();
        let test = (self.test.clone().unwrap_or_else(none), other.test.clone().unwrap_or_else(none));
        for (what, mine, others) in [("data", &self.data, &other.data), ("test data", &test.0, &test.1)] {
            if mine != others {
                return Some(format!("has other {what} than the first worker: sha256 {others}, not {mine}"));
            }
        }
        let keys = self.settings.keys().chain(other.settings.keys());
        let differing = keys.filter(|key| self.settings.get(*key) != other.settings.get(*key));
        // What others follow from stands at the top.
        differing.min_by_key(|key| (key.contains('.'), *key)).map(|key| {
            let of = |plan: &Self| plan.settings.get(key).cloned().unwrap_or_else(|| "left out".into());
            format!("was asked for `{key}` {}, and the first worker for {}", of(other), of(self))
        })
    }
}

/// Settings by their whole keys.
fn flatten(above: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    let Value::Table(table) = value else {
        into.insert(above.to_owned(), value.to_string());
        return;
    };
    for (key, value) in table {
        let key = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        flatten(&key, value, into);
    }
}

impl RunFolder {
    /// What is ready here, if it is ready on all workers, and the same.
    pub(super) fn agreed<T>(
        &self,
        ready: Result<T, Error>,
        of: impl Fn(&T) -> (&Prepared, &Config),
    ) -> Result<T, Error> {
        let peers = self.peers();
        if peers.size() == 1 {
            return ready;
        }
        let plan = ready.as_ref().map(&of).map_err(ToString::to_string);
        let plan =
            plan.and_then(|(data, config)| Plan::of(data, config).map_err(|problem| problem.to_string()));
        let all = peers.gather(&serde_json::to_vec(&plan).unwrap_or_default());
        let ready = ready?;
        let config = of(&ready).1;
        let batch = config.batch.unwrap_or(1);
        if batch < peers.size() {
            return Err(Error::ManyWorkers { batch, workers: peers.size() });
        }
        let Ok(mine) = Plan::of(of(&ready).0, config) else { return Ok(ready) };
        let first = all.first().and_then(|bytes| parsed(bytes)).and_then(Result::ok).unwrap_or(mine);
        for (rank, bytes) in all.iter().enumerate() {
            let problem = match parsed(bytes) {
                None => Some("is of another version".to_owned()),
                Some(Err(problem)) => Some(format!("cannot begin: {problem}")),
                Some(Ok(plan)) => first.difference(&plan),
            };
            if let Some(problem) = problem {
                return Err(Error::Worker { worker: peers.worker().name(rank), problem });
            }
        }
        Ok(ready)
    }

    /// The device of this worker: workers of one machine take one GPU each.
    pub(super) fn own_device(&self, device: Device) -> Device {
        crate::peers::own_device(self.peers().worker(), device)
    }

    /// How many workers there are, and on how many machines.
    pub(super) fn company(&self) -> Option<String> {
        let worker = self.peers().worker();
        let machines = worker.hosts.iter().collect::<BTreeSet<_>>().len();
        let machines = if machines == 1 { "this machine".into() } else { format!("{machines} machines") };
        (worker.size() > 1).then(|| format!("{} workers on {machines}", worker.size()))
    }

    /// A device, and how many workers had one.
    pub(super) fn workers(&self, device: String) -> String {
        match self.peers().size() {
            1 => device,
            size => format!("{size} workers, each {device}"),
        }
    }
}

fn parsed(bytes: &[u8]) -> Option<Result<Plan, String>> {
    serde_json::from_slice(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let settings = BTreeMap::from([("steps".to_owned(), "200".to_owned())]);
        let plan = Plan { version: "0.1.0".into(), data: "ab".into(), test: None, settings };
        assert_eq!(plan.difference(&plan), None);
        let other = Plan { version: "0.2.0".into(), ..plan.clone() };
        assert_eq!(plan.difference(&other).unwrap(), "has version 0.2.0, and the first worker 0.1.0");
        let other = Plan { data: "cd".into(), ..plan.clone() };
        assert_eq!(
            plan.difference(&other).unwrap(),
            "has other data than the first worker: sha256 cd, not ab"
        );
        let settings = BTreeMap::from([("steps".to_owned(), "300".to_owned())]);
        let other = Plan { settings, ..plan.clone() };
        assert_eq!(
            plan.difference(&other).unwrap(),
            "was asked for `steps` 300, and the first worker for 200"
        );
    }
}
