//! Black-box tests by hosts: what passes on one must pass on all.

use std::collections::BTreeMap;

use super::libtest::{Verdict, Verdicts};

/// Every test that any host ran, and what became of it on each.
pub(crate) struct Table {
    hosts: Vec<&'static str>,
    rows: BTreeMap<String, Vec<Option<Verdict>>>,
}

impl Table {
    /// Puts the hosts' verdicts side by side.
    pub(super) fn new(columns: Vec<(&'static str, Verdicts)>) -> Self {
        let mut rows: BTreeMap<String, Vec<Option<Verdict>>> = BTreeMap::new();
        for (place, (_, verdicts)) in columns.iter().enumerate() {
            for (name, verdict) in verdicts {
                let row = rows.entry(name.clone()).or_insert_with(|| vec![None; columns.len()]);
                if let Some(cell) = row.get_mut(place) {
                    *cell = Some(*verdict);
                }
            }
        }
        Self { hosts: columns.into_iter().map(|(host, _)| host).collect(), rows }
    }

    /// How many cells are empty: a test ran on one host and not on another.
    pub(super) fn missing(&self) -> usize {
        self.rows.values().flatten().filter(|cell| cell.is_none()).count()
    }

    /// How many tests of each suite passed, by host. A suite is a program, or a client; its name begins its tests' names.
    fn passed(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut suites: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (name, cells) in &self.rows {
            let suite = name.split_once("::").map_or(name.as_str(), |(suite, _)| suite);
            let counts = suites.entry(suite).or_insert_with(|| vec![0; self.hosts.len()]);
            for (count, cell) in counts.iter_mut().zip(cells) {
                *count += usize::from(*cell == Some(Verdict::Passed));
            }
        }
        suites
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.rows.keys().map(String::len).max().unwrap_or(0).max("black-box test".len());
        write!(f, "{:<width$}", "black-box test")?;
        for host in &self.hosts {
            write!(f, "  {host:<8}")?;
        }
        for (name, cells) in &self.rows {
            write!(f, "\n{name:<width$}")?;
            for cell in cells {
                write!(f, "  {:<8}", cell.map_or("MISSING", Verdict::word))?;
            }
        }
        write!(f, "\n\n{:<12}", "suite")?;
        self.hosts.iter().try_for_each(|host| write!(f, "  {host:<8}"))?;
        for (suite, passed) in self.passed() {
            write!(f, "\n{suite:<12}")?;
            passed.iter().try_for_each(|count| write!(f, "  {count:<8}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_one_host_lacks_shows() {
        let verdicts =
            |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), Verdict::Passed)).collect();
        let table = Table::new(vec![("local", verdicts(&["a", "b"])), ("workerd", verdicts(&["b"]))]);
        assert_eq!(table.missing(), 1);
        let shown = table.to_string();
        let row = shown.lines().find(|line| line.starts_with("a ")).unwrap();
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["a", "ok", "MISSING"]);
    }

    #[test]
    fn what_passed_is_counted_by_suite() {
        let verdicts = |names: &[(&str, Verdict)]| {
            names.iter().map(|(name, verdict)| ((*name).to_owned(), *verdict)).collect()
        };
        let local =
            [("rest::a", Verdict::Passed), ("rest::b", Verdict::Passed), ("dav::a", Verdict::Skipped)];
        let table = Table::new(vec![("local", verdicts(&local)), ("Spin", verdicts(&[local[0]]))]);
        assert_eq!(table.passed(), BTreeMap::from([("dav", vec![0, 0]), ("rest", vec![2, 1])]));
    }
}
