// Reports which requests end because the page's own time limit is over: to the protocol they look like those a user gave
// up. Runs in the page's own world, and in its workers, before any of their scripts and takes away the function it reports through. Nothing is
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

  const urls = new WeakMap(); // Of requests.
  const opened = function (method, url) {
    if (!urls.has(this)) {
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
  if (Xhr) watch(Xhr.prototype, "open", opened);
  watch(globalThis, "fetch", fetched);
  attempt(() => Object.defineProperty(Marked, WATCHED, { value: true }));
})();
