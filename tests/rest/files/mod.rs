mod concurrency;
mod conditions;
mod get;
mod large;
mod names;
mod put;
mod ranges;
