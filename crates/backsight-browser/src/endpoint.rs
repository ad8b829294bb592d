//! What makes two requests requests to the same endpoint: method, origin and path with its ids replaced; never the query.
//! Any text is taken for an address: garbage gives an odd endpoint, not an error.

mod path;

use std::borrow::Cow;

use crate::bounds;
use crate::fingerprint::one_slot;
pub(crate) use path::push_path;

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// In capitals; `?` when it is no method.
    pub method: String,
    /// `https://host:port`; empty when the address has none.
    pub origin: String,
    /// The path with `{id}` in place of ids, and the operation of a GraphQL request after `#`.
    pub path: String,
}

impl Endpoint {
    /// The endpoint of a request.
    pub fn of(method: &str, url: &str, operation: Option<&str>) -> Endpoint {
        let address = Address::of(url);
        let mut path = String::with_capacity(address.path.len() + 16);
        address.push_path(&mut path);
        if let Some(name) = operation.filter(|name| !name.is_empty()) {
            path.push('#');
            path.extend(name.chars().take(LONGEST_OPERATION));
        }
        let origin = bounds::prefix(&address.origin(), LONGEST_ORIGIN).to_owned();
        Endpoint { method: bounds::method(method), origin, path }
    }

    /// The path, after the origin unless that is `home`.
    pub fn shown(&self, home: Option<&str>) -> String {
        match home == Some(self.origin.as_str()) {
            true => self.path.clone(),
            false => format!("{}{}", self.origin, self.path),
        }
    }
}

/// A host's name has at most 253 letters.
const LONGEST_ORIGIN: usize = 300;

/// Names of operations are short; what is longer is somebody's query.
const LONGEST_OPERATION: usize = 100;

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}{}", self.method, self.origin, self.path)
    }
}

/// `https://host:port` of an address as it is written there, without a default port. Empty when it has none, or when a user
/// name stands between scheme and host so that no part of the text is the origin: [`normal_origin`] knows that too.
pub fn origin(url: &str) -> &str {
    let address = Address::of(url);
    match address.prefix.len() + address.host.len() == address.written {
        true => url.trim_start().get(..address.written).unwrap_or_default(),
        false => "",
    }
}

/// `https://host:port` of an address: lower case, without user name and default port. What [`Endpoint::origin`] holds.
pub fn normal_origin(url: &str) -> Cow<'_, str> {
    Address::of(url).origin()
}

/// An address with its ids replaced and without its query, for showing and comparing sockets.
pub fn template(url: &str) -> String {
    let address = Address::of(url);
    let mut out = address.origin().into_owned();
    address.push_path(&mut out);
    out
}

/// For display only: which of the endpoints' `paths` differ in exactly one segment, ten or more of them.
pub fn families(paths: &[&str]) -> Vec<Vec<usize>> {
    const ENOUGH: usize = 10;
    one_slot::families(paths, one_slot::Tokens::Segments, ENOUGH)
}

/// An address taken apart; the parts are as written.
struct Address<'a> {
    /// `https://`, `//`, or empty.
    prefix: &'a str,
    /// With its port unless that is the scheme's own; without the user.
    host: &'a str,
    /// Where the host ends in the text, if that starts with the prefix and the host.
    written: usize,
    /// From the path on, without query and fragment; the whole of an address without `//`.
    path: &'a str,
    /// The scheme of an address without `//`, such as `data`.
    opaque: Option<&'a str>,
}

impl<'a> Address<'a> {
    fn of(url: &'a str) -> Self {
        let url = url.trim();
        let scheme = scheme(url);
        let after = scheme.map_or(url, |scheme| &url[scheme.len() + 1..]);
        match after.strip_prefix("//") {
            Some(rest) if !scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("data")) => {
                Address::with_authority(url, scheme, rest)
            }
            _ => Address { prefix: "", host: "", written: 0, path: without_query(url), opaque: scheme },
        }
    }

    fn with_authority(url: &'a str, scheme: Option<&'a str>, rest: &'a str) -> Self {
        let prefix = &url[..url.len() - rest.len()];
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let host = authority.rfind('@').map_or(authority, |at| &authority[at + 1..]);
        let user = authority.len() - host.len();
        let host = without_default_port(scheme.unwrap_or_default(), host);
        Address { prefix, host, written: prefix.len() + user + host.len(), path: without_query(path), opaque: None }
    }

    fn origin(&self) -> Cow<'a, str> {
        if self.prefix.is_empty() || (self.host.is_empty() && !self.prefix.eq_ignore_ascii_case("file://")) {
            return Cow::Borrowed("");
        }
        let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<String>();
        Cow::Owned(format!("{}{}", lower(self.prefix), lower(self.host)))
    }

    fn push_path(&self, out: &mut String) {
        match self.opaque {
            Some(scheme) => push_opaque(out, scheme, self.path),
            None if self.path.is_empty() && !self.host.is_empty() => out.push('/'),
            None => push_path(out, self.path),
        }
    }
}

/// `data:image/png`, `blob:https://host`, `about:blank`.
fn push_opaque(out: &mut String, scheme: &str, whole: &str) {
    const LONGEST: usize = 100;
    let rest = &whole[scheme.len() + 1..];
    let scheme = scheme.to_ascii_lowercase();
    out.push_str(&scheme);
    out.push(':');
    match scheme.as_str() {
        "data" => {
            let media = rest.split([';', ',']).next().unwrap_or_default();
            out.extend(media.chars().take(LONGEST).map(|letter| letter.to_ascii_lowercase()));
        }
        "blob" => out.push_str(&normal_origin(rest)),
        "about" | "node" | "webpack" => out.extend(rest.chars().take(LONGEST)),
        // Scripts and mail addresses are not places; what they say is somebody's business.
        _ => {}
    }
}

/// The scheme before the first colon, if that is one.
fn scheme(url: &str) -> Option<&str> {
    const LONGEST: usize = 30;
    let bytes = url.as_bytes();
    let length = bytes
        .iter()
        .take(LONGEST + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        .count();
    let named = length >= 2 && bytes[0].is_ascii_alphabetic() && bytes.get(length) == Some(&b':');
    // `localhost:3000/path` has a host and no scheme.
    let port = bytes.get(length + 1).is_some_and(u8::is_ascii_digit);
    (named && !port).then(|| &url[..length])
}

fn without_query(path: &str) -> &str {
    path.split(['?', '#']).next().unwrap_or_default()
}

fn without_default_port<'a>(scheme: &str, host: &'a str) -> &'a str {
    let is = |name: &str| scheme.eq_ignore_ascii_case(name);
    let default = match () {
        () if is("http") || is("ws") => ":80",
        () if is("https") || is("wss") => ":443",
        () => ":",
    };
    host.strip_suffix(default).or_else(|| host.strip_suffix(':')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str) -> (String, String) {
        let endpoint = Endpoint::of("get", url, None);
        (endpoint.origin, endpoint.path)
    }

    #[track_caller]
    fn is(url: &str, origin: &str, path: &str) {
        assert_eq!(endpoint(url), (origin.to_owned(), path.to_owned()), "{url}");
    }

    #[test]
    fn query_parameters_are_no_part_of_an_endpoint() {
        // Scenario 17 of the seed.
        assert_eq!(Endpoint::of("GET", "/api/users?page=1", None), Endpoint::of("GET", "/api/users?page=2", None));
        is("http://localhost:3000/api/users?page=1#top", "http://localhost:3000", "/api/users");
        is("https://app.test?x=1", "https://app.test", "/");
        is("https://app.test", "https://app.test", "/");
    }

    #[test]
    fn ids_in_paths_are_replaced_and_words_are_not() {
        is("/users/42", "", "/users/{id}");
        is("/users/3f2504e0-4f89-41d3-9a0c-0305e82c3301/posts/7", "", "/users/{id}/posts/{id}");
        is("/commit/a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "", "/commit/{id}");
        is("/api/v2/oauth2/settings", "", "/api/v2/oauth2/settings");
        is("/items/507f1f77bcf86cd799439011.json", "", "/items/{id}.json");
        is("/pay/cus_NffrFeUfNV2Hib", "", "/pay/cus_{id}");
        is("/days/2024-01-02", "", "/days/{id}");
        is("/batch/1,2,3", "", "/batch/{id}");
        is("/who/jane.doe@example.com/x", "", "/who/{id}/x");
        is("/files/iso-8859-1/step-1", "", "/files/iso-{id}-1/step-1");
    }

    #[test]
    fn bundler_hashes_are_replaced() {
        is("/assets/main.3f2a1b9c.js", "", "/assets/main.{h}.js");
        is("/assets/index-BxY12abc.js", "", "/assets/index-{h}.js");
        is("/_next/static/chunks/app-4f3c2b1a0d9e8f7a.js", "", "/_next/static/chunks/app-{h}.js");
        is("/src/App.tsx?t=1700000000000", "", "/src/App.tsx");
        is("/assets/vendor.min.js", "", "/assets/vendor.min.js");
    }

    #[test]
    fn origins_are_normal_and_carry_no_user() {
        is("HTTPS://User:pass@EXAMPLE.com:443/A", "https://example.com", "/A");
        is("http://example.com:80/", "http://example.com", "/");
        is("ws://[::1]:8080/live", "ws://[::1]:8080", "/live");
        is("https://[REDACTED:userinfo:ab12]@host.test/x", "https://host.test", "/x");
        is("//cdn.test/lib.js", "//cdn.test", "/lib.js");
        assert_eq!(origin("https://example.com:443/a"), "https://example.com");
        assert_eq!(origin("https://example.com:8443/a"), "https://example.com:8443");
        assert_eq!(origin("https://u@example.com/a"), "");
        assert_eq!(normal_origin("https://u@example.com/a"), "https://example.com");
        assert_eq!(origin("/only/a/path"), "");
    }

    #[test]
    fn addresses_that_are_no_places_are_named_by_their_kind() {
        is("data:image/PNG;base64,iVBORw0KGgo", "", "data:image/png");
        is("data:,hello", "", "data:");
        is("blob:https://app.test/3f2504e0-4f89-41d3-9a0c-0305e82c3301", "", "blob:https://app.test");
        is("about:blank", "", "about:blank");
        is("javascript:alert(document.cookie)", "", "javascript:");
        is("chrome-extension://abcdefghijklmnop/content.js", "chrome-extension://abcdefghijklmnop", "/content.js");
    }

    #[test]
    fn garbage_gives_an_endpoint() {
        is("", "", "");
        is("   ", "", "");
        is("http://", "", "");
        is("http:///path", "", "/path");
        is("ünïcödé/päth/42", "", "ünïcödé/päth/{id}");
        is("https://müller.test/straße", "https://müller.test", "/straße");
        is("localhost:3000/a", "", "localhost:3000/a");
        is("/a%2fb/%7Euser/%zz", "", "/a%2Fb/~user/%zz");
        is("/a;jsessionid=1234/b", "", "/a/b");
        assert!(Endpoint::of("GET", &"/x".repeat(10_000), None).path.len() < 2_000);
    }

    #[test]
    fn the_operation_of_a_graphql_request_is_part_of_it() {
        assert_eq!(Endpoint::of("post", "/graphql", Some("GetUser")).path, "/graphql#GetUser");
        assert_eq!(Endpoint::of("post", "/graphql", Some("")).path, "/graphql");
        assert_eq!(Endpoint::of(" post ", "/graphql", None).method, "POST");
    }

    #[test]
    fn sockets_keep_their_scheme() {
        assert_eq!(template("ws://localhost:3000/rooms/42?token=x"), "ws://localhost:3000/rooms/{id}");
        assert_eq!(template("wss://host.test"), "wss://host.test/");
    }

    #[test]
    fn the_origin_is_shown_only_when_it_is_not_home() {
        let endpoint = Endpoint::of("GET", "http://localhost:3000/api", None);
        assert_eq!(endpoint.shown(Some("http://localhost:3000")), "/api");
        assert_eq!(endpoint.shown(Some("http://localhost:3001")), "http://localhost:3000/api");
        assert_eq!(endpoint.shown(None), "http://localhost:3000/api");
    }

    #[test]
    fn ten_paths_that_differ_in_one_segment_are_a_family() {
        let slugs: Vec<String> = (b'a'..=b'l').map(|letter| format!("/blog/{}-post", char::from(letter))).collect();
        let mut paths: Vec<&str> = slugs.iter().map(String::as_str).collect();
        paths.push("/about");
        paths.push("/blog/x/comments");
        assert_eq!(families(&paths), vec![(0..12).collect::<Vec<_>>()]);
        assert!(families(&paths[..9]).is_empty());
        let tops: Vec<String> = (b'a'..=b'l').map(|letter| format!("/{}", char::from(letter))).collect();
        assert!(families(&tops.iter().map(String::as_str).collect::<Vec<_>>()).is_empty(), "nothing in common");
    }
}
