//! What an agent asks of the debugger, as the debugger takes it.

use backsight::debug::session::{BreakpointRequest, Place};
use backsight::debug::walk::Frames;
use backsight_core::Result;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::debug_limits;
use crate::tool::{parse, usage};

/// A breakpoint as it is set.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spot {
    #[schemars(skip)]
    pub session: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub function: Option<String>,
    /// all, uncaught
    pub exception: Option<String>,
    pub condition: Option<String>,
    #[serde(default, deserialize_with = "text")]
    #[schemars(with = "Option<String>")]
    pub hit_count: Option<String>,
    /// printed instead; {x} is x
    pub log_message: Option<String>,
}

impl Spot {
    /// As the debugger takes it.
    pub fn request(self) -> Result<BreakpointRequest> {
        let Spot { session: _, file, line, function, exception, condition, hit_count, log_message } = self;
        let at = place(file, line, function, exception)?;
        let at = at.ok_or_else(|| usage("name a place: `file` and `line`, `function`, or `exception`".to_owned()))?;
        Ok(BreakpointRequest { at, condition, hit_count, log_message })
    }
}

/// Breakpoints to begin with: `FILE:LINE`, a function, or all that a breakpoint can have.
pub fn points(tool: &str, spots: Vec<Value>, exceptions: Option<String>) -> Result<Vec<BreakpointRequest>> {
    let exceptions = exceptions.map(|filter| Ok(BreakpointRequest::new(Place::Exception(filter))));
    let spots = spots.into_iter().map(|spot| match spot {
        Value::String(text) => Ok(BreakpointRequest::new(read_place(&text))),
        other => parse::<Spot>(tool, other)?.request(),
    });
    spots.chain(exceptions).collect()
}

/// `shop.py:12` is a line, anything else a function.
fn read_place(text: &str) -> Place {
    let line = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match line.filter(|(file, _)| !file.is_empty()) {
        Some((file, line)) => Place::Line { file: file.into(), line },
        None => Place::Function(text.to_owned()),
    }
}

/// The one place that is named, if any is.
pub fn place(
    file: Option<String>,
    line: Option<u32>,
    function: Option<String>,
    exception: Option<String>,
) -> Result<Option<Place>> {
    match (file, line, function, exception) {
        (None, None, None, None) => Ok(None),
        (Some(file), Some(line), None, None) => Ok(Some(Place::Line { file: file.into(), line })),
        (None, None, Some(function), None) => Ok(Some(Place::Function(function))),
        (None, None, None, Some(exception)) => Ok(Some(Place::Exception(exception))),
        (Some(_), None, None, None) | (None, Some(_), None, None) => {
            Err(usage("`file` and `line` go together".to_owned()))
        }
        _ => Err(usage("name one place: `file` and `line`, `function`, or `exception`".to_owned())),
    }
}

/// How many frames: `top`, `all` or a number.
pub fn frames(wanted: Option<Value>) -> Result<Frames> {
    let count = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    match wanted {
        None => Ok(Frames::Top),
        Some(value) => match (value.as_str(), count(&value).and_then(|count| u32::try_from(count).ok())) {
            (Some("top"), _) => Ok(Frames::Top),
            (Some("all"), _) => Ok(Frames::All),
            (_, Some(count)) => Ok(Frames::Count(debug_limits::captured_frames(count)?)),
            _ => Err(usage(format!("`frames` is {value}, not top, all or a number from 1"))),
        },
    }
}

/// A text that may also be written as a number.
pub fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(Some(text)),
        Value::Number(number) => Ok(Some(number.to_string())),
        other => Err(serde::de::Error::custom(format!("invalid type: {other}, expected a string"))),
    }
}

/// A number that may also be written as a text: models send either.
pub fn number<'de, N: TryFrom<u64>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<N>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok()).and_then(|number| N::try_from(number).ok());
    let wrong = || serde::de::Error::custom(format!("invalid type: {value}, expected a number from 0"));
    number.ok_or_else(wrong).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_place_is_a_line_or_a_function() {
        assert_eq!(read_place("src/shop.py:12"), Place::Line { file: "src/shop.py".into(), line: 12 });
        for function in ["total", "shop::total", "Order.total", ":12", "a:b"] {
            assert_eq!(read_place(function), Place::Function(function.to_owned()));
        }
        let both = place(Some("a".to_owned()), Some(1), Some("f".to_owned()), None);
        assert!(both.is_err() && place(Some("a".to_owned()), None, None, None).is_err());
    }

    #[test]
    fn frames_are_top_all_or_a_number() {
        assert_eq!(frames(None).unwrap(), Frames::Top);
        assert_eq!(frames(Some(json!("all"))).unwrap(), Frames::All);
        assert_eq!(frames(Some(json!(3))).unwrap(), frames(Some(json!("3"))).unwrap());
        for wrong in [json!(0), json!("some"), json!(-1), json!([])] {
            assert!(frames(Some(wrong.clone())).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_breakpoint_to_begin_with_may_have_everything_a_breakpoint_has() {
        let spots = vec![json!("a.py:3"), json!({ "function": "f", "condition": "x > 1", "hit_count": 5 })];
        let read = points("debug_launch", spots, Some("uncaught".to_owned())).unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!((read[1].condition.as_deref(), read[1].hit_count.as_deref()), (Some("x > 1"), Some("5")));
        assert_eq!(read[2].at, Place::Exception("uncaught".to_owned()));
        assert!(points("debug_launch", vec![json!({ "condition": "x" })], None).is_err());
        assert!(points("debug_launch", vec![json!({ "nonsense": 1 })], None).is_err());
    }
}
