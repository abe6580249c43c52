//! Bytes that anybody may have made: the tests are all there is.
