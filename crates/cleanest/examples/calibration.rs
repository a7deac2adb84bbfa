//! How good the audit is where the truth is known: `cargo run --release -p cleanest --example calibration [DATA] [SEEDS]`.

use cleanest::experiment::Config;
use cleanest::run::RunFolder;
use cleanest::train::{Silent, Stop};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let data = arguments.next().unwrap_or_else(|| "digits".into());
    let seeds: u64 = arguments.next().map_or(Ok(5), |seeds| seeds.parse())?;
    let folder = std::env::temp_dir().join(format!("cleanest-calibration-{}", std::process::id()));
    println!(
        "means over {seeds} seeds; AP: average precision of P(wrong); ECE: its expected calibration error\n"
    );
    println!(
        "| noise | AP | ECE | labels right | wrong, estimated / in truth | in its interval | T in its intervals | average TV |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut gaps = Vec::new();
    for noise in
        ["clean", "symmetric:0.1", "symmetric:0.5", "pair:0.3", "pair:0.4", "tridiagonal:0.2", "random:0.4"]
    {
        let mut sums = [0.0; 8];
        for seed in 0..seeds {
            let path = folder.join(format!("{noise}-{seed}").replace(':', "-"));
            let run = RunFolder::create(&path)?;
            let config =
                Config { data: data.clone().into(), noise: Some(noise.parse()?), seed, ..Config::default() };
            let found = run.fit(&config, &Stop::default(), &mut Silent)?;
            let record = &found.audit.as_ref().ok_or("every run is audited unless asked not to be")?.record;
            let tv = found.outcome.score.average_tv.unwrap_or(0.0);
            let score = record.score.as_ref().ok_or("noise was injected, so there is a score")?;
            let examples = record.examples as f64;
            gaps.push((record.wrong.expected - score.wrong as f64) / examples);
            let seen = [
                score.average_precision,
                score.calibration_error,
                score.right_after,
                record.wrong.expected / examples,
                score.wrong as f64 / examples,
                f64::from(u8::from(score.wrong_covered)),
                score.transition_covered.unwrap_or(0.0),
                tv,
            ];
            sums.iter_mut().zip(seen).for_each(|(sum, seen)| *sum += seen / seeds as f64);
        }
        let [precision, error, right, expected, wrong, covered, entries, tv] = sums;
        println!(
            "| {noise} | {precision:.3} | {error:.3} | {right:.3} | {expected:.3} / {wrong:.3} | {covered:.2} | {entries:.2} | {tv:.3} |"
        );
    }
    let square: f64 = gaps.iter().map(|gap| gap * gap).sum();
    let off = (square / gaps.len() as f64).sqrt();
    println!(
        "\nthe estimated share of wrong labels is off by {off:.4} over {} runs (root of the mean square)",
        gaps.len()
    );
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
