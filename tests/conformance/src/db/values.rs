//! What goes in comes out.

use anyhow::{Result, ensure};
use ledge_core::ports::{Db, Statement, Value};

use super::{clear, only, row, sql};
use crate::Report;
use crate::report::checks;

pub(super) async fn check(db: &impl Db, report: &mut Report) {
    checks!(
        report,
        "db",
        integers_are_exact_to_two_to_the_53rd(db),
        reals_are_exact(db),
        null_is_neither_zero_nor_empty(db),
        text_is_kept_byte_by_byte(db),
        long_text_is_kept(db),
        a_statement_takes_a_hundred_values(db),
        values_go_where_their_numbers_say(db),
        lists_go_in_as_json(db),
        columns_are_read_by_name(db),
    );
}

/// Stores a value in a column of its type and reads it back.
async fn stored(db: &impl Db, value: Value) -> Result<ledge_core::ports::Row> {
    clear(db).await?;
    let table = "create table conformance_values (id integer primary key, i integer, r real, t text)";
    let column = match &value {
        Value::Real(_) => "r",
        Value::Text(_) => "t",
        Value::Integer(_) | Value::Null => "i",
    };
    let mut insert = sql(format!("insert into conformance_values ({column}) values (?1)"));
    insert.params.push(value);
    db.write(vec![sql(table), insert]).await?;
    row(db.read(vec![sql("select i, r, t, typeof(i) as type from conformance_values")]).await?)
}

async fn integers_are_exact_to_two_to_the_53rd(db: &impl Db) -> Result<()> {
    let limit = 1_i64 << 53;
    let near_32_bits = i64::from(i32::MAX) + 1;
    for number in [0, 1, -1, near_32_bits, -near_32_bits - 1, 1_784_000_000_123, limit - 1, limit, -limit] {
        let found = stored(db, Value::Integer(number)).await?;
        ensure!(found.integer("i")? == number);
        ensure!(found.text("type")? == "integer");
        let echoed = row(db.read(vec![sql("select ?1 as n").bind(number)]).await?)?;
        ensure!(echoed.integer("n")? == number);
    }
    Ok(())
}

async fn reals_are_exact(db: &impl Db) -> Result<()> {
    for number in [0.1, -2.5, 1e300, f64::MIN_POSITIVE, std::f64::consts::PI] {
        let found = stored(db, Value::Real(number)).await?;
        ensure!(found.value("r") == Some(&Value::Real(number)));
    }
    Ok(())
}

async fn null_is_neither_zero_nor_empty(db: &impl Db) -> Result<()> {
    let found = stored(db, Value::Null).await?;
    ensure!(found.integer_or_null("i")?.is_none());
    ensure!(found.text_or_null("t")?.is_none());
    ensure!(found.text("type")? == "null");
    let found = stored(db, Value::Text(String::new())).await?;
    ensure!(found.text_or_null("t")? == Some(""));
    Ok(())
}

async fn text_is_kept_byte_by_byte(db: &impl Db) -> Result<()> {
    let texts = [
        "it's \"quoted\"; -- drop table `x` /* or */ not \\",
        "précomposé, de\u{301}compose\u{301}",
        "日本語 ☃ 🦀 \u{1f469}\u{200d}\u{1f680}",
        "\u{202e}right to left\u{feff}",
        " spaces \t and\r\nlines \n",
        "?1 ?2 :name @name $name",
        "123",
        "1e5",
        "null",
    ];
    for text in texts {
        ensure!(stored(db, Value::from(text)).await?.text("t")? == text);
        let same = sql("select count(*) as n from conformance_values where t = ?1").bind(text);
        ensure!(row(db.read(vec![same]).await?)?.integer("n")? == 1, "{text:?} isn't found by itself");
    }
    Ok(())
}

async fn long_text_is_kept(db: &impl Db) -> Result<()> {
    let text = "0123456789ü".repeat(40_000);
    ensure!(stored(db, Value::Text(text.clone())).await?.text("t")? == text, "changed");
    Ok(())
}

async fn a_statement_takes_a_hundred_values(db: &impl Db) -> Result<()> {
    let places: Vec<String> = (1..=100).map(|n| format!("(?{n})")).collect();
    let statement = sql(format!("select column1 as v from (values {})", places.join(", ")));
    let statement = (1..=100).fold(statement, |statement, n| statement.bind(format!("v{n}")));
    let rows = only(db.read(vec![statement]).await?)?;
    let found: Vec<&str> = rows.iter().map(|row| row.text("v")).collect::<Result<_, _>>()?;
    ensure!(found == (1..=100).map(|n| format!("v{n}")).collect::<Vec<_>>());
    Ok(())
}

async fn values_go_where_their_numbers_say(db: &impl Db) -> Result<()> {
    let statement = sql("select ?2 || ?1 || ?2 as text").bind("a").bind("b");
    ensure!(row(db.read(vec![statement]).await?)?.text("text")? == "bab");
    Ok(())
}

async fn lists_go_in_as_json(db: &impl Db) -> Result<()> {
    let names = r#"["b", "it's", "ü", "a"]"#;
    let rows = only(db.read(vec![each(names)]).await?)?;
    let found: Vec<&str> = rows.iter().map(|row| row.text("value")).collect::<Result<_, _>>()?;
    ensure!(found == ["b", "it's", "ü", "a"]);
    let rows = only(db.read(vec![each("[3, 9007199254740992, -1]")]).await?)?;
    let found: Vec<i64> = rows.iter().map(|row| row.integer("value")).collect::<Result<_, _>>()?;
    ensure!(found == [3, 9_007_199_254_740_992, -1]);
    ensure!(only(db.read(vec![each("[]")]).await?)?.is_empty());
    Ok(())
}

fn each(list: &str) -> Statement {
    sql("select value from json_each(?1) order by key").bind(list)
}

async fn columns_are_read_by_name(db: &impl Db) -> Result<()> {
    let found = row(db.read(vec![sql("select 'x' as b, 2 as a, null as c")]).await?)?;
    ensure!(found.text("b")? == "x");
    ensure!(found.unsigned("a")? == 2);
    ensure!(found.text_or_null("c")?.is_none());
    ensure!(found.value("d").is_none());
    ensure!(found.text("a").is_err());
    ensure!(found.text("c").is_err());
    Ok(())
}
