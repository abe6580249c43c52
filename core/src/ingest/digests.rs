//! Digests that a client sends along: verified before the commit, and kept.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::Digest;

use crate::error::{Error, Result};

/// A digest algorithm, by the names of the IANA registry for `Repr-Digest`, and MD5 for `Content-MD5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
    /// MD5: against accidents only.
    Md5,
    /// SHA-1: against accidents only. Not by that registry's name, which is deprecated.
    Sha1,
    /// Adler-32: against accidents only.
    Adler32,
}

impl Algorithm {
    /// The algorithm that a header names; None for those that we don't verify.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "sha-256" => Some(Self::Sha256),
            "sha-512" => Some(Self::Sha512),
            "md5" => Some(Self::Md5),
            _ => None,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha-256",
            Self::Sha512 => "sha-512",
            Self::Md5 => "md5",
            Self::Sha1 => "sha",
            Self::Adler32 => "adler",
        }
    }

    /// How many bytes a digest has.
    pub fn length(self) -> usize {
        match self {
            Self::Sha256 => 32,
            Self::Sha512 => 64,
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Adler32 => 4,
        }
    }
}

/// A digest that the content must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// How it is computed.
    pub algorithm: Algorithm,
    /// Its bytes.
    pub value: Vec<u8>,
    /// The header that it came in, for the error.
    pub field: &'static str,
}

enum Hasher {
    Sha256(sha2::Sha256),
    Sha512(sha2::Sha512),
    Md5(md5::Md5),
    Sha1(sha1::Sha1),
    Adler32(Adler32),
}

/// Hashes the content as it passes.
pub(super) struct Verifier(Vec<(Expected, Hasher)>);

impl Verifier {
    pub(super) fn new(expected: Vec<Expected>) -> Self {
        let hasher = |algorithm| match algorithm {
            Algorithm::Sha256 => Hasher::Sha256(sha2::Sha256::new()),
            Algorithm::Sha512 => Hasher::Sha512(sha2::Sha512::new()),
            Algorithm::Md5 => Hasher::Md5(md5::Md5::new()),
            Algorithm::Sha1 => Hasher::Sha1(sha1::Sha1::new()),
            Algorithm::Adler32 => Hasher::Adler32(Adler32::default()),
        };
        Self(
            expected
                .into_iter()
                .map(|expected| {
                    let hasher = hasher(expected.algorithm);
                    (expected, hasher)
                })
                .collect(),
        )
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        for (_, hasher) in &mut self.0 {
            match hasher {
                Hasher::Sha256(hasher) => hasher.update(bytes),
                Hasher::Sha512(hasher) => hasher.update(bytes),
                Hasher::Md5(hasher) => hasher.update(bytes),
                Hasher::Sha1(hasher) => hasher.update(bytes),
                Hasher::Adler32(sum) => sum.update(bytes),
            }
        }
    }

    /// The verified digests, base64 by name.
    pub(super) fn finish(self) -> Result<BTreeMap<String, String>> {
        let mut verified = BTreeMap::new();
        for (expected, hasher) in self.0 {
            let actual = match hasher {
                Hasher::Sha256(hasher) => hasher.finalize().to_vec(),
                Hasher::Sha512(hasher) => hasher.finalize().to_vec(),
                Hasher::Md5(hasher) => hasher.finalize().to_vec(),
                Hasher::Sha1(hasher) => hasher.finalize().to_vec(),
                Hasher::Adler32(sum) => sum.finish().to_vec(),
            };
            let name = expected.algorithm.name();
            if actual != expected.value {
                let reason =
                    format!("the {name} of the content that arrived is {}", STANDARD.encode(&actual));
                return Err(Error::invalid(expected.field, reason));
            }
            verified.insert(name.to_owned(), STANDARD.encode(&actual));
        }
        Ok(verified)
    }
}

/// RFC 1950's checksum.
struct Adler32 {
    a: u32,
    b: u32,
}

impl Default for Adler32 {
    fn default() -> Self {
        Self { a: 1, b: 0 }
    }
}

impl Adler32 {
    const MODULUS: u32 = 65_521;
    /// So many bytes can be added before a sum may exceed 32 bits.
    const RUN: usize = 5552;

    fn update(&mut self, bytes: &[u8]) {
        for run in bytes.chunks(Self::RUN) {
            for byte in run {
                self.a += u32::from(*byte);
                self.b += self.a;
            }
            self.a %= Self::MODULUS;
            self.b %= Self::MODULUS;
        }
    }

    fn finish(self) -> [u8; 4] {
        ((self.b << 16) | self.a).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adler_32_is_rfc_1950s() {
        let sum = |pieces: &[&[u8]]| {
            let mut sum = Adler32::default();
            pieces.iter().for_each(|piece| sum.update(piece));
            u32::from_be_bytes(sum.finish())
        };
        assert_eq!(sum(&[]), 1);
        assert_eq!(sum(&[b"Wiki", b"pedia"]), 0x11E6_0398);
        let long = vec![0xff; 1 << 20];
        let (head, tail) = long.split_at(77_777);
        assert_eq!(sum(&[&long]), sum(&[head, tail]));
    }
}
