mod concurrency;
mod conditions;
mod edit;
mod get;
mod names;
mod put;
mod ranges;
