//! Values for the open places of templates, from a generator that always gives the same ones.

/// Gives values.
pub(super) struct Source {
    state: u64,
}

const NAMES: [&str; 12] =
    ["alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "oscar"];
const WORDS: [&str; 12] = [
    "checkout", "profile", "basket", "search", "invoice", "gallery", "comments", "billing", "metrics", "login",
    "export", "inbox",
];
const FILES: [&str; 8] = [
    "src/App.tsx",
    "src/main.ts",
    "src/views/Home.vue",
    "src/lib/api.ts",
    "tests/app.test.ts",
    "src/store/index.js",
    "src/cart.rs",
    "components/Nav.jsx",
];

impl Source {
    pub(super) fn new(seed: u64) -> Self {
        Source { state: seed }
    }

    /// A template with every `<slot>` replaced; what is no slot stays, so `<div>` is a div.
    pub(super) fn fill(&mut self, template: &str) -> String {
        let mut out = String::new();
        let mut rest = template;
        while let Some(open) = rest.find('<') {
            out.push_str(&rest[..open]);
            rest = &rest[open..];
            let end = rest.find('>').map_or(rest.len(), |end| end + 1);
            match self.value(&rest[..end]) {
                Some(value) => out.push_str(&value),
                None => out.push_str(&rest[..end]),
            }
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn pick(&mut self, from: &[&str]) -> String {
        let index = usize::try_from(self.below(from.len() as u64)).unwrap_or_default();
        from[index].to_owned()
    }

    fn letters(&mut self, alphabet: &str, count: usize) -> String {
        (0..count)
            .map(|_| self.pick(&alphabet.split("").filter(|letter| !letter.is_empty()).collect::<Vec<_>>()))
            .collect()
    }

    fn hex(&mut self, count: usize) -> String {
        self.letters("0123456789abcdef", count)
    }

    fn clock(&mut self) -> String {
        format!("{:02}:{:02}:{:02}", self.below(24), self.below(60), self.below(60))
    }

    fn value(&mut self, slot: &str) -> Option<String> {
        const ALL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        let day = 1 + self.below(28);
        let value = match slot {
            "<uuid>" => format!("{}-{}-4{}-9{}-{}", self.hex(8), self.hex(4), self.hex(3), self.hex(3), self.hex(12)),
            "<n>" => self.below(1_000_000).to_string(),
            "<small>" => (2 + self.below(98)).to_string(),
            "<epoch>" => (1_700_000_000_000 + self.below(9_999_999)).to_string(),
            "<iso>" => format!("2026-03-{day:02}T{}.{:03}Z", self.clock(), self.below(1000)),
            "<clock>" => self.clock(),
            "<jsdate>" => format!("Tue Mar {day:02} 2026 {} GMT+0100 (Central European Standard Time)", self.clock()),
            "<local>" => format!("3/{day}/2026, {}:{:02}:{:02} PM", 1 + self.below(11), self.below(60), self.below(60)),
            "<hex8>" => self.hex(8),
            "<sha>" => self.hex(40),
            "<short-sha>" => self.hex(7),
            "<object-id>" => self.hex(24),
            "<address>" => format!("0x{}", self.hex(12)),
            "<nanoid>" => self.letters(&format!("{ALL}-_"), 21),
            "<ulid>" => format!("01{}", self.letters("0123456789ABCDEFGHJKMNPQRSTVWXYZ", 24)),
            "<hash>" => self.letters(ALL, 8),
            "<jwt>" => format!("eyJ{}.eyJ{}.{}", self.letters(ALL, 30), self.letters(ALL, 40), self.letters(ALL, 43)),
            "<float>" => format!("{}.{:02}", self.below(100), self.below(100)),
            "<duration>" => match self.below(3) {
                0 => format!("{}ms", 1 + self.below(999)),
                1 => format!("{}.{}s", 1 + self.below(20), self.below(10)),
                _ => format!("{} ms", 1 + self.below(9999)),
            },
            "<size>" => match self.below(2) {
                0 => format!("{}.{:02} kB", self.below(900), self.below(100)),
                _ => format!("{}.{} MB", self.below(90), self.below(10)),
            },
            "<percent>" => format!("{}%", self.below(101)),
            "<email>" => format!("{}{}@example.com", self.pick(&NAMES), self.below(100)),
            "<ip>" => format!("10.{}.{}.{}", self.below(256), self.below(256), self.below(256)),
            "<name>" => self.pick(&NAMES),
            "<word>" => self.pick(&WORDS),
            "<file>" => self.pick(&FILES),
            "<sentence>" => format!("{} {} {}", self.pick(&NAMES), self.pick(&WORDS), self.below(100)),
            "<list>" => (0..=self.below(5)).map(|_| self.below(500).to_string()).collect::<Vec<_>>().join(", "),
            "<position>" => format!("{}:{}", 1 + self.below(400), 1 + self.below(80)),
            "<version>" => format!("{}.{}.{}", 1 + self.below(9), self.below(20), self.below(20)),
            _ => return None,
        };
        Some(value)
    }
}
