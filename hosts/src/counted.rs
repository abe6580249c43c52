//! A request's body over a stream of the host's: an end that comes before Content-Length says so is no end.

use ledge_core::ports::{Upload, UploadError};

/// What a host hands a body over by, read once from front to back.
pub trait Source {
    /// Appends 1 to `at_most` bytes and gives their number; 0 at the end, after which it isn't asked again.
    ///
    /// # Errors
    /// What went wrong, in words; after which it isn't asked again either.
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, String>;
}

/// The body of a request.
#[derive(Debug)]
pub struct CountedBody<S> {
    state: State<S>,
    /// What Content-Length announced and hasn't come yet.
    missing_bytes: Option<u64>,
}

#[derive(Debug)]
enum State<S> {
    Open(S),
    Ended,
    Broken(String),
}

impl<S> CountedBody<S> {
    /// The body of a request that announced `content_length`; without a source it is empty.
    pub(crate) fn new(source: Option<S>, content_length: Option<u64>) -> Self {
        Self { state: source.map_or(State::Ended, State::Open), missing_bytes: content_length }
    }

    fn broken(&mut self, reason: String) -> UploadError {
        self.state = State::Broken(reason.clone());
        UploadError::Cut(reason)
    }
}

impl<S: Source> Upload for CountedBody<S> {
    async fn read(&mut self, into: &mut Vec<u8>, at_most: usize) -> Result<usize, UploadError> {
        let read = match &mut self.state {
            State::Open(source) => source.read(into, at_most.max(1)).await,
            State::Ended => Ok(0),
            State::Broken(reason) => Err(reason.clone()),
        };
        match (read, self.missing_bytes) {
            (Err(reason), _) => Err(self.broken(reason)),
            (Ok(0), Some(missing)) if missing > 0 => Err(self.broken(format!("{missing} bytes are missing"))),
            (Ok(0), _) => {
                // What the source holds, it may give back.
                self.state = State::Ended;
                Ok(0)
            }
            (Ok(count), _) => {
                self.missing_bytes = self.missing_bytes.map(|missing| missing.saturating_sub(count as u64));
                Ok(count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    /// Gives what it has, piece by piece; an error is its end.
    struct Given(Vec<Result<&'static [u8], &'static str>>);

    impl Source for Given {
        async fn read(&mut self, into: &mut Vec<u8>, _: usize) -> Result<usize, String> {
            assert!(!self.0.is_empty(), "it is asked no more after its end");
            let piece = self.0.remove(0)?;
            into.extend_from_slice(piece);
            Ok(piece.len())
        }
    }

    fn read_all(mut body: CountedBody<Given>) -> (Vec<u8>, Result<usize, UploadError>) {
        let mut bytes = Vec::new();
        loop {
            let read = block_on(body.read(&mut bytes, 100));
            if !matches!(read, Ok(1..)) {
                assert_eq!(block_on(body.read(&mut bytes, 100)), read, "it stays so");
                return (bytes, read);
            }
        }
    }

    #[test]
    fn a_body_ends_where_its_sender_meant_it_to() {
        let whole = || Some(Given(vec![Ok(b"ab"), Ok(b"c"), Ok(b"")]));
        assert_eq!(read_all(CountedBody::new(whole(), Some(3))), (b"abc".to_vec(), Ok(0)));
        assert_eq!(read_all(CountedBody::new(whole(), None)), (b"abc".to_vec(), Ok(0)));
        assert_eq!(read_all(CountedBody::new(None, Some(0))), (Vec::new(), Ok(0)));
    }

    #[test]
    fn a_body_that_is_cut_never_passes_for_a_whole_one() {
        let missing = |count: u64| Err(UploadError::Cut(format!("{count} bytes are missing")));
        let short = Given(vec![Ok(b"ab"), Ok(b"")]);
        assert_eq!(read_all(CountedBody::new(Some(short), Some(5))), (b"ab".to_vec(), missing(3)));
        assert_eq!(read_all(CountedBody::new(None, Some(5))), (Vec::new(), missing(5)));
        let broken = Given(vec![Ok(b"ab"), Err("reset")]);
        let cut = Err(UploadError::Cut("reset".to_owned()));
        assert_eq!(read_all(CountedBody::new(Some(broken), None)), (b"ab".to_vec(), cut));
    }
}
