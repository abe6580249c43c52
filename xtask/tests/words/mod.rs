//! The words of a Rust source, without its comments. Text in quotes counts as code.

/// The source with every comment left out, line breaks kept.
pub(crate) fn without_comments(source: &str) -> String {
    let mut code = String::with_capacity(source.len());
    let mut rest = source;
    while !rest.is_empty() {
        let comment = match rest {
            _ if rest.starts_with("//") => Some(rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => Some(block_comment(rest)),
            _ => None,
        };
        let (piece, after) = rest.split_at(comment.unwrap_or_else(|| token(rest)));
        match comment {
            Some(_) => code.extend(piece.chars().filter(|c| *c == '\n')),
            None => code.push_str(piece),
        }
        rest = after;
    }
    code
}

/// The identifiers and numbers in the code, with their lines.
pub(crate) fn of(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = code.lines().zip(1..);
    numbered.flat_map(|(line, number)| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty()).map(move |word| (number, word))
    })
}

/// The length of a block comment; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a token, as far as quotes matter: a text, a raw text, a character, or one character of code.
fn token(text: &str) -> usize {
    let hashes = text.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len());
    if let Some(hashes) = hashes
        && text[1 + hashes..].starts_with('"')
    {
        let end = format!("\"{}", "#".repeat(hashes));
        let begin = 2 + hashes;
        return text[begin..].find(&end).map_or(text.len(), |at| begin + at + end.len());
    }
    if text.starts_with('"') {
        return quoted(text, '"');
    }
    // A lifetime has no closing quote close by.
    let character = text
        .strip_prefix('\'')
        .is_some_and(|rest| rest.starts_with('\\') || rest.chars().nth(1) == Some('\''));
    if character { quoted(text, '\'') } else { text.chars().next().map_or(1, char::len_utf8) }
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + quote.len_utf8(),
            _ => {}
        }
    }
    text.len()
}
