//! Statements with their values written into them, on one line: for tools that take SQL text only.
//!
//! Reads SQL as far as matters here: texts, quoted names and comments hide what is in them.

use std::fmt::Write;

use anyhow::{Context, Result, ensure};
use ledge_core::ports::{Statement, Value};

/// The statement's SQL with each `?N` replaced by its value; white space and comments become single spaces.
pub(crate) fn inline(statement: &Statement) -> Result<String> {
    let mut line = String::with_capacity(statement.sql.len());
    let mut rest = &*statement.sql;
    while !rest.is_empty() {
        let (token, after) = next(rest).with_context(|| format!("unreadable SQL: {rest}"))?;
        rest = after;
        match token {
            Token::Blank if line.is_empty() || line.ends_with(' ') => {}
            Token::Blank => line.push(' '),
            Token::Plain(sql) => line.push_str(sql),
            Token::Text(content) => line.push_str(&text(&content)),
            Token::Parameter(number) => {
                let value = number.checked_sub(1).and_then(|at| statement.params.get(at));
                line.push_str(&literal(value.with_context(|| format!("nothing is bound to ?{number}"))?));
            }
        }
    }
    ensure!(!line.contains(char::is_control), "a name with a control character can't be on one line: {line}");
    line.truncate(line.trim_end().len());
    Ok(line)
}

enum Token<'a> {
    /// White space, or a comment.
    Blank,
    /// `?N`.
    Parameter(usize),
    /// A text literal, by its content.
    Text(String),
    /// Anything else; a quoted name is one token.
    Plain(&'a str),
}

/// The first token and what follows it; None where a quote or comment has no end or a parameter no number.
fn next(sql: &str) -> Option<(Token<'_>, &str)> {
    let plain =
        |rest: &str| sql.split_at_checked(sql.len() - rest.len()).map(|(token, _)| Token::Plain(token));
    let first = sql.chars().next()?;
    let after = sql.strip_prefix(first)?;
    match first {
        '\'' => {
            let rest = after_quote(after, '\'')?;
            let content = after.strip_suffix(rest)?.strip_suffix('\'')?;
            Some((Token::Text(content.replace("''", "'")), rest))
        }
        '"' | '`' => after_quote(after, first).and_then(|rest| Some((plain(rest)?, rest))),
        '[' => after.split_once(']').and_then(|(_, rest)| Some((plain(rest)?, rest))),
        '?' => {
            let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
            let number = after.strip_suffix(rest)?.parse().ok()?;
            Some((Token::Parameter(number), rest))
        }
        '-' if after.starts_with('-') => {
            Some((Token::Blank, after.split_once('\n').map_or("", |(_, rest)| rest)))
        }
        '/' if after.starts_with('*') => {
            let (_, rest) = after.strip_prefix('*')?.split_once("*/")?;
            Some((Token::Blank, rest))
        }
        _ if first.is_ascii_whitespace() => Some((Token::Blank, sql.trim_ascii_start())),
        _ => Some((plain(after)?, after)),
    }
}

/// What follows the closing quote; a doubled one doesn't close.
fn after_quote(mut sql: &str, quote: char) -> Option<&str> {
    loop {
        let (_, after) = sql.split_once(quote)?;
        match after.strip_prefix(quote) {
            Some(within) => sql = within,
            None => return Some(after),
        }
    }
}

/// A value as SQL writes it.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        // What SQLite makes of the bound ones, too.
        Value::Real(number) if number.is_nan() => "null".to_owned(),
        Value::Real(number) if number.is_infinite() => {
            if *number > 0.0 { "9e999" } else { "-9e999" }.to_owned()
        }
        Value::Real(number) => format!("{number:?}"),
        Value::Text(content) => text(content),
    }
}

/// A text on one line, whatever is in it.
fn text(content: &str) -> String {
    if !content.contains(char::is_control) {
        return format!("'{}'", content.replace('\'', "''"));
    }
    let mut hex = String::with_capacity(content.len() * 2);
    for byte in content.bytes() {
        // Writing to a String can't fail.
        let _ = write!(hex, "{byte:02x}");
    }
    format!("cast(x'{hex}' as text)")
}

#[cfg(test)]
mod tests {
    use ledge_core::ports::Db;
    use ledge_hosts::local;

    use super::*;

    #[test]
    fn values_are_written_where_parameters_stand_and_nowhere_else() {
        let statement = Statement::new(
            "select ?2, '?1''s -- no comment', \"?1\", [?1], `?1` -- ?9 it's a comment
             /* and ?8 ' another */ where a = ?1 and b = ?10 - ?3",
        );
        let mut params: Vec<Value> = (1..=10_i64).map(Value::from).collect();
        params[1] = "it's".into();
        let line = inline(&Statement { params, ..statement }).unwrap();
        assert_eq!(
            line,
            "select 'it''s', '?1''s -- no comment', \"?1\", [?1], `?1` where a = 1 and b = 10 - 3"
        );
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        for sql in [
            "select ?1",
            "select ?",
            "select ?0",
            "select 'a",
            "select \"a",
            "select /* a",
            "select \"a\nb\"",
        ] {
            assert!(inline(&Statement::new(sql)).is_err(), "{sql}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(64))]
        #[test]
        fn a_literal_is_read_back_as_the_value(
            texts in proptest::collection::vec("[\u{1}-\u{ff}'\"?]{0,9}", 20),
            integer: i64,
            real in proptest::num::f64::NORMAL | proptest::num::f64::ZERO,
        ) {
            let mut values: Vec<Value> = texts.into_iter().map(Value::Text).collect();
            values.extend([Value::Null, Value::Integer(integer), Value::Real(real)]);
            let columns: Vec<_> = (1..=values.len()).map(|n| format!("?{n} as c{n}")).collect();
            let statement = Statement { sql: format!("select\n{}", columns.join(",\n")).into(), params: values.clone() };
            let line = inline(&statement).unwrap();
            proptest::prop_assert!(!line.contains(char::is_control));
            let drive = local::temporary().unwrap();
            let rows = local::run(drive.db.read(vec![Statement::new(line)])).unwrap().unwrap();
            for (at, value) in values.iter().enumerate() {
                proptest::prop_assert_eq!(rows[0][0].value(&format!("c{}", at + 1)), Some(value));
            }
        }
    }
}
