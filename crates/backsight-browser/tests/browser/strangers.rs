//! The doors for fuzz targets, with what comes to mind first: nothing panics, and what is a message is understood.

use backsight_browser::fuzzing;
use proptest::prelude::*;

#[test]
fn messages_are_understood_among_junk() {
    let said = br#"{"method":"Runtime.consoleAPICalled","params":{"type":"error","args":[{"type":"string","value":"no"}],"timestamp":1800000000000}}"#;
    let deep = format!("{{\"method\":\"Log.entryAdded\",\"params\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    let pipe = [&b"junk"[..], said, b"", deep.as_bytes(), b"{\"id\":1,\"result\":null}", b"{\"method\":7}", said];
    assert_eq!(fuzzing::cdp_frames(&pipe.join(&0)), 2);
}

proptest! {
    #[test]
    fn nothing_panics(bytes: Vec<u8>, method in "[A-Z][a-z]{2,9}\\.[a-zA-Z]{3,20}", params in "[\\[\\]{}\",:a-z0-9]{0,60}") {
        fuzzing::cdp_frames(&bytes);
        fuzzing::source_map(&bytes);
        fuzzing::cdp_frames(format!("{{\"method\":\"{method}\",\"params\":{params}}}").as_bytes());
        fuzzing::source_map(format!("{{\"mappings\":\"{method}\",\"sections\":{params}}}").as_bytes());
    }
}
