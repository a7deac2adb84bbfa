//! A transition matrix as a person reads it: in percent, what is next to nothing left out.

use super::Transition;
use std::fmt;

/// Up to this many classes the whole matrix is shown; beyond it, the largest entries of each row.
const WHOLE: usize = 20;
/// Entries of a row that are shown of a matrix too wide to be shown whole.
const LARGEST: usize = 5;
/// Letters of a class name that are shown.
const LETTERS: usize = 10;

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = (0..self.classes()).map(|class| shortened(&self.name(class))).collect();
        let side = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        if self.classes() <= WHOLE { self.whole(f, &names, side) } else { self.largest(f, &names, side) }
    }
}

impl Transition {
    fn whole(&self, f: &mut fmt::Formatter<'_>, names: &[String], side: usize) -> fmt::Result {
        let widths: Vec<usize> = names.iter().map(|name| name.chars().count().max(5) + 1).collect();
        write!(f, "{:side$}", "")?;
        for (name, &width) in names.iter().zip(&widths) {
            write!(f, "{name:>width$}")?;
        }
        for (class, name) in names.iter().enumerate() {
            write!(f, "\n{name:>side$}")?;
            for (&entry, &width) in self.row(class).iter().zip(&widths) {
                write!(f, "{:>width$}", percent(entry))?;
            }
        }
        Ok(())
    }

    fn largest(&self, f: &mut fmt::Formatter<'_>, names: &[String], side: usize) -> fmt::Result {
        for (class, name) in names.iter().enumerate() {
            let row = self.row(class);
            let mut others: Vec<usize> = (0..row.len()).filter(|&label| label != class).collect();
            others.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
            write!(f, "{}{name:>side$} {:>5}", if class == 0 { "" } else { "\n" }, percent(row[class]))?;
            for &label in others.iter().take(LARGEST).filter(|&&label| row[label] >= 0.0005) {
                write!(f, "  {} {}", names[label], percent(row[label]))?;
            }
        }
        Ok(())
    }
}

/// A probability in percent; a dot for what would round to nothing.
fn percent(probability: f64) -> String {
    if probability < 0.0005 { "·".to_owned() } else { format!("{:.1}", 100.0 * probability) }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= LETTERS {
        return name.to_owned();
    }
    name.chars().take(LETTERS - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use crate::noise::Noise;

    #[test]
    fn a_small_matrix_is_shown_whole_with_its_names() {
        let pair = "pair:0.4".parse::<Noise>().unwrap().transition(3, 0).unwrap();
        let named = pair.with_names(vec!["cat".into(), "dog".into(), "hippopotamus".into()]).unwrap();
        let expected = [
            "             cat   dog hippopota…",
            "       cat  60.0  40.0          ·",
            "       dog     ·  60.0       40.0",
            "hippopota…  40.0     ·       60.0",
        ];
        assert_eq!(named.to_string(), expected.join("\n"));
    }

    #[test]
    fn of_a_large_matrix_each_row_shows_its_largest_entries() {
        let trid = "tridiagonal:0.3".parse::<Noise>().unwrap().transition(100, 0).unwrap();
        let text = trid.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 100);
        assert_eq!(lines[50], "50  58.0  49 21.0  51 21.0");
    }
}
