//! Parameters that several operations take.

use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaFormat, Type};

/// Conditions on what is changed: `If-Match`, `If-None-Match`, `If-Unmodified-Since`.
pub(crate) struct Conditions;

impl IntoParams for Conditions {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            header("If-Match", "412 unless it has one of these entity tags; `*`: unless it is there."),
            header("If-None-Match", "412 if it has one of these entity tags; `*`: if it is there."),
            header("If-Unmodified-Since", "412 if it is newer."),
        ]
    }
}

/// What shapes the answer of a read: conditions, ranges, the digest that is wanted.
pub(crate) struct Reading;

impl IntoParams for Reading {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![
            header("If-Match", "412 unless it has one of these entity tags."),
            header("If-None-Match", "304 if it has one of these entity tags."),
            header("If-Modified-Since", "304 if it isn't newer."),
            header("If-Unmodified-Since", "412 if it is newer."),
            header("Range", "Which bytes: `bytes=0-4,-5`. Ignored by HEAD."),
            header("If-Range", "The range only if this is its entity tag or its `Last-Modified`."),
            header("Want-Repr-Digest", "Which digest to show: `sha-256=10, sha-512=5`."),
        ]
    }
}

/// What the client calls its request.
pub(crate) struct IdempotencyKey;

impl IntoParams for IdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![header(
            "Idempotency-Key",
            "The same request with the same key is done once, for 24 hours: 1 to 255 visible characters.",
        )]
    }
}

/// A list that is newest first: 100 items a page, or `limit`.
pub(crate) struct Page;

impl IntoParams for Page {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let limit = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).maximum(Some(1000));
        vec![
            optional(
                "limit",
                ParameterIn::Query,
                "How many items a page has; 100 where it isn't given.",
                limit.build(),
            ),
            optional("cursor", ParameterIn::Query, "The last page's `next`.", text()),
        ]
    }
}

/// What stands in braces in a path.
pub(super) fn in_path(name: &str) -> Parameter {
    let uuid = SchemaFormat::Custom("uuid".to_owned());
    let (description, schema) = match name {
        "space" => {
            ("The space's id.", ObjectBuilder::new().schema_type(Type::String).format(Some(uuid)).build())
        }
        "path" => (
            "The names on the way, each percent-encoded by itself, with slashes in between: this parameter goes into \
             the URL as it is. Empty, it is the space's top folder.",
            text(),
        ),
        _ => ("Its id.", ObjectBuilder::new().schema_type(Type::String).format(Some(uuid)).build()),
    };
    let mut parameter = optional(name, ParameterIn::Path, description, schema);
    parameter.required = Required::True;
    parameter
}

fn header(name: &str, description: &str) -> Parameter {
    optional(name, ParameterIn::Header, description, text())
}

fn text() -> Object {
    ObjectBuilder::new().schema_type(Type::String).build()
}

fn optional(name: &str, place: ParameterIn, description: &str, schema: Object) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(schema))
        .build()
}
