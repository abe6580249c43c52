//! Names in ZIP files of others: UTF-8, or the code page of the first PCs.

/// Characters 128 to 255 of code page 437.
const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// A name's text. `unicode` is Info-ZIP's field with the name in UTF-8, which counts as long as it is about this name.
///
/// Programs on macOS and Linux write UTF-8 without saying so. What reads as that is that: in the code page it would be a
/// row of line-drawing characters, which nobody gives a file as its name.
pub(super) fn decode(raw: &[u8], is_utf8: bool, unicode: Option<&[u8]>) -> String {
    if let Some(name) = unicode.filter(|_| !is_utf8).and_then(|field| newer(raw, field)) {
        return name.to_owned();
    }
    match std::str::from_utf8(raw) {
        Ok(name) => name.to_owned(),
        Err(_) if is_utf8 => String::from_utf8_lossy(raw).into_owned(),
        Err(_) => raw.iter().map(|byte| upper(*byte)).collect(),
    }
}

fn newer<'a>(raw: &[u8], field: &'a [u8]) -> Option<&'a str> {
    let (&version, rest) = field.split_first()?;
    let (crc32, name) = rest.split_at_checked(4)?;
    let is_current = version == 1 && crc32 == crc32fast::hash(raw).to_le_bytes();
    std::str::from_utf8(name).ok().filter(|_| is_current)
}

fn upper(byte: u8) -> char {
    match byte.checked_sub(128) {
        None => char::from(byte),
        Some(place) => UPPER.chars().nth(usize::from(place)).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_utf_8_or_of_the_code_page() {
        assert_eq!(UPPER.chars().count(), 128);
        assert_eq!(decode(b"caf\x82.txt", false, None), "café.txt");
        assert_eq!(decode("caf\u{e9}".as_bytes(), false, None), "café");
        assert_eq!(decode("你好".as_bytes(), true, None), "你好");
        assert_eq!(decode(b"\x82\xff", true, None), "\u{fffd}\u{fffd}");
        assert_eq!(decode(&[0xe1, 0xff, 0x80], false, None), "ß\u{a0}Ç");
        let field = |raw: &[u8]| [&[1][..], &crc32fast::hash(raw).to_le_bytes(), "naïve".as_bytes()].concat();
        assert_eq!(decode(b"na_ve", false, Some(&field(b"na_ve"))), "naïve");
        assert_eq!(decode(b"renamed", false, Some(&field(b"na_ve"))), "renamed");
    }
}
