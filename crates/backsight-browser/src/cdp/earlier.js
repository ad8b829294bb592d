// What the page and its frames requested before anybody watched, as JSON, and how much more there was. Changes nothing.
(() => {
  const MOST = 5000; // Entries that are told.
  const PATIENCE = 300; // Milliseconds.
  const USUAL = 250; // Entries a document keeps, unless its page asks for more.

  // A page that could not be loaded is the browser's own, which says why.
  const failure = () => {
    if (location.protocol !== "chrome-error:") return null;
    const code = document.querySelector(".error-code");
    return "net::" + ((code && code.textContent.trim()) || "ERR_FAILED");
  };

  // The page's clock and those of its frames, as far as they may be read; of foreign ones it is only known that they are there.
  const clocks = (frame, depth) => {
    try {
      const inner = depth < 8 ? Array.from({ length: frame.length }, (_, index) => frame[index]) : [];
      return [frame.performance, ...inner.flatMap((child) => clocks(child, depth + 1))];
    } catch {
      return [];
    }
  };

  const told = (clock, entry) => ({
    url: entry.name,
    kind: entry.entryType === "navigation" ? "navigation" : entry.initiatorType,
    status: entry.responseStatus || 0,
    end: clock.timeOrigin + entry.responseEnd,
    duration: Math.max(0, entry.responseEnd - entry.startTime),
    failure: entry.entryType === "navigation" && clock === performance ? failure() : null,
  });

  // How many entries a full timeline had no room for, where the browser counts them.
  const dropped = () =>
    new Promise((resolve) => {
      setTimeout(resolve, PATIENCE, 0);
      new PerformanceObserver((_, observer, counts) => {
        observer.disconnect();
        resolve((counts && counts.droppedEntriesCount) || 0);
      }).observe({ type: "resource", buffered: true });
    });

  try {
    const own = performance.getEntriesByType("resource").length;
    const entries = clocks(window, 0).flatMap((clock) => {
      // The document of a frame is a resource of the one around it.
      const types = clock === performance ? ["navigation", "resource"] : ["resource"];
      return types.flatMap((type) => clock.getEntriesByType(type)).map((entry) => [clock, entry]);
    });
    const over = entries.filter(([, entry]) => entry.responseEnd > 0);
    const beyond = Math.max(0, over.length - MOST);
    const write = (more) =>
      JSON.stringify({ missing: beyond + more, entries: over.slice(-MOST).map(([clock, entry]) => told(clock, entry)) });
    // One that is just full may have been too small as well.
    return own === 0 ? write(0) : dropped().then((count) => write(Math.max(count, own === USUAL ? 1 : 0)));
  } catch (error) {
    return '{"entries":[]}';
  }
})()
