//! Spin's variables, by the names that the settings have everywhere: `LEDGE_S3_BUCKET` is `ledge_s3_bucket` in spin.toml.

use std::cell::RefCell;
use std::collections::HashMap;

use ledge_core::settings::SettingError;
use spin_sdk::variables;

/// Variables that were read.
#[derive(Default)]
pub(super) struct Variables(HashMap<String, String>);

impl Variables {
    /// Fetches all that a reader of settings asks for. It is run once, in vain, to learn the names: Spin's answers have to
    /// be waited for, and the reader doesn't wait.
    pub(super) async fn fetch<T>(
        &mut self,
        reader: impl Fn(&dyn Fn(&str) -> Option<String>) -> Result<T, SettingError>,
    ) -> Result<T, SettingError> {
        let asked = RefCell::new(Vec::new());
        let _in_vain = reader(&|name| {
            asked.borrow_mut().push(name.to_owned());
            None
        });
        for name in asked.into_inner() {
            // One that isn't declared is not set; one that can't be had is better missed than guessed.
            if let Ok(value) = variables::get(name.to_lowercase()).await {
                self.0.insert(name, value);
            }
        }
        reader(&|name| self.0.get(name).cloned())
    }
}

/// A variable of the Spin host's own; empty where it isn't set.
pub(super) async fn own(name: &str) -> String {
    variables::get(name).await.unwrap_or_default()
}
