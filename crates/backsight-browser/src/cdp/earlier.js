// What the page requested before anybody watched, as JSON. Runs once, changes nothing.
(() => {
  try {
    const origin = performance.timeOrigin;
    const entries = ["navigation", "resource"].flatMap((type) => performance.getEntriesByType(type));
    return JSON.stringify(entries.filter((entry) => entry.responseEnd > 0).slice(-1000).map((entry) => ({
      url: entry.name,
      kind: entry.entryType === "navigation" ? "navigation" : entry.initiatorType,
      status: entry.responseStatus || 0,
      end: origin + entry.responseEnd,
      duration: Math.max(0, entry.responseEnd - entry.startTime),
    })));
  } catch (error) {
    return "[]";
  }
})()
