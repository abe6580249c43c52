//! What came of a run.

use std::fmt;

/// Every check's name, a sentence, by its result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// The checks that hold.
    pub passed: Vec<String>,
    /// The checks that don't, each with the reason.
    pub failed: Vec<(String, String)>,
    /// The checks that are not made, by their names: those that what stands behind an implementation can't pass.
    pub left_out: &'static [&'static str],
}

impl Report {
    /// Whether a check is to be made.
    pub(crate) fn makes(&self, group: &str, check: &str) -> bool {
        !self.left_out.contains(&name(group, check).as_str())
    }

    pub(crate) fn note(&mut self, group: &str, check: &str, result: anyhow::Result<()>) {
        let name = name(group, check);
        match result {
            Ok(()) => self.passed.push(name),
            Err(error) => self.failed.push((name, format!("{error:#}"))),
        }
    }
}

fn name(group: &str, check: &str) -> String {
    format!("{group}: {}", check.replace('_', " "))
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for name in &self.passed {
            writeln!(f, "ok      {name}")?;
        }
        for (name, reason) in &self.failed {
            writeln!(f, "FAILED  {name}: {reason}")?;
        }
        write!(f, "{} passed, {} failed", self.passed.len(), self.failed.len())
    }
}

/// Runs checks one after another and notes each under its function's name.
macro_rules! checks {
    ($report:expr, $group:literal, $($check:ident($($argument:expr),* $(,)?)),+ $(,)?) => {
        $(if $report.makes($group, stringify!($check)) {
            $report.note($group, stringify!($check), $check($($argument),*).await);
        })+
    };
}
pub(crate) use checks;
