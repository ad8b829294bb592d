//! On whose behalf something was done, in as many words as there is room for.

use backsight::report::Origin;

use crate::render::snapshot;
use crate::width;
use crate::words::safe;

/// Columns that a title keeps before the words behind it get shorter.
const TITLE: usize = 24;

/// The spellings of who did something, the longest first; each stands in brackets or is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who(Vec<String>);

impl Who {
    /// `(edit, session s1, message m1)`, `(edit, s1/m1)`, `(s1)`, or nothing.
    pub fn of(origin: &Origin) -> Who {
        let tool = origin.tool.as_deref().map(safe);
        // A message such as `s1:3` names its session.
        let is_named = |session: &&String| {
            let rest = origin.message.as_ref().and_then(|message| message.strip_prefix(session.as_str()));
            rest.is_some_and(|rest| rest.starts_with(':'))
        };
        let session = origin.session.as_ref().filter(|session| !is_named(session));
        let place: Vec<String> = session.into_iter().chain(&origin.message).map(|id| safe(id)).collect();
        let brief: Vec<String> = tool.into_iter().chain((!place.is_empty()).then(|| place.join("/"))).collect();
        let session: Vec<String> = origin.session.as_deref().map(safe).into_iter().collect();
        Who::from([snapshot::origin(origin), brief, session])
    }

    /// The same with more words that are always said, such as an age.
    pub fn and(self, words: &str) -> Who {
        let with = |spelling: String| match spelling.strip_suffix(')') {
            Some(open) => format!("{open}, {words})"),
            None => format!("({words})"),
        };
        Who(self.0.into_iter().map(with).collect())
    }

    fn from(spellings: [Vec<String>; 3]) -> Who {
        let bracketed = |words: Vec<String>| match words.is_empty() {
            true => String::new(),
            false => format!("({})", words.join(", ")),
        };
        Who(spellings.into_iter().chain([Vec::new()]).map(bracketed).collect())
    }

    /// A title with the longest spelling that leaves it enough of the room; a title that is still too long is cut.
    pub fn beside(&self, title: &str, room: Option<usize>) -> (String, String) {
        let longest = self.0.first().cloned().unwrap_or_default();
        let Some(room) = room else { return (title.to_owned(), longest) };
        let needed = width::of(title);
        let left = |who: &&String| room.saturating_sub(width::of(who) + usize::from(!who.is_empty() && needed > 0));
        let fits = |who: &&String| left(who) >= needed;
        let nearly = |who: &&String| left(who) >= needed.min(TITLE);
        // The whole title with fewer words behind it is better than half of it with all of them.
        let chosen = self.0.iter().find(fits).filter(|who| !who.is_empty()).or_else(|| self.0.iter().find(nearly));
        let who = chosen.or_else(|| self.0.last());
        let room = who.as_ref().map_or(room, left);
        (width::cut(title, room), who.cloned().unwrap_or_default())
    }
}

/// Whether a title names the tool already, as `Bash: npm test` does.
pub fn names(title: &str, tool: Option<&str>) -> bool {
    let rest = tool.and_then(|tool| title.strip_prefix(&safe(tool)));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(tool: Option<&str>) -> Who {
        let some = |text: &str| Some(text.to_owned());
        let tool = tool.map(str::to_owned);
        Who::of(&Origin { tool, session: some("1c99f013"), message: some("2f23207b"), ..Origin::default() })
    }

    #[test]
    fn the_words_behind_a_title_get_fewer_before_it_is_cut() {
        let title = "rename the parser in every file";
        let mut last = String::new();
        for (room, expected) in [
            (90, "rename the parser in every file (edit, session 1c99f013, message 2f23207b)"),
            (60, "rename the parser in every file (edit, 1c99f013/2f23207b)"),
            (50, "rename the parser in every file (1c99f013)"),
            (40, "rename the parser in every f… (1c99f013)"),
            (30, "rename the parser in every fi…"),
        ] {
            let (title, who) = who(Some("edit")).beside(title, Some(room));
            last = format!("{title} {who}").trim_end().to_owned();
            assert_eq!(last, expected);
            assert!(width::of(&last) <= room);
        }
        assert!(last.ends_with('…'));
        let (whole, words) = who(None).and("just now").beside(title, None);
        assert_eq!((whole.as_str(), words.as_str()), (title, "(session 1c99f013, message 2f23207b, just now)"));
    }

    #[test]
    fn a_title_that_names_the_tool_is_known() {
        assert!(names("Bash: npm test", Some("Bash")) && names("Bash", Some("Bash")));
        assert!(!names("Bashful", Some("Bash")) && !names("x", None));
    }
}
