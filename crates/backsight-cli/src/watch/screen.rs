//! The terminal while `watch` has it: the second screen, no cursor, keys as they are typed; and it is put back whatever
//! happens. It says what it draws in the few sequences that every terminal knows.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::sync::Arc;

use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};

use crate::running::screen::{self, Keyboard};

/// The second screen, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// Plain letters, the cursor, the first screen.
const LEAVE: &str = "\x1b[0m\x1b[?25h\x1b[?1049l";

/// Has the terminal until it is dropped.
pub struct Stage {
    keyboard: Arc<Keyboard>,
}

impl Stage {
    /// Takes the terminal. A panic anywhere in the process gives it back before it says what happened.
    pub fn enter(keyboard: Arc<Keyboard>) -> Stage {
        let before = std::panic::take_hook();
        let (kept, home) = (Arc::clone(&keyboard), std::thread::current().id());
        std::panic::set_hook(Box::new(move |panic| {
            leave(&kept);
            before(panic);
            // The drawing thread must not draw over what was said; any other one cannot stop it.
            if std::thread::current().id() != home {
                std::process::exit(101);
            }
        }));
        let stage = Stage { keyboard };
        stage.resume();
        stage
    }

    /// Takes it, again.
    pub fn resume(&self) {
        self.keyboard.hand_on();
        say(ENTER);
    }

    /// Gives it back, for a while.
    pub fn pause(&self) {
        leave(&self.keyboard);
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        leave(&self.keyboard);
    }
}

fn leave(keyboard: &Keyboard) {
    say(LEAVE);
    keyboard.put_back();
}

/// A terminal that is gone hears nothing, and needs nothing.
fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Cells as sequences.
#[derive(Default)]
pub struct Painter {
    text: String,
}

impl Backend for Painter {
    type Error = Infallible;

    fn draw<'a, I>(&mut self, content: I) -> Result<(), Infallible>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let (mut next, mut style) = (None, None);
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                // Writing to memory cannot fail.
                let _ = write!(self.text, "\x1b[{};{}H", y + 1, x + 1);
            }
            let wanted = (cell.fg, cell.modifier);
            if style != Some(wanted) {
                self.text.push_str(&rendition(cell.fg, cell.modifier));
                style = Some(wanted);
            }
            self.text.push_str(cell.symbol());
            let columns = u16::try_from(crate::width::of(cell.symbol())).unwrap_or(1);
            next = (columns == 1).then_some((x + 1, y));
        }
        if style.is_some() {
            self.text.push_str("\x1b[0m");
        }
        Ok(())
    }

    fn hide_cursor(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn show_cursor(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn get_cursor_position(&mut self) -> Result<Position, Infallible> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, _: P) -> Result<(), Infallible> {
        Ok(())
    }

    fn clear(&mut self) -> Result<(), Infallible> {
        self.text.push_str("\x1b[0m\x1b[2J");
        Ok(())
    }

    fn clear_region(&mut self, _: ClearType) -> Result<(), Infallible> {
        self.clear()
    }

    fn size(&self) -> Result<Size, Infallible> {
        let size = screen::size().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        Ok(size.map_or(Size::new(80, 24), |size| Size::new(size.ws_col, size.ws_row)))
    }

    fn window_size(&mut self) -> Result<WindowSize, Infallible> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::ZERO })
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        say(&std::mem::take(&mut self.text));
        Ok(())
    }
}

/// `ESC [ 0 ; 1 ; 36 m`
fn rendition(color: Color, modifier: Modifier) -> String {
    let mut codes = vec![0];
    let modifiers = [(Modifier::BOLD, 1), (Modifier::DIM, 2), (Modifier::UNDERLINED, 4), (Modifier::REVERSED, 7)];
    codes.extend(modifiers.iter().filter(|(one, _)| modifier.contains(*one)).map(|(_, code)| *code));
    codes.extend(match color {
        Color::Red => Some(31),
        Color::Green => Some(32),
        Color::Yellow => Some(33),
        Color::Blue => Some(34),
        Color::Magenta => Some(35),
        Color::Cyan => Some(36),
        _ => None,
    });
    let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
    format!("\x1b[{}m", codes.join(";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_beside_each_other_are_written_in_one_go() {
        let mut painter = Painter::default();
        let mut bold = Cell::new("b");
        bold.modifier = Modifier::BOLD;
        bold.fg = Color::Red;
        let (plain, wide) = (Cell::new("a"), Cell::new("日"));
        let cells = [(3, 1, &plain), (4, 1, &plain), (5, 1, &bold), (6, 1, &wide), (8, 1, &plain)];
        let _ = painter.draw(cells.into_iter());
        assert_eq!(painter.text, "\x1b[2;4H\x1b[0maa\x1b[0;1;31mb\x1b[0m日\x1b[2;9Ha\x1b[0m");
    }

    const PANICS: &str = "BACKSIGHT_TEST_PANICS_ON_STAGE";

    /// The program of the next test, which runs it in a terminal of its own; by itself it does nothing.
    #[test]
    fn panics_on_stage() {
        if std::env::var_os(PANICS).is_none() {
            return;
        }
        let keyboard = Keyboard::find().unwrap().expect("a terminal on stdin");
        let _stage = Stage::enter(Arc::new(keyboard));
        panic!("the drawing failed");
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_is_told() {
        use std::io::Read as _;
        let (mut pty, pts) = pty_process::blocking::open().unwrap();
        let program = std::env::current_exe().unwrap();
        let before = rustix::termios::tcgetattr(&pty).unwrap();
        let command = pty_process::blocking::Command::new(program);
        let name = "watch::screen::tests::panics_on_stage";
        let mut child = command.args(["--exact", name, "--nocapture"]).env(PANICS, "1").spawn(pts).unwrap();
        let mut said = Vec::new();
        let mut piece = [0; 4096];
        // A terminal that its last program has left ends with an error.
        while let Ok(length @ 1..) = pty.read(&mut piece) {
            said.extend_from_slice(&piece[..length]);
        }
        assert!(!child.wait().unwrap().success());
        let said = String::from_utf8_lossy(&said);
        let entered = said.find(ENTER).unwrap_or_else(|| panic!("{said:?}"));
        let left = said.find(LEAVE).unwrap_or_else(|| panic!("{said:?}"));
        let told = said.find("the drawing failed").unwrap_or_else(|| panic!("{said:?}"));
        assert!(entered < left && left < told, "{said:?}");
        let after = rustix::termios::tcgetattr(&pty).unwrap();
        assert_eq!(before.local_modes, after.local_modes);
        assert_eq!(before.input_modes, after.input_modes);
    }
}
