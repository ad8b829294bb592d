//! What may name a session, a message, a part, a tool or a client: texts that callers choose, that become part of the
//! history and are shown in lists. One rule for every interface.

use backsight_core::Result;
pub use backsight_core::names::{ID, ID_OR_NONE, LONGEST_ID, LONGEST_NAME, is_name};
use backsight_core::names::{check, is_unfit, problem};

use crate::report::Origin;

/// The longest id of a hook: a message of an agent that numbers none is called `SESSION:3`, which must be an id too.
const LONGEST_TAMED: usize = LONGEST_ID - 20;

/// Ids come from callers: they must be fit to be shown and typed.
pub(crate) fn check_id(what: &str, id: &str) -> Result<()> {
    check(&format!("{what} id"), id, LONGEST_ID)
}

/// The names in what a step is recorded with.
pub(crate) fn check_origin(origin: &Origin) -> Result<()> {
    let ids = [("session", &origin.session), ("message", &origin.message), ("part", &origin.part)];
    for (what, id) in ids {
        if let Some(id) = id {
            check_id(what, id)?;
        }
    }
    origin.tool.as_ref().map_or(Ok(()), |tool| check("tool name", tool, LONGEST_NAME))
}

/// An id or tool name of an agent's hook as one that is allowed. A hook must never fail its agent, so what is too long or
/// odd is cut and gets a fingerprint of the whole: the same text is always called the same, and another one is not.
pub fn tame(text: &str, longest: usize) -> String {
    let longest = longest.min(LONGEST_TAMED);
    if problem(text, longest).is_none() {
        return text.to_owned();
    }
    let fingerprint = format!("-{:016x}", fingerprint(text.as_bytes()));
    let plain: String = text.chars().filter(|&character| !is_unfit(character)).collect();
    let plain = plain.trim();
    let kept = plain.floor_char_boundary(longest.saturating_sub(fingerprint.len()));
    format!("{}{fingerprint}", plain.get(..kept).unwrap_or_default().trim_end())
}

/// FNV-1a: the same in every process.
fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use backsight_core::Code;

    use super::*;

    #[test]
    fn ids_are_short_and_can_be_shown() {
        let long = "x".repeat(201);
        for id in ["", " ", "a\nb", "\u{7f}", " a", long.as_str()] {
            assert_eq!(check_id("session", id).unwrap_err().code(), Code::Usage, "{id:?}");
        }
        for id in ["s1", "msg_123", "ses/2026 né", "x".repeat(200).as_str()] {
            assert!(check_id("session", id).is_ok(), "{id:?}");
        }
    }

    #[test]
    fn what_is_too_long_or_odd_becomes_an_id_that_is_always_the_same() {
        assert_eq!(tame("toolu_01AbC", LONGEST_ID), "toolu_01AbC");
        let odd = [
            "x".repeat(1 << 20),
            "x".repeat(LONGEST_TAMED + 1),
            "a\n#99 forged".to_owned(),
            "\u{1b}[2J".to_owned(),
            "é".repeat(300),
            " padded ".to_owned(),
            "\u{202e}gpj.exe".to_owned(),
            "\u{7}".to_owned(),
        ];
        for text in &odd {
            for longest in [LONGEST_ID, LONGEST_NAME] {
                let tamed = tame(text, longest);
                assert_eq!(problem(&tamed, longest.min(LONGEST_TAMED)), None, "{tamed:?}");
                assert_eq!(tamed, tame(text, longest));
                assert_eq!(tamed, tame(&tamed, longest), "what is tame stays as it is");
            }
        }
        assert_ne!(tame(&"x".repeat(1000), LONGEST_ID), tame(&"x".repeat(1001), LONGEST_ID));
        assert_ne!(tame("a\nb", LONGEST_ID), tame("ab", LONGEST_ID));
    }

    #[test]
    fn every_name_of_a_step_is_checked() {
        let origin = |tool: &str, session: &str| Origin {
            tool: Some(tool.to_owned()),
            session: Some(session.to_owned()),
            ..Origin::default()
        };
        assert!(check_origin(&origin("Edit", "s1")).is_ok() && check_origin(&Origin::default()).is_ok());
        for (tool, session) in [("t\n#96 forged", "s"), (&*"t".repeat(101), "s"), ("t", &*"s".repeat(201)), ("t", "")] {
            assert_eq!(check_origin(&origin(tool, session)).unwrap_err().code(), Code::Usage, "{tool:?} {session:?}");
        }
    }
}
