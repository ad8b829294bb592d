//! Source maps: from a place in what a bundler made to the place in what somebody wrote. Its own decoder, because the crate
//! for it brings a whole URL library and all this needs is the lookup.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Files of a map, and places in it: two letters can be a place, so a text is no bound for what it takes.
const MAX_SOURCES: usize = 100_000;
const MAX_SEGMENTS: usize = 3_000_000;

/// A map that was read.
#[derive(Debug)]
pub struct SourceMap {
    /// What stands before the names of sources; each is kept once, however many sources it belongs to.
    roots: Vec<String>,
    sources: Vec<Source>,
    /// Sorted by line and column.
    segments: Vec<Segment>,
}

/// A file as a map names it, without its root.
#[derive(Debug)]
struct Source {
    root: usize,
    name: String,
}

/// Where something was written; counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The file as the map names it.
    pub source: String,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
}

/// The same with the number of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which of the map's files.
    pub source: usize,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: u32,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    line: u32,
    column: u32,
    /// `u32::MAX` for code that nobody wrote.
    source: u32,
    source_line: u32,
    source_column: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(default)]
    source_root: Option<String>,
    #[serde(default)]
    sources: Vec<Option<String>>,
    #[serde(default)]
    mappings: String,
    #[serde(borrow)]
    sections: Option<Vec<Section<'a>>>,
}

#[derive(Deserialize)]
struct Section<'a> {
    offset: Offset,
    #[serde(borrow)]
    map: &'a RawValue,
}

#[derive(Clone, Copy, Default, Deserialize)]
struct Offset {
    line: u32,
    column: u32,
}

impl SourceMap {
    /// Reads a map; `None` when it is none.
    pub fn parse(text: &str) -> Option<SourceMap> {
        let mut map = SourceMap { roots: Vec::new(), sources: Vec::new(), segments: Vec::new() };
        // Some servers protect JSON from being run as a script.
        let text = text.strip_prefix(")]}'").map_or(text, |rest| rest.trim_start_matches([',', '\n', '\r', ' ']));
        map.add(text, Offset::default(), 0)?;
        map.segments.sort_by_key(|segment| (segment.line, segment.column));
        Some(map)
    }

    /// Where the code at a place, counted from 0, was written.
    pub fn original(&self, line: u32, column: u32) -> Option<Original> {
        let place = self.place(line, column)?;
        Some(Original { source: self.name(place.source)?, line: place.line, column: place.column })
    }

    /// The same with the number of the file instead of its name.
    pub fn place(&self, line: u32, column: u32) -> Option<Place> {
        let after = self.segments.partition_point(|segment| (segment.line, segment.column) <= (line, column));
        let segment = self.segments.get(after.checked_sub(1)?).filter(|segment| segment.line == line)?;
        let source = Some(segment.source as usize).filter(|source| *source < self.sources.len())?;
        Some(Place { source, line: segment.source_line, column: segment.source_column })
    }

    /// The files, as the map names them.
    pub fn sources(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.sources.len()).map(|source| self.name(source).unwrap_or_default())
    }

    /// Where a line of a file begins in what was made of it, and the line that was found there: the one that was asked for, or
    /// the next that became code. All counted from 0.
    pub fn generated(&self, source: usize, line: u32) -> Option<((u32, u32), u32)> {
        let of_file = self.segments.iter().filter(|segment| segment.source as usize == source);
        let found = of_file.filter(|segment| segment.source_line >= line);
        let first = found.min_by_key(|segment| (segment.source_line, segment.line, segment.column))?;
        Some(((first.line, first.column), first.source_line))
    }

    fn name(&self, source: usize) -> Option<String> {
        let Source { root, name } = self.sources.get(source)?;
        Some(format!("{}{name}", self.roots.get(*root)?))
    }

    /// Whether one of its files has the name of the script at this address, as where a dev server serves each file by itself.
    pub fn names(&self, address: &str) -> bool {
        let last =
            |path: &str| path.split(['?', '#']).next().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
        last(address).is_some_and(|name| self.sources.iter().any(|source| last(&source.name).as_ref() == Some(&name)))
    }

    /// How much memory it takes, nearly.
    pub fn bytes(&self) -> usize {
        let names = self.sources.iter().map(|source| source.name.len() + size_of::<Source>());
        let roots = self.roots.iter().map(String::len);
        self.segments.len() * size_of::<Segment>() + names.chain(roots).sum::<usize>()
    }

    fn add(&mut self, text: &str, offset: Offset, depth: usize) -> Option<()> {
        let written: Written<'_> = serde_json::from_str(text).ok()?;
        if let Some(sections) = written.sections {
            // Maps of maps may hold maps of maps, but not for ever.
            return sections.iter().try_for_each(|section| {
                let inner =
                    Offset { line: offset.line.checked_add(section.offset.line)?, column: section.offset.column };
                (depth < 4).then(|| self.add(section.map.get(), inner, depth + 1)).flatten()
            });
        }
        let first = u32::try_from(self.sources.len()).ok()?;
        let mut root = written.source_root.unwrap_or_default();
        if !root.is_empty() && !root.ends_with('/') {
            root.push('/');
        }
        let place = self.roots.len();
        self.roots.push(root);
        let named = written.sources.into_iter().map(|source| Source { root: place, name: source.unwrap_or_default() });
        self.sources.extend(named);
        if self.sources.len() > MAX_SOURCES {
            return None;
        }
        self.decode(&written.mappings, offset, first)
    }

    fn decode(&mut self, mappings: &str, offset: Offset, first: u32) -> Option<()> {
        let (mut source, mut source_line, mut source_column) = (0i64, 0i64, 0i64);
        for (index, line) in mappings.split(';').enumerate() {
            let mut column = if index == 0 { i64::from(offset.column) } else { 0 };
            let line_number = offset.line.checked_add(u32::try_from(index).ok()?)?;
            for segment in line.split(',').filter(|segment| !segment.is_empty()) {
                let mut numbers = Numbers(segment.bytes());
                column += numbers.next()??;
                let mut written = Segment {
                    line: line_number,
                    column: u32::try_from(column).ok()?,
                    source: u32::MAX,
                    source_line: 0,
                    source_column: 0,
                };
                if let Some(step) = numbers.next() {
                    source += step?;
                    source_line += numbers.next()??;
                    source_column += numbers.next()??;
                    written.source = first.checked_add(u32::try_from(source).ok()?)?;
                    written.source_line = u32::try_from(source_line).ok()?;
                    written.source_column = u32::try_from(source_column).ok()?;
                }
                if self.segments.len() == MAX_SEGMENTS {
                    return None;
                }
                self.segments.push(written);
            }
        }
        Some(())
    }
}

/// The numbers of a segment, in base 64 with the sign in the lowest bit; `None` inside for what is no number.
struct Numbers<'a>(std::str::Bytes<'a>);

impl Iterator for Numbers<'_> {
    type Item = Option<i64>;

    fn next(&mut self) -> Option<Self::Item> {
        let (mut value, mut shift) = (0i64, 0u32);
        loop {
            let byte = match (self.0.next(), shift) {
                (None, 0) => return None,
                (None, _) => return Some(None),
                (Some(byte), _) => byte,
            };
            // Numbers of more than 32 bits are no places in files.
            let Some(digit) = base64_digit(byte).filter(|_| shift <= 35) else { return Some(None) };
            value |= i64::from(digit & 31) << shift;
            shift += 5;
            if digit & 32 == 0 {
                let magnitude = value >> 1;
                return Some(Some(if value & 1 == 1 { -magnitude } else { magnitude }));
            }
        }
    }
}

fn base64_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// The bytes a base64 text stands for; line ends and padding are passed over.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for byte in text.bytes().filter(|byte| !matches!(byte, b'=' | b'\n' | b'\r')) {
        bits = (bits << 6) | u32::from(base64_digit(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}

/// The text of a `data:` address.
pub fn data_text(url: &str) -> Option<String> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(',')?;
    let bytes = match kind.ends_with(";base64") {
        true => base64(&unescape(data)?)?,
        false => return unescape(data),
    };
    String::from_utf8(bytes).ok()
}

/// Takes the `%20` out of a text.
fn unescape(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        match byte {
            b'%' => bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8),
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Two lines: `a` at 0 and `b` at 9 from one.ts, then code nobody wrote, then `c` from two.ts.
    const MAP: &str =
        r#"{"version":3,"sourceRoot":"src","sources":["one.ts","two.ts"],"names":[],"mappings":"AAAA,SAAC;A,ICCC"}"#;

    fn at(map: &SourceMap, line: u32, column: u32) -> Option<(String, u32, u32)> {
        map.original(line, column).map(|place| (place.source, place.line, place.column))
    }

    #[test]
    fn places_are_found_by_the_last_segment_before_them() {
        let map = SourceMap::parse(MAP).expect("the map is valid");
        assert_eq!(at(&map, 0, 0), Some(("src/one.ts".into(), 0, 0)));
        assert_eq!(at(&map, 0, 8), Some(("src/one.ts".into(), 0, 0)));
        assert_eq!(at(&map, 0, 9), Some(("src/one.ts".into(), 0, 1)));
        assert_eq!(at(&map, 1, 2), None, "code that nobody wrote");
        assert_eq!(at(&map, 1, 40), Some(("src/two.ts".into(), 1, 2)));
        assert_eq!(at(&map, 2, 0), None);
    }

    #[test]
    fn maps_of_sections_are_one_map() {
        let text = format!(
            r#"{{"version":3,"sections":[{{"offset":{{"line":0,"column":0}},"map":{MAP}}},{{"offset":{{"line":10,"column":4}},"map":{MAP}}}]}}"#
        );
        let map = SourceMap::parse(&text).expect("the map is valid");
        assert_eq!(at(&map, 0, 9), Some(("src/one.ts".into(), 0, 1)));
        assert_eq!(at(&map, 10, 13), Some(("src/one.ts".into(), 0, 1)));
        assert_eq!(at(&map, 11, 4), Some(("src/two.ts".into(), 1, 2)));
        assert_eq!(map.sources.len(), 4);
    }

    #[test]
    fn what_is_no_map_is_refused() {
        for text in [
            "",
            "[]",
            "<!doctype html>",
            r#"{"mappings":"!"}"#,
            r#"{"mappings":"gggggggggggggggggg"}"#,
            r#"{"mappings":"D"}"#,
        ] {
            assert!(SourceMap::parse(text).is_none(), "{text}");
        }
        assert!(SourceMap::parse(")]}'\n{\"mappings\":\"A\"}").is_some(), "a protected map is one");
    }

    #[test]
    fn a_short_text_takes_no_memory_without_end() {
        // A root that each of many files would repeat, and more places and files than any program has.
        let root = "r".repeat(1 << 20);
        let files = vec!["null"; MAX_SOURCES].join(",");
        let map =
            SourceMap::parse(&format!(r#"{{"sourceRoot":"{root}","sources":[{files}],"mappings":"AAAA"}}"#)).unwrap();
        assert!(map.bytes() < 20 << 20, "{}", map.bytes());
        assert_eq!(at(&map, 0, 0).unwrap().0.len(), root.len() + 1);
        assert!(SourceMap::parse(&format!(r#"{{"sources":[{files},null],"mappings":"A"}}"#)).is_none());
        let places = "A,".repeat(MAX_SEGMENTS + 1);
        assert!(SourceMap::parse(&format!(r#"{{"mappings":"{places}"}}"#)).is_none());
    }

    #[test]
    fn data_addresses_are_read_both_ways() {
        assert_eq!(
            data_text("data:application/json;charset=utf-8;base64,eyJhIjoiw6QifQ==").as_deref(),
            Some(r#"{"a":"ä"}"#)
        );
        assert_eq!(data_text("data:application/json,%7B%22a%22%3A1%7D").as_deref(), Some(r#"{"a":1}"#));
        assert_eq!(data_text("data:;base64,%%%"), None);
        assert_eq!(data_text("http://a/b"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_decoder_fail_badly(mappings in "[A-Za-z0-9+/,;!]{0,200}", line in 0u32..5, column in 0u32..100) {
            let text = format!(r#"{{"sources":["a"],"mappings":"{mappings}"}}"#);
            if let Some(map) = SourceMap::parse(&text) {
                let _ = map.original(line, column);
            }
        }
    }
}
