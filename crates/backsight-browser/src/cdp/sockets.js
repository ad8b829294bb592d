// Reports with what code WebSockets close, and whether the page closed them, and which event streams the page closes; the protocol does not say. Runs in the page's own world, and in its
// workers, before any of their scripts, takes away the function it reports through, and leaves a `WebSocket` that behaves like the original.
(() => {
  const tell = globalThis.__backsightSockets;
  delete globalThis.__backsightSockets;
  const Original = globalThis.WebSocket;
  const WATCHED = Symbol.for("backsight.watched");
  // After a reconnect the first watcher still reports: the browser passes its calls on to whoever listens.
  if (typeof tell !== "function" || typeof Original !== "function" || Original[WATCHED]) return;

  // Pages may change what they find; what is used later is kept from now.
  const { apply, construct, get } = Reflect;
  const listen = EventTarget.prototype.addEventListener;
  const write = JSON.stringify;
  const property = (type, name) => Object.getOwnPropertyDescriptor(type.prototype, name).get;
  const url = property(Original, "url");
  const code = property(CloseEvent, "code");
  const reason = property(CloseEvent, "reason");
  const state = property(Original, "readyState");
  const { add, has } = WeakSet.prototype;
  const byPage = new WeakSet();

  function closed(event) {
    try {
      const by_page = apply(has, byPage, [this]);
      tell(write({ url: apply(url, this, []), code: apply(code, event, []), reason: apply(reason, event, []), by_page }));
    } catch {}
  }

  // A page that closes what the other end has closed already did not close it.
  const close = new Proxy(Original.prototype.close, {
    apply(target, socket, values) {
      try {
        if (apply(state, socket, []) < 2) apply(add, byPage, [socket]);
      } catch {}
      return apply(target, socket, values);
    },
  });

  const watched = new Proxy(Original, {
    construct(target, parts, newTarget) {
      const socket = construct(target, parts, newTarget === watched ? target : newTarget);
      try {
        apply(listen, socket, ["close", closed]);
      } catch {}
      return socket;
    },
    get: (target, name) => name === WATCHED || get(target, name),
  });
  try {
    // `socket.constructor === WebSocket` holds for the original, so it must hold for this.
    Object.defineProperty(Original.prototype, "constructor", { value: watched, writable: true, configurable: true, enumerable: false });
    Object.defineProperty(Original.prototype, "close", { ...Object.getOwnPropertyDescriptor(Original.prototype, "close"), value: close });
    const place = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
    Object.defineProperty(globalThis, "WebSocket", { ...place, value: watched });
  } catch {}

  const Stream = globalThis.EventSource;
  if (typeof Stream !== "function") return;
  try {
    const address = property(Stream, "url");
    const leave = new Proxy(Stream.prototype.close, {
      apply(target, stream, values) {
        try {
          tell(write({ stream: apply(address, stream, []) }));
        } catch {}
        return apply(target, stream, values);
      },
    });
    Object.defineProperty(Stream.prototype, "close", { ...Object.getOwnPropertyDescriptor(Stream.prototype, "close"), value: leave });
  } catch {}
})();
