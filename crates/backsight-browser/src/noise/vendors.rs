//! Services that watch an app and are no part of it: analytics, session recording, error monitoring. Feature flags and
//! payments are not here, because apps behave by them.

/// Somebody's service.
pub struct Vendor {
    /// The rule's id.
    pub id: &'static str,
    /// As people call it.
    pub name: &'static str,
    /// Its hosts; their subdomains are meant too.
    pub hosts: &'static [&'static str],
}

const fn vendor(id: &'static str, name: &'static str, hosts: &'static [&'static str]) -> Vendor {
    Vendor { id, name, hosts }
}

/// All that are known.
pub const VENDORS: &[Vendor] = &[
    vendor(
        "analytics_google",
        "Google Analytics and Tag Manager",
        &["google-analytics.com", "analytics.google.com", "googletagmanager.com", "stats.g.doubleclick.net"],
    ),
    vendor("analytics_segment", "Segment", &["api.segment.io", "cdn.segment.com", "segmentapis.com"]),
    vendor("analytics_mixpanel", "Mixpanel", &["api.mixpanel.com", "api-js.mixpanel.com", "cdn.mxpnl.com"]),
    vendor("analytics_amplitude", "Amplitude", &["api.amplitude.com", "api2.amplitude.com", "cdn.amplitude.com"]),
    vendor("analytics_hotjar", "Hotjar", &["hotjar.com", "hotjar.io"]),
    vendor("analytics_fullstory", "FullStory", &["fullstory.com"]),
    vendor("analytics_heap", "Heap", &["heapanalytics.com", "heap-api.com"]),
    vendor("analytics_posthog", "PostHog", &["i.posthog.com", "app.posthog.com", "eu.posthog.com"]),
    vendor("analytics_plausible", "Plausible", &["plausible.io"]),
    vendor("analytics_matomo", "Matomo", &["matomo.cloud"]),
    vendor("analytics_clarity", "Microsoft Clarity", &["clarity.ms"]),
    vendor("analytics_linkedin", "LinkedIn Insight", &["px.ads.linkedin.com", "snap.licdn.com"]),
    vendor("analytics_tiktok", "TikTok Pixel", &["analytics.tiktok.com"]),
    vendor("analytics_cloudflare", "Cloudflare Web Analytics", &["cloudflareinsights.com"]),
    vendor("analytics_vercel", "Vercel Analytics", &["va.vercel-scripts.com", "vitals.vercel-insights.com"]),
    vendor("analytics_rudderstack", "RudderStack", &["rudderstack.com", "rudderlabs.com"]),
    vendor("monitoring_sentry", "Sentry", &["ingest.sentry.io", "ingest.us.sentry.io", "ingest.de.sentry.io"]),
    vendor(
        "monitoring_datadog",
        "Datadog",
        &["browser-intake-datadoghq.com", "browser-intake-datadoghq.eu", "browser-intake-us5-datadoghq.com"],
    ),
    vendor("monitoring_newrelic", "New Relic", &["nr-data.net", "js-agent.newrelic.com"]),
    vendor("monitoring_logrocket", "LogRocket", &["logrocket.io", "lr-ingest.io", "lr-in.com", "lr-in-prod.com"]),
    vendor("monitoring_bugsnag", "Bugsnag", &["notify.bugsnag.com", "sessions.bugsnag.com"]),
    vendor("monitoring_rollbar", "Rollbar", &["api.rollbar.com"]),
];

/// Where monitoring scripts come from that put themselves between the app and its console. What the app says through them
/// is still the app's.
pub const CONSOLE_WRAPPERS: &[&str] = &[
    "browser.sentry-cdn.com",
    "js.sentry-cdn.com",
    "datadoghq-browser-agent.com",
    "js-agent.newrelic.com",
    "cdn.logrocket.io",
    "cdn.lr-ingest.io",
    "cdn.lr-in.com",
    "cdn.lr-in-prod.com",
    "edge.fullstory.com",
    "static.hotjar.com",
    "script.hotjar.com",
    "d2wy8f7a9ursnm.cloudfront.net",
    "cdn.rollbar.com",
    "us-assets.i.posthog.com",
    "eu-assets.i.posthog.com",
];

/// A pattern for addresses on any of the hosts or below them.
pub fn on_hosts<'a>(hosts: impl IntoIterator<Item = &'a str>) -> String {
    let hosts: Vec<String> = hosts.into_iter().map(regex::escape).collect();
    format!(r"^(?:https?|wss?)://(?:[^/?#]*\.)?(?:{})(?::\d+)?(?:[/?#:]|$)", hosts.join("|"))
}
