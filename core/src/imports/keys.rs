//! Where the keys of a page lead: pure rules, from a listing and what stands in the space to what is to be made.

use std::collections::HashMap;

use crate::buckets::OWN_KEYS;
use crate::error::{Error, Result};
use crate::manifest;
use crate::path::{MAX_DEPTH, Name};
use crate::ports::Listed;

/// Why an object can't become a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// Part of its key can't be a name.
    #[error("{0}")]
    NotAName(String),
    /// Paths have an end.
    #[error("it would be more than {MAX_DEPTH} names deep")]
    TooDeep,
    /// Something else has its name.
    #[error("{0}")]
    Taken(String),
    /// A file has the same name in other bytes.
    #[error("the file {0:?} is there, whose name is the same in another Unicode form")]
    Twin(String),
}

impl Refusal {
    /// What it is called.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotAName(_) => "not_a_name",
            Self::TooDeep => "too_deep",
            Self::Taken(_) => "taken",
            Self::Twin(_) => "twin",
        }
    }
}

/// What stands in the space already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    Folder {
        id: String,
    },
    /// A file; the name's bytes, and the entity tag of its content.
    File {
        name: String,
        etag: String,
    },
}

/// A name on the way to an object.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// The place above; the first one is the space's top folder, and has none.
    pub(super) above: usize,
    /// Its name; None: the top.
    pub(super) name: Option<Name>,
    /// The places below, by their names as they are found.
    below: HashMap<String, usize>,
    /// The object that it stands for; None: a folder.
    pub(super) object: Option<&'a Listed>,
    /// What stands there.
    pub(super) standing: Option<Standing>,
    /// Whether it is to be made: nothing stands there, and what it stands for, or something below, is to be made.
    pub(super) is_made: bool,
}

/// A page of a listing as a tree.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) places: Vec<Place<'a>>,
    /// Those that an object names: files, and folders by the objects that some programs make for them.
    named: Vec<(usize, &'a Listed)>,
    /// What can't become a file, in the order of the keys.
    pub(super) refused: Vec<(&'a str, Refusal)>,
    /// Objects of a drive.
    pub(super) own: u64,
    /// Objects that files refer to already.
    pub(super) unchanged: u64,
}

impl<'a> Tree<'a> {
    /// Lays a page out below the folder `into`; the names begin behind the last slash of the prefix.
    pub(super) fn new(objects: &'a [Listed], prefix: &str, into: &[Name]) -> Self {
        let top = Place::folder(0, None);
        let prefix = prefix.rfind('/').and_then(|slash| prefix.get(..=slash)).unwrap_or_default();
        let mut tree =
            Self { places: vec![top], named: Vec::new(), refused: Vec::new(), own: 0, unchanged: 0 };
        let base = tree.folders(0, into);
        for object in objects {
            if object.key.starts_with(OWN_KEYS) {
                tree.own += 1;
            } else if let Err(refusal) = tree.add(object, prefix, base, into.len()) {
                tree.refused.push((&object.key, refusal));
            }
        }
        tree
    }

    fn add(&mut self, object: &'a Listed, prefix: &str, base: usize, depth: usize) -> Result<(), Refusal> {
        let path = object.key.strip_prefix(prefix).unwrap_or(&object.key);
        // Some programs store an empty object for each folder; that of the prefix itself names nothing.
        let folder = path.strip_suffix('/').filter(|_| object.size_bytes == 0);
        if path.is_empty() && object.size_bytes == 0 {
            return Ok(());
        }
        let names = folder.unwrap_or(path).split('/').map(Name::parse).collect::<Result<Vec<_>, _>>();
        let names = names.map_err(|error| Refusal::NotAName(why(&error)))?;
        if depth + names.len() > MAX_DEPTH {
            return Err(Refusal::TooDeep);
        }
        let (name, above) = match (folder, names.split_last()) {
            (None, Some((name, above))) => (Some(name), above),
            _ => (None, names.as_slice()),
        };
        // Nothing is laid out for a key that is refused.
        let mut at = Some(base);
        for name in above {
            at = at.and_then(|at| self.below(at, name));
            if let Some(file) = at.and_then(|at| self.places.get(at)).filter(|place| place.object.is_some()) {
                return Err(file_in_the_way(file.name.as_ref().map_or("", Name::as_str)));
            }
        }
        if let Some(name) = name
            && let Some(taken) = at.and_then(|at| self.below(at, name)).and_then(|at| self.places.get(at))
        {
            let shown = taken.name.as_ref().map_or("", Name::as_str);
            return Err(if taken.object.is_some() {
                Refusal::Twin(shown.to_owned())
            } else {
                folder_in_the_way(shown)
            });
        }
        let above = self.folders(base, above);
        let at = match name {
            None => above,
            Some(name) => self.push(above, name, Some(object)),
        };
        self.named.push((at, object));
        Ok(())
    }

    fn below(&self, at: usize, name: &Name) -> Option<usize> {
        self.places.get(at)?.below.get(name.nfc()).copied()
    }

    fn folders(&mut self, at: usize, names: &[Name]) -> usize {
        names.iter().fold(at, |at, name| match self.below(at, name) {
            Some(below) => below,
            None => self.push(at, name, None),
        })
    }

    fn push(&mut self, above: usize, name: &Name, object: Option<&'a Listed>) -> usize {
        let at = self.places.len();
        self.places.push(Place { object, ..Place::folder(above, Some(name.clone())) });
        if let Some(place) = self.places.get_mut(above) {
            place.below.insert(name.nfc().to_owned(), at);
        }
        at
    }

    /// What is below the top, for the database: `[[place, name, [what is below it]], …]`.
    pub(super) fn below_top(&self) -> Result<String> {
        let mut written = vec![String::new(); self.places.len()];
        // A place comes behind the one above.
        for (at, place) in self.places.iter().enumerate().rev() {
            let below = written.get_mut(at).map(std::mem::take).unwrap_or_default();
            let Some(name) = &place.name else { return Ok(format!("[{below}]")) };
            if let Some(above) = written.get_mut(place.above) {
                let comma = if above.is_empty() { "" } else { "," };
                *above += &format!("{comma}[{at},{},[{below}]]", manifest::to_json(&name.nfc())?);
            }
        }
        Ok("[]".to_owned())
    }

    /// Decides, once each place knows what stands there; `etag_of` gives the entity tag that an object's file has.
    pub(super) fn decide(&mut self, etag_of: impl Fn(&Listed) -> Option<String>) {
        for (at, object) in std::mem::take(&mut self.named) {
            match self.refusal(at, &etag_of) {
                Some(refusal) => self.refused.push((&object.key, refusal)),
                None => self.make(at),
            }
        }
        // Each as the listing has them.
        self.refused.sort_by(|one, other| one.0.cmp(other.0));
    }

    fn refusal(&mut self, at: usize, etag_of: impl Fn(&Listed) -> Option<String>) -> Option<Refusal> {
        let place = self.places.get(at)?;
        let mut above = place.above;
        while let Some(folder) = self.places.get(above) {
            if let Some(Standing::File { name, .. }) = &folder.standing {
                return Some(file_in_the_way(name));
            }
            if above == 0 {
                break;
            }
            above = folder.above;
        }
        match (place.object, place.standing.as_ref()?) {
            (None, Standing::Folder { .. }) => None,
            (None, Standing::File { name, .. }) => Some(file_in_the_way(name)),
            (Some(_), Standing::Folder { .. }) => {
                Some(folder_in_the_way(place.name.as_ref().map_or("", Name::as_str)))
            }
            (Some(object), Standing::File { etag, .. }) if etag_of(object).as_ref() == Some(etag) => {
                self.unchanged += 1;
                None
            }
            (Some(_), Standing::File { name, .. }) => {
                let own = place.name.as_ref().map_or("", Name::as_str);
                Some(if name == own { file_in_the_way(name) } else { Refusal::Twin(name.clone()) })
            }
        }
    }

    fn make(&mut self, at: usize) {
        let mut at = at;
        while let Some(place) = self.places.get_mut(at) {
            if place.standing.is_some() || place.is_made || place.name.is_none() {
                break;
            }
            place.is_made = true;
            at = place.above;
        }
    }
}

impl Place<'_> {
    fn folder(above: usize, name: Option<Name>) -> Self {
        Self { above, name, below: HashMap::new(), object: None, standing: None, is_made: false }
    }
}

fn file_in_the_way(name: &str) -> Refusal {
    Refusal::Taken(format!("a file {name:?} is there already"))
}

fn folder_in_the_way(name: &str) -> Refusal {
    Refusal::Taken(format!("a folder {name:?} is there already"))
}

/// What a refused name is told, without the field that it came in.
fn why(error: &Error) -> String {
    match error {
        Error::Invalid { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}
