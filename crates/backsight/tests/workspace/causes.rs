//! What changed since a client last looked, across lanes, and because of which step. The bugs are real ones: a small shop
//! in JavaScript and one in Python are edited by two agents and a person, fifty steps each time, one of which breaks it;
//! the program is run, and what it says is what the answer has to explain.

use backsight_core::{NextStep, Phrase, Voice};
use std::process::Command;

use backsight::browser::event::{Console, Event, Level, Speaker};
use backsight::browser::report::Severity;
use backsight::browser::{Ask, Ingest};
use backsight::report::{AllChanges, Because, Certainty, EvidenceKind, FilesChanges, Kind, Origin, Strategy};
use backsight::request::{Begin, Note, Track, Unknown};
use backsight::{Timestamp, Topic, Workspace};

use crate::lab::settings;
use crate::scene::{Scene, by, path, paths};

const JAVASCRIPT: &[(&str, &str)] = &[
    (
        "main.mjs",
        "import { checkout } from './src/cart.mjs';\nimport { greet } from './src/user.mjs';\nimport { report } from './src/report.mjs';\n\nconst total = checkout(['tea', 'mug']);\nconsole.log(greet('ada'), total);\nawait report(total);\n",
    ),
    (
        "src/cart.mjs",
        "import { priceOf } from './price.mjs';\nimport { findItem } from './stock.mjs';\n\nexport function checkout(names) {\n  let sum = 0;\n  for (const name of names) {\n    const item = findItem(name);\n    sum += priceOf(item);\n  }\n  return sum;\n}\n",
    ),
    (
        "src/price.mjs",
        "import { TAX } from './rates.mjs';\n\nexport function priceOf(item) {\n  return item.net.amount * (1 + TAX);\n}\n",
    ),
    ("src/rates.mjs", "export const TAX = 0.19;\nexport const SHIPPING = 4;\n"),
    (
        "src/stock.mjs",
        "import { readFileSync } from 'node:fs';\n\nconst items = JSON.parse(readFileSync(new URL('../data/items.json', import.meta.url)));\n\nexport function findItem(name) {\n  return items.find((item) => item.name === name);\n}\n",
    ),
    (
        "data/items.json",
        "[\n  { \"name\": \"tea\", \"net\": { \"amount\": 3 } },\n  { \"name\": \"mug\", \"net\": { \"amount\": 8 } }\n]\n",
    ),
    (
        "src/user.mjs",
        "import { capitalise } from './text.mjs';\n\nexport function greet(user) {\n  return `Hello ${capitalise(user)}`;\n}\n",
    ),
    ("src/text.mjs", "export function capitalise(word) {\n  return word[0].toUpperCase() + word.slice(1);\n}\n"),
    (
        "src/report.mjs",
        "import { SHIPPING } from './rates.mjs';\n\nexport async function report(total) {\n  const line = await format(total + SHIPPING);\n  console.log(line);\n}\n\nasync function format(sum) {\n  return sum.toFixed(2);\n}\n",
    ),
    ("README.md", "# shop\n"),
    ("style.css", "body { color: black }\n"),
];

const PYTHON: &[(&str, &str)] = &[
    (
        "app.py",
        "from shop import cart, users\nfrom shop.report import report\n\nif __name__ == '__main__':\n    total = cart.checkout(['tea', 'mug'])\n    print(users.greet('ada'), total)\n    report(total)\n",
    ),
    ("shop/__init__.py", ""),
    (
        "shop/cart.py",
        "from shop.prices import price_of\nfrom shop.stock import find_item\n\n\ndef checkout(names):\n    total = 0\n    for name in names:\n        total += price_of(find_item(name))\n    return total\n",
    ),
    (
        "shop/prices.py",
        "from shop.rates import TAX\n\n\ndef price_of(item):\n    return item['net']['amount'] * (1 + TAX)\n",
    ),
    ("shop/rates.py", "TAX = 0.19\nSHIPPING = 4\n"),
    (
        "shop/stock.py",
        "import json\nimport pathlib\n\nITEMS = json.loads(pathlib.Path('data/items.json').read_text())\n\n\ndef find_item(name):\n    return next(item for item in ITEMS if item['name'] == name)\n",
    ),
    (
        "data/items.json",
        "[\n  { \"name\": \"tea\", \"net\": { \"amount\": 3 } },\n  { \"name\": \"mug\", \"net\": { \"amount\": 8 } }\n]\n",
    ),
    (
        "shop/users.py",
        "from shop.text import capitalise\n\n\ndef greet(user):\n    return f'Hello {capitalise(user)}'\n",
    ),
    ("shop/text.py", "def capitalise(word):\n    return word[0].upper() + word[1:]\n"),
    (
        "shop/report.py",
        "from shop.rates import SHIPPING\n\n\ndef report(total):\n    print(f'{total + SHIPPING:.2f}')\n",
    ),
    ("README.md", "# shop\n"),
    ("style.css", "body { color: black }\n"),
];

/// A bug: the file, what stood there, and what stands there now. Nothing now means that the file is gone.
type Bug = (&'static str, &'static str, &'static str);

const IN_JAVASCRIPT: &[Bug] = &[
    ("src/cart.mjs", "sum += priceOf(item);", "sum += priceOf(itm);"),
    ("src/cart.mjs", "findItem(name)", "findItem(name.id)"),
    ("src/price.mjs", "item.net.amount", "item.nett.amount"),
    ("src/price.mjs", "export function priceOf", "export function priceFor"),
    ("src/price.mjs", "import { TAX } from './rates.mjs';\n", ""),
    ("src/rates.mjs", "export const TAX = 0.19;", "export const VAT = 0.19;"),
    (
        "src/rates.mjs",
        "export const SHIPPING = 4;",
        "export const SHIPPING = { eu: 4 };\nSHIPPING.eu.total.amount += 1;",
    ),
    ("src/stock.mjs", "item.name === name", "item.title === name"),
    ("src/stock.mjs", "../data/items.json", "../data/products.json"),
    ("data/items.json", "\"name\": \"mug\", \"net\":", "\"name\": \"mug\", \"gross\":"),
    (
        "data/items.json",
        "\"name\": \"tea\", \"net\": { \"amount\": 3 } },",
        "\"name\": \"tea\", \"net\": { \"amount\": 3 }",
    ),
    ("data/items.json", "\"name\": \"mug\"", "\"name\": \"cup\""),
    ("src/user.mjs", "capitalise(user)", "capitalize(user)"),
    ("src/user.mjs", "return `Hello", "throw new Error('greet is not ready yet');\n  return `Hello"),
    ("src/text.mjs", "word[0].toUpperCase()", "word[0].toUppercase()"),
    ("src/text.mjs", "  return word[0]", "  return word[0"),
    ("src/report.mjs", "return sum.toFixed(2);", "return sum.amount.toFixed(2);"),
    ("src/report.mjs", "const line = await format(total + SHIPPING);", "const line = await format(null);"),
    ("src/text.mjs", "", ""),
    ("main.mjs", "checkout(['tea', 'mug'])", "checkout('tea', 'mug', missingVoucher)"),
];

const IN_PYTHON: &[Bug] = &[
    ("shop/cart.py", "total += price_of(find_item(name))", "total += price_of(find_item(nam))"),
    ("shop/cart.py", "    total = 0\n", "    total = None\n"),
    ("shop/prices.py", "item['net']['amount']", "item['gross']['amount']"),
    ("shop/prices.py", "(1 + TAX)", "(1 + tax_rate())"),
    ("shop/prices.py", "def price_of(item):", "def price_of(item, country):"),
    ("shop/rates.py", "TAX = 0.19", "VAT = 0.19"),
    ("shop/rates.py", "SHIPPING = 4", "SHIPPING = '4'"),
    ("shop/stock.py", "item['name'] == name", "item['title'] == name"),
    ("shop/stock.py", "data/items.json", "data/products.json"),
    ("data/items.json", "\"name\": \"mug\", \"net\":", "\"name\": \"mug\", \"gross\":"),
    ("data/items.json", "{ \"amount\": 8 } }", "{ \"amount\": 8 }"),
    ("shop/users.py", "from shop.text import capitalise", "from shop.text import capitalize"),
    ("shop/users.py", "    return f'Hello", "    assert user.isupper(), 'names are upper case'\n    return f'Hello"),
    ("shop/text.py", "return word[0].upper()", "return word.first().upper()"),
    ("shop/text.py", "def capitalise(word):", "def capitalise(word)"),
    ("shop/report.py", "{total + SHIPPING:.2f}", "{total / (SHIPPING - 4):.2f}"),
    ("shop/text.py", "", ""),
    ("app.py", "report(total)\n", "report(total)\n    raise SystemExit(undefined_exit_code)\n"),
];

/// Who makes a step.
#[derive(Clone, Copy)]
enum By {
    Agent(&'static str),
    Person,
}

/// A small source of numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// A workspace whose clock is the machine's.
fn workspace(scene: &Scene) -> Workspace {
    let clock = std::sync::Arc::new(|| Timestamp::from_system(std::time::SystemTime::now()));
    Workspace::open_with(&scene.root, backsight::Settings { clock, ..settings(backsight::Disk::new()) }).unwrap()
}

fn edit(scene: &Scene, workspace: &Workspace, by: By, file: &str, text: &str) {
    scene.write(file, text);
    let By::Agent(name) = by else { return };
    let origin = Origin {
        tool: Some("Edit".to_owned()),
        session: Some(name.to_owned()),
        declared: paths(&[file]),
        ..Origin::default()
    };
    let unknown = Unknown { strategy: Some(Strategy::AutoIntegrate), force: false };
    workspace.track_with(&Track { origin, unknown, ..Track::default() }).unwrap();
}

/// An edit that breaks nothing: a comment and a constant are added, or those of an earlier edit are changed.
fn harmless(scene: &Scene, workspace: &Workspace, by: By, file: &str, turn: usize) {
    let text = scene.text(file);
    if turn % 2 == 1 && text.contains("reviewed") {
        let changed = text.replace("reviewed", &format!("read by {turn}, reviewed"));
        return edit(scene, workspace, by, file, &format!("{changed}\n"));
    }
    let more = match file.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "mjs" => format!("// note {turn}: reviewed\nexport const note{turn} = 'reviewed';\n"),
        "py" => format!("# note {turn}: reviewed\nNOTE_{turn} = 'reviewed'\n"),
        "css" => format!(".note-{turn} {{ margin: {turn}px }} /* reviewed */\n"),
        _ => format!("Line {turn} of the notes, reviewed.\n"),
    };
    edit(scene, workspace, by, file, &format!("{text}\n{more}"));
}

/// Fifty steps of which one breaks the shop; what the answer says, and the step that did it.
fn planted(shop: &[(&str, &str)], run: &[&str], bug: Bug, seed: u64) -> (Because, String, AllChanges) {
    let scene = Scene::empty();
    for (file, text) in shop {
        scene.write(file, text);
    }
    let workspace = workspace(&scene);
    workspace.track().unwrap();
    watch(&workspace, Vec::new());
    workspace.changes("agent", &[], &Ask::default()).unwrap();
    let mut dice = Dice(seed);
    let editable: Vec<&str> = shop.iter().map(|(file, _)| *file).filter(|file| !file.ends_with("json")).collect();
    let planted_at = dice.roll(50);
    let mut culprit = None;
    for turn in 0..50 {
        let by = [By::Agent("ada"), By::Agent("bob"), By::Person][dice.roll(3)];
        if turn == planted_at {
            plant(&scene, &workspace, by, bug);
            if matches!(by, By::Person) {
                // What the person wrote is found by the next look.
                let all = Unknown { strategy: Some(Strategy::AutoIntegrate), force: false };
                workspace.handle_unknown_changes(&[], &all).unwrap();
            }
            culprit = Some(workspace.newest_row().unwrap());
        } else {
            let file = editable[dice.roll(editable.len())];
            if scene.root.join(file).exists() {
                harmless(&scene, &workspace, by, file, turn);
            }
        }
    }
    let output = Command::new(run[0]).args(&run[1..]).current_dir(&scene.root).env("NO_COLOR", "1").output().unwrap();
    assert!(!output.status.success(), "{bug:?} breaks nothing");
    watch(&workspace, vec![said(&workspace, &String::from_utf8_lossy(&output.stderr))]);
    let answer = workspace.changes("agent", &[], &Ask { max_tokens: Some(700), ..Ask::default() }).unwrap();
    let because = answer.because.first().cloned().unwrap_or_else(|| panic!("{bug:?}: {answer:?}"));
    (because, culprit.unwrap().to_string(), answer)
}

fn plant(scene: &Scene, workspace: &Workspace, by: By, (file, before, after): Bug) {
    if before.is_empty() {
        scene.remove(file);
        if let By::Agent(name) = by {
            let origin = Origin { session: Some(name.to_owned()), tool: Some("Bash".to_owned()), ..Origin::default() };
            workspace.track_with(&Track { origin, ..Track::default() }).unwrap();
        }
        return;
    }
    let text = std::fs::read_to_string(scene.root.join(file)).unwrap();
    assert!(text.contains(before), "{file} has no {before}");
    edit(scene, workspace, by, file, &text.replacen(before, after, 1));
}

fn watch(workspace: &Workspace, events: Vec<Event>) {
    let events = events.into_iter().map(Into::into).collect();
    workspace.browser().unwrap().ingest(Ingest { source: "terminal: shop".to_owned(), events, ..Ingest::default() });
}

fn said(workspace: &Workspace, text: &str) -> Event {
    Event::Console(Console {
        time: workspace.now(),
        level: Level::Error,
        speaker: Speaker::Terminal,
        message: text.to_owned(),
        stack: Vec::new(),
        causes: Vec::new(),
        page: None,
        backfilled: false,
    })
}

#[test]
fn the_step_that_broke_it_is_named_first() {
    let javascript = IN_JAVASCRIPT.iter().map(|bug| (JAVASCRIPT, ["node", "main.mjs"].as_slice(), *bug));
    let python = IN_PYTHON.iter().map(|bug| (PYTHON, ["python3", "app.py"].as_slice(), *bug));
    let all: Vec<_> = javascript.chain(python).collect();
    assert!(all.len() >= 30);
    let (mut right, mut wrong) = (0, Vec::new());
    for (number, (shop, run, bug)) in all.iter().enumerate() {
        let (because, culprit, answer) = planted(shop, run, *bug, number as u64 * 7 + 1);
        assert!(answer.app.est_tokens <= 700, "{bug:?}: {} tokens", answer.app.est_tokens);
        assert_eq!(answer.app.severity, Severity::Error);
        match because.step.as_deref() == Some(culprit.as_str()) {
            true => right += 1,
            false => wrong.push(format!("{bug:?}: {culprit}, not {because:?}")),
        }
    }
    assert!(right * 10 >= all.len() * 9, "{right} of {}:\n{}", all.len(), wrong.join("\n"));
}

#[test]
fn an_error_that_no_step_explains_is_called_so_and_time_alone_is_a_guess() {
    let scene = Scene::of(&["a.txt"]);
    let workspace = workspace(&scene);
    watch(&workspace, Vec::new());
    workspace.changes("agent", &[], &Ask::default()).unwrap();
    watch(&workspace, vec![said(&workspace, "Error: the network is down")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    assert_eq!((answer.because[0].certainty, answer.because[0].step.as_deref()), (Certainty::Unexplained, None));
    edit(&scene, &workspace, By::Agent("ada"), "a.txt", "1\n");
    watch(&workspace, vec![said(&workspace, "Error: quota exceeded")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    let because = &answer.because[0];
    assert_eq!((because.certainty, because.step.as_deref()), (Certainty::Guess, Some("#3")));
    assert_eq!(because.evidence[0].kind, EvidenceKind::Time);
}

#[test]
fn what_was_made_after_it_is_never_suspected() {
    let scene = Scene::of(&["a.py"]);
    let workspace = workspace(&scene);
    watch(&workspace, Vec::new());
    workspace.changes("agent", &[], &Ask::default()).unwrap();
    watch(&workspace, vec![said(&workspace, "File \"a.py\", line 1, in main\nNameError: broken")]);
    std::thread::sleep(std::time::Duration::from_millis(20));
    edit(&scene, &workspace, By::Agent("ada"), "a.py", "broken = 1\n");
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    assert_eq!(answer.because[0].certainty, Certainty::Unexplained, "{:?}", answer.because);
}

#[test]
fn what_is_on_disk_and_not_recorded_can_be_the_cause() {
    let scene = Scene::of(&["cart.py"]);
    let workspace = workspace(&scene);
    watch(&workspace, Vec::new());
    workspace.changes("agent", &[], &Ask::default()).unwrap();
    scene.write("cart.py", "0\ntotal = prise\n");
    watch(&workspace, vec![said(&workspace, "File \"cart.py\", line 2, in total\nNameError: prise")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    let because = &answer.because[0];
    assert_eq!((because.certainty, because.step.as_deref()), (Certainty::Likely, Some("now")));
    assert_eq!(answer.files.as_ref().unwrap().unrecorded, paths(&["cart.py"]));
    // What was told is not told again.
    assert_eq!(workspace.changes("agent", &[], &Ask::default()).unwrap().files, None);
}

/// What a client is told of the files.
fn files(workspace: &Workspace, client: &str) -> Option<FilesChanges> {
    workspace.changes(client, &[], &Ask::default()).unwrap().files
}

#[test]
fn what_was_not_looked_at_is_in_every_answer() {
    let scene = Scene::of(&["a"]);
    let workspace = workspace(&scene);
    assert_eq!(files(&workspace, "agent"), None, "everything was looked at and nothing differs");
    let fifo = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, scene.root.join("pipe"), fifo).unwrap();
    for number in 0..6 {
        rustix::fs::mkfifoat(rustix::fs::CWD, scene.root.join(format!("queue-{number}")), fifo).unwrap();
    }
    for _ in 0..2 {
        let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
        assert!(answer.app.summary.contains("7 paths not looked at"), "{}", answer.app.summary);
        assert!(answer.lines().iter().any(|line| line.starts_with("not looked at: pipe (special file)")));
        let told = answer.files.unwrap();
        assert_eq!((told.total_new, told.unseen[0].path.clone(), told.more_unseen), (0, path("pipe"), 3));
    }
    // What the latest step holds and is ignored since is not seen either, and never called unchanged.
    let scene = Scene::of(&["a", "secret.txt"]);
    let workspace = self::workspace(&scene);
    workspace.config_set("max_file_size", "10").unwrap();
    scene.write("a", "more than ten bytes are in this file now\n");
    let told = files(&workspace, "agent").unwrap();
    assert_eq!((told.unseen[0].path.clone(), told.unseen[0].was_captured), (path("a"), true));
}

#[test]
fn what_an_open_call_writes_is_told_and_can_be_the_cause() {
    let scene = Scene::of(&["cart.py"]);
    let workspace = workspace(&scene);
    watch(&workspace, Vec::new());
    assert_eq!(files(&workspace, "agent"), None);
    let begun = workspace.begin(&Begin { origin: by("Edit", &["cart.py"]), ..Begin::default() }).unwrap();
    scene.write("cart.py", "0\ntotal = prise\n");
    watch(&workspace, vec![said(&workspace, "File \"cart.py\", line 2, in total\nNameError: prise")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    let told = answer.files.unwrap();
    assert_eq!((told.pending, told.unrecorded, told.total_new), (paths(&["cart.py"]), Vec::new(), 0));
    assert_eq!(answer.because[0].step.as_deref(), Some("now"), "{:?}", answer.because);
    assert_eq!(files(&workspace, "agent"), None, "once");
    assert_eq!(files(&workspace, "other").unwrap().pending, paths(&["cart.py"]), "each client is told");
    scene.write("cart.py", "0\ntotal = price\n");
    assert_eq!(files(&workspace, "agent").unwrap().pending, paths(&["cart.py"]), "it changed again");
    workspace.abandon(&begun.call.id.to_string()).unwrap();
    assert_eq!(files(&workspace, "agent").unwrap().unrecorded, paths(&["cart.py"]), "it is no call's any more");
    scene.chmod("cart.py", 0o700);
    assert_eq!(files(&workspace, "agent").unwrap().unrecorded, paths(&["cart.py"]), "also by its mode");
    scene.write("cart.py", "0\n");
    scene.chmod("cart.py", 0o644);
    let told = files(&workspace, "agent").unwrap();
    assert_eq!((told.as_recorded, told.unrecorded), (paths(&["cart.py"]), Vec::new()));
    assert_eq!(files(&workspace, "agent"), None);
}

#[test]
fn what_is_recorded_after_it_was_told_is_told_as_a_step_alone() {
    let scene = Scene::of(&["a", "b"]);
    let workspace = workspace(&scene);
    files(&workspace, "agent");
    scene.write("a", "1\n");
    assert_eq!(files(&workspace, "agent").unwrap().unrecorded, paths(&["a"]));
    workspace.track().unwrap();
    let told = files(&workspace, "agent").unwrap();
    assert_eq!((told.total_new, told.as_recorded, told.unrecorded), (1, Vec::new(), Vec::new()));
}

#[test]
fn an_answer_says_why_the_other_lanes_are_not_in_it_and_the_apps_news_is_told() {
    let scene = Scene::empty();
    let workspace = workspace(&scene);
    watch(&workspace, vec![said(&workspace, "Error: first")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    assert_eq!(answer.not_told.as_deref(), Some("no files are recorded yet"));
    workspace.track().unwrap();
    assert_eq!(workspace.changes("agent", &[], &Ask::default()).unwrap().not_told, None);
    // Settings that cannot be read keep the disk from being looked at.
    std::fs::write(scene.root.join(".backsight/store/config.toml"), "max_file_size = \"what\"").unwrap();
    watch(&workspace, vec![said(&workspace, "Error: second")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    assert_eq!(answer.app.console.unwrap().errors[0].message, "Error: second", "it is told now or never");
    assert!(answer.not_told.unwrap().contains("INVALID_CONFIG"));
    assert!(answer.app.summary.ends_with("the other lanes could not be asked"), "{}", answer.app.summary);
    std::fs::remove_file(scene.root.join(".backsight/store/config.toml")).unwrap();
    scene.write("a", "1\n");
    assert_eq!(files(&workspace, "agent").unwrap().unrecorded, paths(&["a"]), "the files' place was not moved");
}

#[test]
fn errors_beyond_those_that_are_explained_or_kept_are_counted() {
    let scene = Scene::of(&["a.py"]);
    let workspace = workspace(&scene);
    watch(&workspace, Vec::new());
    workspace.changes("agent", &[], &Ask::default()).unwrap();
    edit(&scene, &workspace, By::Agent("ada"), "a.py", "1\n");
    let all: Vec<Event> = WORDS
        .iter()
        .map(|word| said(&workspace, &format!("File \"a.py\", line 1, in {word}\nError: {word}")))
        .collect();
    watch(&workspace, all);
    let peek = |most: Option<usize>| Ask { peek: true, max_tokens: most, ..Ask::default() };
    let errors = |answer: &AllChanges| answer.app.console.as_ref().unwrap().errors.len() as u64;
    let small = workspace.changes("agent", &[], &peek(Some(700))).unwrap();
    assert!(small.app.est_tokens <= 700 && small.is_cut());
    assert_eq!(small.because.len() as u64 + small.unexplained, errors(&small));
    let large = workspace.changes("agent", &[], &peek(Some(6000))).unwrap();
    assert!(large.because.len() > 4, "{} are explained", large.because.len());
    assert_eq!(large.because.len() as u64 + large.unexplained, errors(&large));
    let whole = workspace.changes("agent", &[], &peek(None)).unwrap();
    assert_eq!(whole.because.len() as u64 + whole.unexplained, errors(&whole));
    assert_eq!(whole.order.len() as u64 + whole.not_in_order, errors(&whole) + 1);
}

#[test]
fn an_entry_that_is_no_longer_kept_is_counted_where_it_is_missing() {
    let scene = Scene::of(&["a.py"]);
    let workspace = workspace(&scene);
    watch(&workspace, Vec::new());
    workspace.changes("agent", &[], &Ask::default()).unwrap();
    edit(&scene, &workspace, By::Agent("ada"), "a.py", "1\n");
    // The log keeps 8 MB of latest events: these are more, of messages that are all different.
    let long = "x ".repeat(4000);
    let letters = |number: usize| -> String {
        (0..4u32).map(|place| char::from(b'a' + u8::try_from(number / 20usize.pow(place) % 20).unwrap())).collect()
    };
    let name = |number: usize| format!("Error: {} went wrong {long}", letters(number));
    for part in (0..1080).collect::<Vec<usize>>().chunks(100) {
        watch(&workspace, part.iter().map(|number| said(&workspace, &name(*number))).collect());
    }
    let answer = workspace.changes("agent", &[], &Ask { peek: true, ..Ask::default() }).unwrap();
    let errors = &answer.app.console.as_ref().unwrap().errors;
    let gone = errors.iter().filter(|entry| entry.id.is_empty()).count() as u64;
    assert!(gone > 0, "{} errors, all kept", errors.len());
    assert_eq!(answer.order.len() as u64 + answer.not_in_order, errors.len() as u64 + 1);
    assert_eq!(answer.because.len() as u64 + answer.unexplained, errors.len() as u64);
}

#[test]
fn a_stop_is_linked_to_the_step_that_last_changed_its_file_and_a_suspect_has_its_prompt() {
    let scene = Scene::of(&["cart.py", "b.py"]);
    let workspace = workspace(&scene);
    watch(&workspace, Vec::new());
    workspace.changes("agent", &[], &Ask::default()).unwrap();
    workspace
        .note_conversation("ada", "codex", Some("Rename price, token ghp_0123456789abcdefghijABCDEFGHIJ012345"))
        .unwrap();
    edit(&scene, &workspace, By::Agent("ada"), "cart.py", "0\ntotal = prise\n");
    edit(&scene, &workspace, By::Agent("bob"), "b.py", "1\n");
    std::thread::sleep(std::time::Duration::from_millis(5));
    let file = scene.root.join("cart.py").display().to_string();
    let details = serde_json::json!({ "file": file, "line": 2 });
    workspace.note(&Note { description: "breakpoint in total".to_owned(), details, ..note() }).unwrap();
    watch(&workspace, vec![said(&workspace, "File \"cart.py\", line 2, in total\nNameError: prise")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    let stop = &answer.debug.as_ref().unwrap().events[0];
    assert_eq!((stop.step.as_deref(), stop.session.as_deref()), (Some("#2"), Some("ada")));
    let because = &answer.because[0];
    assert_eq!(because.step.as_deref(), Some("#2"));
    let title = because.title.as_deref().unwrap();
    assert!(title.starts_with("Rename price") && !title.contains("ghp_0123"), "{title}");
    let lines = answer.lines().join("\n");
    assert!(lines.contains("; its file was last changed by #2 (Edit, session ada)"), "{lines}");
    assert!(lines.contains("(Edit, session ada: Rename price"), "{lines}");
    // The prompt of the step's own message says more than the first one of its session.
    workspace.note_prompt("ada", "m2", "Now the tax\nwith password=hunter2hunter2").unwrap();
    scene.write("b.py", "1\ntax = rat\n");
    let origin = Origin { session: Some("ada".to_owned()), message: Some("m2".to_owned()), ..by("Edit", &["b.py"]) };
    workspace.track_with(&Track { origin, ..Track::default() }).unwrap();
    watch(&workspace, vec![said(&workspace, "File \"b.py\", line 2, in tax\nNameError: rat")]);
    let answer = workspace.changes("agent", &[], &Ask::default()).unwrap();
    let title = answer.because[0].title.as_deref().unwrap();
    assert!(title.starts_with("Now the tax with") && !title.contains("hunter2hunter2"), "{title}");
}

#[test]
fn lanes_are_told_in_the_order_of_the_timeline_nothing_twice_and_nothing_lost() {
    let mut dice = Dice(11);
    for _ in 0..6 {
        let scene = Scene::of(&["a", "b"]);
        let workspace = workspace(&scene);
        watch(&workspace, Vec::new());
        workspace.changes("one", &[], &Ask::default()).unwrap();
        let (mut happened, mut told) = (Vec::new(), Vec::new());
        let mut told_in_lanes = (0, 0);
        for (turn, word) in WORDS.iter().enumerate() {
            match dice.roll(4) {
                0 => {
                    edit(&scene, &workspace, By::Agent("ada"), "a", &format!("turn {turn}\n"));
                    happened.push(format!("step {}", workspace.newest_row().unwrap()));
                }
                1 => {
                    let stop = Note { kind: Kind::DebuggerStop, description: format!("stop {turn}"), ..note() };
                    happened.push(format!("row {}", workspace.note(&stop).unwrap().sequence_number));
                }
                2 => {
                    watch(&workspace, vec![said(&workspace, &format!("Error: number {word} is wrong"))]);
                    happened.push(format!("error {word}"));
                }
                _ => told.extend(look(&workspace, &mut told_in_lanes)),
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        told.extend(look(&workspace, &mut told_in_lanes));
        assert_eq!(told, happened);
        let steps = happened.iter().filter(|line| line.starts_with("step")).count();
        let rows = happened.iter().filter(|line| line.starts_with("row")).count();
        assert_eq!(told_in_lanes, (steps, rows));
    }
}

/// Words that no grouping takes for one another's variant.
const WORDS: [&str; 40] = [
    "apple", "river", "stone", "cloud", "train", "house", "piano", "glass", "bread", "light", "chair", "horse",
    "plant", "radio", "smoke", "table", "voice", "watch", "zebra", "angle", "beach", "crown", "dance", "eagle",
    "flame", "grape", "honey", "ivory", "jewel", "knife", "lemon", "mango", "night", "ocean", "paper", "queen",
    "robot", "sugar", "tiger", "umbra",
];

fn note() -> Note {
    Note {
        kind: Kind::DebuggerStop,
        description: String::new(),
        origin: Origin::default(),
        details: serde_json::json!({}),
    }
}

/// One look: what it tells, in its own order, and how much of each lane.
fn look(workspace: &Workspace, lanes: &mut (usize, usize)) -> Vec<String> {
    let answer = workspace.changes("one", &[], &Ask::default()).unwrap();
    let errors = answer.app.console.iter().flat_map(|console| &console.errors);
    let errors: Vec<(String, String)> = errors.map(|entry| (entry.id.clone(), entry.message.clone())).collect();
    let steps: Vec<String> = answer.files.iter().flat_map(|files| &files.steps).map(|step| step.id.clone()).collect();
    let rows: Vec<String> = answer.debug.iter().flat_map(|debug| &debug.events).map(|event| event.id.clone()).collect();
    lanes.0 += answer.files.as_ref().map_or(0, |files| usize::try_from(files.total_new).unwrap());
    lanes.1 += answer.debug.as_ref().map_or(0, |debug| usize::try_from(debug.total_new).unwrap());
    let order = match answer.order.is_empty() {
        true => errors.iter().map(|(id, _)| id.clone()).chain(steps.clone()).chain(rows.clone()).collect(),
        false => answer.order.clone(),
    };
    let name = |id: &String| match errors.iter().find(|(known, _)| known == id) {
        Some((_, message)) => {
            format!("error {}", message.split_whitespace().nth(2).unwrap())
        }
        None if steps.contains(id) => format!("step {id}"),
        None => format!("row {id}"),
    };
    order.iter().map(name).collect()
}

#[test]
fn a_caller_that_asks_for_the_apps_categories_gets_the_apps_own_answer() {
    let scene = Scene::of(&["a"]);
    let workspace = workspace(&scene);
    watch(&workspace, vec![said(&workspace, "Error: no")]);
    edit(&scene, &workspace, By::Agent("ada"), "a", "1\n");
    let peek = Ask { peek: true, ..Ask::default() };
    let own = workspace.browser_changes("me", &peek).unwrap();
    let topics = [Topic::Console, Topic::Network, Topic::Websocket, Topic::Actions];
    let asked = workspace.changes("me", &topics, &peek).unwrap();
    let names = |value: serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<String>>();
    assert_eq!(names(serde_json::to_value(&asked).unwrap()), names(serde_json::to_value(&own).unwrap()));
    let files = workspace.changes("me", &[Topic::Files], &peek).unwrap();
    assert!(files.app.console.is_none() && files.because.is_empty());
    assert_eq!(files.files.unwrap().steps[0].files, vec![path("a")]);
}

#[test]
fn a_named_checkpoint_covers_the_files_and_keeps_them() {
    let scene = Scene::of(&["a"]);
    let workspace = workspace(&scene);
    scene.write("a", "before the refactoring\n");
    let made = workspace.create_checkpoint("before_refactor", None).unwrap();
    assert_eq!(made.files.map(|seq| seq.0), Some(2), "what was on disk is in a step");
    edit(&scene, &workspace, By::Agent("ada"), "a", "after\n");
    let ask = Ask { checkpoint: Some("before_refactor".to_owned()), ..Ask::default() };
    for _ in 0..2 {
        let steps = workspace.changes("me", &[], &ask).unwrap().files.unwrap().steps;
        assert_eq!(steps.iter().map(|step| step.id.as_str()).collect::<Vec<_>>(), ["#3"]);
    }
    let collect = backsight::request::Collect { keep_count: Some(1), ..Default::default() };
    workspace.gc(&collect).unwrap();
    assert_eq!(workspace.get_file_at("#2", &path("a")).unwrap(), b"before the refactoring\n");
    workspace.delete_checkpoint("before_refactor").unwrap();
}

/// An interface of which only this is known: how it is asked.
struct Bare;

impl Voice for Bare {
    fn name(&self, step: &NextStep) -> Phrase {
        Phrase { words: format!("{step:?}"), call: None }
    }
}

#[test]
fn a_session_is_told_once_what_others_changed_in_its_files_and_what_broke() {
    let scene = Scene::of(&["a.py", "b.py"]);
    let workspace = workspace(&scene);
    watch(&workspace, vec![said(&workspace, "Error: from before")]);
    let news = |session: &str| workspace.news(session, session, &Bare).unwrap();
    assert_eq!(news("ada"), None, "it begins to be told from then on");
    edit(&scene, &workspace, By::Agent("ada"), "a.py", "1\n");
    edit(&scene, &workspace, By::Agent("bob"), "b.py", "1\n");
    assert_eq!(news("ada"), None, "its own steps and files that it did not touch are no news");
    edit(&scene, &workspace, By::Agent("bob"), "a.py", "1\ntotal = prise\n");
    let told = news("ada").unwrap();
    assert_eq!(told, "session bob changed a.py (#4), which you changed before");
    assert_eq!(news("ada"), None, "once");
    watch(
        &workspace,
        vec![said(&workspace, "File \"a.py\", line 2, in total\nNameError: name 'prise' is not defined")],
    );
    let told = news("ada").unwrap();
    assert!(told.starts_with("new error in the app: "), "{told}");
    assert!(told.contains(", likely because of #4 (Edit): a.py:2") && told.ends_with("; see SeeAppChanges"), "{told}");
    assert!(backsight_core::estimate_tokens(&told) <= 120, "{told}");
    assert_eq!(news("ada"), None, "once");
}
