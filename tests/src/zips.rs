//! ZIP files as others make them, well or badly.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A file that grows entry by entry.
#[derive(Debug, Default)]
pub struct ZipMaker {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    entries: u64,
}

/// An entry, and what is said of it.
#[derive(Debug, Clone)]
pub struct Made {
    /// Its name's bytes.
    pub name: Vec<u8>,
    /// Flags: 1 is encrypted, 2048 UTF-8.
    pub flags: u16,
    /// Its method.
    pub method: u16,
    /// Its packed content.
    pub packed: Vec<u8>,
    /// The size that is said.
    pub size: u64,
    /// The CRC-32 that is said.
    pub crc32: u32,
    /// Its mode on Unix.
    pub mode: u32,
    /// Where it is said to be; None: where it is.
    pub offset: Option<u64>,
    /// Extra fields of the directory's record.
    pub extra: Vec<u8>,
}

impl Made {
    /// An entry that isn't packed.
    pub fn stored(name: &str, content: &[u8]) -> Self {
        Self {
            name: name.as_bytes().to_vec(),
            flags: 1 << 11,
            method: 0,
            packed: content.to_vec(),
            size: content.len() as u64,
            crc32: crc32fast::hash(content),
            mode: 0o100_644,
            offset: None,
            extra: Vec::new(),
        }
    }

    /// An entry that is deflated.
    ///
    /// # Panics
    /// Without memory.
    pub fn deflated(name: &str, content: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(content).expect("memory");
        Self { method: 8, packed: encoder.finish().expect("memory"), ..Self::stored(name, content) }
    }
}

impl ZipMaker {
    /// A file that begins with something else.
    pub fn behind(bytes: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), ..Self::default() }
    }

    /// Adds an entry.
    pub fn add(&mut self, made: &Made) {
        let offset = made.offset.unwrap_or(self.bytes.len() as u64);
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        let length = |bytes: &[u8]| u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_le_bytes();
        let mut common = Vec::new();
        common.extend(20_u16.to_le_bytes());
        common.extend(made.flags.to_le_bytes());
        common.extend(made.method.to_le_bytes());
        common.extend([0x00, 0x60, 0x21, 0x58]);
        common.extend(made.crc32.to_le_bytes());
        common.extend(small(made.packed.len() as u64));
        common.extend(small(made.size));
        common.extend(length(&made.name));
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&common);
        self.bytes.extend([0, 0]);
        self.bytes.extend(&made.name);
        self.bytes.extend(&made.packed);
        self.directory.extend(b"PK\x01\x02\x14\x03");
        self.directory.extend(&common);
        self.directory.extend(length(&made.extra));
        self.directory.extend([0; 6]);
        self.directory.extend((made.mode << 16).to_le_bytes());
        self.directory.extend(small(offset));
        self.directory.extend(&made.name);
        self.directory.extend(&made.extra);
        self.entries += 1;
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        let mut bytes = self.bytes;
        let at = bytes.len() as u32;
        bytes.extend(&self.directory);
        bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
        let entries = u16::try_from(self.entries).unwrap_or(u16::MAX).to_le_bytes();
        bytes.extend([entries, entries].concat());
        bytes.extend((self.directory.len() as u32).to_le_bytes());
        bytes.extend(at.to_le_bytes());
        bytes.extend([0, 0]);
        bytes
    }
}

/// A file of these entries.
pub fn zip_of(entries: &[Made]) -> Vec<u8> {
    let mut maker = ZipMaker::default();
    entries.iter().for_each(|made| maker.add(made));
    maker.finish()
}
