//! `Bucket` over any S3 bucket, once for all hosts: a host brings its HTTP client ([`Client`]), and nothing else.
//!
//! Requests are signed in their query (SigV4), so a URL is a secret for as long as it is valid: none is ever shown, and
//! neither is what a store answers but for its error code. Every operation of Ledge may be done twice, since keys are
//! written once; so whatever may pass by itself is tried again, a few times and not for long.

mod answer;
mod bucket;
mod client;
mod read;
mod retry;
mod settings;
mod sign;

use std::rc::Rc;

pub use client::{Broken, Client};
pub use read::Arriving;
pub use settings::{S3Settings, Secret, Style};
use sign::Place;

/// An S3 bucket. Clones share it.
#[derive(Debug, Clone)]
pub struct S3<C> {
    place: Rc<Place>,
    client: C,
}

impl<C: Client> S3<C> {
    /// The bucket that the settings name; nothing is asked of it yet.
    pub fn new(settings: &S3Settings, client: C) -> Self {
        Self { place: Rc::new(Place::of(settings)), client }
    }
}
