//! Messages in a stream of bytes: a header that says how long the body is, then the body. Adapters let other things slip
//! into the stream (a banner, a program's own output), so whatever is no header is skipped and counted.

/// The longest message that is read; of a longer one only the beginning is kept.
pub const LONGEST_MESSAGE: usize = 64 << 20;
/// A line of this length is no header.
const LONGEST_LINE: usize = 64 << 10;
/// How much of a message that is too long is kept: enough to see whose answer it is.
const KEPT_OF_TOO_LONG: usize = 1024;
/// How much of what did not belong there is kept, to be quoted.
const KEPT_JUNK: usize = 2048;
const HEADER: &[u8] = b"content-length:";

/// Something a decoder found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The body of a message.
    Message(Vec<u8>),
    /// A message that is longer than is read.
    TooLong {
        /// How long it is.
        length: usize,
        /// How it begins.
        beginning: Vec<u8>,
    },
}

/// Cuts a stream into messages, however it arrives.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Where in the buffer the unread part begins.
    start: usize,
    /// Where the search for the end of a line goes on.
    searched: usize,
    state: Reading,
    longest: usize,
    junk: Vec<u8>,
    junk_bytes: u64,
}

#[derive(Debug)]
enum Reading {
    Header { length: Option<usize> },
    Body { length: usize },
    Skip { length: usize, left: usize, beginning: Vec<u8> },
}

impl Default for Decoder {
    fn default() -> Self {
        Decoder::new(LONGEST_MESSAGE)
    }
}

impl Decoder {
    /// A decoder that reads messages up to `longest` bytes.
    pub fn new(longest: usize) -> Self {
        Decoder {
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            state: Reading::Header { length: None },
            longest,
            junk: Vec::new(),
            junk_bytes: 0,
        }
    }

    /// Takes what arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            (self.start, self.searched) = (0, 0);
        } else if self.start > 1 << 16 {
            self.buffer.drain(..self.start);
            self.searched = self.searched.saturating_sub(self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message, once it is there as a whole.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            match &mut self.state {
                Reading::Header { .. } => {
                    let line = self.line()?;
                    self.header(&line);
                }
                Reading::Body { length } => {
                    let length = *length;
                    let body = self.buffer.get(self.start..self.start.checked_add(length)?)?.to_vec();
                    self.advance(length);
                    self.state = Reading::Header { length: None };
                    return Some(Frame::Message(body));
                }
                Reading::Skip { length, left, beginning } => {
                    let there = self.buffer.get(self.start..).unwrap_or_default();
                    let taken = there.len().min(*left);
                    let wanted = KEPT_OF_TOO_LONG.saturating_sub(beginning.len()).min(taken);
                    beginning.extend_from_slice(there.get(..wanted).unwrap_or_default());
                    *left -= taken;
                    let done =
                        (*left == 0).then(|| Frame::TooLong { length: *length, beginning: std::mem::take(beginning) });
                    self.advance(taken);
                    let frame = done?;
                    self.state = Reading::Header { length: None };
                    return Some(frame);
                }
            }
        }
    }

    /// What did not belong into the stream: how many bytes in all, and the last of them.
    pub fn junk(&self) -> (u64, String) {
        (self.junk_bytes, String::from_utf8_lossy(&self.junk).into_owned())
    }

    /// A line without its end, or whatever is too long to be one.
    fn line(&mut self) -> Option<Vec<u8>> {
        let from = self.searched.max(self.start);
        let found = self.buffer.get(from..).and_then(|rest| rest.iter().position(|byte| *byte == b'\n'));
        let Some(found) = found else {
            self.searched = self.buffer.len();
            if self.buffer.len() - self.start > LONGEST_LINE {
                let line = self.buffer.get(self.start..).unwrap_or_default().to_vec();
                self.advance(line.len());
                return Some(line);
            }
            return None;
        };
        let end = from + found;
        let line = self.buffer.get(self.start..end).unwrap_or_default();
        let line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        self.advance(end + 1 - self.start);
        Some(line)
    }

    fn header(&mut self, line: &[u8]) {
        let Reading::Header { length } = &mut self.state else { return };
        if line.is_empty() {
            let Some(length) = length.take() else { return };
            self.state = match length <= self.longest {
                true => Reading::Body { length },
                false => Reading::Skip { length, left: length, beginning: Vec::new() },
            };
            return;
        }
        // A program that prints without a line's end puts its words before the header.
        let at = line.windows(HEADER.len()).position(|part| part.eq_ignore_ascii_case(HEADER));
        let value = at.and_then(|at| line.get(at + HEADER.len()..)).and_then(number);
        match (value, at) {
            (Some(value), Some(at)) => {
                *length = Some(value);
                let before = line.get(..at).unwrap_or_default().to_vec();
                self.discard(&before);
            }
            _ if length.is_some() && is_other_header(line) => {}
            _ if line.to_ascii_lowercase().starts_with(b"content-type:") => {}
            _ => self.discard(line),
        }
    }

    fn discard(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.junk_bytes += bytes.len() as u64;
        self.junk.extend_from_slice(bytes.get(bytes.len().saturating_sub(KEPT_JUNK)..).unwrap_or_default());
        self.junk.push(b'\n');
        let surplus = self.junk.len().saturating_sub(KEPT_JUNK);
        self.junk.drain(..surplus);
    }

    fn advance(&mut self, bytes: usize) {
        self.start += bytes;
        self.searched = self.start;
    }
}

/// A message as it goes over the wire.
pub fn encode(body: &[u8]) -> Vec<u8> {
    let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    message.extend_from_slice(body);
    message
}

fn number(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

fn is_other_header(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    name.len() < line.len() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(bytes: &[u8], piece: usize) -> (Vec<Frame>, Decoder) {
        let mut decoder = Decoder::new(1000);
        let mut frames = Vec::new();
        for part in bytes.chunks(piece.max(1)) {
            decoder.push(part);
            while let Some(frame) = decoder.next_frame() {
                frames.push(frame);
            }
        }
        (frames, decoder)
    }

    fn message(text: &str) -> Frame {
        Frame::Message(text.as_bytes().to_vec())
    }

    #[test]
    fn messages_are_found_however_the_stream_is_cut() {
        let stream = [encode(b"{\"a\":1}"), encode(b""), encode("{\"\u{e9}\":2}".as_bytes())].concat();
        for piece in 1..stream.len() {
            let (frames, decoder) = decode(&stream, piece);
            assert_eq!(frames, [message("{\"a\":1}"), message(""), message("{\"\u{e9}\":2}")], "{piece}");
            assert_eq!(decoder.junk().0, 0);
        }
    }

    #[test]
    fn headers_are_read_in_any_case_with_others_beside_them_and_bare_line_ends() {
        let stream = b"Content-Type: x\r\ncontent-LENGTH:   2\r\n\r\n{}Content-Length: 2\nX-Other: y\n\n[]";
        let (frames, decoder) = decode(stream, 5);
        assert_eq!(frames, [message("{}"), message("[]")]);
        assert_eq!(decoder.junk().0, 0);
    }

    #[test]
    fn what_is_no_header_is_skipped_counted_and_quoted() {
        let stream = b"Welcome to the debugger\n\nno line end Content-Length: 2\r\n\r\n{}\r\nbye\n";
        let (frames, decoder) = decode(stream, 3);
        assert_eq!(frames, [message("{}")]);
        let (bytes, words) = decoder.junk();
        assert_eq!(bytes, 23 + 12 + 3);
        assert!(words.contains("Welcome") && words.contains("bye"), "{words}");
    }

    #[test]
    fn a_message_that_is_too_long_is_passed_over_and_the_next_one_read() {
        let long = format!("{{\"request_seq\":7,\"x\":\"{}\"}}", "y".repeat(5000));
        let stream = [encode(long.as_bytes()), encode(b"{}")].concat();
        for piece in [1, 100, 100_000] {
            let (frames, _) = decode(&stream, piece);
            let [Frame::TooLong { length, beginning }, next] = frames.as_slice() else { panic!("{frames:?}") };
            assert_eq!((*length, beginning.len()), (long.len(), KEPT_OF_TOO_LONG));
            assert!(beginning.starts_with(b"{\"request_seq\":7"));
            assert_eq!(next, &message("{}"));
        }
    }

    #[test]
    fn a_flood_without_line_ends_takes_no_room() {
        let mut decoder = Decoder::default();
        for _ in 0..100 {
            decoder.push(&[b'x'; 10_000]);
            assert_eq!(decoder.next_frame(), None);
        }
        assert!(decoder.buffer.len() < 300_000);
        assert!(decoder.junk().0 > 900_000);
    }

    #[test]
    fn a_length_that_is_none_is_no_header() {
        let (frames, _) = decode(b"Content-Length: -5\r\n\r\nContent-Length: 99999999999999999999\r\n\r\n", 7);
        assert_eq!(frames, []);
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400), piece in 1usize..50) {
            decode(&bytes, piece);
        }

        #[test]
        fn any_lines_before_a_message_leave_it_whole(lines in prop::collection::vec("[a-z ]{0,30}", 0..5),
                body in "[ -~]{0,60}", piece in 1usize..40) {
            let mut stream: Vec<u8> = lines.iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
            stream.extend(encode(body.as_bytes()));
            let (frames, _) = decode(&stream, piece);
            prop_assert_eq!(frames, vec![message(&body)]);
        }
    }
}
