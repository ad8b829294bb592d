//! Answers as small pages, for clients that show them (the MCP Apps extension): each page is one HTML document that the client
//! puts into a sandbox and hands the tool's answer to. Only a client that declares the extension is told of them, so no other
//! pays for a word, and the answer itself stays as complete as it is for everybody.
//!
//! A page loads nothing and runs only the one script it came with; everything from files, pages and people is text to it.

use std::sync::OnceLock;

use backsight_core::base64;
use rmcp::model::{CacheScope, ClientCapabilities, MetaObject, ReadResourceResult, ResourceContents, Tool};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What a client declares that shows pages.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// What a page is.
const MIME: &str = "text/html;profile=mcp-app";
/// Pages change only with the version of Backsight.
const TTL_MS: u64 = 3_600_000;

/// The tools that have a page: their name, the page's address, and what it shows, which the script knows it by.
const PAGES: [Page; 3] = [
    Page { tool: "files_diff", uri: "ui://backsight/diff", shows: "diff" },
    Page { tool: "history_query", uri: "ui://backsight/history", shows: "history" },
    Page { tool: "get_changes_since", uri: "ui://backsight/changes", shows: "changes" },
];

struct Page {
    tool: &'static str,
    uri: &'static str,
    shows: &'static str,
}

/// Whether a client shows pages of our kind.
pub fn are_shown_by(capabilities: Option<&ClientCapabilities>) -> bool {
    let declared = capabilities.and_then(|capabilities| capabilities.extensions.as_ref()?.get(EXTENSION));
    let kinds = declared.and_then(|declared| declared.get("mimeTypes")).and_then(Value::as_array);
    kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == MIME))
}

/// Says of each tool that has a page where it is.
pub fn name_pages(tools: &mut [Tool]) {
    for tool in tools {
        if let Some(page) = PAGES.iter().find(|page| page.tool == tool.name) {
            let mut meta = tool.meta.take().unwrap_or_default();
            meta.0.insert("ui".to_owned(), json!({ "resourceUri": page.uri }));
            tool.meta = Some(meta);
        }
    }
}

/// The page at an address.
pub fn read(uri: &str) -> Option<ReadResourceResult> {
    let page = PAGES.iter().find(|page| page.uri == uri)?;
    let mut meta = MetaObject::default();
    // Nothing is asked for: no address to reach, no permission.
    meta.0.insert("ui".to_owned(), json!({ "prefersBorder": true }));
    let contents = ResourceContents::text(document(page), uri).with_mime_type(MIME).with_meta(meta);
    let mut result = ReadResourceResult::new(vec![contents]);
    result.ttl_ms = Some(TTL_MS);
    result.cache_scope = Some(CacheScope::Public);
    Some(result)
}

/// One document with its style and its script inside, of which the policy lets nothing else run.
fn document(page: &Page) -> String {
    const SCRIPT: &str = include_str!("apps/page.js");
    const STYLE: &str = include_str!("apps/page.css");
    static POLICY: OnceLock<String> = OnceLock::new();
    let policy = POLICY.get_or_init(|| {
        format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            hash(SCRIPT),
            hash(STYLE)
        )
    });
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Backsight</title>\n<style>{STYLE}</style>\n\
         </head>\n<body data-shows=\"{}\">\n<main id=\"page\" aria-live=\"polite\"></main>\n<script>{SCRIPT}</script>\n\
         </body>\n</html>\n",
        page.shows
    )
}

/// `sha256-...` as a policy names a script.
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(value: Value) -> ClientCapabilities {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_a_client_that_declares_our_kind_of_page_is_shown_pages() {
        let declares = |declared: Value| are_shown_by(Some(&capabilities(json!({ "extensions": declared }))));
        assert!(declares(json!({ EXTENSION: { "mimeTypes": ["text/plain", MIME] } })));
        assert!(!declares(json!({ EXTENSION: { "mimeTypes": ["text/html+mcp"] } })));
        assert!(!declares(json!({ EXTENSION: {} })));
        assert!(!declares(json!({ "com.example/ui": { "mimeTypes": [MIME] } })));
        assert!(!are_shown_by(None) && !are_shown_by(Some(&ClientCapabilities::default())));
    }

    #[test]
    fn every_page_belongs_to_a_tool_and_can_be_read() {
        for page in &PAGES {
            assert!(crate::tool::find(page.tool).is_some(), "{}", page.tool);
            let read = serde_json::to_value(read(page.uri).unwrap()).unwrap();
            assert_eq!(
                (&read["contents"][0]["uri"], &read["contents"][0]["mimeType"]),
                (&json!(page.uri), &json!(MIME))
            );
            let text = read["contents"][0]["text"].as_str().unwrap();
            // The end of the script is the one we wrote, and nothing comes from elsewhere.
            assert_eq!(text.matches("</script>").count(), 1);
            assert!(!text.contains("src=") && !text.contains("http://") && !text.contains("https://"));
        }
        assert!(read("ui://backsight/other").is_none() && read("ui://other/diff").is_none());
    }
}
