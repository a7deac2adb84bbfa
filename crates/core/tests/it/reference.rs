//! Losses and gradients against values found by automatic differentiation in float64 (`tests/reference/methods.json`).

use cleanest_core::Matrix;
use cleanest_core::methods::maths::{Channel, Softmax, TotalVariation, noisy_nll};
use cleanest_core::methods::{Alone, Batch, Choice, Method, State, Task};
use serde_json::{Value, json};

struct Case(Value);

impl Case {
    fn all() -> Vec<Self> {
        let text = include_str!("../reference/methods.json");
        let file: Value = serde_json::from_str(text).unwrap();
        file["cases"].as_array().unwrap().iter().cloned().map(Case).collect()
    }

    fn matrix(&self, key: &str) -> Matrix {
        matrix(&self.0[key])
    }

    fn labels(&self) -> Vec<u32> {
        self.0["labels"].as_array().unwrap().iter().map(|label| label.as_u64().unwrap() as u32).collect()
    }

    fn classes(&self) -> usize {
        self.0["classes"].as_u64().unwrap() as usize
    }

    fn pairs(&self) -> Vec<(u32, u32)> {
        let side = |side: usize| {
            self.0["pairs"][side].as_array().unwrap().iter().map(|at| at.as_u64().unwrap() as u32)
        };
        side(0).zip(side(1)).collect()
    }

    /// Compares loss, gradient and, if given, the gradient of the method's own parameters.
    fn meets(&self, key: &str, loss: f64, gradient: &Matrix, parameters: Option<&Matrix>) {
        let expected = &self.0[key];
        near(loss, expected["loss"].as_f64().unwrap(), key);
        all_near(gradient, &matrix(&expected["gradient"]), key);
        if let Some(parameters) = parameters {
            all_near(parameters, &matrix(&expected["parameter_gradient"]), key);
        }
    }

    fn method(&self, name: &str, settings: &Value, state: &State) -> Box<dyn Method> {
        let task = Task { classes: self.classes(), steps: 100, seed: 0 };
        let mut method = Choice::with_settings(name, settings).unwrap().build(&task).unwrap();
        method.restore(state).unwrap();
        method
    }
}

fn matrix(rows: &Value) -> Matrix {
    let rows = rows.as_array().unwrap();
    let values = rows.iter().flat_map(|row| row.as_array().unwrap()).map(|value| value.as_f64().unwrap());
    Matrix::from_vec(rows[0].as_array().unwrap().len(), values.collect())
}

/// The file has twelve digits.
fn near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs() + 1e-13, "{what}: {found} is not {expected}");
}

fn all_near(found: &Matrix, expected: &Matrix, what: &str) {
    assert_eq!((found.rows(), found.columns()), (expected.rows(), expected.columns()));
    for (found, expected) in found.values().iter().zip(expected.values()) {
        near(*found, *expected, what);
    }
}

/// The state of a method that has learnt these parameters and not yet stepped.
fn learnt(key: &str, parameters: &Matrix) -> State {
    let zeros = vec![0.0; parameters.values().len()];
    let state = State::default().with(key, parameters.values());
    state.with("adam.first", &zeros).with("adam.second", &zeros).with("adam.steps", &[0.0])
}

/// The gradient of a method's own parameters: a tenth of it is the first moment of Adam's first step.
fn gradient_of_parameters(method: &mut dyn Method, batch: &Batch<'_>) -> Matrix {
    method.update(batch, &Alone);
    let state = method.state();
    Matrix::from_vec(
        batch.logits.columns(),
        state.values["adam.first"].iter().map(|first| first / (1.0 - 0.9)).collect(),
    )
}

fn check(key: &str, run: impl Fn(&Case, &Batch<'_>) -> (f64, Matrix, Option<Matrix>)) {
    let cases = Case::all();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let (logits, labels) = (case.matrix("logits"), case.labels());
        let batch = Batch { logits: &logits, labels: &labels, seed: 0, step: 0 };
        let (loss, gradient, parameters) = run(&case, &batch);
        case.meets(key, loss, &gradient, parameters.as_ref());
    }
}

/// The loss of a method in a given state.
fn check_method(key: &str, name: &str, settings: &Value, state: impl Fn(&Case) -> State) {
    check(key, |case, batch| {
        let mut method = case.method(name, settings, &state(case));
        let mut gradient = Matrix::default();
        let loss = method.loss(batch, &mut gradient);
        let learns = method.state().has("adam.first");
        let parameters = learns.then(|| gradient_of_parameters(method.as_mut(), batch));
        (loss, gradient, parameters)
    });
}

#[test]
fn the_losses_of_the_label_alone_meet_their_reference() {
    check_method("cce", "cce", &json!({}), |_| State::default());
    check_method("mae", "mae", &json!({}), |_| State::default());
    check_method("gce_0.7", "gce", &json!({"q": 0.7}), |_| State::default());
}

#[test]
fn forward_correction_meets_its_reference() {
    let given = |case: &Case| State::default().with("transition", case.matrix("transition").values());
    check_method("forward", "forward", &json!({}), given);
    check_method("forward", "dual-t", &json!({}), given);
}

#[test]
fn t_revision_meets_its_reference() {
    check_method("t_revision", "t-revision", &json!({}), |case| {
        learnt("slack", &case.matrix("slack")).with("anchored", case.matrix("transition").values())
    });
}

#[test]
fn volminnet_meets_its_reference() {
    let settings = json!({"form": "softmax", "lambda": 1e-4});
    check_method("volmin_1e-4", "volminnet", &settings, |case| {
        learnt("parameters", &case.matrix("tvg_logits"))
    });
}

#[test]
fn total_variation_meets_its_reference() {
    check("total_variation", |case, batch| {
        let (mut clean, mut spread, mut gradient) =
            (Softmax::default(), TotalVariation::default(), Matrix::default());
        clean.of(batch.logits);
        spread.set_pairs(case.pairs());
        gradient.reshape(batch.logits.rows(), batch.logits.columns());
        let value = spread.add(1.0, &clean, &mut gradient);
        (value, gradient, None)
    });
}

/// The regularized likelihood through a matrix, over the pairs of the case.
fn regularized(case: &Case, batch: &Batch<'_>, transition: &Matrix) -> (f64, Matrix) {
    let (mut clean, mut noise, mut spread) =
        (Softmax::default(), Channel::default(), TotalVariation::default());
    let mut gradient = Matrix::default();
    clean.of(batch.logits);
    noise.set(transition);
    spread.set_pairs(case.pairs());
    let nll = noisy_nll(batch, &clean, &noise, &mut gradient, |_, _| {});
    (nll - 0.1 * spread.add(-0.1, &clean, &mut gradient), gradient)
}

#[test]
fn the_loss_of_tvd_meets_its_reference() {
    check("tvd_gamma_0.1", |case, batch| {
        let (loss, gradient) = regularized(case, batch, &case.matrix("transition"));
        (loss, gradient, None)
    });
}

/// With counts this large, a matrix drawn from them is their mean to twelve digits.
#[test]
fn tvd_trains_through_the_matrix_its_counts_hold() {
    check_method("forward", "tvd", &json!({"gamma": 0.0}), |case| {
        let certain: Vec<f64> = case.matrix("transition").values().iter().map(|share| share * 1e26).collect();
        State::default().with("counts", &certain)
    });
}

#[test]
fn the_loss_of_tvg_and_the_gradient_of_its_matrix_meet_their_reference() {
    check("tvg_gamma_0.1", |case, batch| {
        let parameters = learnt("parameters", &case.matrix("tvg_logits"));
        let mut method = case.method("tvg", &json!({}), &parameters);
        let transition = method.transition().unwrap();
        let mut unused = Matrix::default();
        method.loss(batch, &mut unused);
        let slopes = gradient_of_parameters(method.as_mut(), batch);
        let (loss, gradient) = regularized(case, batch, transition.matrix());
        (loss, gradient, Some(slopes))
    });
}

#[test]
fn responsibilities_are_the_posterior_of_the_true_class() {
    for case in Case::all() {
        let (logits, labels, expected) = (case.matrix("logits"), case.labels(), case.matrix("posterior"));
        let batch = Batch { logits: &logits, labels: &labels, seed: 0, step: 0 };
        let (mut clean, mut noise, mut gradient) =
            (Softmax::default(), Channel::default(), Matrix::default());
        clean.of(&logits);
        noise.set(&case.matrix("transition"));
        let mut found = Vec::new();
        noisy_nll(&batch, &clean, &noise, &mut gradient, |_, posterior| found.extend_from_slice(posterior));
        all_near(&Matrix::from_vec(case.classes(), found), &expected, "posterior");
    }
}
