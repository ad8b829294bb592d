//! A place in a program as it is typed: a line, a function or an exception.

use std::path::PathBuf;

use backsight::debug::request::BreakpointSpec;
use backsight::debug::session;
use backsight_core::{Code, Error, Result};

use super::Desk;

/// A place in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// `shop.py:12`
    Line(PathBuf, u32),
    /// `total`
    Function(String),
    /// `exception`, which is all of them, or `exception:uncaught`
    Exception(String),
}

/// Reads a place, for the argument parser.
pub fn parse(text: &str) -> Result<Place, String> {
    match text.rsplit_once(':') {
        _ if text.trim().is_empty() => Err("a place is FILE:LINE or a function".to_owned()),
        None if text == "exception" => Ok(Place::Exception("all".to_owned())),
        Some(("exception", name)) if !name.is_empty() => Ok(Place::Exception(name.to_owned())),
        None if is_number(text) => Err("a line needs its file: FILE:LINE".to_owned()),
        Some((file, line)) if is_number(line) && !file.is_empty() => match line.parse() {
            Ok(line) if line > 0 => Ok(Place::Line(file.into(), line)),
            _ => Err("lines are counted from 1".to_owned()),
        },
        _ => Ok(Place::Function(text.to_owned())),
    }
}

/// Reads a line of a file, for the argument parser.
pub fn line(text: &str) -> Result<Place, String> {
    match parse(text)? {
        place @ Place::Line(..) => Ok(place),
        _ => Err("it is FILE:LINE".to_owned()),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_file(desk: &Desk<'_>, name: &str) -> bool {
    desk.context.start().join(name).is_file()
}

impl Place {
    /// As the lane takes it; the file is taken from where the user stands.
    pub fn spec(&self, desk: &Desk<'_>) -> Result<BreakpointSpec> {
        Ok(BreakpointSpec::at(match self {
            Place::Line(file, line) => session::Place::Line { file: desk.path(file)?, line: *line },
            Place::Function(name) if is_file(desk, name) => {
                let message = format!("`{}` is a file: which line of it?", crate::words::safe(name));
                return Err(Error::new(Code::Usage, message).with_hint("name a place as FILE:LINE"));
            }
            Place::Function(name) if name.rsplit_once(':').is_some_and(|(file, _)| is_file(desk, file)) => {
                let message = format!("`{}` names no line of that file", crate::words::safe(name));
                return Err(Error::new(Code::Usage, message).with_hint("lines are numbers from 1: FILE:LINE"));
            }
            Place::Function(name) => session::Place::Function(name.clone()),
            Place::Exception(name) => session::Place::Exception(name.clone()),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_lines_functions_and_exceptions() {
        assert_eq!(parse("src/a:b.py:12"), Ok(Place::Line("src/a:b.py".into(), 12)));
        assert_eq!(parse("shop.total"), Ok(Place::Function("shop.total".to_owned())));
        assert_eq!(parse("shop::Cart::total"), Ok(Place::Function("shop::Cart::total".to_owned())));
        assert_eq!(parse("exception"), Ok(Place::Exception("all".to_owned())));
        assert_eq!(parse("exception:uncaught"), Ok(Place::Exception("uncaught".to_owned())));
        for wrong in ["", " ", "12", "a.py:0", "a.py:99999999999"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(line("total").is_err() && line("a.py:3") == Ok(Place::Line("a.py".into(), 3)));
    }
}
