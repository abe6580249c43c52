//! `/ocs/v1.php/cloud/` and `/ocs/v2.php/cloud/`: `capabilities`, to anybody, and `user`. As JSON with `format=json`, else
//! as XML.

use http::request::Parts;
use http::{HeaderValue, Response, header};
use ledge_core::error::{Error, Result};
use ledge_core::mount;
use ledge_core::plan::ReadPlan;
use ledge_core::ports::Platform;
use ledge_core::token::Protocol;
use serde_json::{Value, json};

use super::VERSION;
use crate::credentials;
use crate::dav::escape;

/// Answers what is asked.
pub(crate) async fn ocs<P: Platform>(platform: &P, parts: &Parts, what: &str) -> Result<Response<ReadPlan>> {
    let data = match what {
        "capabilities" => capabilities(),
        "user" => {
            let token = credentials::basic_or_bearer(&parts.headers)?.by(Protocol::WebDav);
            let name = mount::mount(platform, &token).await?.account_name;
            json!({ "id": name, "display-name": name, "displayname": name, "email": null, "enabled": true })
        }
        _ => return Err(Error::NotFound),
    };
    // The two differ in how they say that all is well.
    let code = if parts.uri.path().starts_with("/ocs/v1.php/") { 100 } else { 200 };
    let meta = json!({ "status": "ok", "statuscode": code, "message": "OK" });
    let answer = json!({ "ocs": { "meta": meta, "data": data } });
    let query = parts.uri.query().unwrap_or_default();
    let wants_json =
        form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "format" && value == "json");
    let (text, media_type) = if wants_json {
        (answer.to_string(), "application/json; charset=utf-8")
    } else {
        let mut text = "<?xml version=\"1.0\"?>\n".to_owned();
        if let Some(ocs) = answer.get("ocs") {
            element(&mut text, "ocs", ocs);
        }
        (text, "application/xml; charset=utf-8")
    };
    let mut response = Response::new(ReadPlan::inline(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    Ok(response)
}

fn capabilities() -> Value {
    let (major, minor, micro) = VERSION;
    json!({
        "version": {
            "major": major,
            "minor": minor,
            "micro": micro,
            "string": format!("{major}.{minor}.{micro}"),
            "edition": "",
            "extendedSupport": false,
        },
        "capabilities": {
            "core": { "pollinterval": 60, "webdav-root": "remote.php/dav" },
            "dav": { "chunking": "1.0" },
            "files": { "bigfilechunking": true, "undelete": false, "versioning": false },
            "checksums": { "supportedTypes": ["SHA1", "MD5", "SHA256", "ADLER32"], "preferredUploadType": "SHA1" },
        },
    })
}

/// A member as an element; of a list, one for each item, as OCS has it.
fn element(text: &mut String, name: &str, value: &Value) {
    text.extend(["<", name, ">"]);
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| element(text, name, value)),
        Value::Array(items) => items.iter().for_each(|item| element(text, "element", item)),
        Value::String(string) => text.push_str(&escape(string)),
        Value::Bool(true) => text.push('1'),
        Value::Bool(false) | Value::Null => {}
        Value::Number(number) => text.push_str(&number.to_string()),
    }
    text.extend(["</", name, ">"]);
}
