//! The figures of a paper, from a file that lists them: noises, matrices of runs, and the overconfidence toy.

mod overconfidence;
mod toy;
mod transitions;

use super::draw::{Drawing, HeatMap, Hull, Sheet, Simplex};
use crate::Error;
use crate::experiment::table_of;
use crate::run::write_atomically;
use cleanest_core::noise::{Noise, Transition};
use serde::Deserialize;
use std::path::{Path, PathBuf};
pub use transitions::transitions;

/// A file of figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// The folder the figures are written to.
    out: PathBuf,
    #[serde(rename = "figure")]
    figures: Vec<Figure>,
}

/// One figure of a file; a stranger among its keys is refused by its kind.
#[derive(Clone, Debug, Deserialize)]
struct Figure {
    /// The name of its file.
    name: String,
    /// What stands above it.
    title: String,
    #[serde(flatten)]
    kind: Kind,
}

/// What a figure shows.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Kind {
    /// Heat maps of noises for so many classes.
    Noises { classes: usize, noises: Vec<Noise> },
    /// The triangles that noises of three classes span.
    Simplex { noises: Vec<Noise> },
    /// True and estimated matrices of the runs in a folder with this seed, noises by methods.
    Transitions { runs: PathBuf, seed: u64, methods: Vec<String> },
    /// Posteriors of networks trained on clean and on noisy labels, beside the true ones.
    Overconfidence { seed: u64 },
    /// The entropies of the same.
    Entropies { seed: u64 },
    /// The triangle of the true noise, and the one that anchor points of an overconfident network span.
    ConvexHulls { seed: u64 },
}

/// What became of a file of figures.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Figures that could not be drawn, and why.
    pub left_out: Vec<(String, String)>,
}

/// Draws what a file lists, as SVG. A figure of runs that are not there is left out and named.
pub fn figures(path: &Path, out: Option<&Path>) -> Result<Drawn, Error> {
    let list: List = toml::Value::Table(table_of(path)?).try_into().map_err(|problem: toml::de::Error| {
        Error::Malformed { path: path.to_owned(), problem: problem.message().to_owned() }
    })?;
    let out = out.unwrap_or(&list.out);
    std::fs::create_dir_all(out).map_err(Error::write(out))?;
    let mut drawn = Drawn::default();
    for figure in list.figures {
        if let Kind::Transitions { runs, .. } = &figure.kind
            && !runs.is_dir()
        {
            drawn.left_out.push((figure.name, format!("there is no `{}`", runs.display())));
            continue;
        }
        let file = out.join(format!("{}.svg", figure.name));
        let drawing = figure
            .draw()
            .map_err(|problem| Error::Figure { figure: figure.name.clone(), problem: problem.to_string() })?;
        write_atomically(&file, drawing.to_svg().as_bytes())?;
        drawn.files.push(file);
    }
    Ok(drawn)
}

impl Figure {
    fn draw(&self) -> Result<Drawing, Error> {
        match &self.kind {
            Kind::Noises { classes, noises } => self.noises(*classes, noises),
            Kind::Simplex { noises } => self.simplex(noises),
            Kind::Transitions { runs, seed, methods } => {
                Ok(transitions(&self.title, runs, *seed, Some(methods))?.draw())
            }
            Kind::Overconfidence { seed } => overconfidence::posteriors(&self.title, *seed),
            Kind::Entropies { seed } => overconfidence::entropies(&self.title, *seed),
            Kind::ConvexHulls { seed } => overconfidence::hulls(&self.title, *seed),
        }
    }

    fn noises(&self, classes: usize, noises: &[Noise]) -> Result<Drawing, Error> {
        let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
        let map = |noise: &Noise| {
            let truth = noise.transition(classes, 0)?;
            Ok(Some(HeatMap { title: "", names: &names, values: truth.matrix(), bounds: None }.bare()))
        };
        let maps = noises.iter().map(map).collect::<Result<_, Error>>()?;
        Ok(self.in_a_row(noises, maps, 130.0))
    }

    fn simplex(&self, noises: &[Noise]) -> Result<Drawing, Error> {
        let triangle = |noise: &Noise| {
            let rows = rows_of(&noise.transition(3, 0)?);
            let hulls = vec![Hull { name: "rows of T", rows, is_true: false }];
            Ok(Some(Simplex { title: "", names: classes(), points: Vec::new(), hulls }.draw()))
        };
        let triangles = noises.iter().map(triangle).collect::<Result<_, Error>>()?;
        Ok(self.in_a_row(noises, triangles, 260.0))
    }

    fn in_a_row(&self, noises: &[Noise], drawings: Vec<Option<Drawing>>, width: f64) -> Drawing {
        let columns = noises.iter().map(ToString::to_string).collect();
        Sheet { title: self.title.clone(), columns, rows: vec![(String::new(), drawings)], width }.draw()
    }
}

/// The rows of a matrix of three classes.
fn rows_of(transition: &Transition) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|row| [0, 1, 2].map(|column| transition.matrix()[(row, column)]))
}

/// Names for three classes.
fn classes() -> [String; 3] {
    ["class 1", "class 2", "class 3"].map(str::to_owned)
}
