// Reports what happens in a page to Backsight: what is said on the console, exceptions, requests, WebSockets, and what the
// user does. For browsers and webviews that nobody can attach to. What is typed never leaves the page: of a text only its
// length is told. Nothing here may be felt by the page: originals do the work, and whatever goes wrong here stays here.
(() => {
  "use strict";
  const TARGET = "{{target}}";
  if (typeof window === "undefined" || window.__backsight) return;
  Object.defineProperty(window, "__backsight", { value: true });

  const BATCH = 50; // Events that are sent at once,
  const PAUSE = 250; // or after this many milliseconds.
  const ALIVE = 15000; // A sign of life when nothing happens.
  const MOST = 2000; // Events that wait at most; more are counted.
  const BEACON = 60000; // Bytes that browsers still send for a page that goes.
  const TEXT = 4000; // Characters of a message.
  const BODY = 500; // Characters of a failed answer.
  const LONGEST_RETRY = 30000;

  // Pages may replace what they find; what is used here is kept from now.
  const nativeFetch = window.fetch;
  const beacon = navigator.sendBeacon && navigator.sendBeacon.bind(navigator);
  const later = window.setTimeout.bind(window);
  const write = JSON.stringify;
  const now = Date.now;

  const attempt = (work) => {
    try {
      return work();
    } catch (_) {
      return undefined;
    }
  };
  const cut = (text, most) => (text.length > most ? text.slice(0, most) + "…" : text);

  // --- Sending -------------------------------------------------------------------------------------------------------

  // Whoever watches this page over DevTools leaves a mark in it, and sees all of this too.
  const WATCHER = Symbol.for("backsight.watcher");
  const watcher = () => window[WATCHER];

  let queue = [];
  let dropped = 0;
  let timer = 0;
  let retry = 0;
  let sending = false;
  let lastSent = 0;

  const tell = (category, event) => {
    if (queue.length >= MOST) {
      dropped += 1;
      return;
    }
    event.category = category;
    if (event.time === undefined) event.time = now();
    event.page = cut(location.href, 2000);
    event[WATCHER] = watcher(); // Not written with the rest.
    queue.push(event);
    if (queue.length >= BATCH && !retry) later(flush, 0);
    else schedule(PAUSE);
  };

  // Tabs of one origin have one name; each says that it is closed for itself alone.
  const TAB = Math.random().toString(36).slice(2, 12);

  const schedule = (pause) => {
    if (!timer) timer = later(flush, pause);
  };

  // How many of the first events that wait have the same watcher, at most so many: a report has one.
  const alike = (most) => {
    const other = queue.slice(0, most).findIndex((event) => event[WATCHER] !== queue[0][WATCHER]);
    return other < 0 ? Math.min(most, queue.length) : other;
  };

  const report = (events, lost, ended) =>
    write({
      source: "page " + location.origin,
      tab: TAB,
      watches: ["console", "network", "websocket", "actions"],
      events,
      dropped: lost,
      watched_by: events.length ? events[0][WATCHER] : watcher(),
      ended,
    });

  const flush = () => {
    clearTimeout(timer);
    timer = 0;
    frames();
    if (sending || (!queue.length && !dropped && now() - lastSent < ALIVE)) return;
    const events = queue.splice(0, alike(500));
    const lost = dropped;
    dropped = 0;
    sending = true;
    lastSent = now();
    post(report(events, lost)).then(
      () => {
        sending = false;
        retry = 0;
        if (queue.length) schedule(PAUSE);
      },
      () => {
        // The server may be away for a moment: what there is room for waits, the rest is counted.
        const room = Math.max(0, MOST - queue.length);
        dropped += lost + Math.max(0, events.length - room);
        queue = events.slice(Math.max(0, events.length - room)).concat(queue);
        sending = false;
        retry = Math.min(LONGEST_RETRY, (retry || PAUSE) * 2);
        schedule(retry);
      }
    );
  };

  const post = (body) => {
    const options = { method: "POST", body, mode: "cors", credentials: "omit", headers: { "content-type": "text/plain" } };
    const sent = attempt(() => nativeFetch.call(window, TARGET, options));
    if (!sent) return Promise.reject(new Error("no fetch"));
    return sent.then((answer) => {
      // What is refused for good would be refused again.
      if (answer.status >= 500) throw new Error("busy");
    });
  };

  // The page goes, or only out of sight: browsers send what is small enough in its place.
  const farewell = (isGone) =>
    attempt(() => {
      settleAll();
      frames();
      while (beacon && queue.length) {
        let size = alike(100);
        let body = report(queue.slice(0, size), dropped);
        while (body.length > BEACON && size > 1) {
          size = size >> 1;
          body = report(queue.slice(0, size), dropped);
        }
        if (!beacon(TARGET, body)) return;
        queue.splice(0, size);
        dropped = 0;
      }
      if (isGone && beacon) beacon(TARGET, report([], 0, "the page was closed"));
    });

  // --- Console -------------------------------------------------------------------------------------------------------

  const preview = (value, depth) => {
    switch (typeof value) {
      case "string":
        return depth ? write(cut(value, 100)) : value;
      case "function":
        return "function " + (value.name || "");
      case "object":
        return objectPreview(value, depth);
      default:
        return String(value);
    }
  };

  const objectPreview = (value, depth) => {
    if (value === null) return "null";
    if (value instanceof Error) return String(value);
    if (typeof Element !== "undefined" && value instanceof Element) {
      return "<" + value.tagName.toLowerCase() + (value.id ? "#" + value.id : "") + ">";
    }
    const isList = Array.isArray(value);
    if (depth >= 2) return isList ? "Array(" + value.length + ")" : "Object";
    const names = Object.keys(value).slice(0, 10);
    const more = Object.keys(value).length > names.length ? ", …" : "";
    const parts = names.map((name) => {
      const shown = attempt(() => preview(value[name], depth + 1));
      return isList ? shown : name + ": " + shown;
    });
    const kind = attempt(() => value.constructor && value.constructor.name);
    const named = isList || !kind || kind === "Object" ? "" : kind + " ";
    return named + (isList ? "[" : "{") + parts.join(", ") + more + (isList ? "]" : "}");
  };

  // `%s` and the others, as consoles do it.
  const format = (values) => {
    const rest = Array.from(values);
    let text = "";
    if (typeof rest[0] === "string") {
      text = rest.shift().replace(/%[sdifoOc%]/g, (mark) => {
        if (mark === "%%") return "%";
        if (!rest.length) return mark;
        const value = rest.shift();
        if (mark === "%c") return "";
        if (mark === "%d" || mark === "%i") return String(parseInt(value, 10));
        return mark === "%f" ? String(parseFloat(value)) : preview(value, 0);
      });
    }
    return cut([text].concat(rest.map((value) => preview(value, 0))).filter((part, index) => index || part).join(" "), TEXT);
  };

  const OWN = attempt(() => document.currentScript && document.currentScript.src) || "/backsight.js";

  // `at name (file:1:2)` of Chromium, `name@file:1:2` of Firefox and Safari.
  const frame = (line) => {
    const found = /^\s*(?:at )?(?:(.*?) ?[(@])?((?:[a-z-]+:\/\/|\/)[^\s()]+?):(\d+)(?::(\d+))?\)?$/.exec(line);
    if (!found || found[2] === OWN || found[2].indexOf("/backsight.js") > 0) return null;
    return { function: (found[1] || "").replace(/^async /, ""), file: found[2], line: +found[3], column: +(found[4] || 0) };
  };

  const stackOf = (error) => {
    const lines = String((error && error.stack) || "").split("\n");
    return lines.map(frame).filter(Boolean).slice(0, 20);
  };

  // The errors behind an error: its cause, the cause of that one, or those that an AggregateError holds.
  const causesOf = (error) => {
    const found = [];
    const add = (inner) => found.push({ message: cut(preview(inner, 0), BODY), stack: stackOf(inner) });
    attempt(() => {
      for (let depth = 0; error instanceof Error && depth < 4; depth += 1) {
        if (Array.isArray(error.errors)) error.errors.slice(0, 8).forEach(add);
        error = error.cause;
        if (error !== undefined) add(error);
      }
    });
    return found;
  };

  const LEVELS = { debug: "debug", log: "info", info: "info", dir: "info", trace: "info", warn: "warning", error: "error", assert: "error" };
  let busy = false;

  const said = (name, values) => {
    // What is shown may run code of the page, which may use the console.
    if (busy) return;
    busy = true;
    attempt(() => {
      const isAssertion = name === "assert";
      if (isAssertion && values[0]) return;
      const rest = isAssertion ? Array.prototype.slice.call(values, 1) : values;
      const error = Array.prototype.find.call(rest, (value) => value instanceof Error);
      const message = (isAssertion ? "Assertion failed: " : "") + format(rest);
      const isSerious = LEVELS[name] === "error" || LEVELS[name] === "warning";
      const stack = stackOf(error || (isSerious ? new Error() : null));
      tell("console", { level: LEVELS[name], message, stack, causes: isSerious ? causesOf(error) : [] });
    });
    busy = false;
  };

  Object.keys(LEVELS).forEach((name) => {
    const original = console[name];
    if (typeof original !== "function") return;
    console[name] = new Proxy(original, {
      apply(target, self, values) {
        said(name, values);
        return Reflect.apply(target, self, values);
      },
    });
  });

  const failed = (reason, prefix, place) => {
    const isError = reason instanceof Error;
    const message = cut(isError ? String(reason) : prefix + preview(reason, 0), TEXT);
    const stack = isError ? stackOf(reason) : [];
    const causes = causesOf(reason);
    tell("console", { level: "error", speaker: "exception", message, stack: stack.length || !place ? stack : [place], causes });
  };

  window.addEventListener("unhandledrejection", (event) => attempt(() => failed(event.reason, "Unhandled rejection: ")));
  window.addEventListener(
    "error",
    (event) =>
      attempt(() => {
        const element = event.target;
        if (element && element !== window && element.tagName) return lostResource(element);
        const place = event.filename ? { file: event.filename, line: event.lineno || 0, column: event.colno || 0 } : null;
        const message = String(event.message || "").replace(/^Uncaught /, "");
        failed(event.error instanceof Error ? event.error : message, "", place);
      }),
    true
  );

  // --- Requests ------------------------------------------------------------------------------------------------------

  const absolute = (url) => attempt(() => new URL(String(url), document.baseURI).href) || String(url);
  const isOwn = (url) => url.indexOf(TARGET) === 0;
  const methodOf = (method) => String(method || "GET").toUpperCase();

  // What the page loads without asking in so many words: images, scripts, styles. Of what another origin does not want to
  // be known the browser tells no status; then nothing is said of it here.
  const loaded = (entry) => {
    const isAsked = /^(fetch|xmlhttprequest|beacon|navigation)$/.test(entry.initiatorType);
    if (isAsked || !entry.responseStatus || isOwn(entry.name) || entry.name.indexOf("/backsight.js?") > 0) return;
    const time = Math.round(performance.timeOrigin + entry.responseEnd);
    const known = { method: "GET", url: cut(entry.name, 2000), status: entry.responseStatus, kind: entry.initiatorType };
    tell("network", Object.assign({ time, duration_ms: entry.duration }, known));
  };
  attempt(() => {
    const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => attempt(() => loaded(entry))));
    observer.observe({ type: "resource", buffered: true });
  });

  // One that did not come at all; one with a status is told above.
  const lostResource = (element) => {
    const url = absolute(element.currentSrc || element.src || element.href || "");
    if (!url || isOwn(url)) return;
    const kind = element.tagName.toLowerCase();
    const time = now();
    const check = () => {
      const seen = attempt(() => performance.getEntriesByName(url).pop());
      if (seen && seen.responseStatus) return;
      tell("network", { time, method: "GET", url, status: 0, failure: "the resource could not be loaded", kind });
    };
    later(() => attempt(check), 100);
  };

  const operationOf = (body) => {
    if (typeof body !== "string" || body.length > 100000 || body.indexOf('"operationName"') < 0) return undefined;
    return attempt(() => JSON.parse(body).operationName) || undefined;
  };

  // The first characters of an answer that tells of a failure; never more than they are worth waiting for.
  const wordsOf = (answer) => {
    if (answer.status < 400 || !/json|text|xml/.test(answer.headers.get("content-type") || "")) return Promise.resolve(undefined);
    const read = answer.clone().text().then((text) => text.slice(0, BODY));
    return Promise.race([read, new Promise((done) => later(done, 1000))]).catch(() => undefined);
  };

  if (typeof nativeFetch === "function") {
    window.fetch = new Proxy(nativeFetch, {
      apply(target, self, values) {
        const asked = attempt(() => {
          const [input, options] = values;
          const isRequest = typeof Request !== "undefined" && input instanceof Request;
          const method = methodOf((options && options.method) || (isRequest && input.method));
          const operation = operationOf(options && options.body);
          return { method, url: absolute(isRequest ? input.url : input), kind: "fetch", operation };
        });
        const started = performance.now();
        const result = Reflect.apply(target, self, values);
        if (asked && !isOwn(asked.url)) attempt(() => result.then((answer) => fetched(asked, started, answer), (error) => unfetched(asked, started, error)));
        return result;
      },
    });
  }

  const fetched = (asked, started, answer) => {
    // Of an answer that the page may not look into nothing is known.
    if (answer.type === "opaque" || answer.type === "opaqueredirect") return;
    const time = now();
    const over = Object.assign({ time, status: answer.status, duration_ms: performance.now() - started }, asked);
    attempt(() => wordsOf(answer).then((words) => tell("network", Object.assign(over, { response_body: words }))));
  };

  const unfetched = (asked, started, error) => {
    const canceled = Boolean(error && error.name === "AbortError");
    const failure = canceled ? undefined : cut(String(error), BODY);
    tell("network", Object.assign({ status: 0, canceled, failure, duration_ms: performance.now() - started }, asked));
  };

  attempt(() => {
    const { open, send } = XMLHttpRequest.prototype;
    const asked = new WeakMap();
    XMLHttpRequest.prototype.open = function (method, url) {
      attempt(() => asked.set(this, { method: methodOf(method), url: absolute(url), kind: "xhr" }));
      return open.apply(this, arguments);
    };
    XMLHttpRequest.prototype.send = function (body) {
      attempt(() => {
        const known = asked.get(this);
        if (known && !isOwn(known.url)) watchXhr(this, Object.assign({ operation: operationOf(body) }, known));
      });
      return send.apply(this, arguments);
    };
  });

  const watchXhr = (request, known) => {
    const started = performance.now();
    let canceled = false;
    let failure;
    request.addEventListener("abort", () => (canceled = true));
    request.addEventListener("error", () => (failure = "network error"));
    request.addEventListener("timeout", () => (failure = "timeout"));
    const over = () =>
      attempt(() => {
        const isText = request.responseType === "" || request.responseType === "text";
        const words = request.status >= 400 && isText ? request.responseText.slice(0, BODY) : undefined;
        const duration_ms = performance.now() - started;
        tell("network", Object.assign({ status: request.status, canceled, failure, duration_ms, response_body: words }, known));
      });
    request.addEventListener("loadend", over, { once: true });
  };

  // --- WebSockets ----------------------------------------------------------------------------------------------------

  const counts = new Map(); // Frames of each socket since they were last told.
  const page = Math.random().toString(36).slice(2, 8);
  let sockets = 0;

  const frames = () => {
    counts.forEach((count, socket) => {
      counts.delete(socket);
      for (const sent of [false, true]) {
        const { number, bytes } = count[sent];
        const each = number && Math.round(bytes / number);
        if (number) tell("websocket", { id: socket.id, url: socket.url, event: "message", sent, bytes: each, count: number });
      }
    });
  };

  const counted = (socket, sent, data) => {
    const none = () => ({ number: 0, bytes: 0 });
    if (!counts.has(socket)) counts.set(socket, { false: none(), true: none() });
    const count = counts.get(socket)[sent];
    count.number += 1;
    count.bytes += typeof data === "string" ? data.length : (data && (data.byteLength || data.size)) || 0;
    schedule(PAUSE);
  };

  // Vite's own connection is known by the protocol that it asks for.
  const toolOf = (protocols) => (/(^|,)vite-(hmr|ping)(,|$)/.test(String(protocols)) ? "vite" : undefined);

  const watchSocket = (socket, protocols) => {
    const known = { id: page + "-" + ++sockets, url: socket.url, tool: toolOf(protocols) };
    let isOpen = false;
    let by; // What the page closes itself is no error.
    const happened = (event, more) => attempt(() => tell("websocket", Object.assign({ event }, known, more)));
    socket.addEventListener("open", () => ((isOpen = true), happened("open")));
    socket.addEventListener("message", (event) => attempt(() => counted(known, false, event.data)));
    socket.addEventListener("error", () => by || happened("error", { message: isOpen ? "the connection failed" : "could not connect" }));
    socket.addEventListener("close", (event) => {
      attempt(frames);
      if (by && !isOpen) return;
      happened("close", { code: event.code, reason: cut(event.reason, 200), by: by || (event.code === 1006 ? undefined : "server") });
    });
    const close = socket.close;
    socket.close = function () {
      if (socket.readyState < 2) by = "page";
      return close.apply(socket, arguments);
    };
    const send = socket.send;
    socket.send = function (data) {
      const result = send.apply(socket, arguments);
      attempt(() => counted(known, true, data));
      return result;
    };
  };

  if (typeof WebSocket === "function") {
    const Original = WebSocket;
    const watched = new Proxy(Original, {
      construct(target, values, newTarget) {
        const socket = Reflect.construct(target, values, newTarget === watched ? target : newTarget);
        attempt(() => watchSocket(socket, values[1]));
        return socket;
      },
    });
    attempt(() => Object.defineProperty(Original.prototype, "constructor", { value: watched, writable: true, configurable: true }));
    window.WebSocket = watched;
  }

  // --- What the user does --------------------------------------------------------------------------------------------

  const isField = (element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) || element.isContentEditable;

  // A test id, an id, a role with its name, or a short path.
  const describe = (element) => {
    if (!(element instanceof Element)) return "document";
    const target = element.closest("button, a, input, select, textarea, label, summary, [role], [data-testid]") || element;
    const testId = target.getAttribute("data-testid");
    if (testId) return '[data-testid="' + cut(testId, 80) + '"]';
    if (target.id) return "#" + cut(target.id, 80);
    const tag = target.tagName.toLowerCase();
    const role = target.getAttribute("role") || { button: "button", a: "link" }[tag];
    // The text of something that can be edited is what somebody typed.
    const holdsField = isField(target) || target.querySelector("input, textarea, select, [contenteditable]");
    const name = target.getAttribute("aria-label") || (holdsField ? "" : target.textContent) || "";
    if (role && name.trim()) return role + ' "' + cut(name.replace(/\s+/g, " ").trim(), 40) + '"';
    const attribute = target.getAttribute("name");
    const kind = target.classList[0];
    return tag + (attribute ? '[name="' + cut(attribute, 40) + '"]' : kind ? "." + cut(kind, 40) : "");
  };

  const did = (type, element, detail) => tell("actions", { type, target: describe(element), detail: detail || "" });

  const typing = new Map(); // Fields that were typed into and not told yet.
  const settle = (field) => {
    if (!typing.has(field)) return false;
    clearTimeout(typing.get(field));
    typing.delete(field);
    const length = String(field.isContentEditable ? field.textContent : field.value || "").length;
    did("input", field, length + " characters" + (field.type === "password" ? ", password" : ""));
    return true;
  };
  const settleAll = () => Array.from(typing.keys()).forEach((field) => attempt(() => settle(field)));

  const listen = (type, handle) => {
    const guarded = (event) => attempt(() => handle(event, (event.composedPath && event.composedPath()[0]) || event.target));
    window.addEventListener(type, guarded, { capture: true, passive: true });
  };
  listen("click", (event, element) => did("click", element));
  listen("dblclick", (event, element) => did("dblclick", element));
  listen("submit", (event, element) => did("submit", element));
  listen("input", (event, field) => {
    const isText = isField(field) && field.tagName !== "SELECT" && !/^(checkbox|radio|file|color|range)$/.test(field.type);
    if (isText && !typing.has(field)) typing.set(field, later(() => settle(field), 500));
  });
  listen("change", (event, field) => {
    if (settle(field) || /^(text|password|email|search|tel|url|number|textarea)$/.test(field.type)) return;
    did("change", field, /^(checkbox|radio)$/.test(field.type) ? (field.checked ? "checked" : "unchecked") : "");
  });
  listen("keydown", (event, element) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    settle(element);
    did("key", element, event.key);
  });

  let address = location.href;
  const moved = () => {
    if (location.href === address) return;
    address = location.href;
    tell("actions", { type: "route", target: cut(address, 2000) });
  };
  ["pushState", "replaceState"].forEach((name) => {
    const original = history[name];
    if (typeof original !== "function") return;
    history[name] = function () {
      const result = original.apply(this, arguments);
      attempt(moved);
      return result;
    };
  });
  window.addEventListener("popstate", () => attempt(moved));
  window.addEventListener("hashchange", () => attempt(moved));

  // --- From the beginning to the end ---------------------------------------------------------------------------------

  const began = attempt(() => Math.round(performance.timeOrigin)) || now();
  tell("actions", { type: "navigate", target: cut(location.href, 2000), time: began });
  window.addEventListener("load", () =>
    attempt(() => {
      const [seen] = performance.getEntriesByType("navigation");
      if (!seen || !seen.responseStatus) return;
      const duration_ms = seen.responseEnd;
      tell("network", { method: "GET", url: cut(location.href, 2000), status: seen.responseStatus, duration_ms, kind: "document" });
    })
  );
  setInterval(() => attempt(flush), ALIVE);
  window.addEventListener("pagehide", () => farewell(true));
  // A page that comes back out of the browser's memory is there again.
  window.addEventListener("pageshow", (event) => event.persisted && attempt(() => ((lastSent = 0), flush())));
  document.addEventListener("visibilitychange", () => (document.visibilityState === "hidden" ? farewell(false) : attempt(flush)));
})();
