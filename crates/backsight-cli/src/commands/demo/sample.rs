//! The sample project of `backsight demo --serve`: a small web shop that two agents and its owner worked on for a week, with an
//! error, its fix and a milestone. The story is data; the library records it with the clock of then.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use backsight::report::{Kind, Origin};
use backsight::request::{NewMilestone, NewSession, Note, Track, Undo};
use backsight::{Settings, Workspace};
use backsight_core::{Error, Result, Timestamp};
use serde_json::json;

/// One moment of the week.
struct Moment {
    /// Days before now.
    days: i64,
    /// Minutes before that.
    minutes: i64,
    act: Act,
}

/// What happened then.
enum Act {
    /// A conversation begins with a prompt.
    Session(&'static str, &'static str, &'static str),
    /// Somebody writes files and the step is recorded: of a session, with a tool, or of the owner.
    Step(Option<(&'static str, &'static str)>, &'static str, Vec<(&'static str, String)>),
    /// The app showed an error, or was well again.
    App(Kind, &'static str),
    Milestone(&'static str, &'static str),
    /// The newest step is taken back.
    Undo,
}

/// Records the week in a directory, up to now. Its owner has looked up to the last milestone.
pub fn record(root: &Path, settings: Settings, now: Timestamp) -> Result<Workspace> {
    let clock = Arc::new(AtomicI64::new(now.0));
    let hand = Arc::clone(&clock);
    let settings = Settings { clock: Arc::new(move || Timestamp(hand.load(Ordering::SeqCst))), ..settings };
    let workspace = Workspace::open_with(root, settings)?;
    let mut message = 0;
    for Moment { days, minutes, act } in week() {
        clock.store(now.0 - (days * 24 * 60 + minutes) * 60_000, Ordering::SeqCst);
        perform(&workspace, &act, &mut message)?;
        if let (2, Act::Milestone(..)) = (days, &act) {
            workspace.set_seen(
                &crate::commands::open::person(None, |name| std::env::var(name).ok())?,
                workspace.newest_row()?,
            )?;
        }
    }
    clock.store(now.0, Ordering::SeqCst);
    Ok(workspace)
}

fn perform(workspace: &Workspace, act: &Act, message: &mut u32) -> Result<()> {
    match act {
        Act::Session(id, client, prompt) => {
            workspace.start_session(&NewSession { id: Some((*id).to_owned()), title: None })?;
            workspace.note_conversation(id, client, Some(prompt))?;
        }
        Act::Step(by, description, files) => {
            for (file, text) in files {
                write(&workspace.root().join(file), text)?;
            }
            *message += 1;
            let origin = by.map(|(session, tool)| Origin {
                tool: Some(tool.to_owned()),
                session: Some(session.to_owned()),
                message: Some(format!("{session}:{message}")),
                ..Origin::default()
            });
            let origin = origin.unwrap_or_default();
            workspace.track_with(&Track { description: (*description).to_owned(), origin, ..Track::default() })?;
        }
        Act::App(kind, words) => {
            let (description, origin) = ((*words).to_owned(), Origin::default());
            workspace.note(&Note {
                kind: *kind,
                description,
                origin,
                details: json!({ "page": "http://localhost:5173/" }),
            })?;
        }
        Act::Milestone(title, description) => {
            let (title, description) = ((*title).to_owned(), (*description).to_owned());
            let new = NewMilestone { title, description, tags: vec!["release".to_owned()], origin: Origin::default() };
            workspace.create_milestone_by_range(&new, None)?;
        }
        Act::Undo => drop(workspace.undo(&Undo::default())?),
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    let name = || format!("write `{}`", path.display());
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| Error::io(name(), error))?;
    std::fs::write(path, text).map_err(|error| Error::io(name(), error))
}

const CART: (&str, &str) = ("cart-totals", "Edit");
const LOGIN: (&str, &str) = ("login-page", "apply_patch");

fn week() -> Vec<Moment> {
    use Act::{App, Milestone, Session, Step, Undo};
    let at = |days, minutes, act| Moment { days, minutes, act };
    vec![
        at(6, 200, Step(None, "the shop as it is", shop())),
        at(
            6,
            160,
            Session(CART.0, "claude-code", "The cart shows 0.30000000000000004. Make totals exact and add tax."),
        ),
        at(6, 150, Step(Some(CART), "sum in cents", vec![("src/cart.js", cart("sumOfCents(this.items)", ""))])),
        at(6, 141, Step(Some(CART), "write amounts as people do", vec![("src/money.js", money(true))])),
        at(6, 130, Step(Some((CART.0, "Write")), "tests for totals", vec![("test/cart.test.js", tests(2))])),
        at(
            5,
            90,
            Step(
                Some(CART),
                "add tax to the total",
                vec![("src/cart.js", cart("withTax(sumOfCents(this.items))", ""))],
            ),
        ),
        at(5, 40, Step(None, "my own words on the page", vec![("index.html", page("Tea and cups", ""))])),
        at(4, 300, Milestone("Exact totals", "Cents, tax, and tests for both")),
        at(3, 260, Session(LOGIN.0, "codex", "People should sign in before they pay. Keep it small.")),
        at(
            3,
            250,
            Step(
                Some(LOGIN),
                "a page to sign in",
                vec![("src/login.js", login(false)), ("index.html", page("Tea and cups", "login"))],
            ),
        ),
        at(3, 235, Step(Some(LOGIN), "remember who signed in", vec![("src/login.js", login(true))])),
        at(
            3,
            220,
            Step(
                Some(LOGIN),
                "the cart asks who pays",
                vec![("src/cart.js", cart("withTax(sumOfCents(this.items))", "user.name"))],
            ),
        ),
        at(
            3,
            217,
            App(Kind::FirstError, "TypeError: Cannot read properties of undefined (reading 'name') at src/cart.js:22"),
        ),
        at(3, 180, Undo),
        at(3, 178, App(Kind::Recovery, "well again: no error since the page was loaded")),
        at(
            2,
            310,
            Step(
                Some(LOGIN),
                "the cart asks who pays, if anybody signed in",
                vec![("src/cart.js", cart("withTax(sumOfCents(this.items))", "user?.name ?? 'guest'"))],
            ),
        ),
        at(2, 290, Step(Some((LOGIN.0, "write_file")), "a test for guests", vec![("test/cart.test.js", tests(3))])),
        at(2, 120, Milestone("Sign in", "Guests can still pay")),
        at(1, 400, Session("prices-in-euro", "claude-code", "Prices should follow the reader's language.")),
        at(
            1,
            390,
            Step(
                Some(("prices-in-euro", "Edit")),
                "prices in the reader's language",
                vec![("src/money.js", money_by_language())],
            ),
        ),
        at(
            1,
            60,
            Step(
                None,
                "a note for the week",
                vec![("NOTES.md", "- ask about shipping\n- pictures of the new cups\n".to_owned())],
            ),
        ),
        at(
            0,
            55,
            Step(
                Some(("prices-in-euro", "Edit")),
                "one place for the currency",
                vec![(
                    "src/money.js",
                    money_by_language().replace("'EUR'", "CURRENCY").replacen(
                        '\n',
                        "\nexport const CURRENCY = 'EUR';\n",
                        1,
                    ),
                )],
            ),
        ),
    ]
}

fn shop() -> Vec<(&'static str, String)> {
    vec![
        ("README.md", "# Tea shop\n\nOpen `index.html`, put tea into the cart, pay.\n".to_owned()),
        ("index.html", page("Tea", "")),
        ("src/cart.js", cart("this.items.reduce((sum, item) => sum + item.price * item.count, 0)", "")),
        ("src/money.js", money(false)),
        ("test/cart.test.js", tests(1)),
    ]
}

fn page(title: &str, more: &str) -> String {
    let script = if more.is_empty() {
        String::new()
    } else {
        format!("  <script type=\"module\" src=\"src/{more}.js\"></script>\n")
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"utf-8\">\n  <title>{title}</title>\n{script}  \
         <script type=\"module\" src=\"src/cart.js\"></script>\n</head>\n<body>\n  <h1>{title}</h1>\n  <div id=\"cart\"></div>\n\
         </body>\n</html>\n"
    )
}

fn cart(total: &str, payer: &str) -> String {
    let pays = if payer.is_empty() { String::new() } else { format!(" (paid by ${{{payer}}})") };
    format!(
        "// The cart: what is in it, and what it costs.\nimport {{ format, sumOfCents, withTax }} from './money.js';\n\n\
         export class Cart {{\n  constructor(items = []) {{\n    this.items = items;\n  }}\n\n  add(item) {{\n    \
         this.items.push(item);\n    return this;\n  }}\n\n  total() {{\n    return {total};\n  }}\n\n  render(user) {{\n    \
         return `Total: ${{format(this.total())}}{pays}`;\n  }}\n}}\n"
    )
}

fn money(exact: bool) -> String {
    let format = if exact { "(amount / 100).toFixed(2) + ' EUR'" } else { "amount + ' EUR'" };
    format!(
        "export const TAX = 1.19;\n\nexport const sumOfCents = (items) =>\n  items.reduce((sum, item) => sum + Math.round(item.price * \
         100) * item.count, 0);\nexport const withTax = (cents) => Math.round(cents * TAX);\n\n/** An amount as people write it. \
         */\nexport function format(amount) {{\n  return {format};\n}}\n"
    )
}

fn money_by_language() -> String {
    money(true).replace(
        "(amount / 100).toFixed(2) + ' EUR'",
        "new Intl.NumberFormat(undefined, { style: 'currency', currency: 'EUR' }).format(amount / 100)",
    )
}

fn login(remembers: bool) -> String {
    let kept = if remembers { "  sessionStorage.setItem('user', JSON.stringify(user));\n" } else { "" };
    format!(
        "// Who is here.\nexport function signIn(name) {{\n  const user = {{ name: name.trim() }};\n  if (!user.name) throw new \
         Error('a name, please');\n{kept}  return user;\n}}\n"
    )
}

fn tests(count: usize) -> String {
    const TESTS: [&str; 3] = [
        "test('an empty cart costs nothing', () => {\n  assert.equal(new Cart().total(), 0);\n});\n",
        "\ntest('cents are exact', () => {\n  const cart = new Cart([{ price: 0.1, count: 3 }]);\n  assert.equal(cart.total(), 36);\n});\n",
        "\ntest('a guest can pay', () => {\n  assert.match(new Cart().render(), /guest/);\n});\n",
    ];
    let head = "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\nimport { Cart } from '../src/cart.js';\n\n";
    format!("{head}{}", TESTS[..count].concat())
}

#[cfg(test)]
mod tests {
    use backsight::report::Row;
    use backsight::request::{Log, Order};

    use super::*;

    #[test]
    fn a_week_of_two_agents_and_a_person_with_an_error_its_fix_and_a_milestone() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("shop");
        std::fs::create_dir(&root).unwrap();
        let settings = Settings { state_home: Some(directory.path().join("state")), ..Settings::from_environment() };
        let now = Timestamp(1_790_000_000_000);
        let workspace = record(&root, settings, now).unwrap();
        let rows = workspace.log(&Log { order: Order::OldestFirst, ..Log::default() }).unwrap().rows;
        let time = |row: &Row| match row {
            Row::Snapshot(step) => step.timestamp,
            Row::Event(event) => event.timestamp,
        };
        assert!(rows.windows(2).all(|pair| time(&pair[0]) <= time(&pair[1])), "time goes on");
        let days = |row: &Row| (now.0 - time(row).0) / 86_400_000;
        assert_eq!((days(&rows[0]), days(rows.last().unwrap())), (6, 0));
        let kinds: Vec<Kind> = rows.iter().map(crate::render::graph::kind).collect();
        let place = |kind: Kind| kinds.iter().position(|found| *found == kind).unwrap_or_else(|| panic!("no {kind:?}"));
        assert!(place(Kind::Milestone) < place(Kind::FirstError));
        assert!(place(Kind::FirstError) < place(Kind::Undo) && place(Kind::Undo) < place(Kind::Recovery));
        assert_eq!(workspace.sessions(&backsight::request::Sessions::default()).unwrap().len(), 3);
        assert!(workspace.status().unwrap().clean && workspace.verify().unwrap().clean);
        // What was wrong is gone, and what came after stands.
        let cart = std::fs::read_to_string(root.join("src/cart.js")).unwrap();
        assert!(cart.contains("user?.name ?? 'guest'") && cart.contains("withTax"), "{cart}");
    }
}
