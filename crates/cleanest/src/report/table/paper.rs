//! The tables of the paper, as far as they are known here: `paper.csv` says where its numbers come from.

use super::Metric;
use super::compare::Printed;
use serde::Deserialize;
use std::sync::OnceLock;

/// A row of `paper.csv`; what is not known is empty.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    data: String,
    method: String,
    noise: String,
    accuracy: Option<String>,
    accuracy_deviation: Option<String>,
    average_tv: Option<String>,
    average_tv_deviation: Option<String>,
}

/// What the paper prints for a set, a method and a noise, if that is known.
pub(super) fn cell((data, method, noise): (&str, &str, &str), metric: Metric) -> Option<Printed> {
    let set = set(data)?;
    let row = rows().iter().find(|row| row.data == set && row.method == method && row.noise == noise)?;
    let (mean, deviation) = match metric {
        Metric::Accuracy => (&row.accuracy, &row.accuracy_deviation),
        Metric::AverageTv => (&row.average_tv, &row.average_tv_deviation),
    };
    Some(Printed { mean: mean.clone()?, deviation: deviation.clone() })
}

fn rows() -> &'static [Row] {
    static ROWS: OnceLock<Vec<Row>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let text = include_bytes!("paper.csv").as_slice();
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).trim(csv::Trim::All).from_reader(text);
        reader.deserialize().filter_map(Result::ok).collect()
    })
}

/// The set of the paper that a file or folder of this name holds.
fn set(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase().replace(['-', '_'], "");
    let sets = [("fashion", None), ("cifar100", Some("cifar-100")), ("cifar10", Some("cifar-10"))];
    let more = [("mnist", Some("mnist")), ("clothing1m", Some("clothing1m"))];
    sets.into_iter().chain(more).find(|(part, _)| name.contains(part)).and_then(|(_, set)| set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cleanest_core::methods::Choice;
    use cleanest_core::noise::Noise;

    #[test]
    fn every_row_is_read_once_and_names_a_method_and_a_noise() {
        let text = include_str!("paper.csv");
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert_eq!(rows().len(), lines - 1);
        let mut seen = std::collections::BTreeSet::new();
        for row in rows() {
            assert!(Choice::NAMES.contains(&row.method.as_str()), "{row:?}");
            assert!(
                row.noise == "none" || row.noise.parse::<Noise>().unwrap().to_string() == row.noise,
                "{row:?}"
            );
            assert!(seen.insert((&row.data, &row.method, &row.noise)), "{row:?} is there twice");
            let numbers =
                [&row.accuracy, &row.accuracy_deviation, &row.average_tv, &row.average_tv_deviation];
            assert!(numbers.into_iter().flatten().all(|number| number.parse::<f64>().is_ok()), "{row:?}");
        }
    }

    #[test]
    fn sets_are_known_by_the_names_their_files_have() {
        for (name, set) in [
            ("mnist", Some("mnist")),
            ("cifar-10-batches-bin", Some("cifar-10")),
            ("cifar-100-binary", Some("cifar-100")),
            ("Clothing1M", Some("clothing1m")),
            ("fashion-mnist", None),
            ("photos", None),
        ] {
            assert_eq!(super::set(name), set, "{name}");
        }
    }
}
