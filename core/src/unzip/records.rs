//! The records of a ZIP file (APPNOTE.TXT 6.3), from bytes that anybody may have made.

use std::ops::Range;

use super::bad;
use super::names;
use crate::error::{Error, Result};

/// The end record has this many bytes, and a comment.
const END_BYTES: usize = 22;
/// What tells where ZIP64's end record is, and that record without what others may put into it.
const LOCATOR_BYTES: usize = 20;
const END_64_BYTES: usize = 56;

/// All that can be behind the directory: the end with the longest comment, and ZIP64's.
pub const TAIL_BYTES: usize = END_BYTES + 0xffff + LOCATOR_BYTES + END_64_BYTES;

/// A record of the directory without its texts, and the largest with them.
pub(super) const CENTRAL_BYTES: usize = 46;
pub(super) const MAX_CENTRAL_BYTES: usize = CENTRAL_BYTES + 3 * 0xffff;
/// A record before content without its texts, and the largest with them.
pub(super) const LOCAL_BYTES: usize = 30;
pub(super) const MAX_LOCAL_BYTES: usize = LOCAL_BYTES + 2 * 0xffff;

const MAX_16: u16 = u16::MAX;
const MAX_32: u32 = u32::MAX;

/// Where the directory is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Its place in the file.
    pub directory: Range<u64>,
    /// How many entries it is said to have.
    pub entries: u64,
    /// How many bytes are before what the file's own positions count from: those of a program that unpacks itself.
    pub before: u64,
}

/// A record of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Central {
    /// The path, as it is in the file; a folder's ends with a slash.
    pub name: String,
    /// The same in bytes.
    pub raw_name: Vec<u8>,
    /// How the content is packed: 0 not at all, 8 deflated.
    pub method: u16,
    /// Whether a password is needed.
    pub is_encrypted: bool,
    /// The CRC-32 of the content.
    pub crc32: u32,
    /// Its size as it is packed.
    pub packed_bytes: u64,
    /// Its size.
    pub size_bytes: u64,
    /// When it was changed last, in seconds since 1970; MS-DOS's times count as UTC.
    pub modified_secs: Option<i64>,
    /// Its mode on Unix, where it says so.
    pub unix_mode: Option<u32>,
    /// Where its record before the content is, by the file's own positions.
    pub offset: u64,
}

/// Numbers at positions of bytes; None behind their end.
struct Numbers<'a>(&'a [u8]);

impl<'a> Numbers<'a> {
    fn bytes(&self, at: usize, count: usize) -> Option<&'a [u8]> {
        self.0.get(at..at.checked_add(count)?)
    }
    fn u16(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes(at, 2)?.try_into().ok()?))
    }
    fn u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(at, 4)?.try_into().ok()?))
    }
    fn u64(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(at, 8)?.try_into().ok()?))
    }
}

/// Finds the directory. `tail` are the last bytes of the file, [`TAIL_BYTES`] of them or all.
///
/// # Errors
/// [`Error::BadArchive`].
pub fn find_end(tail: &[u8], size_bytes: u64) -> Result<End> {
    let tail_at = size_bytes.checked_sub(tail.len() as u64).ok_or_else(|| bad("it is cut off"))?;
    let numbers = Numbers(tail);
    let last = tail.len().checked_sub(END_BYTES).ok_or_else(|| bad("it is too short for a ZIP file"))?;
    let at = (0..=last).rev().find(|at| {
        let comment = numbers.u16(at + 20).map_or(usize::MAX, usize::from);
        numbers.u32(*at) == Some(0x0605_4b50) && at + END_BYTES + comment == tail.len()
    });
    let at = at.ok_or_else(|| bad("it has no directory at its end: it isn't a ZIP file, or is cut off"))?;
    let small = |at| numbers.u16(at).ok_or_else(truncated);
    let (disk, first, here, all) = (small(at + 4)?, small(at + 6)?, small(at + 8)?, small(at + 10)?);
    let bytes = numbers.u32(at + 12).ok_or_else(truncated)?;
    let start = numbers.u32(at + 16).ok_or_else(truncated)?;
    let is_large = [disk, first, here, all].contains(&MAX_16) || bytes == MAX_32 || start == MAX_32;
    let locator = at.checked_sub(LOCATOR_BYTES).filter(|at| numbers.u32(*at) == Some(0x0706_4b50));
    if let Some(locator) = locator.filter(|_| is_large) {
        return end_64(&numbers, locator, tail_at);
    }
    if disk != 0 || first != 0 || here != all {
        return Err(bad("it is one of several parts"));
    }
    placed(tail_at + at as u64, u64::from(bytes), u64::from(start), u64::from(all))
}

fn end_64(numbers: &Numbers<'_>, locator: usize, tail_at: u64) -> Result<End> {
    let by_place = locator.checked_sub(END_64_BYTES);
    let by_number = numbers
        .u64(locator + 8)
        .and_then(|offset| usize::try_from(offset.checked_sub(tail_at)?).ok())
        .filter(|at| *at < locator);
    let is_one = |at: &usize| numbers.u32(*at) == Some(0x0606_4b50);
    let at = by_place.filter(is_one).or(by_number.filter(is_one));
    let at = at.ok_or_else(|| bad("its ZIP64 end record isn't where it should be"))?;
    let large = |at| numbers.u64(at).ok_or_else(truncated);
    let disks = (numbers.u32(at + 16), numbers.u32(at + 20));
    let (here, all) = (large(at + 24)?, large(at + 32)?);
    if disks != (Some(0), Some(0)) || here != all {
        return Err(bad("it is one of several parts"));
    }
    placed(tail_at + at as u64, large(at + 40)?, large(at + 48)?, all)
}

/// The directory ends where the end record begins; what is said of its start tells what is before the first entry.
fn placed(end: u64, bytes: u64, start: u64, entries: u64) -> Result<End> {
    let at = end.checked_sub(bytes).ok_or_else(|| bad("its directory is longer than the file"))?;
    let before = at.checked_sub(start).ok_or_else(|| bad("its directory overlaps its end"))?;
    if entries > bytes / CENTRAL_BYTES as u64 {
        return Err(bad(format!("{entries} entries don't fit a directory of {bytes} bytes")));
    }
    Ok(End { directory: at..end, entries, before })
}

fn truncated() -> Error {
    bad("a record of it is cut off")
}

/// Reads the first record of `bytes`, which are a part of the directory; returns its length, too. None where they end before it
/// does.
///
/// # Errors
/// [`Error::BadArchive`].
pub fn read_central(bytes: &[u8]) -> Result<Option<(Central, usize)>> {
    let numbers = Numbers(bytes);
    if numbers.u32(0).is_some_and(|signature| signature != 0x0201_4b50) {
        return Err(bad("its directory has something else where an entry should be"));
    }
    Ok(central(&numbers))
}

fn central(numbers: &Numbers<'_>) -> Option<(Central, usize)> {
    let fixed = numbers.bytes(0, CENTRAL_BYTES).map(Numbers)?;
    let (made_by, flags, method) = (fixed.u16(4)?, fixed.u16(8)?, fixed.u16(10)?);
    let length = |at| fixed.u16(at).map(usize::from);
    let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
    let raw_name = numbers.bytes(CENTRAL_BYTES, name)?;
    let extra_bytes = numbers.bytes(CENTRAL_BYTES + name, extra)?;
    numbers.bytes(CENTRAL_BYTES + name + extra, comment)?;
    let (packed, size, offset) = (fixed.u32(20)?, fixed.u32(24)?, fixed.u32(42)?);
    let mut large = extra_field(extra_bytes, 1).unwrap_or_default();
    let mut whole = |number: u32| {
        if number != MAX_32 {
            return u64::from(number);
        }
        let Some((now, later)) = large.split_at_checked(8) else { return u64::from(number) };
        large = later;
        Numbers(now).u64(0).unwrap_or_default()
    };
    // In this order, those that don't fit 32 bits.
    let (size_bytes, packed_bytes, offset) = (whole(size), whole(packed), whole(offset));
    let unix = made_by >> 8 == 3;
    let central = Central {
        name: names::decode(raw_name, flags & 1 << 11 != 0, extra_field(extra_bytes, 0x7075)),
        raw_name: raw_name.to_vec(),
        method,
        is_encrypted: flags & 1 != 0 || method == 99,
        crc32: fixed.u32(16)?,
        packed_bytes,
        size_bytes,
        modified_secs: time(extra_bytes).or_else(|| dos_time(fixed.u16(14)?, fixed.u16(12)?)),
        unix_mode: fixed.u32(38).filter(|_| unix).map(|attributes| attributes >> 16),
        offset,
    };
    Some((central, CENTRAL_BYTES + name + extra + comment))
}

/// Reads the record before an entry's content, and returns its length: the content comes right behind. `bytes` begin with it.
///
/// # Errors
/// [`Error::BadArchive`], too where it is about another entry.
pub fn read_local(bytes: &[u8], central: &Central) -> Result<u64> {
    let numbers = Numbers(bytes);
    if numbers.u32(0) != Some(0x0403_4b50) {
        return Err(bad("an entry isn't where its directory says"));
    }
    let number = |at| numbers.u16(at).ok_or_else(truncated);
    let (method, name, extra) = (number(8)?, usize::from(number(26)?), usize::from(number(28)?));
    let name_bytes = numbers.bytes(LOCAL_BYTES, name).ok_or_else(truncated)?;
    if method != central.method || name_bytes != central.raw_name {
        return Err(bad("an entry and its directory say different things"));
    }
    Ok((LOCAL_BYTES + name + extra) as u64)
}

/// The content of the first extra field with this number.
fn extra_field(mut extra: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let numbers = Numbers(extra);
        let (id, length) = (numbers.u16(0)?, usize::from(numbers.u16(2)?));
        let content = numbers.bytes(4, length)?;
        if id == wanted {
            return Some(content);
        }
        extra = extra.get(4 + length..)?;
    }
}

/// Info-ZIP's field of times.
fn time(extra: &[u8]) -> Option<i64> {
    let field = extra_field(extra, 0x5455)?;
    let (flags, rest) = field.split_first()?;
    let secs = Numbers(rest).bytes(0, 4).filter(|_| flags & 1 != 0)?;
    Some(i64::from(i32::from_le_bytes(secs.try_into().ok()?)))
}

fn dos_time(date: u16, time: u16) -> Option<i64> {
    let part = |number: u16| i8::try_from(number).ok();
    let year = i16::try_from(1980 + (date >> 9)).ok()?;
    let date = jiff::civil::Date::new(year, part(date >> 5 & 15)?, part(date & 31)?).ok()?;
    let time =
        jiff::civil::Time::new(part(time >> 11)?, part(time >> 5 & 63)?, part((time & 31) * 2)?, 0).ok()?;
    Some(jiff::tz::Offset::UTC.to_timestamp(date.to_datetime(time)).ok()?.as_second())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn end(entries: u16, bytes: u32, start: u32, comment: &[u8]) -> Vec<u8> {
        let mut record = 0x0605_4b50_u32.to_le_bytes().to_vec();
        record.extend([0; 4]);
        record.extend([entries.to_le_bytes(), entries.to_le_bytes()].concat());
        record.extend(bytes.to_le_bytes());
        record.extend(start.to_le_bytes());
        record.extend((comment.len() as u16).to_le_bytes());
        record.extend(comment);
        record
    }

    #[test]
    fn the_directory_is_found_behind_whatever_comes_before_it() {
        for comment in [&b""[..], b"PK\x05\x06 in a comment", &[b'x'; 0xffff]] {
            let mut file = vec![0; 500];
            file.extend(end(2, 200, 100, comment));
            let size = file.len() as u64;
            let tail = &file[file.len().saturating_sub(TAIL_BYTES)..];
            let found = find_end(tail, size).unwrap();
            assert_eq!(found, End { directory: 300..500, entries: 2, before: 200 });
        }
    }

    #[test]
    fn ends_that_lie_are_refused() {
        let refused = |file: &[u8]| match find_end(file, file.len() as u64) {
            Err(Error::BadArchive { reason }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(refused(b"PK").contains("too short"));
        assert!(refused(&[0; 100]).contains("no directory"));
        assert!(refused(&end(0, 1, 0, b"")).contains("longer than the file"));
        assert!(refused(&end(1, 0, 0, b"")).contains("don't fit"));
        assert!(refused(&[vec![0; 50], end(1, 50, 1, b"")].concat()).contains("overlaps"));
        let mut parts = end(0, 0, 0, b"");
        parts[4] = 1;
        assert!(refused(&parts).contains("several parts"));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much_for_it(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            (at, with) in (0usize..300, 0usize..5),
        ) {
            let signature = [0x0605_4b50_u32, 0x0606_4b50, 0x0706_4b50, 0x0201_4b50, 0x0403_4b50][with].to_le_bytes();
            if let Some(place) = bytes.get_mut(at..at + 4) {
                place.copy_from_slice(&signature);
            }
            let _end = find_end(&bytes, bytes.len() as u64);
            if let Ok(Some((central, length))) = read_central(&bytes) {
                prop_assert!(length <= bytes.len());
                let _local = read_local(&bytes, &central);
            }
        }
    }
}
