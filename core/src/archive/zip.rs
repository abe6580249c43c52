//! The records of a ZIP file (APPNOTE.TXT 6.3), as far as stored entries need them.
//!
//! ZIP64 fields stand only where a number needs them, and names are UTF-8 and say so. Times are UTC twice: in the two
//! seconds of MS-DOS, and to the second in the field of Info-ZIP's that unpackers prefer.

/// From here on a 32-bit number stands for "see ZIP64".
const MAX_32: u64 = 0xffff_ffff;
const MAX_16: u64 = 0xffff;

const UTF_8: u16 = 1 << 11;
const STORED: u16 = 0;
/// 4.5 knows ZIP64, 2.0 folders.
const WITH_ZIP64: u16 = 45;
const PLAIN: u16 = 20;
/// Made on Unix: the upper half of the external attributes is a file's mode.
const UNIX: u16 = 3 << 8;

/// What a header says of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    /// The whole path; a folder's ends with a slash.
    pub(super) name: &'a str,
    pub(super) is_folder: bool,
    pub(super) size_bytes: u64,
    pub(super) crc32: u32,
    pub(super) modified_secs: i64,
}

impl Entry<'_> {
    fn is_large(&self) -> bool {
        self.size_bytes >= MAX_32
    }

    /// The record before the content.
    pub(super) fn local(&self) -> Vec<u8> {
        let mut extra = Vec::new();
        if self.is_large() {
            zip64(&mut extra, &[self.size_bytes, self.size_bytes]);
        }
        self.add_time(&mut extra);
        let mut record = Vec::with_capacity(30 + self.name.len() + extra.len());
        put(&mut record, &0x0403_4b50_u32.to_le_bytes());
        self.add_common(&mut record, if self.is_large() { WITH_ZIP64 } else { PLAIN }, extra.len());
        put(&mut record, self.name.as_bytes());
        put(&mut record, &extra);
        record
    }

    /// How long that is.
    pub(super) fn local_bytes(&self) -> u64 {
        let time = if self.time().is_some() { 9 } else { 0 };
        30 + self.name.len() as u64 + time + if self.is_large() { 20 } else { 0 }
    }

    /// The record in the directory at the end, of an entry that begins at `offset`.
    pub(super) fn central(&self, offset: u64) -> Vec<u8> {
        let mut large = Vec::new();
        if self.is_large() {
            large.extend([self.size_bytes, self.size_bytes]);
        }
        if offset >= MAX_32 {
            large.push(offset);
        }
        let mut extra = Vec::new();
        if !large.is_empty() {
            zip64(&mut extra, &large);
        }
        self.add_time(&mut extra);
        let (mode, dos): (u32, u32) = if self.is_folder { (0o040_755, 0x10) } else { (0o100_644, 0) };
        let needed = if large.is_empty() { PLAIN } else { WITH_ZIP64 };
        let mut record = Vec::with_capacity(46 + self.name.len() + extra.len());
        put(&mut record, &0x0201_4b50_u32.to_le_bytes());
        put(&mut record, &(UNIX | WITH_ZIP64).to_le_bytes());
        self.add_common(&mut record, needed, extra.len());
        // No comment, the first disk, no internal attributes.
        put(&mut record, &[0; 6]);
        put(&mut record, &(mode << 16 | dos).to_le_bytes());
        put(&mut record, &low_32(offset));
        put(&mut record, self.name.as_bytes());
        put(&mut record, &extra);
        record
    }

    /// What both records have alike.
    fn add_common(&self, record: &mut Vec<u8>, needed: u16, extra_bytes: usize) {
        let (date, time) = dos_time(self.modified_secs);
        for number in [needed, UTF_8, STORED, time, date] {
            put(record, &number.to_le_bytes());
        }
        put(record, &self.crc32.to_le_bytes());
        put(record, &low_32(self.size_bytes));
        put(record, &low_32(self.size_bytes));
        put(record, &low_16(self.name.len() as u64));
        put(record, &low_16(extra_bytes as u64));
    }

    fn time(&self) -> Option<i32> {
        i32::try_from(self.modified_secs).ok()
    }

    fn add_time(&self, extra: &mut Vec<u8>) {
        if let Some(time) = self.time() {
            put(extra, &[0x55, 0x54, 5, 0, 1]);
            put(extra, &time.to_le_bytes());
        }
    }
}

/// The end of the file: behind a directory of so many entries and bytes, which begins at `start`.
pub(super) fn end(entries: u64, directory_bytes: u64, start: u64) -> Vec<u8> {
    let mut record = Vec::new();
    if entries >= MAX_16 || directory_bytes >= MAX_32 || start >= MAX_32 {
        put(&mut record, &0x0606_4b50_u32.to_le_bytes());
        // The length of what follows in this record.
        put(&mut record, &44_u64.to_le_bytes());
        put(&mut record, &(UNIX | WITH_ZIP64).to_le_bytes());
        put(&mut record, &WITH_ZIP64.to_le_bytes());
        // This disk, and that of the directory.
        put(&mut record, &[0; 8]);
        for number in [entries, entries, directory_bytes, start] {
            put(&mut record, &number.to_le_bytes());
        }
        // Where that is.
        put(&mut record, &0x0706_4b50_u32.to_le_bytes());
        put(&mut record, &[0; 4]);
        put(&mut record, &(start + directory_bytes).to_le_bytes());
        put(&mut record, &1_u32.to_le_bytes());
    }
    put(&mut record, &0x0605_4b50_u32.to_le_bytes());
    put(&mut record, &[0; 4]);
    put(&mut record, &low_16(entries));
    put(&mut record, &low_16(entries));
    put(&mut record, &low_32(directory_bytes));
    put(&mut record, &low_32(start));
    // No comment.
    put(&mut record, &[0; 2]);
    record
}

fn zip64(extra: &mut Vec<u8>, numbers: &[u64]) {
    put(extra, &1_u16.to_le_bytes());
    put(extra, &low_16(8 * numbers.len() as u64));
    for number in numbers {
        put(extra, &number.to_le_bytes());
    }
}

fn put(record: &mut Vec<u8>, bytes: &[u8]) {
    record.extend_from_slice(bytes);
}

fn low_32(number: u64) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

fn low_16(number: u64) -> [u8; 2] {
    u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()
}

/// Date and time of MS-DOS, which knows 1980 to 2107.
fn dos_time(secs: i64) -> (u16, u16) {
    const FIRST: (u16, u16) = (1 << 5 | 1, 0);
    const LAST: (u16, u16) = (127 << 9 | 12 << 5 | 31, 23 << 11 | 59 << 5 | 29);
    let Ok(time) = jiff::Timestamp::from_second(secs) else { return if secs < 0 { FIRST } else { LAST } };
    let time = jiff::tz::Offset::UTC.to_datetime(time);
    let part = |number: i8| u16::try_from(number).unwrap_or_default();
    match u16::try_from(i32::from(time.year()) - 1980) {
        Err(_) => FIRST,
        Ok(128..) => LAST,
        Ok(years) => (
            years << 9 | part(time.month()) << 5 | part(time.day()),
            part(time.hour()) << 11 | part(time.minute()) << 5 | (part(time.second()) / 2),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_outside_of_what_ms_dos_knows_are_its_first_and_last() {
        assert_eq!(dos_time(0), (0x21, 0));
        assert_eq!(dos_time(1_700_000_001), (0x576e, 22 << 11 | 13 << 5 | 10));
        assert_eq!(dos_time(i64::from(u32::MAX) * 2).0, 127 << 9 | 12 << 5 | 31);
    }

    #[test]
    fn a_record_is_as_long_as_it_is_said_to_be() {
        for size_bytes in [0, 7, MAX_32 - 1, MAX_32, 1 << 40] {
            for modified_secs in [0, 1 << 40] {
                let entry = Entry { name: "ü/a", is_folder: false, size_bytes, crc32: 1, modified_secs };
                assert_eq!(entry.local().len() as u64, entry.local_bytes());
            }
        }
    }
}
