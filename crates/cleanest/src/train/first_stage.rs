//! First stages that several runs of a process have in common, trained once.
//!
//! Methods that estimate T and then correct with it all begin alike: by plain cross-entropy on the noisy labels. With the
//! same settings and the same seed that is the same network to the last bit, and the same as CCE's only one.

use crate::experiment::Config;
use cleanest_core::Matrix;
use cleanest_core::methods::{Method, Task};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a first stage leaves behind.
#[derive(Debug)]
pub(super) struct FirstStage {
    /// What its network says of the training set, as `augment_anchors` lets it see the images.
    pub(super) seen: Matrix,
    /// Its lines of `metrics.jsonl`.
    pub(super) metrics: Vec<u8>,
}

/// A place for a first stage, held by every run that begins with it; the last one to let go of it frees it.
#[derive(Clone, Debug, Default)]
pub struct Shared(Arc<Mutex<Option<Arc<FirstStage>>>>);

impl Shared {
    /// For each of some runs the place of its first stage, where another run of them begins with the same.
    #[must_use]
    pub fn among(configs: &[&Config]) -> Vec<Option<Self>> {
        let keys: Vec<Option<(String, bool)>> = configs.iter().map(|config| key(config)).collect();
        let mut users: HashMap<&str, (usize, bool)> = HashMap::new();
        for (key, goes_on) in keys.iter().flatten() {
            let (count, needed) = users.entry(key).or_default();
            *count += 1;
            *needed |= goes_on;
        }
        let mut places: HashMap<&str, Self> = HashMap::new();
        let mut shared = Vec::with_capacity(configs.len());
        for found in &keys {
            let key =
                found.as_ref().map(|(key, _)| key.as_str()).filter(|key| users[key].0 > 1 && users[key].1);
            shared.push(key.map(|key| places.entry(key).or_default().clone()));
        }
        shared
    }

    pub(super) fn put(&self, made: FirstStage) {
        self.place().get_or_insert_with(|| Arc::new(made));
    }

    pub(super) fn get(&self) -> Option<Arc<FirstStage>> {
        self.place().clone()
    }

    fn place(&self) -> MutexGuard<'_, Option<Arc<FirstStage>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the first stage of a run depends on, and whether another stage follows; nothing for a method that begins in its
/// own way.
fn key(config: &Config) -> Option<(String, bool)> {
    let task = Task { classes: 2, steps: config.steps.unwrap_or(1), seed: config.seed };
    let method: Box<dyn Method> = config.choice().ok()?.build(&task).ok()?;
    if !method.begins_plainly() {
        return None;
    }
    let plain = Config { method: "cce".into(), methods: std::collections::BTreeMap::new(), ..config.clone() };
    Some((plain.to_toml().ok()?, method.stages() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(method: &str, seed: u64) -> Config {
        Config { method: method.into(), seed, ..Config::default() }
    }

    #[test]
    fn runs_share_what_only_the_second_stage_tells_apart() {
        let configs = [
            config("cce", 0),
            config("forward", 0),
            config("dual-t", 0),
            config("tvd", 0),
            config("forward", 1),
        ];
        let shared = Shared::among(&configs.iter().collect::<Vec<_>>());
        let one = |run: usize| shared[run].as_ref().map(|place| Arc::as_ptr(&place.0));
        assert!(one(0).is_some() && one(0) == one(1) && one(1) == one(2));
        assert_eq!((one(3), one(4)), (None, None));
    }

    #[test]
    fn runs_that_see_their_anchors_in_another_way_have_another_place() {
        let varied = |method: &str| Config { augment_anchors: true, ..config(method, 0) };
        let configs = [config("cce", 0), config("forward", 0), varied("cce"), varied("forward")];
        let shared = Shared::among(&configs.iter().collect::<Vec<_>>());
        let one = |run: usize| shared[run].as_ref().map(|place| Arc::as_ptr(&place.0));
        assert!(one(0) == one(1) && one(2) == one(3) && one(1) != one(2));
    }

    #[test]
    fn nothing_is_kept_where_no_second_stage_waits_for_it() {
        let twice = [config("cce", 0), config("cce", 0)];
        assert!(Shared::among(&twice.iter().collect::<Vec<_>>()).iter().all(Option::is_none));
    }
}
