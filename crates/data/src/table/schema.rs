//! What each column of a table is for.

use crate::features::Feature;
use crate::table::number;
use crate::{Error, Labeling, Options, Warning};
use std::path::Path;

/// Names that a label column goes by when nobody names it.
pub(crate) const LABEL_NAMES: [&str; 5] = ["label", "labels", "class", "target", "y"];

/// What a column is for; numbers are places among the columns of their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Number(usize),
    Category(usize),
    Label,
    Ignored,
}

/// What is wanted of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Request<'a> {
    /// Every column as a feature, and the label unless it lies elsewhere.
    Features,
    /// The label alone.
    Label,
    /// The label and one column of texts.
    Texts(&'a str),
    /// The columns called `p(class)`, or else every column of numbers that is no label.
    Probabilities,
}

/// The columns of a table and what they are for.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    pub(crate) names: Vec<String>,
    pub(crate) roles: Vec<Role>,
    pub(crate) numbers: usize,
    pub(crate) categories: usize,
    pub(crate) warnings: Vec<Warning>,
}

impl Schema {
    /// Gives each column its role; `numeric` says which ones look like numbers.
    pub(crate) fn new(
        path: &Path,
        names: Vec<String>,
        numeric: &[bool],
        (request, options): (Request<'_>, &Options),
    ) -> Result<Self, Error> {
        if let Some(column) = twice(&names) {
            return Err(Error::DuplicateColumn { path: path.into(), column });
        }
        let label = label_column(path, &names, request, options)?;
        let mut schema = Self {
            roles: vec![Role::Ignored; names.len()],
            names,
            numbers: 0,
            categories: 0,
            warnings: vec![],
        };
        if let Some(label) = label {
            schema.roles[label] = Role::Label;
        }
        match (request, &options.features) {
            (Request::Label, _) => {}
            (Request::Texts(name), _) => schema.take(path, name, Role::Category(0))?,
            (Request::Probabilities, _) => schema.probabilities(path, numeric, options)?,
            (Request::Features, Some(features)) => schema.follow(path, features)?,
            (Request::Features, None) => schema.infer(path, numeric, options)?,
        }
        Ok(schema)
    }

    /// Every column that is not left out becomes a feature.
    fn infer(&mut self, path: &Path, numeric: &[bool], options: &Options) -> Result<(), Error> {
        for name in &options.ignore {
            self.find(path, name)?;
        }
        for (column, role) in self.roles.iter_mut().enumerate() {
            let name = &self.names[column];
            if name.is_empty() {
                self.warnings.push(Warning::Unnamed { number: column + 1 });
            } else if *role == Role::Ignored && !options.ignore.contains(name) && !is_label(name, options) {
                let (kind, count): (fn(usize) -> Role, _) = if numeric[column] {
                    (Role::Number, &mut self.numbers)
                } else {
                    (Role::Category, &mut self.categories)
                };
                *role = kind(*count);
                *count += 1;
            }
        }
        if self.numbers + self.categories == 0 {
            return Err(Error::NoFeatures { path: path.into() });
        }
        Ok(())
    }

    /// The columns that hold the probability of a class become numbers.
    fn probabilities(&mut self, path: &Path, numeric: &[bool], options: &Options) -> Result<(), Error> {
        let says_so = |name: &String| name.starts_with("p(") && name.ends_with(')');
        let some_say_so = self.names.iter().any(says_so);
        for (column, role) in self.roles.iter_mut().enumerate() {
            let name = &self.names[column];
            let is_number = numeric[column] && !name.is_empty() && !options.ignore.contains(name);
            let fits = if some_say_so { says_so(name) } else { is_number && !is_label(name, options) };
            if *role == Role::Ignored && fits {
                *role = Role::Number(self.numbers);
                self.numbers += 1;
            }
        }
        if self.numbers == 0 { Err(Error::NoFeatures { path: path.into() }) } else { Ok(()) }
    }

    /// The columns of another table become the same features, whatever their order here.
    fn follow(&mut self, path: &Path, features: &[Feature]) -> Result<(), Error> {
        for feature in features {
            let role = match feature {
                Feature::Number { .. } => Role::Number(self.numbers),
                Feature::Category { .. } => Role::Category(self.categories),
            };
            self.take(path, feature.name(), role)?;
        }
        Ok(())
    }

    fn take(&mut self, path: &Path, name: &str, role: Role) -> Result<(), Error> {
        let column = self.find(path, name)?;
        self.roles[column] = role;
        self.numbers += usize::from(matches!(role, Role::Number(_)));
        self.categories += usize::from(matches!(role, Role::Category(_)));
        Ok(())
    }

    fn find(&self, path: &Path, name: &str) -> Result<usize, Error> {
        find(path, &self.names, name)
    }

    /// Takes their role from some columns of numbers, and closes the gaps.
    pub(crate) fn leave_out(&mut self, places: &[usize]) {
        self.numbers = 0;
        for role in &mut self.roles {
            match *role {
                Role::Number(place) if places.contains(&place) => *role = Role::Ignored,
                Role::Number(_) => {
                    *role = Role::Number(self.numbers);
                    self.numbers += 1;
                }
                _ => {}
            }
        }
    }

    /// Name of the category column at a place.
    pub(crate) fn category_name(&self, place: usize) -> &str {
        let column = self.roles.iter().position(|&role| role == Role::Category(place));
        column.map_or("", |column| &self.names[column])
    }

    /// The features of the rows, where the texts of each category are known.
    pub(crate) fn features(&self, mut values: Vec<Vec<String>>) -> Vec<Feature> {
        let columns = self.names.iter().zip(&self.roles);
        columns
            .filter_map(|(name, role)| match role {
                Role::Number(_) => Some(Feature::Number { name: name.clone() }),
                Role::Category(place) => Some(Feature::Category {
                    name: name.clone(),
                    values: std::mem::take(&mut values[*place]),
                }),
                Role::Label | Role::Ignored => None,
            })
            .collect()
    }
}

/// Whether a column is a label that was not asked for, and so no feature either.
fn is_label(name: &str, options: &Options) -> bool {
    let usual = options.labeling == Labeling::Absent
        && LABEL_NAMES.iter().any(|usual| name.eq_ignore_ascii_case(usual));
    usual || options.label.as_deref() == Some(name)
}

fn find(path: &Path, names: &[String], name: &str) -> Result<usize, Error> {
    let missing = || Error::NoColumn { path: path.into(), column: name.into(), found: names.to_vec() };
    names.iter().position(|known| known == name).ok_or_else(missing)
}

/// Which column holds the labels, if one has to.
fn label_column(
    path: &Path,
    names: &[String],
    request: Request<'_>,
    options: &Options,
) -> Result<Option<usize>, Error> {
    let elsewhere = matches!(request, Request::Features) && options.labels.is_some();
    if elsewhere || matches!(request, Request::Probabilities) || options.labeling == Labeling::Absent {
        return Ok(None);
    }
    if let Some(name) = &options.label {
        return find(path, names, name).map(Some);
    }
    let usual =
        LABEL_NAMES.iter().find_map(|usual| names.iter().position(|name| name.eq_ignore_ascii_case(usual)));
    let only = (matches!(request, Request::Label) && names.len() == 1).then_some(0);
    usual.or(only).map(Some).ok_or_else(|| Error::NoLabel { path: path.into(), found: names.to_vec() })
}

fn twice(names: &[String]) -> Option<String> {
    let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

/// Whether the first row of a table is a header and not an example.
pub(crate) fn is_header(
    first: &[Vec<u8>],
    second: Option<&[Vec<u8>]>,
    request: Request<'_>,
    options: &Options,
) -> bool {
    let is_value = |text: &[u8]| number::is_missing(text) || number::exact(text).is_some();
    let names_label = |text: &[u8]| {
        let usual = LABEL_NAMES.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes()));
        usual || options.label.as_ref().is_some_and(|name| text == name.as_bytes())
    };
    let words = first.iter().any(|text| !is_value(text));
    // Classes without names are headed 0, 1, 2 by most programs.
    let counted = || first.iter().enumerate().all(|(at, text)| *text == at.to_string().as_bytes());
    if matches!(request, Request::Probabilities) && counted() {
        return true;
    }
    if first.iter().any(|text| names_label(text) && !is_value(text)) {
        return true;
    }
    match (request, first.len()) {
        (Request::Label, 1) => {
            words && second.is_some_and(|row| row.iter().all(|text| number::exact(text).is_some()))
        }
        _ => words,
    }
}
