// What the page requested before anybody watched, as JSON. Runs once, changes nothing.
(() => {
  try {
    const origin = performance.timeOrigin;
    // A page that could not be loaded is the browser's own, which says why.
    const isBroken = location.protocol === "chrome-error:";
    const code = isBroken && document.querySelector(".error-code");
    const failure = isBroken ? "net::" + ((code && code.textContent.trim()) || "ERR_FAILED") : null;
    const entries = ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type));
    return JSON.stringify(entries.filter((entry) => entry.responseEnd > 0).slice(-1000).map((entry) => ({
      url: entry.name,
      kind: entry.entryType === "navigation" ? "navigation" : entry.initiatorType,
      status: entry.responseStatus || 0,
      end: origin + entry.responseEnd,
      duration: Math.max(0, entry.responseEnd - entry.startTime),
      failure: entry.entryType === "navigation" ? failure : null,
    })));
  } catch (error) {
    return "[]";
  }
})()
