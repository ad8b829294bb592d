//! `backsight watch`: the workspace on a whole screen, live. A model, what messages make of it, and how it is drawn are
//! values ([`model`], [`view`]); the thread of [`feed`] reads the workspace and does what is asked; this file joins them.

mod detail;
mod feed;
mod keys;
mod model;
mod screen;
mod view;

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use backsight_core::{Code, Error, Result, Timestamp};
use ratatui_core::terminal::Terminal;
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use feed::Feed;
pub use feed::Subject;
use keys::Typed;
pub use model::Look;
use model::{Effect, Message, Model, Quit, update};
use screen::{Painter, Stage};

use crate::running::screen::Keyboard;

/// How often ages are counted again.
const CLOCK: Duration = Duration::from_secs(10);

/// Shows the workspace until the person has seen enough; the status to end with.
#[expect(
    clippy::disallowed_methods,
    reason = "what one keyboard and one reader of the workspace say, drawn as it comes"
)]
pub fn run(subject: Subject, look: Look, root: String) -> Result<u8> {
    let keyboard = Keyboard::find().map_err(|error| Error::io("open the terminal", error))?;
    let keyboard = keyboard.ok_or_else(|| {
        Error::new(Code::Usage, "`watch` listens to keys, and stdin is no terminal")
            .with_hint("run it in a terminal, or ask once with `backsight watch --json`")
    })?;
    let keyboard = Arc::new(keyboard);
    let (told, messages) = channel();
    let (order, orders) = channel();
    let feed = Feed::new(subject, told.clone())?;
    listen_to_signals(told.clone()).map_err(|error| Error::io("listen to signals", error))?;
    listen_to_keys(&keyboard, told.clone()).map_err(|error| Error::io("open the terminal", error))?;
    let reader = thread::spawn(move || {
        feed.run(&orders);
        let _ = told.send(Message::Gone);
    });
    let stage = Stage::enter(keyboard);
    let model = Model::new(root, now(), look);
    let (quit, is_doing) = show(&stage, model, &messages, &order);
    drop(stage);
    drop(order);
    // What is being done is done to its end; what is only being read is not waited for.
    if is_doing {
        drop(reader.join());
    }
    match quit {
        Quit::Done => Ok(0),
        Quit::Signal(signal) => Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        Quit::Broken => Err(Error::new(Code::Io, "what reads the workspace ended unexpectedly")),
    }
}

/// Draws, waits for a message, and does what it asks for, again and again; at the end whether files are being put back.
fn show(stage: &Stage, mut model: Model, messages: &Receiver<Message>, order: &Sender<Effect>) -> (Quit, bool) {
    let Ok(mut terminal) = Terminal::new(Painter::default());
    let mut effects = vec![model.first()];
    loop {
        for effect in effects.drain(..) {
            match effect {
                Effect::Quit(quit) => return (quit, model.is_doing()),
                Effect::Suspend => suspend(stage),
                effect => drop(order.send(effect)),
            }
        }
        let Ok(_) = terminal.draw(|frame| model.room = view::draw(&model, frame.buffer_mut()));
        let message = match messages.recv_timeout(CLOCK) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => Message::Clock(now()),
            Err(RecvTimeoutError::Disconnected) => return (Quit::Broken, false),
        };
        // Keys that are held down, and bursts of news: one drawing for all that has come.
        for message in std::iter::once(message).chain(messages.try_iter()) {
            if matches!(message, Message::Redraw) {
                let Ok(()) = terminal.clear();
                stage.resume();
            }
            model.now = now();
            effects.extend(update(&mut model, message));
        }
    }
}

/// Gives the terminal to the shell until it lets this job go on.
fn suspend(stage: &Stage) {
    stage.pause();
    // Going on is told by a signal, which draws everything again.
    let _ = kill_process(getpid(), Signal::TSTP);
}

fn listen_to_signals(told: Sender<Message>) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH, SIGCONT])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            let message = match signal {
                SIGWINCH | SIGCONT => Message::Redraw,
                signal => Message::Signal(signal),
            };
            if told.send(message).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// Reads keys for as long as the process lives: a read that waits cannot be taken back.
fn listen_to_keys(keyboard: &Keyboard, told: Sender<Message>) -> io::Result<()> {
    let mut input = keyboard.keys()?;
    thread::spawn(move || {
        let (mut typed, mut bytes) = (Typed::default(), [0; 256]);
        loop {
            let length = match input.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Ok(length @ 1..) => length,
                // The terminal is gone.
                Ok(_) | Err(_) => return drop(told.send(Message::Signal(SIGHUP))),
            };
            for key in typed.keys(&bytes[..length]) {
                if told.send(Message::Typed(key)).is_err() {
                    return;
                }
            }
        }
    });
    Ok(())
}

fn now() -> Timestamp {
    Timestamp::from_system(SystemTime::now())
}
