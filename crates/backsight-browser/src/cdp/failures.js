// Reports what only the page hears: an image, film or sound whose data cannot be used, a transaction of its database that was
// undone, and an error in a worker, which the page may end before the worker has told it. Runs in the page's own world, and in its workers, before any of their scripts, takes away the
// function it reports through, and leaves a `Worker` that behaves like the original.
(() => {
  const tell = globalThis.__backsightFailures;
  delete globalThis.__backsightFailures;
  const Original = globalThis.Worker;
  const WATCHED = Symbol.for("backsight.watched");
  if (typeof tell !== "function" || typeof Original !== "function" || Original[WATCHED]) return;

  // Pages may change what they find; what is used later is kept from now.
  const { apply, construct, get } = Reflect;
  const listen = EventTarget.prototype.addEventListener;
  const write = JSON.stringify;
  const later = globalThis.setTimeout;
  const Address = URL;
  const report = (what) => {
    try {
      tell(write(what()));
    } catch {}
  };

  function failed(event) {
    // A script that could not be loaded is told by its request.
    if (typeof event.message !== "string" || !event.filename) return;
    report(() => ({ message: event.message, file: event.filename, line: event.lineno, column: event.colno }));
  }

  const watched = new Proxy(Original, {
    construct(target, parts, newTarget) {
      const worker = construct(target, parts, newTarget === watched ? target : newTarget);
      try {
        apply(listen, worker, ["error", failed]);
      } catch {}
      return worker;
    },
    get: (target, name) => name === WATCHED || get(target, name),
  });
  try {
    // `worker.constructor === Worker` holds for the original, so it must hold for this.
    Object.defineProperty(Original.prototype, "constructor", { value: watched, writable: true, configurable: true, enumerable: false });
    Object.defineProperty(globalThis, "Worker", { ...Object.getOwnPropertyDescriptor(globalThis, "Worker"), value: watched });
  } catch {}

  // A transaction that fails is undone without a word on the console. One that the page itself gives up has no error.
  const undone = (event) => {
    const error = event.target && event.target.error;
    if (!error) return;
    const name = String(event.currentTarget && event.currentTarget.name);
    report(() => ({ database: name, error: String(error) }));
  };
  try {
    const Factory = globalThis.IDBFactory.prototype;
    const place = Object.getOwnPropertyDescriptor(Factory, "open");
    const opens = new Proxy(place.value, {
      apply(target, factory, values) {
        const request = apply(target, factory, values);
        try {
          apply(listen, request, ["success", () => apply(listen, request.result, ["abort", undone])]);
        } catch {}
        return request;
      },
    });
    Object.defineProperty(Factory, "open", { ...place, value: opens });
  } catch {}

  if (typeof document !== "object") return;
  const NO_SOURCE = 3;
  // Of an image that failed, Chromium has the address as it was written.
  const absolute = (url) => new Address(url, document.baseURI).href;
  const broken = (element) => {
    const name = element.localName;
    const url = element.currentSrc || element.src;
    if (url && /^(img|video|audio|input)$/.test(name)) report(() => ({ element: name, url: absolute(url) }));
  };
  apply(listen, globalThis, [
    "error",
    (event) => {
      const element = event.target;
      if (!(element instanceof Element)) return;
      if (element.localName !== "source") return broken(element);
      // Of several sources, one that can be played is enough.
      later(() => {
        const media = element.parentElement;
        if (media && media.networkState === NO_SOURCE) report(() => ({ element: media.localName, url: element.src }));
      }, 100);
    },
    true,
  ]);
})();
