//! The entry point for Spin.
//!
//! A panic ends the instance and all of its requests. So nothing on the way may panic on input.

use http::{HeaderValue, Response, StatusCode, header};
use ledge_core::plan::ReadPlan;
use ledge_hosts::spin::http::{self as wire, Malformed};
use ledge_hosts::spin::wasip3::exports::http::handler::Guest;
use ledge_hosts::spin::wasip3::http::types::{self, ErrorCode};
use ledge_hosts::spin::{self, Body, SetupError, wasip3};

use crate::problem;

/// Until when what is missing may have been added: about as long as it takes to start again.
const SETUP_RETRY_SECS: u32 = 60;

struct Gateway;

wasip3::http::service::export!(Gateway);

impl Guest for Gateway {
    async fn handle(raw: types::Request) -> Result<types::Response, ErrorCode> {
        let request = match wire::request(raw) {
            Ok(request) => request,
            Err(error) => {
                let code = match error {
                    Malformed::Url(_) => "bad_target",
                    Malformed::Http(_) => "malformed_request",
                };
                return plain(problem::plain(StatusCode::BAD_REQUEST, code, &error.to_string()));
            }
        };
        match spin::gateway().await {
            Ok(ports) => wire::response(crate::handle(&ports, request).await),
            Err(error) => not_set_up(&error),
        }
    }
}

fn not_set_up(error: &SetupError) -> Result<types::Response, ErrorCode> {
    eprintln!("ledge: {error}");
    let mut response = problem::plain(StatusCode::SERVICE_UNAVAILABLE, "not_set_up", &error.to_string());
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(SETUP_RETRY_SECS));
    plain(response)
}

/// An answer to what never reaches the gateway's own routes.
fn plain(response: Response<ReadPlan>) -> Result<types::Response, ErrorCode> {
    wire::response(response.map(|plan| Body::inline(plan.into_inline().unwrap_or_default())))
}
