//! Delta saves: what a client with a copy of its own sends and fetches.

mod hostile;
mod read;
mod save;
