//! How well a name answers a search.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Better first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It is what was searched.
    Whole,
    /// It begins with it.
    Beginning,
    /// One of its words does.
    Word,
    /// It holds it.
    Inside,
}

/// Ranks a name that holds the query. Both are folded as the index folds: case and diacritics don't count.
pub(super) fn rank(name: &str, query: &str) -> Rank {
    let (name, query) = (fold(name), fold(query));
    if name == query {
        return Rank::Whole;
    }
    if name.starts_with(&query) {
        return Rank::Beginning;
    }
    let begins_word = |at: usize| {
        name.get(..at).and_then(|before| before.chars().next_back()).is_some_and(|c| !c.is_alphanumeric())
    };
    if name.match_indices(&query).any(|(at, _)| begins_word(at)) { Rank::Word } else { Rank::Inside }
}

fn fold(text: &str) -> String {
    text.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_rank_by_where_the_query_stands() {
        for (name, expected) in [
            ("Übersicht", Rank::Whole),
            ("ubersicht.pdf", Rank::Beginning),
            ("2026 ÜBERSICHT.pdf", Rank::Word),
            ("jahresubersicht.pdf", Rank::Inside),
        ] {
            assert_eq!(rank(name, "übersicht"), expected, "{name}");
        }
        assert_eq!(rank("写真2026", "写"), Rank::Beginning);
    }
}
