//! Labels written back, to be read by this program or any other.

use crate::Error;
use crate::formats::has_extension;
use crate::labels::Labels;
use cleanest_core::npy::{Element, Header};
use std::io::{BufWriter, Write};
use std::path::Path;

impl Labels {
    /// Writes `.npy` (the class names as int64 if they are whole numbers, else the numbers of the classes) or `.csv`
    /// (a column `label` with the class names).
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let failed = |source| Error::Write { path: path.into(), source };
        let write = match () {
            () if has_extension(path, &["npy"]) => Self::write_npy,
            () if has_extension(path, &["csv"]) => Self::write_csv,
            () => return Err(Error::LabelFile { path: path.into() }),
        };
        // Aside first and then in one move, so that a full disk leaves no half of it.
        let mut aside = path.as_os_str().to_owned();
        aside.push(".tmp");
        let written = std::fs::File::create(&aside).and_then(|file| {
            let mut out = BufWriter::new(file);
            write(self, &mut out).and_then(|()| out.flush())
        });
        written.and_then(|()| std::fs::rename(&aside, path)).map_err(|source| {
            let _ = std::fs::remove_file(&aside);
            failed(source)
        })
    }

    fn write_npy(&self, out: &mut dyn Write) -> std::io::Result<()> {
        out.write_all(&Header::write(Element::I64, &[self.len()]))?;
        let names = self.classes.integers();
        for &index in &self.indices {
            let value = names.as_ref().map_or(i64::from(index), |names| names[index as usize]);
            out.write_all(&value.to_le_bytes())?;
        }
        Ok(())
    }

    fn write_csv(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "label")?;
        let quoted: Vec<String> = self.classes.names().iter().map(|name| quoted(name)).collect();
        for &index in &self.indices {
            writeln!(out, "{}", quoted[index as usize])?;
        }
        Ok(())
    }
}

/// The name as a field of a CSV file.
fn quoted(name: &str) -> String {
    let plain = !name.contains(['"', ',', '\n', '\r', '\t', ';']) && name.trim() == name && !name.is_empty();
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}
