'use strict';

// Values whose state is not in plain fields. Everything that could run while they are looked at counts.
let runs = 0;
const trap = new Proxy(function () {}, {
  get() { runs += 1; },
  has() { runs += 1; },
  ownKeys() { runs += 1; return []; },
  getPrototypeOf() { runs += 1; return null; },
  getOwnPropertyDescriptor() { runs += 1; },
});

class Secretive {
  #field = 1;
  get #computed() { runs += 1; return this.#field; }
  #method() { runs += 1; return this.#computed; }
  advance() { this.#field += 1; }
  all() { return this.#method(); }
}

class Counted {
  static made = 0;
  static #hidden = 0;
  static get computed() { runs += 1; return 1; }
  static make() { Counted.made += 1; Counted.#hidden += 1; }
}

class Cache extends Map {
  hits = 0;
  get size() { runs += 1; return 7; }
  get [Symbol.toStringTag]() { runs += 1; return 'Cache'; }
  [Symbol.toPrimitive]() { runs += 1; return 'cache'; }
  forEach() { runs += 1; }
  entries() { runs += 1; }
}

class Ticket extends RegExp {
  get flags() { runs += 1; return ''; }
  get global() { runs += 1; return false; }
  get source() { runs += 1; return ''; }
  toString() { runs += 1; return ''; }
}

class Listed extends Array {
  static get [Symbol.species]() { runs += 1; return Array; }
}

Error.prepareStackTrace = () => { runs += 1; return 'told'; };

function work() {
  const keys = new Map([[1, 'number'], ['1', 'text'], [true, 'b'], ['true', 'tb'], [null, 'n'], ['null', 'tn'], ['plain', 'p']]);
  const members = new Set([1, '1']);
  const counter = Object.assign(function counter() {}, { count: 0 });
  const marked = Object.assign([1, 2, 3], { extra: 1 });
  const listed = Object.assign(Listed.from([1, 2]), { extra: 1 });
  let huge = 2n ** 5000n;
  let enormous = 2n ** 100000n;
  const holdsHuge = { inner: { huge } };
  const secretive = new Secretive();
  const pattern = /a/gi;
  const ticket = new Ticket('b', 'y');
  const Static = Counted;
  const view = new DataView(new ArrayBuffer(4));
  const bytes = new ArrayBuffer(400);
  const shared = new SharedArrayBuffer(4);
  const precise = new BigInt64Array([2n ** 60n]);
  const address = new URL('http://example.test/');
  const cache = new Cache([['a', 1]]);
  const dated = Object.assign(new Date(0), { extra: 1 });
  const machine = { deep: { deeper: { stack: [1] } } };
  const promise = new Promise(() => {});
  const weak = new WeakMap();
  const iterator = [1, 2, 3][Symbol.iterator]();
  const generator = (function* () { yield 1; yield 2; })();
  const holds = { deep: { deeper: { promise } } };
  const holdsBoth = { deep: { deeper: { promise, number: 1 } } };
  const proxy = trap;
  const behindProxy = Object.create(trap);
  const failure = new Error('failed');
  const key = {};
  const halves = { text: '\ud800x', ['\udfff\ud800']: new Map([['\ud800', 1], ['\ud801', 2]]) };
  runs += 0; // FIRST
  keys.delete(1);
  members.delete(1);
  counter.count = 1;
  marked.extra = 2;
  listed.extra = 2;
  huge += 1n;
  enormous += 1n;
  holdsHuge.inner.huge += 1n;
  secretive.advance();
  pattern.lastIndex = 2;
  ticket.lastIndex = 1;
  Counted.make();
  view.setInt8(0, 7);
  new Uint8Array(bytes)[200] = 1;
  new Uint8Array(shared)[1] = 1;
  precise[0] += 1n;
  address.pathname = '/other';
  cache.hits += 1;
  dated.extra = 2;
  machine.deep.deeper.stack.push(2);
  weak.set(key, 1);
  iterator.next();
  generator.next();
  holdsBoth.deep.deeper.number = 2;
  runs += 0; // SECOND
  return [keys, members, counter, marked, listed, huge, enormous, secretive, Static, holds, proxy, behindProxy, failure, halves];
}

work();
console.log('ran', runs);
