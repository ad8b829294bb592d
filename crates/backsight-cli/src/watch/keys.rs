//! What a person types, from the bytes a terminal in raw mode sends. Sequences that mean nothing here are passed over whole,
//! so that no part of one is taken for a letter.

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A letter or sign.
    Char(char),
    /// A letter with Ctrl.
    Ctrl(char),
    Enter,
    Tab,
    Backspace,
    Escape,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
}

/// Cuts a stream of bytes into keys; what is not complete waits for the rest.
#[derive(Debug, Default)]
pub struct Typed {
    rest: Vec<u8>,
}

/// The longest sequence that is waited for; terminals send shorter ones.
const LONGEST: usize = 32;

impl Typed {
    /// The keys in what was read. A lone escape at the end is the key: terminals send sequences in one piece.
    pub fn keys(&mut self, read: &[u8]) -> Vec<Key> {
        self.rest.extend_from_slice(read);
        let mut keys = Vec::new();
        loop {
            match cut(&self.rest) {
                Cut::Key(key, length) => {
                    keys.push(key);
                    self.rest.drain(..length);
                }
                Cut::Nothing(length) => drop(self.rest.drain(..length)),
                Cut::Wait if self.rest.len() > LONGEST => self.rest.clear(),
                Cut::Wait => return keys,
            }
        }
    }
}

enum Cut {
    Key(Key, usize),
    /// Bytes that mean nothing here.
    Nothing(usize),
    /// The rest has to come first.
    Wait,
}

fn cut(bytes: &[u8]) -> Cut {
    let Some(&first) = bytes.first() else { return Cut::Wait };
    match first {
        0x1b => escape(bytes),
        b'\r' | b'\n' => Cut::Key(Key::Enter, 1),
        b'\t' => Cut::Key(Key::Tab, 1),
        0x08 | 0x7f => Cut::Key(Key::Backspace, 1),
        0x01..=0x1a => Cut::Key(Key::Ctrl(char::from(first + b'a' - 1)), 1),
        0x00..=0x1f => Cut::Nothing(1),
        _ => letter(bytes),
    }
}

fn letter(bytes: &[u8]) -> Cut {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let Some(whole) = bytes.get(..length) else { return Cut::Wait };
    match std::str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
        Some(letter) if !backsight_core::is_unsafe_to_show(letter) => Cut::Key(Key::Char(letter), length),
        Some(_) => Cut::Nothing(length),
        None => Cut::Nothing(1),
    }
}

/// `ESC [ A`, `ESC O A`, `ESC [ 5 ~`, `ESC [ 1 ; 5 A`; a letter after an escape is that letter with Alt, which is not used.
fn escape(bytes: &[u8]) -> Cut {
    match bytes.get(1) {
        None => Cut::Key(Key::Escape, 1),
        Some(0x1b) => Cut::Key(Key::Escape, 1),
        Some(b'O') => match bytes.get(2) {
            None => Cut::Wait,
            Some(&last) => named(last, 0).map_or(Cut::Nothing(3), |key| Cut::Key(key, 3)),
        },
        Some(b'[') => {
            let parameters = bytes[2..].iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
            let Some(&last) = bytes.get(2 + parameters) else { return Cut::Wait };
            let number = bytes[2..2 + parameters].split(|byte| *byte == b';').next().unwrap_or_default();
            let number = std::str::from_utf8(number).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
            named(last, number).map_or(Cut::Nothing(parameters + 3), |key| Cut::Key(key, parameters + 3))
        }
        Some(_) => Cut::Nothing(2),
    }
}

fn named(last: u8, number: u32) -> Option<Key> {
    Some(match (last, number) {
        (b'A', _) => Key::Up,
        (b'B', _) => Key::Down,
        (b'C', _) => Key::Right,
        (b'D', _) => Key::Left,
        (b'H', _) | (b'~', 1 | 7) => Key::Home,
        (b'F', _) | (b'~', 4 | 8) => Key::End,
        (b'~', 5) => Key::PageUp,
        (b'~', 6) => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        Typed::default().keys(bytes)
    }

    #[test]
    fn letters_and_named_keys_are_told_apart() {
        assert_eq!(keys(b"jK]"), [Key::Char('j'), Key::Char('K'), Key::Char(']')]);
        assert_eq!(keys("é日".as_bytes()), [Key::Char('é'), Key::Char('日')]);
        assert_eq!(
            keys(b"\x1b[A\x1b[B\x1bOC\x1b[5~\x1b[6~"),
            [Key::Up, Key::Down, Key::Right, Key::PageUp, Key::PageDown]
        );
        assert_eq!(
            keys(b"\x1b[1~\x1b[F\r\t\x7f\x03"),
            [Key::Home, Key::End, Key::Enter, Key::Tab, Key::Backspace, Key::Ctrl('c')]
        );
        assert_eq!(keys(b"\x1b"), [Key::Escape]);
    }

    #[test]
    fn a_sequence_that_is_not_known_is_passed_over_whole() {
        // Focus, a function key, a mouse report, bracketed paste, Alt-y: none of their letters is typed.
        assert_eq!(keys(b"\x1b[I\x1b[15~\x1b[<0;10;5M\x1b[200~\x1byz"), [Key::Char('z')]);
        assert_eq!(keys(b"\x1b[1;5Aj"), [Key::Up, Key::Char('j')]);
        assert_eq!(keys(b"\xff\xfe\x00j"), [Key::Char('j')]);
    }

    #[test]
    fn what_comes_in_pieces_is_put_together() {
        let mut typed = Typed::default();
        assert_eq!(typed.keys(b"\x1b["), []);
        assert_eq!(typed.keys(b"Aj"), [Key::Up, Key::Char('j')]);
        assert_eq!(typed.keys(&"é".as_bytes()[..1]), []);
        assert_eq!(typed.keys(&"é".as_bytes()[1..]), [Key::Char('é')]);
        // A sequence without an end is given up.
        assert_eq!(typed.keys(&[b"\x1b[".as_slice(), &[b'1'; 40]].concat()), []);
        assert_eq!(typed.keys(b"j"), [Key::Char('j')]);
    }
}
