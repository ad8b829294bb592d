// Reports which requests end because the page's own time limit is over: to the protocol they look like those a user gave
// up. And for the end of which answers the page waits: to the protocol they look like those that nobody reads. Runs in the
// page's own world, and in its workers, before any of their scripts and takes away the function it reports through. Nothing is
// done to answers, promises or errors: only the addresses are looked at, and signals and requests are listened to.
(() => {
  const tell = globalThis.__backsightTimeouts;
  delete globalThis.__backsightTimeouts;
  const Xhr = globalThis.XMLHttpRequest;
  const WATCHED = Symbol.for("backsight.watched");
  // Service workers have no such requests.
  const Marked = typeof Xhr === "function" ? Xhr : globalThis.AbortSignal;
  if (typeof tell !== "function" || Marked[WATCHED]) return;

  // Pages may change what they find; what is used later is kept from now.
  const { apply } = Reflect;
  const listen = EventTarget.prototype.addEventListener;
  const write = JSON.stringify;
  const Address = URL;
  const Asked = globalThis.Request;
  const Signal = globalThis.AbortSignal;
  const property = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const reasonOf = property(Signal, "reason");
  const limitOf = Xhr && property(Xhr, "timeout");
  const MOST = 20; // Addresses that are remembered for a signal.

  const absolute = (url) => new Address(String(url), globalThis.document ? document.baseURI : location.href).href;
  const report = (url, limit) => tell(write({ url, limit }));
  const attempt = (work) => {
    try {
      work();
    } catch {}
  };

  const awaited = (url) => tell(write({ awaited: url }));

  const urls = new WeakMap(); // Of requests.
  const stateOf = Xhr && property(Xhr, "readyState");
  const headerOf = Xhr && Xhr.prototype.getResponseHeader;
  const opened = function (method, url) {
    if (!urls.has(this)) {
      const begins = () => {
        const isBegun = apply(stateOf, this, []) === 2;
        if (isBegun && /json/.test(apply(headerOf, this, ["content-type"]))) awaited(urls.get(this));
      };
      apply(listen, this, ["readystatechange", () => attempt(begins)]);
      apply(listen, this, ["timeout", () => attempt(() => report(urls.get(this), apply(limitOf, this, [])))]);
    }
    urls.set(this, absolute(url));
  };

  // Libraries abort with reasons of their own, most of which say what they are.
  const isTimeout = (reason) =>
    Boolean(reason) && (reason.name === "TimeoutError" || reason.code === "ETIMEDOUT" || /tim(e|ed)[ -]?out/i.test(String(reason.message || reason)));

  const signals = new WeakMap(); // What each of them may end.
  const fetched = (input, options) => {
    const isAsked = typeof Asked === "function" && input instanceof Asked;
    const signal = (options && options.signal) || (isAsked && input.signal);
    if (!(signal instanceof Signal)) return;
    let asked = signals.get(signal);
    if (!asked) {
      signals.set(signal, (asked = []));
      const over = () => attempt(() => isTimeout(apply(reasonOf, signal, [])) && asked.forEach((url) => report(url, 0)));
      apply(listen, signal, ["abort", over, { once: true }]);
    }
    asked.push(absolute(isAsked ? input.url : input));
    if (asked.length > MOST) asked.shift();
  };

  const watch = (owner, name, look) => {
    const original = owner[name];
    if (typeof original !== "function") return;
    const watched = new Proxy(original, {
      apply(target, self, values) {
        attempt(() => apply(look, self, values));
        return apply(target, self, values);
      },
    });
    const place = Object.getOwnPropertyDescriptor(owner, name);
    attempt(() => Object.defineProperty(owner, name, { ...place, value: watched }));
  };
  // Whoever asks for all of a text cannot do without its end; those who take it piece by piece may. The promise is the page's:
  // looking at what comes of it would make a rejection look handled.
  const Answer = globalThis.Response;
  const addressOf = typeof Answer === "function" && property(Answer, "url");
  const reads = function () {
    awaited(apply(addressOf, this, []));
  };
  // A document whose end does not come runs none of its scripts that wait for it.
  const SLOW_MS = 3000;
  if (globalThis.document) globalThis.setTimeout(() => attempt(() => document.readyState === "loading" && awaited(location.href)), SLOW_MS);

  if (Xhr) watch(Xhr.prototype, "open", opened);
  watch(globalThis, "fetch", fetched);
  if (addressOf) ["json", "text"].forEach((name) => watch(Answer.prototype, name, reads));
  attempt(() => Object.defineProperty(Marked, WATCHED, { value: true }));
})();
