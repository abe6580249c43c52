//! The command line's words, taken one by one.

use std::collections::VecDeque;

use anyhow::{Context, Result, bail};

/// What is left of the command line.
pub(crate) struct Arguments(VecDeque<String>);

impl Arguments {
    /// The command line without the program's name.
    pub(crate) fn from_env() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// Takes the next argument, if it is a word and no option.
    pub(crate) fn word(&mut self) -> Option<String> {
        let is_option = self.0.front().is_some_and(|next| next.starts_with("--") && next != "--help");
        if is_option { None } else { self.0.pop_front() }
    }

    /// Takes `--name`, wherever it stands.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let place = self.0.iter().position(|argument| argument == name);
        place.is_some_and(|place| self.0.remove(place).is_some())
    }

    /// Takes `--name VALUE`, wherever it stands.
    pub(crate) fn value(&mut self, name: &str) -> Result<Option<String>> {
        let Some(place) = self.0.iter().position(|argument| argument == name) else { return Ok(None) };
        self.0.remove(place);
        self.0.remove(place).map(Some).with_context(|| format!("{name} needs a value"))
    }

    /// Takes every `--name VALUE`.
    pub(crate) fn values(&mut self, name: &str) -> Result<Vec<String>> {
        std::iter::from_fn(|| self.value(name).transpose()).collect()
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Result<()> {
        match self.0.front() {
            None => Ok(()),
            Some(argument) => bail!("don't know what to do with {argument:?}; see `cargo xtask help`"),
        }
    }
}
