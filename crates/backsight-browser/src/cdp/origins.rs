//! Which pages are the user's own work. Unless told otherwise: those this machine serves, and files.

use backsight_core::{Code, Error, Result};

/// A choice of pages by their addresses.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    /// Every page but the browser's own.
    all: bool,
    /// `localhost`, loopback addresses, `*.localhost`, `file:`.
    local: bool,
    /// And those one of these names.
    named: Vec<Pattern>,
}

/// `[scheme://]host[:port]`, where the host may begin with `*.`, or `file:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// Pages from disk.
    File,
    /// Pages from a server.
    Host { scheme: Option<String>, host: String, port: Option<u16> },
}

impl Origins {
    /// What was asked for: no patterns mean this machine.
    pub(crate) fn new(patterns: &[String], all: bool) -> Result<Origins> {
        let all = all || patterns.iter().any(|pattern| pattern.trim() == "*");
        let named = patterns.iter().filter(|pattern| pattern.trim() != "*").map(|text| Pattern::parse(text));
        Ok(Origins { all, local: patterns.is_empty(), named: named.collect::<Result<_>>()? })
    }

    /// Whoever is sent to an address by name wants to see it.
    pub(crate) fn also(&mut self, url: &str) {
        if self.matches(url) {
            return;
        }
        self.named.extend(match Location::of(url) {
            Some(Location { scheme, host, port }) => Some(Pattern::Host { scheme: Some(scheme), host, port }),
            None => url.starts_with("file:").then_some(Pattern::File),
        });
    }

    /// Whether a page with this address is to be watched.
    pub(crate) fn matches(&self, url: &str) -> bool {
        let local = || url.starts_with("file:") || Location::of(url).is_some_and(|location| location.is_local());
        (self.all && !is_browsers_own(url))
            || (self.local && local())
            || self.named.iter().any(|pattern| pattern.matches(url))
    }
}

/// Pages that belong to the browser and not to anybody's work.
pub(crate) fn is_browsers_own(url: &str) -> bool {
    const OWN: [&str; 8] = [
        "about:",
        "chrome:",
        "chrome-untrusted:",
        "chrome-search:",
        "devtools:",
        "edge:",
        "brave:",
        "chrome-extension:",
    ];
    url.is_empty() || OWN.iter().any(|scheme| url.starts_with(scheme))
}

impl Pattern {
    fn parse(text: &str) -> Result<Pattern> {
        let trimmed = text.trim().to_ascii_lowercase();
        if trimmed == "file" || trimmed.starts_with("file:") {
            return Ok(Pattern::File);
        }
        let (scheme, rest) = match trimmed.split_once("://") {
            Some((scheme, rest)) => (Some(scheme.to_owned()), rest),
            None => (None, trimmed.as_str()),
        };
        let authority = rest.trim_end_matches('/');
        let (host, port) = split_port(authority);
        let port = port.map(str::parse).transpose().ok();
        let named = !host.is_empty() && host != "*." && !host.contains(['/', '?', '#', '@', ' ']);
        match port {
            Some(port) if named => Ok(Pattern::Host { scheme, host: host.to_owned(), port }),
            _ => Err(Error::new(Code::Usage, format!("`{text}` does not name pages to watch")).with_hint(
                "give origins such as `http://localhost:3000`, `app.test`, `*.example.test:8080` or `file:`",
            )),
        }
    }

    fn matches(&self, url: &str) -> bool {
        let Pattern::Host { scheme, host, port } = self else { return url.starts_with("file:") };
        let Some(location) = Location::of(url) else { return false };
        let same_host = match host.strip_prefix("*.") {
            Some(parent) => location.host.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.')),
            None => location.host == *host,
        };
        let asked_port = port.or_else(|| default_port(scheme.as_deref()?));
        same_host
            && scheme.as_ref().is_none_or(|scheme| *scheme == location.scheme)
            && asked_port.is_none_or(|port| location.port == Some(port))
    }
}

/// The parts of an address that say who serves it.
struct Location {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Location {
    fn of(url: &str) -> Option<Location> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return None;
        }
        let authority = rest.split(['/', '?', '#']).next()?;
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = split_port(authority);
        let port = port.and_then(|port| port.parse().ok()).or_else(|| default_port(&scheme));
        Some(Location { host: host.to_ascii_lowercase(), port, scheme })
    }

    fn is_local(&self) -> bool {
        let host = self.host.trim_end_matches('.');
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost"
            || host.ends_with(".localhost")
            || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback() || address.is_unspecified())
    }
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(patterns: &[&str]) -> Origins {
        Origins::new(&patterns.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), false).unwrap()
    }

    #[test]
    fn without_patterns_this_machine_and_files_are_watched() {
        let local = named(&[]);
        for url in [
            "http://localhost:3000/a",
            "https://127.0.0.1",
            "http://127.3.2.1:9/",
            "http://[::1]:8080/x?y",
            "http://App.Localhost/",
            "http://0.0.0.0:5173/",
            "file:///home/a.html",
        ] {
            assert!(local.matches(url), "{url}");
        }
        for url in [
            "https://example.com/?http://localhost",
            "about:blank",
            "http://localhost.example.com/",
            "chrome://newtab/",
            "devtools://devtools/bundled/x?ws=localhost:1",
            "",
            "http://localhost@example.com/",
            "data:text/html,localhost",
        ] {
            assert!(!local.matches(url), "{url}");
        }
    }

    #[test]
    fn patterns_name_scheme_host_and_port_as_far_as_they_say() {
        assert!(named(&["app.test"]).matches("https://app.test:8443/x"));
        assert!(!named(&["app.test"]).matches("https://other.app.test/"));
        assert!(named(&["*.app.test:8080"]).matches("http://a.b.app.test:8080/"));
        assert!(!named(&["*.app.test:8080"]).matches("http://app.test:8080/"));
        assert!(!named(&["*.app.test:8080"]).matches("http://evilapp.test:8080/"));
        assert!(named(&["http://localhost:3000/"]).matches("http://localhost:3000/path"));
        assert!(!named(&["http://localhost:3000"]).matches("http://localhost:3001/"));
        assert!(named(&["https://app.test"]).matches("https://app.test/"));
        assert!(!named(&["https://app.test"]).matches("https://app.test:444/"));
        assert!(named(&["file:"]).matches("file:///a.html"));
        assert!(!named(&["[::1]:80"]).matches("http://[::1]:81/"));
    }

    #[test]
    fn all_pages_leaves_out_what_belongs_to_the_browser() {
        let all = Origins::new(&[], true).unwrap();
        assert!(all.matches("https://example.com/") && all.matches("data:text/html,x"));
        assert!(!all.matches("chrome://settings/") && !all.matches("devtools://x") && !all.matches("about:blank"));
    }

    #[test]
    fn an_address_that_was_asked_for_by_name_is_watched_as_well() {
        let mut local = named(&[]);
        local.also("https://app.test/login?next=1");
        assert!(local.matches("https://app.test/") && local.matches("http://localhost/"));
        assert!(!local.matches("http://app.test/"));
        local.also("about:blank");
        assert!(!local.matches("about:blank"));
    }

    #[test]
    fn a_pattern_that_names_nothing_is_an_error() {
        for text in ["", "http://", "localhost:x", "a b", "http://a/path", "*."] {
            assert_eq!(Origins::new(&[text.to_owned()], false).unwrap_err().code(), Code::Usage, "{text}");
        }
    }
}
