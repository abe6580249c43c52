//! Free names: `name (2).txt`.

use std::collections::HashMap;

use crate::error::Result;
use crate::manifest;
use crate::path::{MAX_NAME_BYTES, Name};
use crate::ports::{Row, Statement};

/// Room for ` (` and `)` and seven digits.
const NUMBER_BYTES: usize = 10;
/// The last number of seven digits.
pub(super) const MAX_NUMBER: u64 = 9_999_999;

/// A name that gets a number, in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Numbered {
    folder: String,
    stem: String,
    extension: String,
}

impl Numbered {
    /// Where the number goes: before a file's extension, at the end of a folder's name. A long name is cut for it.
    pub(super) fn new(folder: &str, name: &Name, is_folder: bool) -> Self {
        let (stem, extension) = match name.as_str().rfind('.') {
            Some(dot) if dot > 0 && !is_folder => name.as_str().split_at(dot),
            _ => (name.as_str(), ""),
        };
        // An extension that would leave no room is none.
        let (stem, extension) =
            if extension.len() > MAX_NAME_BYTES / 2 { (name.as_str(), "") } else { (stem, extension) };
        let room = MAX_NAME_BYTES - NUMBER_BYTES - extension.len();
        let end = (0..=stem.len().min(room)).rev().find(|end| stem.is_char_boundary(*end)).unwrap_or(0);
        Self {
            folder: folder.to_owned(),
            stem: stem.get(..end).unwrap_or_default().to_owned(),
            extension: extension.to_owned(),
        }
    }

    /// The folder.
    pub(super) fn folder(&self) -> &str {
        &self.folder
    }

    /// The name with a number.
    pub(super) fn with(&self, number: u64) -> Result<Name> {
        Name::parse(&format!("{} ({number}){}", self.stem, self.extension))
    }
}

/// Numbers that were free when they were looked up.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    free: HashMap<Numbered, Vec<u64>>,
    /// How many more of each are needed.
    wanted: HashMap<Numbered, u64>,
}

impl Numbers {
    /// The numbers that are free for a name, as far as any were looked up.
    pub(super) fn free(&self, name: &Numbered) -> Option<&[u64]> {
        self.free.get(name).map(Vec::as_slice)
    }

    /// Notes that those looked up don't do: one more is needed, or, where the batch has taken them all, as many again.
    pub(super) fn want_more(&mut self, name: &Numbered) {
        let known = self.free.remove(name).map_or(0, |free| free.len() as u64);
        *self.wanted.entry(name.clone()).or_insert(1 + 2 * known) += 1;
    }

    /// Whether there are names to look up.
    pub(super) fn are_wanted(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Looks up what is wanted, and what there was before; [`Numbers::read`] understands the answer.
    pub(super) fn look_up(&self) -> Result<(Vec<Numbered>, Statement)> {
        let names: Vec<Numbered> = self.wanted.keys().cloned().collect();
        let rows: Vec<_> = names
            .iter()
            .map(|name| {
                // The index knows names by their NFC form; a number keeps the halves apart.
                let nfc = |text: &str| -> String {
                    Name::parse(text).map(|name| name.nfc().to_owned()).unwrap_or_else(|_| text.to_owned())
                };
                (&name.folder, nfc(&name.stem), nfc(&name.extension), self.wanted.get(name))
            })
            .collect();
        // Each row tries the next number, until as many as wanted were free.
        let statement = Statement::new(
            "with recursive probe (name, folder, stem, extension, wanted, number, free) as (
                select key, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
                       json_extract(value, '$[3]'), 1, 0
                  from json_each(?1)
                union all
                select p.name, p.folder, p.stem, p.extension, p.wanted - p.free, p.number + 1,
                       not exists (select 1 from nodes n where n.parent_id = p.folder and n.trashed_at is null
                                     and n.name_nfc = p.stem || ' (' || (p.number + 1) || ')' || p.extension)
                  from probe p where p.wanted > p.free
            ) select name, number from probe where free order by name, number",
        )
        .bind(manifest::to_json(&rows)?);
        Ok((names, statement))
    }

    /// Takes in what was found for `names`.
    pub(super) fn read(&mut self, names: &[Numbered], rows: &[Row]) -> Result<()> {
        self.wanted.clear();
        for row in rows {
            let at = usize::try_from(row.unsigned("name")?).unwrap_or(usize::MAX);
            if let Some(name) = names.get(at) {
                self.free.entry(name.clone()).or_default().push(row.unsigned("number")?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_extension() {
        for (name, is_folder, numbered) in [
            ("a.txt", false, "a (2).txt"),
            ("a.tar.gz", false, "a.tar (2).gz"),
            ("a", false, "a (2)"),
            (".profile", false, ".profile (2)"),
            ("v1.2", true, "v1.2 (2)"),
            ("a (2).txt", false, "a (2) (2).txt"),
        ] {
            let name = Name::parse(name).unwrap();
            assert_eq!(Numbered::new("f", &name, is_folder).with(2).unwrap().as_str(), numbered);
        }
    }

    #[test]
    fn long_names_are_cut_for_the_number() {
        for long in [
            "x".repeat(255),
            "é".repeat(127),
            format!("{}.txt", "é".repeat(125)),
            format!("a.{}", "x".repeat(253)),
        ] {
            let name = Name::parse(&long).unwrap();
            let numbered = Numbered::new("f", &name, false).with(1_000_000).unwrap();
            assert!(numbered.as_str().contains(" (1000000)"), "{}", numbered.as_str());
        }
    }
}
