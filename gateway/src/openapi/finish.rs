//! What every operation has, so that no annotation repeats it: its path's parameters, the errors that any request may
//! meet, the problem body of each error, and HEAD beside GET.

use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{
    Components, Content, HeaderBuilder, ObjectBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder,
    SecurityRequirement, schema::Type,
};

use super::parameters;

const SCHEME: &str = "token";

/// What any request with a token may meet: the status, the name in the document, and what it means.
const ERRORS: [(&str, &str, &str); 6] = [
    ("400", "Invalid", "`invalid`: `field` names what is malformed."),
    ("401", "Unauthenticated", "`unauthenticated`: no token, or none that is valid."),
    ("403", "Forbidden", "`forbidden`: the role or the token doesn't allow it."),
    ("404", "NotFound", "`not_found`: it isn't there, or isn't there for you."),
    ("500", "Internal", "`internal`: a fault of the server."),
    ("503", "Unavailable", "`unavailable` or `busy`: try again after `Retry-After`."),
];

/// Gives a part's operations their tag, and ids that are unique in the whole.
pub(super) fn name(part: &mut OpenApi, tag: &str) {
    for operation in part.paths.paths.values_mut().flat_map(operations) {
        let verb = operation.operation_id.take().unwrap_or_default();
        operation.operation_id = Some(format!("{tag}_{verb}"));
        operation.tags = Some(vec![tag.to_owned()]);
    }
}

/// Completes the document.
pub(super) fn finish(document: &mut OpenApi) {
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("A token: `ldg_…`, from the first start, or made by `POST /api/v1/tokens`."));
    let components = document.components.get_or_insert_with(Components::new);
    components.add_security_scheme(SCHEME, SecurityScheme::Http(bearer.build()));
    for (status, name, description) in ERRORS {
        let mut response = ResponseBuilder::new().description(description).build();
        problem(status, &mut response);
        components.responses.insert(name.to_owned(), response.into());
    }
    document.info.license = None;
    for (path, item) in &mut document.paths.paths {
        for operation in operations(item) {
            complete(operation, path);
        }
        item.head = item.get.as_ref().map(head);
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.patch, &mut item.delete, &mut item.options]
        .into_iter()
        .flatten()
}

fn complete(operation: &mut Operation, path: &str) {
    let mut parameters: Vec<_> = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(parameters::in_path)
        .collect();
    parameters.extend(operation.parameters.take().unwrap_or_default());
    operation.parameters = (!parameters.is_empty()).then_some(parameters);
    let responses = &mut operation.responses.responses;
    if operation.parameters.iter().flatten().any(|it| it.name == "Idempotency-Key") {
        let reused = "`idempotency_key_reused`: another request had this key.";
        responses.insert("422".to_owned(), ResponseBuilder::new().description(reused).into());
    }
    if operation.security.is_none() {
        operation.security = Some(vec![SecurityRequirement::new(SCHEME, Vec::<String>::new())]);
        for (status, name, _) in ERRORS {
            let error = || RefOr::Ref(Ref::from_response_name(name));
            responses.entry(status.to_owned()).or_insert_with(error);
        }
    }
    for (status, response) in responses {
        let RefOr::T(response) = response else { continue };
        if status.starts_with(['4', '5']) {
            problem(status, response);
        }
        if let Some(content) = response.content.get_mut("*/*") {
            // Bytes of any kind: a schema would be held against those that happen to be JSON.
            *content = Content::default();
        }
    }
}

fn problem(status: &str, response: &mut Response) {
    let body = Content::new(Some(Ref::from_schema_name("Problem")));
    response.content.insert("application/problem+json".to_owned(), body);
    let header = match status {
        "401" => "WWW-Authenticate",
        "416" => "Content-Range",
        "503" => "Retry-After",
        _ => return,
    };
    let text = ObjectBuilder::new().schema_type(Type::String);
    response.headers.insert(header.to_owned(), HeaderBuilder::new().schema(text).build());
}

/// The same without a body.
fn head(get: &Operation) -> Operation {
    let mut head = get.clone();
    head.operation_id = head.operation_id.map(|id| id + "_head");
    for (status, response) in &mut head.responses.responses {
        match response {
            RefOr::T(response) => response.content.clear(),
            RefOr::Ref(_) => {
                let error = ERRORS.iter().find(|(of, ..)| of == status);
                let description = error.map(|(.., description)| *description).unwrap_or_default();
                *response = ResponseBuilder::new().description(description).into();
            }
        }
    }
    head
}
