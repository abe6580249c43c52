//! The problem bodies, as the document describes them.

use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::problem::CODES;

/// RFC 9457's problem, with a `code` for programs.
pub(crate) struct Problem;

impl PartialSchema for Problem {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let number = || ObjectBuilder::new().schema_type(Type::Integer);
        ObjectBuilder::new()
            .property("type", text().description(Some("`urn:ledge:problem:` and the code.")))
            .property("title", text())
            .property("status", number().minimum(Some(400)).maximum(Some(599)))
            .property(
                "code",
                text().enum_values(Some(CODES.iter().copied())).description(Some("Stable: for programs.")),
            )
            .property("detail", text().description(Some("For people.")))
            .property("field", text().description(Some("What was wrong with the input.")))
            .property("operation", number().minimum(Some(0)).description(Some("Which of a batch, from 0.")))
            .property("job", text().description(Some("The job to wait for.")))
            .property(
                "missing",
                ArrayBuilder::new()
                    .items(text().build())
                    .description(Some("The chunks to send: SHA-256, hex.")),
            )
            .required("type")
            .required("title")
            .required("status")
            .required("code")
            .required("detail")
            .into()
    }
}

impl ToSchema for Problem {}
