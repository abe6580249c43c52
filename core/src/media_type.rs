//! Media types.

/// The media type that a name's ending stands for.
pub fn guess(name: &str) -> String {
    mime_guess::from_path(name).first_or_octet_stream().to_string()
}
