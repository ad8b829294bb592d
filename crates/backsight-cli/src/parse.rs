//! Points in time and chain heads as a person types them.

use backsight_core::Timestamp;
use jiff::civil::DateTime;
use jiff::{Span, Zoned};

/// Reads `2h`, `3 days ago`, `2026-08-01`, `2026-08-01 14:00` (local time) or an RFC 3339 time.
pub fn time(text: &str, now: &Zoned) -> Result<Timestamp, String> {
    if let Ok(exact) = text.parse::<Timestamp>() {
        return Ok(exact);
    }
    let instant = if let Ok(local) = text.parse::<DateTime>() {
        local.to_zoned(now.time_zone().clone()).ok()
    } else if let Ok(span) = text.parse::<Span>() {
        now.checked_sub(span.abs()).ok()
    } else {
        None
    };
    match instant {
        Some(instant) => Ok(Timestamp(instant.timestamp().as_millisecond())),
        None => Err("a time is an age such as `2h` or `3 days`, a local `2026-08-01` or `2026-08-01 14:00`, \
                     or RFC 3339 such as `2026-08-01T14:00:00Z`"
            .into()),
    }
}

/// [`time`] against the clock of this machine, for the argument parser.
pub fn time_now(text: &str) -> Result<Timestamp, String> {
    time(text, &Zoned::now())
}

/// Reads a chain head: a typing mistake must not look like an altered history.
pub fn chain_hash(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { Ok(text.to_ascii_lowercase()) } else { Err("a chain head is 64 hex digits".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_ages_dates_or_exact() {
        let now: Zoned = "2026-08-01T12:00:00+02:00[Europe/Berlin]".parse().unwrap_or_else(|_| {
            "2026-08-01T10:00:00Z"
                .parse::<jiff::Timestamp>()
                .unwrap()
                .to_zoned(jiff::tz::Offset::constant(2).to_time_zone())
        });
        for (text, expected) in [
            ("2h", "2026-08-01T08:00:00.000Z"),
            ("30 min ago", "2026-08-01T09:30:00.000Z"),
            ("1 day", "2026-07-31T10:00:00.000Z"),
            ("2026-07-01", "2026-06-30T22:00:00.000Z"),
            ("2026-07-01 06:00", "2026-07-01T04:00:00.000Z"),
            ("2026-07-01T06:00:00Z", "2026-07-01T06:00:00.000Z"),
        ] {
            assert_eq!(time(text, &now).map(|time| time.to_string()), Ok(expected.into()), "{text}");
        }
        assert!(time("yesterday", &now).is_err());
        assert!(time("", &now).is_err());
    }
}
