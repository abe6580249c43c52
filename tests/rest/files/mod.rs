mod concurrency;
mod conditions;
mod get;
mod names;
mod put;
mod ranges;
