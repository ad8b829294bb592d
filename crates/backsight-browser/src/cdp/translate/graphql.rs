//! Which operation a GraphQL request asks for: one address serves many, and which of them fails matters.

use serde::Deserialize;

/// A batch may name many operations; these are enough to tell batches apart.
const MAX_BATCH: usize = 5;

/// Bytes of a body that is read for it; browsers are asked for less.
const MAX_BODY: usize = 1024 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Operation {
    operation_name: Option<String>,
    query: Option<String>,
}

/// The operation's name, if this is a GraphQL request and says so.
pub fn operation(url: &str, body: Option<&str>) -> Option<String> {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let at_graphql = address.trim_end_matches('/').ends_with("/graphql");
    if let Some(body) = body.filter(|body| body.len() <= MAX_BODY).map(str::trim_start) {
        let named = match body.as_bytes().first() {
            Some(b'{') => serde_json::from_str::<Operation>(body).ok().and_then(|operation| operation.name(at_graphql)),
            Some(b'[') if at_graphql => batch(body),
            _ => None,
        };
        if named.is_some() {
            return named;
        }
    }
    let name = query.split('&').find_map(|pair| pair.strip_prefix("operationName=")).filter(|_| at_graphql)?;
    Some(name.to_owned()).filter(|name| is_name(name))
}

fn batch(body: &str) -> Option<String> {
    let operations: Vec<Operation> = serde_json::from_str(body).ok()?;
    let names: Vec<String> = operations.iter().take(MAX_BATCH).filter_map(|operation| operation.name(true)).collect();
    (!names.is_empty()).then(|| names.join("+"))
}

impl Operation {
    fn name(&self, at_graphql: bool) -> Option<String> {
        let document = self.query.as_deref().filter(|query| at_graphql || is_document(query));
        if document.is_none() && !at_graphql {
            return None;
        }
        let own = self.operation_name.clone().filter(|name| is_name(name));
        own.or_else(|| document.and_then(first_operation))
    }
}

/// Many bodies have a field `query`; a GraphQL document looks like one.
fn is_document(query: &str) -> bool {
    let query = query.trim_start();
    query.contains('{')
        && ["{", "query", "mutation", "subscription", "fragment"].iter().any(|start| query.starts_with(start))
}

/// `mutation AddUser(...)` is called `AddUser`.
fn first_operation(document: &str) -> Option<String> {
    let kinds = ["query", "mutation", "subscription"];
    let mut words = document
        .split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .filter(|word| !word.is_empty());
    let head = document.split('{').next()?;
    words.by_ref().find(|word| kinds.contains(word))?;
    let name = words.next()?;
    (head.contains(name) && is_name(name)).then(|| name.to_owned())
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= 100 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_named_by_body_document_and_query() {
        let at = "http://a/graphql";
        assert_eq!(operation(at, Some(r#"{"operationName":"User","query":"query User{a}"}"#)).as_deref(), Some("User"));
        assert_eq!(operation(at, Some(r#"{"query":"mutation AddUser($a: Int) { add }"}"#)).as_deref(), Some("AddUser"));
        assert_eq!(operation(at, Some(r#"[{"operationName":"A"},{"operationName":"B"}]"#)).as_deref(), Some("A+B"));
        assert_eq!(operation("http://a/graphql?operationName=Q&x=1", None).as_deref(), Some("Q"));
        assert_eq!(
            operation("http://a/api", Some(r#"{"operationName":"Z","query":"query Z { a }"}"#)).as_deref(),
            Some("Z")
        );
    }

    #[test]
    fn what_is_no_graphql_has_no_operation() {
        assert_eq!(operation("http://a/search", Some(r#"{"query":"red shoes"}"#)), None);
        assert_eq!(operation("http://a/graphql", Some(r#"{"query":"{ a }"}"#)), None);
        assert_eq!(operation("http://a/graphql", Some("not json")), None);
        assert_eq!(operation("http://a/x?operationName=Q", None), None);
    }
}
