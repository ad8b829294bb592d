//! What the end of a command means: whether it is an error, and whether the command is missed afterwards. A build or a test
//! is over when it ends; a server is gone.

use std::sync::LazyLock;

use backsight::browser::event::Level;
use regex::Regex;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With status 0.
    Succeeded,
    /// By itself, and not well.
    Failed,
    /// Because its user asked for it.
    Stopped,
}

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It is meant to go on: a server, a watcher.
    Serves,
    /// It is meant to end: a build, a test, a check.
    Ends,
    /// It cannot be told.
    Unknown,
}

/// The end of a command as it is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How it ended.
    pub how: How,
    /// What it is for, by its name.
    pub purpose: Purpose,
    /// That it ended, for who asks why it is not heard any more.
    pub reason: String,
    /// The same as a message of its own.
    pub message: String,
}

impl Ending {
    /// How serious it is, if it is worth a message, and whether the command is missed, given whether it was heard to serve.
    pub fn verdict(&self, serves: bool) -> (Option<Level>, bool) {
        let purpose = if serves { Purpose::Serves } else { self.purpose };
        match (self.how, purpose) {
            (How::Failed, purpose) => (Some(Level::Error), purpose != Purpose::Ends),
            (How::Stopped, Purpose::Serves | Purpose::Unknown) => (Some(Level::Warning), true),
            (How::Succeeded, Purpose::Serves) => (Some(Level::Warning), true),
            (How::Stopped, Purpose::Ends) | (How::Succeeded, Purpose::Ends | Purpose::Unknown) => (None, false),
        }
    }
}

/// Words of commands that end by themselves.
static ENDING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:^|[\s/:])(?:tests?|build|check|clippy|lint|fmt|format|typecheck|compile|install|ci|migrate|bench|deploy|publish|",
        r"generate|pytest|jest|eslint|prettier|biome|ruff|mypy|make|cmake|rspec|phpunit|playwright|cypress|true|false|exit)(?:\s|$)",
        r"|(?:^|\s)(?:tsc|rustc|gcc|javac)(?:\s|$)|\b(?:go|cargo) (?:vet|doc|mod)\b|\bvitest run\b",
    ))
    .ok()
});
/// Words of commands that go on.
static SERVING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)(?:^|[\s/:_-])(?:dev|develop|serve|server|start|watch|preview|runserver|up|vite|nuxt|nodemon|uvicorn|gunicorn|",
        r"hypercorn|daphne|flask|celery|puma|rails|webpack-dev-server|live-server|http-server|air|storybook|vitest|devserver|",
        r"bootRun|quarkusDev|phx\.server|concurrently|tilt|overmind|foreman|honcho|turbo|next)(?:\.\w{1,3})?(?:\s|$)",
        r"|(?:^|\s)(?:--watch|-w|-S)(?:\s|$)|--reload\b|\bphp artisan\b|-m http\.server\b",
    ))
    .ok()
});
/// What servers and watchers say when they are ready.
static READY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?i)https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\])(?::\d+)?(?:[/\s]|$)",
        r"|\blistening (?:on|at|to)\b|\b(?:watching|waiting) for (?:file )?changes\b|\bserver (?:started|running|is running)\b",
    ))
    .ok()
});

/// What a command is for, by its words.
pub fn purpose(command: &str) -> Purpose {
    let is = |pattern: &LazyLock<Option<Regex>>| pattern.as_ref().is_some_and(|regex| regex.is_match(command));
    match (is(&SERVING), is(&ENDING)) {
        // `npm run build:watch`, `npm run test -- --watch`
        (true, true) if command.contains("watch") || command.contains("serve") => Purpose::Serves,
        (_, true) => Purpose::Ends,
        (true, false) => Purpose::Serves,
        (false, false) => Purpose::Unknown,
    }
}

/// Whether something that a command says shows that it serves.
pub fn is_ready(message: &str) -> bool {
    READY.as_ref().is_some_and(|regex| regex.is_match(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_is_for_is_in_its_words() {
        assert!(ENDING.is_some() && SERVING.is_some() && READY.is_some());
        let serves =
            ["npm run dev", "vite", "npx vite --port 3000", "next dev", "python manage.py runserver", "npm start"];
        let serves = serves.into_iter().chain(["node server.js", "tsc --watch", "npm run build:watch", "flask run"]);
        let serves =
            serves.chain(["docker compose up", "uvicorn main:app --reload", "php -S localhost:8000", "bin/rails s"]);
        let ends =
            ["npm test", "npm run build", "cargo test", "pytest -x", "tsc", "vite build", "npx vitest run", "make"];
        for command in serves {
            assert_eq!(purpose(command), Purpose::Serves, "{command}");
        }
        for command in ends {
            assert_eq!(purpose(command), Purpose::Ends, "{command}");
        }
        for command in ["node index.js", "./run.sh", "python app.py"] {
            assert_eq!(purpose(command), Purpose::Unknown, "{command}");
        }
    }

    #[test]
    fn a_server_is_known_by_what_it_says_when_it_is_ready() {
        for said in [
            "  ➜  Local:   http://localhost:5173/",
            "Listening on port 3000",
            "Found 0 errors. Watching for file changes.",
        ] {
            assert!(is_ready(said), "{said}");
        }
        for said in ["see https://vite.dev/config", "error: listen EADDRINUSE"] {
            assert!(!is_ready(said), "{said}");
        }
    }

    #[test]
    fn a_server_is_missed_and_a_build_is_over() {
        let verdict = |how, purpose, serves| {
            Ending { how, purpose, reason: String::new(), message: String::new() }.verdict(serves)
        };
        assert_eq!(verdict(How::Failed, Purpose::Serves, false), (Some(Level::Error), true), "it could not start");
        assert_eq!(verdict(How::Failed, Purpose::Unknown, false), (Some(Level::Error), true));
        assert_eq!(verdict(How::Failed, Purpose::Ends, false), (Some(Level::Error), false), "a test that failed");
        assert_eq!(verdict(How::Stopped, Purpose::Unknown, true), (Some(Level::Warning), true));
        assert_eq!(
            verdict(How::Succeeded, Purpose::Unknown, true),
            (Some(Level::Warning), true),
            "a server that ended"
        );
        assert_eq!(verdict(How::Succeeded, Purpose::Ends, false), (None, false));
        assert_eq!(verdict(How::Stopped, Purpose::Ends, false), (None, false));
    }
}
