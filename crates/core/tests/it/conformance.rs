//! What every method of the list keeps to: a new one is tested by being on it.

use cleanest_core::estimate::Posteriors;
use cleanest_core::methods::{Alone, Batch, Choice, Method, Task};
use cleanest_core::random::Stream;
use cleanest_core::{Error, Matrix};
use serde_json::{Value, json};

const CLASSES: usize = 5;
const EXAMPLES: usize = 12;
const TASK: Task = Task { classes: CLASSES, steps: 50, seed: 3 };

/// Every method with the settings a user would give, each in each of its stages.
fn every_method() -> Vec<(String, Box<dyn Method>)> {
    let mut methods = Vec::new();
    for name in Choice::NAMES {
        for stage in 0..build(name).stages() {
            methods.push((format!("{name}, stage {stage}"), in_stage(name, stage)));
        }
    }
    methods
}

fn build(name: &str) -> Box<dyn Method> {
    let given = if name == "known-t" { json!({"noise": "pair:0.3"}) } else { json!({}) };
    Choice::with_settings(name, &given).unwrap().build(&TASK).unwrap()
}

fn in_stage(name: &str, stage: usize) -> Box<dyn Method> {
    let mut method = build(name);
    method.begin(0, None).unwrap();
    if stage > 0 {
        let (probabilities, labels) = posteriors();
        method.begin(stage, Some(&Posteriors::new(&probabilities, &labels).unwrap())).unwrap();
    }
    method
}

/// What a classifier might have said after the first stage.
fn posteriors() -> (Matrix, Vec<u32>) {
    let mut stream = Stream::new(1, "posteriors", 0);
    let mut probabilities = Matrix::from_fn(60, CLASSES, |row, class| {
        stream.uniform() + if row % CLASSES == class { 3.0 } else { 0.0 }
    });
    for row in probabilities.iter_rows_mut() {
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= sum);
    }
    (probabilities, (0..60).map(|row| (row + row / 20) % CLASSES as u32).collect())
}

fn logits(scale: f64, step: u64) -> Matrix {
    let mut stream = Stream::new(2, "logits", step);
    Matrix::from_fn(EXAMPLES, CLASSES, |_, _| scale * (2.0 * stream.uniform() - 1.0))
}

fn labels(step: u64) -> Vec<u32> {
    let mut stream = Stream::new(2, "labels", step);
    (0..EXAMPLES).map(|_| stream.below(CLASSES) as u32).collect()
}

fn step(method: &mut dyn Method, step: u64) -> (u64, Vec<u64>) {
    let (logits, labels) = (logits(2.0, step), labels(step));
    let batch = Batch { logits: &logits, labels: &labels, seed: TASK.seed, step };
    let mut gradient = Matrix::default();
    let loss = method.loss(&batch, &mut gradient);
    method.update(&batch, &Alone);
    (loss.to_bits(), gradient.values().iter().map(|slope| slope.to_bits()).collect())
}

#[test]
fn the_gradient_is_that_of_the_loss() {
    for (name, mut method) in every_method() {
        for at in 0..5 {
            step(method.as_mut(), at);
        }
        let (mut logits, labels) = (logits(2.0, 9), labels(9));
        let mut loss = |logits: &Matrix, gradient: &mut Matrix| {
            method.loss(&Batch { logits, labels: &labels, seed: TASK.seed, step: 9 }, gradient)
        };
        let (mut gradient, mut unused) = (Matrix::default(), Matrix::default());
        loss(&logits, &mut gradient);
        for at in 0..logits.values().len() {
            let h = 1e-5;
            let mut moved = |by: f64| {
                let before = logits.values()[at];
                logits.values_mut()[at] = before + by;
                let value = loss(&logits, &mut unused);
                logits.values_mut()[at] = before;
                value
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            let found = gradient.values()[at];
            assert!((slope - found).abs() < 1e-8, "{name}: logit {at} has slope {slope}, said {found}");
        }
    }
}

#[test]
fn no_shift_of_an_example_s_logits_changes_its_loss() {
    for (name, mut method) in every_method() {
        let (logits, labels) = (logits(3.0, 1), labels(1));
        let mut gradient = Matrix::default();
        method.loss(&Batch { logits: &logits, labels: &labels, seed: 0, step: 1 }, &mut gradient);
        for row in gradient.iter_rows() {
            assert!(row.iter().sum::<f64>().abs() < 1e-15, "{name}: {row:?}");
        }
    }
}

#[test]
fn loss_gradient_and_noise_stay_finite_at_the_extremes() {
    for (name, mut method) in every_method() {
        for (at, scale) in [200.0, 1e4, 1e-300, 0.0].into_iter().enumerate() {
            let logits =
                Matrix::from_fn(
                    EXAMPLES,
                    CLASSES,
                    |row, class| if row % CLASSES == class { scale } else { -scale },
                );
            // Labels the classifier is sure are wrong, of which one class has none.
            let labels: Vec<u32> = (0..EXAMPLES).map(|row| ((row + 1) % (CLASSES - 1)) as u32).collect();
            let batch = Batch { logits: &logits, labels: &labels, seed: 0, step: at as u64 };
            let mut gradient = Matrix::default();
            let loss = method.loss(&batch, &mut gradient);
            assert!(loss.is_finite(), "{name} at {scale}: loss {loss}");
            assert!(
                gradient.values().iter().all(|slope| slope.is_finite() && slope.abs() <= 1.0),
                "{name} at {scale}"
            );
            method.update(&batch, &Alone);
            if let Some(transition) = method.transition() {
                assert!(
                    transition.matrix().values().iter().all(|entry| entry.is_finite()),
                    "{name} at {scale}"
                );
            }
        }
    }
}

#[test]
fn logits_that_are_not_numbers_are_seen_in_the_loss() {
    for (name, mut method) in every_method() {
        let mut logits = logits(1.0, 0);
        logits.values_mut()[7] = f64::NAN;
        let labels = vec![2; EXAMPLES];
        let loss = method
            .loss(&Batch { logits: &logits, labels: &labels, seed: 0, step: 0 }, &mut Matrix::default());
        assert!(loss.is_nan(), "{name}: {loss}");
    }
}

#[test]
fn a_restored_method_continues_bit_for_bit() {
    for name in Choice::NAMES {
        for stage in 0..build(name).stages() {
            let mut uncut = in_stage(name, stage);
            for at in 0..5 {
                step(uncut.as_mut(), at);
            }
            let state = uncut.state();
            let mut resumed = build(name);
            resumed.restore(&state).unwrap();
            for at in 5..10 {
                assert_eq!(
                    step(uncut.as_mut(), at),
                    step(resumed.as_mut(), at),
                    "{name}, stage {stage}, step {at}"
                );
            }
            assert_eq!(uncut.state(), resumed.state(), "{name}, stage {stage}");
            assert_eq!(uncut.transition(), resumed.transition(), "{name}, stage {stage}");
        }
    }
}

#[test]
fn a_state_of_another_shape_is_refused_by_name() {
    for name in Choice::NAMES {
        let last = build(name).stages() - 1;
        let state = in_stage(name, last).state();
        for key in state.values.keys() {
            let mut broken = state.clone();
            broken.values.get_mut(key).unwrap().push(0.0);
            let error = build(name).restore(&broken).unwrap_err();
            assert!(
                matches!(error, Error::StateLength { key: named, .. } if named == key),
                "{name}: {error}"
            );
        }
    }
}

#[test]
fn settings_read_back_from_toml() {
    for name in Choice::NAMES {
        let choice = Choice::named(name).unwrap();
        let text = toml::to_string(&choice).unwrap();
        let table: toml::Table = text.parse().unwrap();
        let read = Choice::with_settings(name, &serde_json::to_value(&table).unwrap()).unwrap();
        assert_eq!(read, choice, "{text}");
        assert_eq!(choice.name(), *name);
    }
}

#[test]
fn every_setting_is_documented_and_has_its_default() {
    for name in Choice::NAMES {
        let choice = Choice::named(name).unwrap();
        assert!(!choice.about().is_empty(), "{name}");
        let defaults: serde_json::Map<String, Value> =
            choice.fields().into_iter().map(|field| (field.name.to_owned(), field.default)).collect();
        assert_eq!(serde_json::to_value(&choice).unwrap(), Value::Object(defaults), "{name}");
        assert!(choice.fields().iter().all(|field| field.about.ends_with('.')), "{name}");
    }
}

#[test]
fn a_misspelt_setting_is_refused_with_the_nearest_one() {
    for name in Choice::NAMES {
        for field in Choice::named(name).unwrap().fields() {
            let misspelt = format!("{}x", field.name);
            let error =
                Choice::with_settings(name, &json!({ misspelt.as_str(): field.default })).unwrap_err();
            assert_eq!(error.to_string(), format!("method `{name}`: no setting is called `{misspelt}`"));
            assert_eq!(error.hint(), Some(format!("did you mean `{}`?", field.name)));
        }
    }
}

#[test]
fn a_setting_out_of_range_is_refused_by_name() {
    let said = |name: &str, given: Value| Choice::with_settings(name, &given).unwrap_err().to_string();
    assert_eq!(said("gce", json!({"q": 1.5})), "`gce.q` must be in (0, 1]: 1.5");
    assert_eq!(said("tvd", json!({"pairs": 0})), "`tvd.pairs` must be above 0: 0");
    assert_eq!(said("tvd", json!({"keep": 1.01})), "`tvd.keep` must be in (0, 1]: 1.01");
    assert_eq!(said("t-revision", json!({"rate": -1.0})), "`t_revision.rate` must be above 0: -1");
    assert!(said("forward", json!({"anchors": "median"})).contains("unknown variant `median`"));
    assert!(said("tvd", json!({"gamma": "much"})).contains("invalid type"));
}

#[test]
fn an_unknown_method_is_refused_with_the_nearest_one() {
    let error = Choice::named("dualt").unwrap_err();
    assert_eq!(error.to_string(), "no method is called `dualt`");
    assert_eq!(error.hint().unwrap(), "did you mean `dual-t`?");
}

#[test]
fn a_second_stage_without_posteriors_is_refused() {
    for name in Choice::NAMES {
        let mut method = build(name);
        if method.stages() > 1 {
            assert!(matches!(method.begin(1, None), Err(Error::NoPosteriors(1))), "{name}");
        }
    }
}

#[test]
fn known_t_without_a_matrix_says_what_to_set() {
    let error = Choice::named("known-t").unwrap().build(&TASK).err().unwrap();
    assert_eq!(
        error.to_string(),
        "method `known-t`: the transition matrix that corrects the loss is not given"
    );
    assert!(error.hint().unwrap().contains("known_t.noise"));
}

#[test]
fn the_matrices_methods_begin_with_are_the_papers() {
    let first = |name: &str| build(name).transition().unwrap();
    assert_eq!(first("tvd").row(0), [1.0, 0.0, 0.0, 0.0, 0.0]);
    for (entry, expected) in first("tvg").row(1).iter().zip([0.125, 0.5, 0.125, 0.125, 0.125]) {
        assert!((entry - expected).abs() < 1e-15);
    }
    assert!((first("volminnet").row(2)[2] - 0.48).abs() < 1e-12);
}
