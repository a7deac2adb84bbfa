//! A table as text: markdown, LaTeX with booktabs, CSV.

use super::{Cell, Comparison, Gathered, Metric, Table};
use std::fmt::Write as _;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a page of a repository.
    Markdown,
    /// For a paper, with the package `booktabs`.
    Latex,
    /// A line for each cell, for programs.
    Csv,
}

impl Format {
    /// The text of some tables; runs that are not in them are named in it, where it is for people.
    #[must_use]
    pub fn text(self, tables: &[Table], gathered: &Gathered) -> String {
        match self {
            Self::Markdown => {
                let rest = left_out(gathered, "Not in the tables:\n\n", "- ", "`");
                tables.iter().map(markdown).chain(rest).collect::<Vec<_>>().join("\n")
            }
            Self::Latex => {
                let rest = left_out(gathered, "% Not in the tables:\n", "% ", "");
                tables.iter().map(latex).chain(rest).collect::<Vec<_>>().join("\n")
            }
            Self::Csv => csv(tables),
        }
    }
}

/// What the numbers are.
fn caption(table: &Table) -> String {
    let (least, most) = table.counts();
    let runs = match (least, most) {
        (1, 1) => "One run in each cell.".to_owned(),
        (least, most) if least == most => format!("Mean(deviation) over {most} runs."),
        (least, most) => {
            format!("Mean(deviation) over {least} to {most} runs; how many, where fewer than {most}.")
        }
    };
    let bold = if most > 1 {
        " Bold: the best of its column and what a one-tailed t-test at 5 % cannot tell from it."
    } else {
        " Bold: the best of its column."
    };
    let paper = if has_paper(table) {
        " Behind the stroke the paper's; within: two of its deviations or, where those are not known here, two of \
        `ours`; of a single run only whether it is no worse, or behind by so much."
    } else {
        ""
    };
    format!("{runs}{bold}{paper}")
}

fn has_paper(table: &Table) -> bool {
    table.cells.iter().flatten().flatten().any(|cell| cell.paper.is_some())
}

fn title(table: &Table) -> String {
    format!("{}, {}: {}", table.data, table.model, table.metric.title())
}

fn markdown(table: &Table) -> String {
    let most = table.counts().1;
    let mut text = format!("### {}\n\n| |", title(table));
    let columns: String = table.columns.iter().map(|column| format!(" {column} |")).collect();
    let _ = write!(text, "{columns}\n|---|{}\n", "---|".repeat(table.columns.len()));
    for (row, cells) in table.rows.iter().zip(&table.cells) {
        let _ = write!(text, "| {} |", row.replace('|', "\\|"));
        for cell in cells {
            let _ = write!(
                text,
                " {} |",
                cell.as_ref().map_or(String::new(), |cell| cell_text(cell, most, "**", "**"))
            );
        }
        text.push('\n');
    }
    let _ = write!(text, "\n{}\n", caption(table));
    text
}

/// A cell for people: the number, how many runs where fewer than elsewhere, and the paper's.
fn cell_text(cell: &Cell, most: usize, open: &str, close: &str) -> String {
    let number = cell.text();
    let number = if cell.is_best { format!("{open}{number}{close}") } else { number };
    let count = if cell.summary.count < most { format!(" n={}", cell.summary.count) } else { String::new() };
    let paper = cell.paper.as_ref();
    let paper =
        paper.map_or(String::new(), |Comparison { theirs, verdict }| format!(" / {theirs} {verdict}"));
    format!("{number}{count}{paper}")
}

fn latex(table: &Table) -> String {
    let most = table.counts().1;
    let row = |cells: Vec<String>| cells.join(" & ") + " \\\\\n";
    let head = std::iter::once(String::new()).chain(table.columns.iter().map(|column| escaped(column)));
    let mut text = format!("% {}. {}\n", title(table), caption(table));
    let _ = write!(
        text,
        "\\begin{{tabular}}{{l{}}}\n\\toprule\n{}\\midrule\n",
        "c".repeat(table.columns.len()),
        row(head.collect())
    );
    for (name, cells) in table.rows.iter().zip(&table.cells) {
        let cell = |cell: &Option<Cell>| {
            cell.as_ref().map_or("--".to_owned(), |cell| cell_text(cell, most, "\\textbf{", "}"))
        };
        text.push_str(&row(std::iter::once(escaped(name)).chain(cells.iter().map(cell)).collect()));
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n");
    text
}

/// Text that LaTeX takes for text.
fn escaped(text: &str) -> String {
    let special = |letter: char| match letter {
        '_' | '&' | '%' | '#' | '$' | '{' | '}' => format!("\\{letter}"),
        '\\' => "\\textbackslash{}".to_owned(),
        '^' => "\\^{}".to_owned(),
        '~' => "\\~{}".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(special).collect()
}

fn csv(tables: &[Table]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let _ = writer.write_record([
        "data",
        "model",
        "metric",
        "method",
        "noise",
        "runs",
        "mean",
        "deviation",
        "best",
        "paper_mean",
        "paper_deviation",
        "verdict",
    ]);
    for table in tables {
        let metric = match table.metric {
            Metric::Accuracy => "accuracy",
            Metric::AverageTv => "average_tv",
        };
        for (row, cells) in table.rows.iter().zip(&table.cells) {
            for (column, cell) in table.columns.iter().zip(cells) {
                let Some(cell) = cell else { continue };
                let theirs = cell.paper.as_ref().map(|paper| &paper.theirs);
                let deviation =
                    if cell.summary.count > 1 { cell.summary.deviation.to_string() } else { String::new() };
                let record: [&str; 12] = [
                    &table.data,
                    &table.model,
                    metric,
                    row,
                    column,
                    &cell.summary.count.to_string(),
                    &cell.summary.mean.to_string(),
                    &deviation,
                    &cell.is_best.to_string(),
                    theirs.map_or("", |theirs| theirs.mean.as_str()),
                    theirs.and_then(|theirs| theirs.deviation.as_deref()).unwrap_or(""),
                    &cell.paper.as_ref().map_or(String::new(), |paper| paper.verdict.to_string()),
                ];
                let _ = writer.write_record(record);
            }
        }
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// The runs that are not in the tables, each on a line that begins with `bullet`.
fn left_out(gathered: &Gathered, head: &str, bullet: &str, quote: &str) -> Option<String> {
    let line = |(path, reason): &(std::path::PathBuf, String)| {
        format!("{bullet}{quote}{}{quote}: {}\n", path.display(), reason.replace('\n', " "))
    };
    let lines: String = gathered.left_out.iter().map(line).collect();
    (!lines.is_empty()).then(|| format!("{head}{lines}"))
}
