//! `cleanest methods`: what there is to choose from, and what can be set.

use cleanest_core::methods::{Choice, Field};
use serde_json::Value;
use std::io::Write;

/// List the methods, or the settings of one.
#[derive(Debug, clap::Args)]
pub(crate) struct Methods {
    /// A method, to see its settings
    method: Option<String>,
    /// Write the reference page of all methods
    #[arg(long, conflicts_with = "method")]
    markdown: bool,
}

/// What stands at the top of the reference page.
const INTRODUCTION: &str = "\
# Methods

Written by `cleanest methods --markdown`. The settings of a method are a table of the configuration file, named like the
method; on the command line, `--set tvd.gamma=0.2`. The defaults are the paper's. What each method computes stands at the
top of its file in `crates/core/src/methods`.

Between their two stages `forward`, `t-revision` and `dual-t` estimate T from what the first network says of the training
images as they are; with `augment_anchors = true`, a key of the run, it sees them cropped and flipped as in training.
";

impl Methods {
    /// Prints a line for each method, or for each setting of one.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        match &self.method {
            Some(name) => print_settings(&Choice::named(name)?, &mut out),
            None if self.markdown => {
                writeln!(out, "{INTRODUCTION}")?;
                Choice::NAMES.iter().try_for_each(|name| section(&Choice::named(name)?, &mut out))
            }
            None => {
                for name in Choice::NAMES {
                    writeln!(out, "{name:<12} {}", Choice::named(name)?.about())?;
                }
                Ok(())
            }
        }
    }
}

fn print_settings(choice: &Choice, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "{}: {}", choice.name(), choice.about())?;
    for field in choice.fields() {
        writeln!(out, "\n{}.{} = {}\n    {}", choice.key(), field.name, default(&field), plain(&field.about))?;
    }
    Ok(())
}

fn section(choice: &Choice, out: &mut impl Write) -> anyhow::Result<()> {
    writeln!(out, "## {}\n\n{}.\n", choice.name(), capitalized(choice.about()))?;
    let fields = choice.fields();
    if fields.is_empty() {
        return Ok(writeln!(out, "No settings.\n")?);
    }
    writeln!(out, "| setting | default | meaning |\n|---|---|---|")?;
    for field in fields {
        writeln!(out, "| `{}.{}` | `{}` | {} |", choice.key(), field.name, default(&field), plain(&field.about))?;
    }
    Ok(writeln!(out)?)
}

/// A default as a settings file has it.
fn default(field: &Field) -> String {
    if field.default == Value::Null { "none".to_owned() } else { field.default.to_string() }
}

/// Documentation without the escapes of its own markup.
fn plain(about: &str) -> String {
    about.replace("\\[", "[").replace("\\]", "]")
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
