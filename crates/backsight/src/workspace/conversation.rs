//! What a client's hooks say of a session beside its steps: the client's name, the first words of the first prompt as a
//! title, and those of each prompt for its message. Only these words are kept, and no secret among them.

use super::{Opened, Workspace};
use crate::names;
use crate::report::{Conversation, Origin};
use crate::timeline::{Item, KeptKind};
use backsight_core::{Result, one_line};
use backsight_redact::Redactor;

/// Characters of a title at most.
const LONGEST: usize = 60;
/// Bytes of a prompt that are looked at; a title needs no more.
const LOOKED_AT: usize = 4 << 10;

impl Workspace {
    /// Which client a session belongs to, and what it is about, as far as that is known. The id is given in full.
    pub fn conversation(&self, session: &str) -> Result<Conversation> {
        if self.store_path()?.is_none() {
            return Ok(Conversation::default());
        }
        known(self.opened()?, session)
    }

    /// Remembers which client a session belongs to and, if it has no title yet, the first words of a prompt.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// workspace.start_session(&backsight::request::NewSession { id: Some("s1".to_owned()), title: None })?;
    /// workspace.note_conversation("s1", "codex", Some("Fix the parser\nand its tests"))?;
    /// workspace.note_conversation("s1", "codex", Some("Now the docs"))?;
    /// let session = workspace.session("s1")?.session;
    /// assert_eq!(session.title.as_deref(), Some("Fix the parser and its tests"));
    /// assert_eq!(session.client.as_deref(), Some("codex"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn note_conversation(&self, session: &str, client: &str, prompt: Option<&str>) -> Result<()> {
        names::check_id("session", session)?;
        let opened = self.made()?;
        let words = prompt.map(|prompt| self.salt().map(|salt| title(prompt, salt))).transpose()?.flatten();
        let client = names::is_name(client).then(|| client.to_owned());
        let said = |known: &Conversation| Conversation {
            client: client.clone().or_else(|| known.client.clone()),
            title: known.title.clone().or_else(|| words.clone()),
        };
        let known = of(opened, session)?;
        if said(&known) == known {
            return Ok(());
        }
        self.keep_salt(opened)?;
        // Hooks of one session run beside each other: what another one noted since is kept.
        opened.timeline.keep_one_by(KeptKind::Conversation, self.settings.now(), session, |body| {
            serde_json::to_string(&said(&read(body))).ok()
        })
    }

    /// Remembers the first words of the prompt that a message of a session began with.
    pub fn note_prompt(&self, session: &str, message: &str, prompt: &str) -> Result<()> {
        names::check_id("session", session)?;
        names::check_id("message", message)?;
        let Some(body) = title(prompt, self.salt()?) else { return Ok(()) };
        let opened = self.made()?;
        self.keep_salt(opened)?;
        let item = Item { name: prompt_name(session, message), body };
        opened.timeline.keep(KeptKind::Prompt, self.settings.now(), &[item], &[])
    }
}

fn prompt_name(session: &str, message: &str) -> String {
    format!("{session}\n{message}")
}

/// What a step was made for: the first words of its message's prompt, else what its session is called.
pub(super) fn asked_for(opened: &Opened, origin: &Origin) -> Result<Option<String>> {
    let Some(session) = &origin.session else { return Ok(None) };
    let prompt = match &origin.message {
        Some(message) => opened.timeline.kept_as(KeptKind::Prompt, &prompt_name(session, message))?,
        None => None,
    };
    match prompt {
        Some(prompt) => Ok(Some(prompt)),
        None => Ok(known(opened, session)?.title),
    }
}

/// What is known of a session; a title that a person gave it comes first.
pub(super) fn known(opened: &Opened, session: &str) -> Result<Conversation> {
    let said = of(opened, session)?;
    let given = opened.timeline.known_session(session)?.and_then(|known| known.title);
    Ok(Conversation { title: given.or(said.title), ..said })
}

/// What its client said; what cannot be read is nothing.
fn of(opened: &Opened, session: &str) -> Result<Conversation> {
    Ok(read(opened.timeline.kept_as(KeptKind::Conversation, session)?))
}

fn read(body: Option<String>) -> Conversation {
    body.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default()
}

/// The first words of a prompt on one line, without its secrets; none when it has no words.
fn title(prompt: &str, salt: u64) -> Option<String> {
    let looked_at = &prompt[..prompt.floor_char_boundary(LOOKED_AT)];
    // Half a secret might not be seen to be one.
    let whole_words = match looked_at.len() < prompt.len() {
        true => looked_at.rsplit_once(char::is_whitespace).map_or("", |(words, _)| words),
        false => looked_at,
    };
    let redacted = Redactor::of_wire(salt).text(whole_words).split_whitespace().collect::<Vec<_>>().join(" ");
    let line = one_line(&redacted);
    let title = match line.char_indices().nth(LONGEST) {
        None => line.into_owned(),
        Some((end, _)) => {
            let cut = &line[..end];
            // At the end of a word, unless that leaves next to nothing.
            let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
            format!("{}…", if words.len() * 2 < cut.len() { cut } else { words })
        }
    };
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(prompt: &str) -> Option<String> {
        super::title(prompt, 7)
    }

    #[test]
    fn a_title_is_the_first_words_on_one_line() {
        assert_eq!(title("  Fix\tthe\n\nparser ").as_deref(), Some("Fix the parser"));
        assert_eq!(title(" \n"), None);
        assert_eq!(title("\u{1b}[2Jx").as_deref(), Some("\\u{1b}[2Jx"));
        let long = title(&"word ".repeat(2000)).unwrap();
        assert!(long.ends_with(" word…") && long.chars().count() <= LONGEST + 1, "{long}");
        let one = title(&"é".repeat(100)).unwrap();
        assert_eq!(one.chars().count(), LONGEST + 1);
        assert_eq!(title(&"x".repeat(LOOKED_AT * 2)), None, "what is cut may be half a secret");
    }

    #[test]
    fn a_title_holds_no_secret() {
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let blanks = " ".repeat(LOOKED_AT - 10);
        for prompt in [
            format!("deploy with {token} please"),
            format!("password=hunter2hunter2 {token}"),
            format!("use\n{token}"),
            format!("{blanks}{token}"),
            format!("a {} {token}", "b ".repeat(26)),
        ] {
            let title = title(&prompt).unwrap_or_default();
            assert!(!title.contains("ghp_") && !title.contains("hunter2"), "{title}");
        }
        assert!(title(&format!("deploy with {token} please")).unwrap().starts_with("deploy with [REDACTED:"));
    }
}
