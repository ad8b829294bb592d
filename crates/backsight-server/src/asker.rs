//! Which conversation asks: what a client says of a call over MCP, so that a step made there belongs to the session and
//! message that asked for it.

use backsight::names::{LONGEST_ID, tame};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A conversation, as far as a client says which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Asker {
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub session: Option<String>,
    /// The message in it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message: Option<String>,
    /// The use of the tool.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
}

impl Asker {
    /// What stands in the `_meta` of a call: Claude Code says the use, Codex also the session and the turn.
    pub fn of_meta(meta: &Map<String, Value>) -> Asker {
        let text = |value: Option<&Value>| {
            value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(|text| tame(text, LONGEST_ID))
        };
        let turn = meta.get("x-codex-turn-metadata").and_then(|turn| turn.get("turn_id"));
        Asker {
            session: text(meta.get("sessionId")),
            message: text(turn),
            part: text(meta.get("claudecode/toolUseId").or_else(|| meta.get("callId"))),
        }
    }

    /// The same with the session of the process that speaks, where the call does not say.
    pub fn within(self, session: Option<String>) -> Asker {
        let session = self.session.or_else(|| session.map(|session| tame(&session, LONGEST_ID)));
        Asker { session, ..self }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(meta: Value) -> Asker {
        Asker::of_meta(meta.as_object().unwrap())
    }

    #[test]
    fn clients_say_who_asks_in_their_own_words() {
        let some = |text: &str| Some(text.to_owned());
        let claude = of(json!({ "claudecode/toolUseId": "toolu_1", "progressToken": 5 }));
        assert_eq!(claude, Asker { part: some("toolu_1"), ..Asker::default() });
        let meta = json!({
            "callId": "call_1", "sessionId": "s", "threadId": "t",
            "x-codex-turn-metadata": { "turn_id": "turn", "session_id": "s" },
        });
        assert_eq!(of(meta), Asker { session: some("s"), message: some("turn"), part: some("call_1") });
        assert_eq!(of(json!({ "progressToken": "x", "sessionId": 7 })), Asker::default());
        assert_eq!(claude.within(some("of the process")).session, some("of the process"));
    }
}
