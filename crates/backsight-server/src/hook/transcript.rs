//! What Claude Code writes down of a conversation. Of a tool that the user interrupted or refused no hook is told, but the
//! answer that the model gets instead stands there, and when it was given.

use std::path::Path;

use backsight_core::{Timestamp, bounded};
use serde_json::Value;

/// So much of the end is read: what was just interrupted stands there.
const END: u64 = 1 << 20;

/// When the use of a tool was over, if the transcript says so.
pub(super) fn ended(transcript: Option<&Path>, part: &str) -> Option<Timestamp> {
    let text = bounded::read_end(transcript?, END).ok()?;
    ended_in(&text, part)
}

fn ended_in(text: &[u8], part: &str) -> Option<Timestamp> {
    let is_about = |line: &&[u8]| line.windows(part.len().max(1)).any(|window| window == part.as_bytes());
    text.split(|&byte| byte == b'\n').rev().filter(is_about).find_map(|line| {
        let entry: Value = serde_json::from_slice(line).ok()?;
        let content = entry["message"]["content"].as_array()?;
        let answers = |item: &Value| item["type"] == "tool_result" && item["tool_use_id"] == part;
        content.iter().any(answers).then(|| entry["timestamp"].as_str()?.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_use_is_when_its_answer_was_written_down() {
        let line = |kind: &str, part: &str, at: &str| {
            format!(
                r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"{kind}","tool_use_id":"{part}"}}]}},"timestamp":"{at}"}}"#
            )
        };
        let text = [
            line("tool_result", "toolu_1", "2026-11-16T13:00:01.250Z"),
            line("text", "toolu_2", "2026-11-16T13:00:02Z"),
            "half a line about toolu_2".to_owned(),
            line("tool_result", "toolu_22", "2026-11-16T13:00:03Z"),
        ]
        .join("\n");
        let first: Timestamp = "2026-11-16T13:00:01.250Z".parse().unwrap();
        assert_eq!(ended_in(text.as_bytes(), "toolu_1"), Some(first));
        assert_eq!(ended_in(text.as_bytes(), "toolu_2"), None);
        assert_eq!(ended_in(b"", ""), None);
    }
}
