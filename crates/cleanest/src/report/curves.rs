//! How the training went.

use super::draw::{Chart, Look, Series};
use super::facts::{Facts, Metric};
use super::words::{count, percent};
use maud::{Markup, html};

pub(super) fn section(facts: &Facts<'_>) -> Option<Markup> {
    let charts = charts(&facts.metrics, facts.about.as_ref().and_then(|about| about.score.true_noise_rate));
    if charts.is_empty() {
        return None;
    }
    let score = facts.about.as_ref().map(|about| &about.score);
    let best = score.and_then(|score| Some((score.accuracy?, score.best_accuracy?, score.best_step?)));
    Some(html! {
        @if let Some((last, best, step)) = best {
            p {
                "After the last step the network gets " strong { (percent(last)) } " of the clean test labels right (at best "
                (percent(best)) ", at step " (count(step as usize)) ")."
            }
        }
        div.figures { @for (_, chart) in &charts { figure { (chart.draw().inline()) } } }
        @if facts.metrics.iter().any(|metric| metric.agreement.is_some()) {
            p.quiet {
                "A network that agrees with more of the noisy labels than can be right has begun to memorize the wrong "
                "ones."
            }
        }
    })
}

/// The curves of a run, each with a name for a file.
pub(super) fn charts(metrics: &[Metric], true_rate: Option<f64>) -> Vec<(&'static str, Chart)> {
    let places = places(metrics);
    let line = |name: &str, look: Look, value: fn(&Metric) -> Option<f64>| {
        let points = metrics.iter().zip(&places);
        Series::line(name, look, points.filter_map(|(metric, &x)| Some((x, value(metric)?))).collect())
    };
    let mut noise = vec![line("estimated", Look::Solid, |metric| metric.noise_rate)];
    if let (Some(rate), Some(&end)) = (true_rate, places.last()) {
        noise.push(Series::line("true", Look::Dotted, vec![(0.0, rate), (end, rate)]));
    }
    let accuracy = vec![
        line("on clean test labels", Look::Solid, |metric| metric.accuracy),
        line("on the noisy labels", Look::Dashed, |metric| metric.agreement),
    ];
    let loss = vec![line("", Look::Solid, |metric| Some(metric.loss))];
    let chart = |title: &str, percent: bool, range: Option<(f64, f64)>, series: Vec<Series>| Chart {
        title: title.to_owned(),
        across: "step".to_owned(),
        percent: (false, percent),
        range,
        marks: stage_ends(metrics, &places),
        series: series.into_iter().filter(|series| !series.points.is_empty()).collect(),
    };
    let charts = [
        ("loss", chart("Loss", false, None, loss)),
        ("accuracy", chart("Accuracy", true, Some((0.0, 1.0)), accuracy)),
        ("noise-rate", chart("Noise rate", true, Some((0.0, top(&noise))), noise)),
    ];
    let drawn = |chart: &Chart| chart.series.iter().any(|series| series.look != Look::Dotted);
    charts.into_iter().filter(|(_, chart)| drawn(chart)).collect()
}

/// The next tenth above all rates.
fn top(series: &[Series]) -> f64 {
    let most = series.iter().flat_map(|series| &series.points).map(|point| point.1).fold(0.0, f64::max);
    (10.0 * most).ceil().clamp(1.0, 10.0) / 10.0
}

/// Steps counted through all stages.
fn places(metrics: &[Metric]) -> Vec<f64> {
    let (mut before, mut last) = (0, (0, 0));
    let mut place = |metric: &Metric| {
        if metric.stage != last.0 {
            before += last.1;
        }
        last = (metric.stage, metric.step);
        (before + metric.step) as f64
    };
    metrics.iter().map(&mut place).collect()
}

/// Where one stage ends and the next begins.
fn stage_ends(metrics: &[Metric], places: &[f64]) -> Vec<f64> {
    let ends = metrics.windows(2).zip(places).filter(|(pair, _)| pair[0].stage != pair[1].stage);
    ends.map(|(_, &place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(stage: usize, step: u64) -> Metric {
        Metric { stage, step, loss: 1.0, accuracy: None, agreement: None, noise_rate: None }
    }

    #[test]
    fn a_second_stage_goes_on_where_the_first_ended() {
        let metrics = [metric(0, 50), metric(0, 100), metric(1, 50), metric(1, 100)];
        assert_eq!(places(&metrics), [50.0, 100.0, 150.0, 200.0]);
        let charts = charts(&metrics, Some(0.4));
        let names: Vec<&str> = charts.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["loss"], "what was never measured is not drawn");
        assert_eq!(charts[0].1.marks, [100.0]);
    }
}
