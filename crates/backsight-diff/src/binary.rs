//! The contents of a binary file in a patch, as `git apply` reads them: both sides whole, deflated, in letters.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Bytes on a line.
const LINE: usize = 52;

/// Git's 85 digits.
const DIGITS: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// Writes what turns `old` into `new`, then what turns it back.
pub(crate) fn write_contents(old: &[u8], new: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"GIT binary patch\n");
    for content in [new, old] {
        out.extend_from_slice(format!("literal {}\n", content.len()).as_bytes());
        for line in deflated(content).chunks(LINE) {
            // A to Z are 1 to 26 bytes, a to z are 27 to 52.
            let length = line.len() as u8;
            out.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
            line.chunks(4).for_each(|word| write_word(word, out));
            out.push(b'\n');
        }
        out.push(b'\n');
    }
}

/// Four bytes, or the last ones with zeros after them, as five digits.
fn write_word(word: &[u8], out: &mut Vec<u8>) {
    let at = |index: usize| u32::from(word.get(index).copied().unwrap_or(0));
    let mut value = at(0) << 24 | at(1) << 16 | at(2) << 8 | at(3);
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(value % 85) as usize];
        value /= 85;
    }
    out.extend_from_slice(&digits);
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    written.expect("writing to memory does not fail")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_git_writes_them() {
        let written = |word: &[u8]| {
            let mut out = Vec::new();
            write_word(word, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(&[0, 0, 0, 0]), "00000");
        assert_eq!(written(&[0xff; 4]), "|NsC0");
        // The deflated form of nothing begins so in every patch that Git writes.
        assert_eq!(written(&[0x78, 0x01, 0x03, 0x00]), "cmV?d");
    }
}
