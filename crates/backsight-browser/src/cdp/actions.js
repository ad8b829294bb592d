// Reports what the user does, from an isolated world that the page cannot see into. What is typed never leaves the page:
// of a text only its length is told.
(() => {
  const tell = globalThis.__backsightActions;
  if (typeof tell !== "function" || globalThis.__backsightListening) return;
  globalThis.__backsightListening = true;

  const SETTLE = 500; // One report for each field in this many milliseconds.
  // Where a frame of the page is: a query may hold anything.
  const frame = window === window.top ? "" : location.origin + location.pathname;
  const waiting = new Map(); // Fields that were typed into, with their timers.

  const report = (kind, target, detail, trusted) => {
    tell(JSON.stringify({ kind, target: describe(target), detail, trusted, at: Date.now(), frame }));
  };

  const isField = (element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) || element.isContentEditable;

  // A test id, an id, a role with its name, or a short path.
  const describe = (element) => {
    if (!(element instanceof Element)) return "document";
    const control = element.closest("button, a, input, select, textarea, label, summary, [role], [data-testid], [contenteditable]");
    const target = control || element;
    const testId = target.getAttribute("data-testid");
    if (testId) return `[data-testid="${testId.slice(0, 80)}"]`;
    if (target.id) return `#${target.id.slice(0, 80)}`;
    const role = target.getAttribute("role") || { BUTTON: "button", A: "link" }[target.tagName];
    const name = role && nameOf(target);
    return name ? `${role} "${name}"` : path(target);
  };

  const nameOf = (element) => {
    const label = element.getAttribute("aria-label");
    // The text of something that can be edited is what somebody typed.
    const text = label || (isField(element) || element.querySelector("input, textarea, [contenteditable]") ? "" : element.textContent);
    return (text || "").replace(/\s+/g, " ").trim().slice(0, 40);
  };

  const path = (element) => {
    const steps = [];
    for (let step = element; step && steps.length < 3; step = step.parentElement) {
      if (step !== element && step.id) {
        steps.unshift(`#${step.id.slice(0, 80)}`);
        break;
      }
      steps.unshift(part(step));
    }
    return steps.join(" > ");
  };

  const part = (element) => {
    const tag = element.tagName.toLowerCase();
    const name = element.getAttribute("name");
    if (name) return `${tag}[name="${name.slice(0, 40)}"]`;
    const kind = element.classList[0];
    const alike = element.parentElement ? [...element.parentElement.children].filter((other) => other.tagName === element.tagName) : [];
    const place = alike.length > 1 ? `:nth-of-type(${alike.indexOf(element) + 1})` : "";
    return tag + (kind ? `.${kind.slice(0, 40)}` : "") + place;
  };

  const typed = (field) => {
    const length = (field.isContentEditable ? field.textContent : String(field.value ?? "")).length;
    return `${length} characters${field.type === "password" ? ", password" : ""}`;
  };

  const settle = (field) => {
    const entry = waiting.get(field);
    if (!entry) return false;
    clearTimeout(entry.timer);
    waiting.delete(field);
    report("input", field, typed(field), entry.trusted);
    return true;
  };

  const listen = (type, handle) => {
    const guarded = (event) => {
      // Nothing that goes wrong here may be seen by the page.
      try {
        handle(event, event.composedPath()[0] || event.target, event.isTrusted);
      } catch {}
    };
    window.addEventListener(type, guarded, { capture: true, passive: true });
  };

  listen("click", (event, target, trusted) => report("click", target, "", trusted));
  listen("dblclick", (event, target, trusted) => report("dblclick", target, "", trusted));
  listen("submit", (event, target, trusted) => report("submit", target, "", trusted));
  listen("input", (event, target, trusted) => {
    if (!waiting.has(target) && isField(target) && !/^(checkbox|radio|file|color|range)$/.test(target.type) && target.tagName !== "SELECT") {
      waiting.set(target, { trusted, timer: setTimeout(() => settle(target), SETTLE) });
    }
  });
  listen("change", (event, target, trusted) => {
    if (settle(target)) return;
    const state = /^(checkbox|radio)$/.test(target.type) ? (target.checked ? "checked" : "unchecked") : "";
    const text = /^(text|password|email|search|tel|url|number|textarea)$/.test(target.type);
    // A text was already told when it was typed.
    if (!text) report("change", target, state, trusted);
  });
  listen("blur", (event, target) => settle(target));
  listen("keydown", (event, target, trusted) => {
    if (event.key === "Enter" || event.key === "Escape") {
      settle(target);
      report("key", target, event.key, trusted);
    }
  });
})();
