//! The migrations, embedded, and how to take one apart.

/// (number, file name, text), in the order of the numbers; written by build.rs.
pub(crate) const EMBEDDED: &[(u32, &str, &str)] = &include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

/// The statements of a text, each without what stands before it and without its semicolon.
///
/// A trigger's statements end inside of it; it ends with the word `end` between two semicolons, which is how SQLite's own
/// shell knows.
#[cfg(any(test, target_os = "wasi"))]
pub(crate) fn statements(sql: &str) -> impl Iterator<Item = &str> {
    let mut rest = sql;
    std::iter::from_fn(move || {
        let mut tokens = Tokens { text: rest, at: 0 };
        let mut start = None;
        let mut words: [&str; 3] = [""; 3];
        let (mut is_trigger, mut after_semicolon, mut after_end) = (false, false, false);
        let mut count = 0;
        while let Some((at, token)) = tokens.next() {
            let begin = *start.get_or_insert(at);
            if token == ";" {
                if !is_trigger || after_end {
                    let statement = rest.get(begin..at).unwrap_or_default().trim_end();
                    rest = rest.get(tokens.at..).unwrap_or_default();
                    if statement.is_empty() {
                        (start, count, is_trigger) = (None, 0, false);
                        tokens = Tokens { text: rest, at: 0 };
                        continue;
                    }
                    return Some(statement);
                }
                (after_semicolon, after_end) = (true, false);
                continue;
            }
            if let Some(word) = words.get_mut(count) {
                *word = token;
                count += 1;
                let is =
                    |at: usize, what: &str| words.get(at).is_some_and(|word| word.eq_ignore_ascii_case(what));
                is_trigger = is(0, "create")
                    && (is(1, "trigger") || ((is(1, "temp") || is(1, "temporary")) && is(2, "trigger")));
            }
            after_end = after_semicolon && token.eq_ignore_ascii_case("end");
            after_semicolon = false;
        }
        let last = start.and_then(|begin| rest.get(begin..)).map(str::trim_end);
        rest = "";
        last.filter(|last| !last.is_empty())
    })
}

/// Words, texts and single signs, without spaces and comments.
#[cfg(any(test, target_os = "wasi"))]
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

#[cfg(any(test, target_os = "wasi"))]
impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.text.get(self.at..)?;
            let first = rest.chars().next()?;
            let length = if first.is_whitespace() {
                first.len_utf8()
            } else if rest.starts_with("--") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                let length = token_length(rest, first);
                let token = (self.at, rest.get(..length)?);
                self.at += length;
                return Some(token);
            };
            self.at += length;
        }
    }
}

#[cfg(any(test, target_os = "wasi"))]
fn token_length(rest: &str, first: char) -> usize {
    let quoted = |close: char| {
        // A doubled quote is two texts, one after the other, which is as good.
        rest.char_indices().skip(1).find(|&(_, sign)| sign == close).map_or(rest.len(), |(at, _)| at + 1)
    };
    match first {
        '\'' | '"' | '`' => quoted(first),
        '[' => quoted(']'),
        _ if first.is_alphanumeric() || first == '_' => {
            rest.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(rest.len())
        }
        _ => first.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn taken_apart(sql: &str) -> Vec<&str> {
        statements(sql).collect()
    }

    #[test]
    fn a_text_is_taken_apart_where_its_statements_end() {
        let sql = "-- first; really
            create table a (b text default ';'); ;
            /* ; */ insert into a values ('it''s;'), (\"x;\");
            CREATE TEMP TRIGGER t after insert on a begin
              select case when 1 then 2 end; delete from a where b = 'end;';
            end;
            create index trigger_i on a (b);
            insert into a values (1) -- no semicolon; here";
        let found = taken_apart(sql);
        let begins: Vec<_> =
            found.iter().map(|one| one.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(begins, ["create table", "insert into", "CREATE TEMP", "create index", "insert into"]);
        assert!(found[2].ends_with("end"), "{}", found[2]);
        assert_eq!(taken_apart(" ; -- nothing\n"), [""; 0]);
    }

    #[test]
    fn the_migrations_one_by_one_make_the_schema_that_they_make_together() {
        let schema = |connection: &Connection| -> Vec<(String, Option<String>)> {
            let mut found = connection.prepare("select name, sql from sqlite_master order by name").unwrap();
            let rows = found.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        let (together, apart) =
            (Connection::open_in_memory().unwrap(), Connection::open_in_memory().unwrap());
        for (_, name, sql) in EMBEDDED {
            together.execute_batch(sql).unwrap();
            for statement in statements(sql) {
                // As Spin runs them: a second statement in the text would be left out.
                apart
                    .prepare(statement)
                    .and_then(|mut one| one.execute([]))
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
            }
        }
        assert_eq!(schema(&apart), schema(&together));
    }
}
