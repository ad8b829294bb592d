//! What the words before a number say about it: whether it tells one problem from another (`status 404`, `port 3000`,
//! `exit code 1`) or only how many, how long, which one.

/// What the next number would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Context {
    /// Nothing in particular.
    #[default]
    None,
    /// A status or a code.
    Code,
    /// What a process ended with.
    Exit,
    /// After `HTTP`: a version or a status.
    Http,
    /// After the word `error` itself: the error's number, unless a colon comes between.
    Error,
    /// A port.
    Port,
    /// After `localhost`: a port, if a colon comes next.
    Localhost,
    /// After `closed`: possibly a socket's close code.
    Close,
    /// After `GET` and the like: a path comes, and then a status.
    Method,
    /// After a method and its path.
    Served,
    /// After `answered`, `returned`, `failed:` and the like: possibly the status of an answer.
    Answer,
}

impl Context {
    /// What a plain word makes of it.
    pub(super) fn after_word(self, word: &[u8]) -> Context {
        // Most words mean nothing here; length and first letter tell that at once.
        if word.len() > 12 || word.is_empty() {
            return Context::None;
        }
        let mut lower = [0_u8; 12];
        for (into, byte) in lower.iter_mut().zip(word) {
            *into = byte.to_ascii_lowercase();
        }
        match &lower[..word.len()] {
            b"status" | b"statuscode" | b"code" | b"errorcode" | b"errcode" | b"errno" | b"sqlstate" => Context::Code,
            b"exit" | b"exited" | b"exits" | b"exitcode" | b"signal" => Context::Exit,
            b"http" | b"https" => Context::Http,
            b"error" | b"err" => Context::Error,
            b"port" | b"ports" => Context::Port,
            b"localhost" => Context::Localhost,
            b"answered" | b"answer" | b"returned" | b"returns" | b"responded" | b"replied" | b"got" | b"received"
            | b"gave" | b"response" | b"reply" | b"failed" | b"fails" | b"failure" | b"rejected" => Context::Answer,
            b"close" | b"closed" | b"closing" | b"disconnect" | b"disconnected" => Context::Close,
            b"get" | b"post" | b"put" | b"patch" | b"delete" | b"head" | b"options" if word[0].is_ascii_uppercase() => {
                Context::Method
            }
            // `exited with code 1`, `a status of 404`: the word between adds nothing.
            b"of" | b"is" | b"was" | b"with" | b"the" | b"a" | b"an" | b"by" => self,
            _ => Context::None,
        }
    }

    /// What a mark between words makes of it.
    pub(super) fn after_mark(self, mark: u8) -> Context {
        match (self, mark) {
            (Context::Error, b'#') | (Context::Localhost, b':') => self,
            (Context::Error, b':') => Context::Answer,
            (Context::Error | Context::Localhost, _) => Context::None,
            (_, b':' | b'=' | b'#' | b'(' | b'-' | b'/' | b'"' | b'\'' | b'[' | b'_' | b'|' | 0x80..) => self,
            _ => Context::None,
        }
    }

    /// What a path or address makes of it.
    pub(super) fn after_place(self) -> Context {
        match self {
            Context::Method => Context::Served,
            _ => Context::None,
        }
    }

    /// Whether a whole number of these digits means something here.
    pub(super) fn keeps(self, digits: &[u8]) -> bool {
        let value = digits.iter().take(6).fold(0_u32, |value, digit| value * 10 + u32::from(digit - b'0'));
        match self {
            Context::None | Context::Method => false,
            Context::Exit => digits.len() <= 10,
            Context::Code | Context::Error | Context::Port | Context::Localhost => digits.len() <= 5,
            Context::Http => digits.len() <= 3,
            Context::Close => digits.len() == 4 && matches!(value, 1000..=1015 | 3000..=4999),
            Context::Served => digits.len() == 3 && matches!(value, 100..=599),
            Context::Answer => digits.len() == 3 && is_status(value),
        }
    }

    /// Whether a quoted code means something here.
    pub(super) fn keeps_text(self) -> bool {
        matches!(self, Context::Code | Context::Exit)
    }
}

/// Whether servers answer with it: other numbers of three digits are more often a count.
pub(super) fn is_status(value: u32) -> bool {
    matches!(value, 200..=206 | 301..=304 | 307..=308 | 400..=426 | 428..=429 | 431 | 451 | 499 | 500..=511 | 520..=530)
}

/// Whether the value of a `key` tells one problem from another, so that it stays where other values go.
pub(super) fn is_telling(key: &[u8]) -> bool {
    const TELLING: [&str; 24] = [
        "code",
        "status",
        "statuscode",
        "errno",
        "type",
        "level",
        "lvl",
        "severity",
        "message",
        "msg",
        "error",
        "err",
        "reason",
        "event",
        "kind",
        "method",
        "state",
        "syscall",
        "signal",
        "exitcode",
        "component",
        "logger",
        "port",
        "name",
    ];
    key.len() <= 12 && TELLING.iter().any(|known| key.eq_ignore_ascii_case(known.as_bytes()))
}
