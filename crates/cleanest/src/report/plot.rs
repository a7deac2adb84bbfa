//! The figures of a run as files: heat maps, curves and, for three classes, the simplex.

use super::curves::charts;
use super::draw::{Drawing, HeatMap, Hull, Simplex};
use super::facts::{matrix, metrics};
use crate::Error;
use crate::run::{RunFolder, names, write_atomically};
use cleanest_core::Matrix;
use cleanest_core::noise::Transition;
use cleanest_core::npy::{Element, Header};
use std::path::{Path, PathBuf};

/// Writes each figure of a run to a folder, as SVG and as PNG, and says which files those are.
pub fn plot(run: &RunFolder, out: &Path) -> Result<Vec<PathBuf>, Error> {
    let figures = figures(run)?;
    std::fs::create_dir_all(out).map_err(Error::write(out))?;
    let mut written = Vec::new();
    for (name, drawing) in figures {
        let (svg, png) = (out.join(format!("{name}.svg")), out.join(format!("{name}.png")));
        write_atomically(&svg, drawing.to_svg().as_bytes())?;
        write_atomically(&png, &drawing.to_png().map_err(Error::write(&png))?)?;
        written.extend([svg, png]);
    }
    Ok(written)
}

/// What there is to draw, by the name of its file.
fn figures(run: &RunFolder) -> Result<Vec<(&'static str, Drawing)>, Error> {
    let there = |name: &str| run.file(name).is_file();
    let estimated = Estimated::read(run)?;
    let truth = there(names::TRUTH).then(|| Transition::read(&run.file(names::TRUTH))).transpose()?;
    let about = there(names::ABOUT).then(|| run.about()).transpose()?;
    let mut figures = vec![("transition", estimated.heat_map())];
    if let Some(truth) = &truth {
        let names = &estimated.names;
        let map = HeatMap { title: "True", names, values: truth.matrix(), bounds: None };
        figures.push(("transition-true", map.draw()));
    }
    let rate = about.and_then(|about| about.score.true_noise_rate);
    figures.extend(charts(&metrics(run)?, rate).into_iter().map(|(name, chart)| (name, chart.draw())));
    if estimated.names.len() == 3 {
        figures.push(("simplex", estimated.simplex(truth.as_ref(), &posteriors(run)?).draw()));
    }
    Ok(figures)
}

/// The estimated noise, and how sure it is.
struct Estimated {
    names: Vec<String>,
    values: Matrix,
    bounds: Option<[Matrix; 2]>,
}

impl Estimated {
    /// As the audit found it, or else the training.
    fn read(run: &RunFolder) -> Result<Self, Error> {
        if run.file(names::AUDIT).is_file() {
            let audit = run.audit()?;
            let [values, low, high] =
                [&audit.transition.expected, &audit.transition.low, &audit.transition.high]
                    .map(|rows| matrix(rows));
            let names = audit.classes.into_iter().map(|class| class.name).collect();
            return Ok(Self { names, values, bounds: Some([low, high]) });
        }
        let transition = run.transition()?;
        let names = (0..transition.classes()).map(|class| transition.name(class)).collect();
        Ok(Self { names, values: transition.matrix().clone(), bounds: None })
    }

    fn heat_map(&self) -> Drawing {
        let bounds = self.bounds.as_ref().map(|[low, high]| [low, high]);
        HeatMap { title: "Estimated", names: &self.names, values: &self.values, bounds }.draw()
    }

    /// What the network says of the noisy labels, within the triangle that the rows of T span.
    fn simplex(&self, truth: Option<&Transition>, posteriors: &[[f64; 3]]) -> Simplex<'static> {
        let rows = |matrix: &Matrix| [0, 1, 2].map(|row| [0, 1, 2].map(|column| matrix[(row, column)]));
        let noisy = |clean: &[f64; 3]| {
            let class = (0..3).fold(0, |best, class| if clean[class] > clean[best] { class } else { best });
            let through = |label: usize| (0..3).map(|class| clean[class] * self.values[(class, label)]).sum();
            ([0, 1, 2].map(through), class)
        };
        let mut hulls =
            vec![Hull { name: "hull of the estimated T", rows: rows(&self.values), is_true: false }];
        let true_hull = |truth: &Transition| Hull {
            name: "hull of the true T",
            rows: rows(truth.matrix()),
            is_true: true,
        };
        hulls.extend(truth.map(true_hull));
        Simplex {
            title: "Posteriors of the noisy labels",
            names: [0, 1, 2].map(|class| self.names[class].clone()),
            points: posteriors.iter().map(noisy).collect(),
            hulls,
        }
    }
}

/// p(true class | x) of three classes; none where the folder holds none.
fn posteriors(run: &RunFolder) -> Result<Vec<[f64; 3]>, Error> {
    let kept = [names::POSTERIORS, names::PROBABILITIES].map(|name| run.file(name));
    let Some(path) = kept.into_iter().find(|path| path.is_file()) else { return Ok(Vec::new()) };
    let bytes = std::fs::read(&path).map_err(Error::read(&path))?;
    let malformed = |problem: String| Error::Malformed { path: path.clone(), problem };
    let header = Header::parse(&bytes).map_err(|problem| malformed(problem.to_string()))?;
    let data = header.data(&bytes).map_err(|problem| malformed(problem.to_string()))?;
    if header.element != Element::F32 || header.shape.get(1) != Some(&3) || header.shape.len() != 2 {
        return Err(malformed("it does not hold a row of three f4 for each example".to_owned()));
    }
    let number = |bytes: &[u8]| f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let row = |bytes: &[u8]| [number(&bytes[..4]), number(&bytes[4..8]), number(&bytes[8..])];
    Ok(data.chunks_exact(12).map(row).collect())
}
