//! What is printed: tables, and the steps of a long run with their durations.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Rows under a header, in columns as wide as they need.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        let header = header.iter().map(|&name| name.to_owned()).collect();
        Self { rows: vec![header] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The text: the first column to the left, the others to the right if they are numbers.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<String> = row.iter().zip(&widths).map(pad).collect();
            text.push_str(cells.join(" | ").trim_end());
            text.push('\n');
            if std::ptr::eq(row, self.rows.first().unwrap_or(row)) {
                let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
                text.push_str(&rule.join("-|-"));
                text.push('\n');
            }
        }
        text
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

fn pad((cell, &width): (&String, &usize)) -> String {
    let number = !cell.is_empty() && cell.chars().all(|at| at.is_ascii_digit() || at == '.');
    if number {
        format!("{cell:>width$}")
    } else {
        format!("{cell:<width$}")
    }
}

/// The steps of a run: each is timed, none hides the ones after it.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<(&'static str, Duration, bool)>,
}

impl Steps {
    /// Runs a step and says whether it went well.
    pub(crate) fn run(&mut self, name: &'static str, step: impl FnOnce() -> Result<()>) -> bool {
        println!("\n=== {name}");
        let (result, took) = timed(step);
        if let Err(error) = &result {
            println!("!!! {name}: {error:#}");
        }
        self.done.push((name, took, result.is_ok()));
        result.is_ok()
    }

    /// Prints the table.
    ///
    /// # Errors
    ///
    /// Where a step failed.
    pub(crate) fn finish(self) -> Result<()> {
        let mut table = Table::new(&["step", "seconds", "result"]);
        for (name, took, good) in &self.done {
            let result = if *good { "ok" } else { "FAILED" };
            table.row(vec![
                (*name).to_owned(),
                format!("{:.1}", took.as_secs_f64()),
                result.to_owned(),
            ]);
        }
        println!("\n{}", table.render());
        let failed = self.done.iter().filter(|(_, _, good)| !good).count();
        println!(
            "steps: {} passed, {failed} failed",
            self.done.len() - failed
        );
        if failed > 0 {
            bail!("{failed} of {} steps failed", self.done.len());
        }
        Ok(())
    }
}

/// What a step gave, and how long it took.
#[expect(clippy::disallowed_methods, reason = "the one clock of xtask")]
pub(crate) fn timed<T>(step: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let result = step();
    (result, begun.elapsed())
}

#[cfg(test)]
mod tests {
    use super::{Steps, Table};

    #[test]
    fn a_table_lines_up() {
        let mut table = Table::new(&["name", "n"]);
        table.row(vec!["é".to_owned(), "12".to_owned()]);
        table.row(vec!["longer".to_owned(), "3".to_owned()]);
        let want = "name   | n\n-------|---\né      | 12\nlonger |  3\n";
        assert_eq!(table.render(), want);
    }

    #[test]
    fn one_failed_step_fails_the_run() {
        let mut steps = Steps::default();
        assert!(!steps.run("bad", || anyhow::bail!("no")));
        assert!(steps.run("good", || Ok(())));
        assert!(steps.finish().is_err());
    }
}
