//! What an answer says about its own failure, in a few words: whatever its type, a server's error page, a line of text or
//! JSON names the cause, and often the place.

use serde_json::Value;

use crate::event::Request;

/// Where JSON answers say what went wrong, the likeliest first.
const NAMES: [&str; 8] = ["message", "error", "detail", "errors", "title", "reason", "description", "msg"];
/// How deep an explanation may lie.
const DEPTH: usize = 4;
/// Words that are looked at.
const WORDS: usize = 60;
/// Short JSON says more as it is than one field of it.
const SHORT: usize = 100;

/// The first words of a failed answer.
pub(crate) fn of_body(body: &str) -> String {
    let body = body.trim_start_matches('\u{feff}').trim();
    match body.as_bytes().first() {
        Some(b'{' | b'[') => of_json(body),
        Some(b'<') => of_html(body),
        _ => joined(body),
    }
}

/// What a GraphQL answer complains about: the first message, and how many more there are.
pub(crate) fn complaint(request: &Request) -> Option<String> {
    let path = request.url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let is_graphql = request.operation.is_some() || path.ends_with("/graphql");
    let body = request.response_body.as_deref().filter(|body| is_graphql && body.contains("\"errors\""))?;
    let answer: Value = serde_json::from_str(body).ok()?;
    let answers = answer.as_array().map_or(std::slice::from_ref(&answer), Vec::as_slice);
    let errors: Vec<&Value> = answers.iter().filter_map(|answer| answer.get("errors")?.as_array()).flatten().collect();
    let first = errors.first()?;
    let message = said(first, DEPTH).unwrap_or_else(|| first.to_string());
    Some(match errors.len() - 1 {
        0 => format!("GraphQL: {}", joined(&message)),
        more => format!("GraphQL: {} (and {more} more)", joined(&message)),
    })
}

fn of_json(body: &str) -> String {
    let whole = joined(body);
    if whole.len() <= SHORT {
        return whole;
    }
    let message = serde_json::from_str(body).ok().and_then(|value: Value| said(&value, DEPTH));
    message.map_or(whole, |message| joined(&message))
}

/// The first explanation in a value.
fn said(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Array(list) if depth > 0 => list.iter().find_map(|value| said(value, depth - 1)),
        Value::Object(object) if depth > 0 => {
            NAMES.iter().filter_map(|name| object.get(*name)).find_map(|value| said(value, depth - 1))
        }
        _ => None,
    }
}

/// The title of an error page, and what it shows first: preformatted text, else a headline, else the text itself.
fn of_html(body: &str) -> String {
    let title = element(body, "title").map(visible).unwrap_or_default();
    let shown = ["pre", "h1", "h2"].iter().filter_map(|name| element(body, name)).map(visible);
    let text = shown.into_iter().find(|text| !text.is_empty()).unwrap_or_else(|| visible(body));
    match title.is_empty() || title == "Error" || text.starts_with(&title) {
        true => text,
        false if text.is_empty() || title.contains(&text) => title,
        false => format!("{title}: {text}"),
    }
}

/// What is inside the first element of a name.
fn element<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let start = find_tag(html, name)?;
    let inside = &html[start + html[start..].find('>')? + 1..];
    let end = inside.to_ascii_lowercase().find(&format!("</{name}")).unwrap_or(inside.len());
    Some(&inside[..end])
}

fn find_tag(html: &str, name: &str) -> Option<usize> {
    let lower = html.to_ascii_lowercase();
    let open = format!("<{name}");
    let is_whole = |at: usize| !lower[at + open.len()..].starts_with(|letter: char| letter.is_ascii_alphanumeric());
    lower.match_indices(&open).map(|(at, _)| at).find(|at| is_whole(*at))
}

/// The text of HTML: without tags, scripts and styles.
fn visible(html: &str) -> String {
    let mut rest = html;
    let mut text = String::new();
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        text.push(' ');
        rest = &rest[start..];
        let hidden = ["script", "style", "title"].into_iter().find(|name| find_tag(rest, name) == Some(0));
        let end = match hidden {
            Some(name) => rest.to_ascii_lowercase().find(&format!("</{name}")).map(|at| at + 1),
            None => Some(0),
        };
        let closed = end.and_then(|from| rest[from..].find('>').map(|at| from + at + 1));
        rest = closed.map_or("", |closed| &rest[closed..]);
        if text.len() > 4_000 {
            break;
        }
    }
    text.push_str(&rest[..rest.floor_char_boundary(4_000)]);
    joined(&unescaped(&text))
}

fn unescaped(text: &str) -> String {
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&nbsp;", " ")];
    let text = named.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    text.replace("&amp;", "&")
}

/// The first words in one line.
fn joined(text: &str) -> String {
    text.split_whitespace().take(WORDS).collect::<Vec<&str>>().join(" ")
}

#[cfg(test)]
mod tests {
    use backsight_core::Timestamp;

    use super::*;

    #[track_caller]
    fn says(body: &str, expected: &str) {
        assert_eq!(of_body(body), expected);
    }

    #[test]
    fn error_pages_say_what_they_show() {
        says(
            "<!DOCTYPE html>\n<html><head><title>Error</title></head><body>\n<pre>TypeError: x &lt; y<br> &nbsp; &nbsp;at /app/routes.js:12:5</pre></body>",
            "TypeError: x < y at /app/routes.js:12:5",
        );
        says(
            "<html><title>ValueError at /cart</title><style>pre { a }</style><h1>ValueError at /cart</h1><pre class=x>no rows</pre>",
            "ValueError at /cart: no rows",
        );
        says(
            "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center>",
            "502 Bad Gateway",
        );
        says("<p>Not here<script>let secret = 1 < 2</script><b>!</b>", "Not here !");
        says("<!-- only a comment", "");
        says("<preface>no pre</preface>", "no pre");
    }

    #[test]
    fn text_and_json_say_their_first_words() {
        says("503 database is down\n  at pool", "503 database is down at pool");
        says("{\"message\": \"db down\"}", "{\"message\": \"db down\"}");
        let long =
            format!("{{\"statusCode\":500,\"trace\":\"{}\",\"error\":{{\"message\":\"db down\"}}}}", "x".repeat(200));
        says(&long, "db down");
        says("", "");
    }

    #[test]
    fn graphql_answers_say_their_first_error_also_in_a_batch() {
        let asked = |url: &str, operation: Option<&str>, body: &str| {
            let mut request = Request::new(Timestamp(0), "POST", url);
            request.operation = operation.map(str::to_owned);
            request.response_body = Some(body.to_owned());
            complaint(&request)
        };
        let one = r#"{"data":null,"errors":[{"message":"Not authorised"},{"message":"b"}]}"#;
        assert_eq!(asked("/graphql?x=1", None, one).as_deref(), Some("GraphQL: Not authorised (and 1 more)"));
        let batch = r#"[{"data":{}},{"errors":[{"message":"Second failed"}]}]"#;
        assert_eq!(asked("/api", Some("A+B"), batch).as_deref(), Some("GraphQL: Second failed"));
        assert_eq!(asked("/graphql", None, r#"{"data":{"errors":[{"message":"a field"}]}}"#), None);
        assert_eq!(asked("/graphql", None, r#"{"data":{},"errors":[]}"#), None);
    }
}
