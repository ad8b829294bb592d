// Walks the variables of a paused frame inside V8 and tells them as JSON, without running anything of the program. It lives
// in a realm of its own, whose built-in functions the program cannot have changed, and reads properties by their
// descriptors: an accessor is told, not called; a proxy is told, not asked. Expressions come as trees and are followed here, by
// the same rules.
// `native` is what only V8 itself can tell, and `process`, whose global is computed: `ofNumbers` hashes a list that holds nothing but numbers, `ofBytes` hashes bytes,
// `isBare` knows lists that have elements and nothing else, `privates` lists the names of private fields; each says null
// where it cannot tell.
(given, native) => {
  'use strict';
  // Names of the realm itself are looked up slowly, so they are looked up once.
  const { Object, Reflect, Map, Set, WeakMap, Array, Date, RegExp, ArrayBuffer, Uint8Array, Symbol, JSON, Number, String } = globalThis;
  const { Float64Array, Uint32Array, Infinity, parseInt, DataView, SharedArrayBuffer, BigInt, Boolean, Function } = globalThis;
  // The program may change what it was given.
  const types = Object.assign({}, given);
  const imul = globalThis.Math.imul, least = globalThis.Math.min, same = Object.is;
  // A proxy of a list is a proxy: its length is its trap's to say.
  const isArray = (value) => Array.isArray(value) && !types.isProxy(value);
  const TEXT = 400, KEY = 120, WHOLE_MAP = 48, FIELDS = 200, HASH_VALUE = 5000, HASH_ALL = 60000;
  // Of longer lists the names of what is not an element are asked for only where V8 does not know that there are none.
  const LISTED = 1000, LISTED_AT_MOST = 100000, BYTES = 1 << 26, LOOPED = 1 << 18;
  const descriptor = Object.getOwnPropertyDescriptor, prototype = Object.getPrototypeOf;
  const getter = (owner, name) => descriptor(owner, name).get;
  const call = (method, self, ...rest) => Reflect.apply(method, self, rest);
  const mapSize = getter(Map.prototype, 'size'), setSize = getter(Set.prototype, 'size');
  const typed = prototype(Uint8Array.prototype);
  const typedLength = getter(typed, 'length'), source = getter(RegExp.prototype, 'source');
  const bufferLength = getter(ArrayBuffer.prototype, 'byteLength'), sharedLength = getter(SharedArrayBuffer.prototype, 'byteLength');
  const viewGetters = (owner) => ['buffer', 'byteOffset', 'byteLength'].map((name) => getter(owner, name));
  const ofTyped = viewGetters(typed), ofView = viewGetters(DataView.prototype);
  const description = getter(Symbol.prototype, 'description');
  const FLAGS = [['d', 'hasIndices'], ['g', 'global'], ['i', 'ignoreCase'], ['m', 'multiline'], ['s', 'dotAll'], ['u', 'unicode'], ['v', 'unicodeSets'], ['y', 'sticky']]
    .filter(([, name]) => descriptor(RegExp.prototype, name) !== undefined).map(([letter, name]) => [letter, getter(RegExp.prototype, name)]);
  // Built-in classes whose whole state is read here; that of others is V8's or Node's own.
  const READ = new Set(['Object', 'Function', 'Array', 'Map', 'Set', 'Date', 'RegExp', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Number', 'String', 'Boolean', 'Symbol', 'BigInt']);
  const OF_FUNCTIONS = ['length', 'name', 'prototype', 'arguments', 'caller'];
  const WORDS = ['true', 'false', 'null', 'undefined', 'NaN', 'Infinity'];
  const UNREAD = { k: 'internal', t: '(not looked into)', x: 1 };
  const numbers = new WeakMap();
  let last = 0;
  const bits = new Float64Array(1), words = new Uint32Array(bits.buffer);

  const identity = (value) => {
    let number = numbers.get(value);
    if (number === undefined) {
      number = ++last;
      numbers.set(value, number);
    }
    return number.toString(16);
  };

  // Symbols that the program shares by name cannot be held, and need not be.
  const markOf = (value) => {
    try {
      return identity(value);
    } catch {
      return '';
    }
  };

  const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

  const enumerable = Object.prototype.propertyIsEnumerable;
  const hasOwn = (value, name) => call(Object.prototype.hasOwnProperty, value, name);
  const data = (value, name) => {
    const found = descriptor(value, name);
    return found !== undefined && 'value' in found ? found.value : undefined;
  };

  // Reading a trace runs the program's `prepareStackTrace`. Errors have one, and whatever `captureStackTrace` was called with,
  // where it is told from other fields by not being enumerable.
  const isTrace = (value, name) => name === 'stack' && (types.isNativeError(value) || (hasOwn(value, name) && !call(enumerable, value, name)));
  const TRACE = { get: undefined, set: undefined };

  // A variable of a module that has no value yet cannot be described.
  const slot = (value, name) => {
    if (isTrace(value, name)) return hasOwn(value, name) ? TRACE : undefined;
    try {
      return descriptor(value, name);
    } catch {
      return undefined;
    }
  };

  // Whether a value has a state that cannot be read: a proxy, a promise, a handle of the operating system. Prototypes that
  // were judged are remembered while one question is answered.
  let judged = new Map();
  const isOpaque = (value) => {
    if (types.isProxy(value)) return true;
    if (typeof value === 'function') return native.privates === null && call(Function.prototype.toString, value).includes('static #');
    if (types.isExternal(value) || types.isModuleNamespaceObject(value)) return types.isExternal(value);
    const first = prototype(value);
    if (first === null) return false;
    let verdict = judged.get(first);
    if (verdict === undefined) {
      verdict = isUnread(first);
      judged.set(first, verdict);
    }
    return verdict;
  };
  // What a function keeps of the ones it was made in, or is bound to, cannot be read from here. `settled` are those that keep
  // nothing but what is told anyway.
  let settled = new Set();
  const keeps = (value) => {
    if (typeof value !== 'function' || types.isProxy(value) || settled.has(value)) return false;
    const text = call(Function.prototype.toString, value), name = data(value, 'name');
    if (text.endsWith('{ [native code] }')) return typeof name === 'string' && name.startsWith('bound ');
    return !text.startsWith('class');
  };
  // Whether a function is one that its module declares, by its text: such a one keeps the variables of the module.
  const isDeclared = (name, value, source) => {
    const text = call(Function.prototype.toString, value);
    const begins = ['', `const ${name} = `, `let ${name} = `, `var ${name} = `];
    return ['', 'export ', 'export default '].some((word) => begins.some((begin) => source.startsWith(word + begin + text) || source.includes(`\n${word}${begin}${text}`)));
  };
  const isUnread = (first) => {
    let at = first;
    for (let steps = 0; at !== null && steps < 100; steps++) {
      if (types.isProxy(at)) return true;
      const maker = data(at, 'constructor'), tag = data(at, Symbol.toStringTag);
      if (typeof maker === 'function' && !types.isProxy(maker)) {
        const text = call(Function.prototype.toString, maker), name = data(maker, 'name');
        const known = typeof name === 'string' && (READ.has(name) || name.endsWith('Error') || name.endsWith('Array'));
        if (!known && text.endsWith('{ [native code] }')) return true;
        if (native.privates === null && text.includes('#')) return true;
      } else if (typeof tag === 'string' && (tag.endsWith('Iterator') || tag.endsWith('Generator'))) {
        return true;
      }
      at = prototype(at);
    }
    return false;
  };

  const isList = (value) => isArray(value) || types.isTypedArray(value);
  const isIndex = (key) => typeof key === 'string' && key === String(key >>> 0);

  // The names of what a value has besides elements or entries, with what they are read by; null where there may be some that
  // would take too long to find.
  const fields = (value) => {
    let keys;
    if (isList(value)) {
      const length = isArray(value) ? value.length : call(typedLength, value);
      if (length > LISTED && native.isBare(value)) keys = [];
      else if (length > LISTED_AT_MOST) return types.isTypedArray(value) ? [] : null;
      else {
        const all = Reflect.ownKeys(value);
        let from = all.length;
        while (from > 0 && !isIndex(all[from - 1])) from--;
        keys = all.slice(from).filter((key) => key !== 'length');
      }
    } else {
      keys = Reflect.ownKeys(value);
      if (typeof value === 'function') keys = keys.filter((key) => !OF_FUNCTIONS.includes(key));
      // What is never read need not be told of every error.
      else if (types.isNativeError(value)) keys = keys.filter((key) => key !== 'stack');
    }
    const found = keys.map((key) => [typeof key === 'symbol' ? primitive(key) : key, key, false]);
    const hidden = native.privates === null ? [] : native.privates(value);
    for (let at = 0; at < hidden.length; at++) {
      // Others stand for private methods and hold what no program may get hold of.
      const name = call(description, hidden[at]);
      if (typeof name === 'string' && name.startsWith('#')) found.push([name, hidden[at], true]);
    }
    return found;
  };
  // What stands in a field, as a descriptor tells it.
  const held = (value, key, isPrivate) => (isPrivate ? { value: value[key] } : slot(value, key));

  // The bytes of whatever has some; null if it cannot have any now.
  const bytesOf = (value) => {
    try {
      if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
      const [buffer, offset, length] = (types.isDataView(value) ? ofView : ofTyped).map((one) => call(one, value));
      return new Uint8Array(buffer, offset, length);
    } catch {
      return null;
    }
  };

  // What an object was made of with `Object.create`: it has what that has. Classes are told by their constructors.
  const madeOf = (value) => {
    if (types.isProxy(value) || isOpaque(value)) return null;
    const from = prototype(value);
    return from === null || types.isProxy(from) || hasOwn(from, 'constructor') ? null : from;
  };

  const kindOf = (value) => {
    if (value === null) return 'null';
    if (!isObject(value)) return typeof value;
    if (types.isProxy(value)) return 'Proxy';
    if (typeof value === 'function') return 'function';
    let at = value;
    for (let steps = 0; steps < 20; steps++) {
      at = prototype(at);
      if (at === null || types.isProxy(at)) return 'Object';
      const maker = data(at, 'constructor');
      if (typeof maker === 'function' && !types.isProxy(maker)) {
        const name = data(maker, 'name');
        if (typeof name === 'string' && name !== '') return name;
      }
    }
    return 'Object';
  };

  const number = (value) => (same(value, -0) ? '-0' : String(value));

  const quote = (text) => {
    const shown = text.length > TEXT ? text.slice(0, TEXT) : text;
    return JSON.stringify(shown) + (text.length > TEXT ? '...' : '');
  };

  // How a number is shown, how long that would be if it is cut, and all of it in base 16, in which even the longest are
  // written in no time.
  const digits = (value) => {
    const hexadecimal = call(BigInt.prototype.toString, value, 16);
    const long = hexadecimal.length > 10 * TEXT;
    const text = long ? `base 16: ${hexadecimal}` : String(value);
    return text.length > TEXT ? [text.slice(0, TEXT) + '...n', text.length, hexadecimal] : [text + 'n', undefined, hexadecimal];
  };

  const boxed = (value) => {
    const kinds = [['Number', Number], ['String', String], ['Boolean', Boolean], ['Symbol', Symbol], ['BigInt', BigInt]];
    const [, kind] = kinds.find(([name]) => types[`is${name}Object`](value));
    return call(kind.prototype.valueOf, value);
  };

  const pattern = (value) => `/${call(source, value)}/${FLAGS.filter(([, one]) => call(one, value)).map(([letter]) => letter).join('')}`;

  const primitive = (value) => {
    switch (typeof value) {
      case 'string': return quote(value);
      case 'number': return number(value);
      case 'bigint': return digits(value)[0];
      case 'symbol': return Symbol.prototype.toString.call(value);
      default: return String(value);
    }
  };

  // A hash of a whole value in two halves; the same content has the same hash.
  const mix = (hash, word) => {
    let [high, low] = hash;
    low = imul(low ^ word, 0x01000193) ^ (low >>> 15);
    high = imul(high ^ word ^ low, 0x85ebca6b) ^ (high >>> 13);
    return [high | 0, low | 0];
  };
  const start = [0x2545f491, 0x811c9dc5 | 0];
  const mixText = (hash, text) => {
    let [high, low] = mix(hash, text.length);
    for (let at = 0; at < text.length; at++) {
      const word = text.charCodeAt(at);
      low = imul(low ^ word, 0x01000193) ^ (low >>> 15);
      high = imul(high ^ word ^ low, 0x85ebca6b) ^ (high >>> 13);
    }
    return [high | 0, low | 0];
  };
  // How many elements are hashed at once, so that there are not too many hashes.
  const runOf = (length) => (length <= 1024 ? 1 : (length - 1 - ((length - 1) % 1024)) / 1024 + 1);
  const add = (one, other) => [(one[0] + other[0]) | 0, (one[1] + other[1]) | 0];
  const hex = (hash) => (hash[0] >>> 0).toString(16).padStart(8, '0') + (hash[1] >>> 0).toString(16).padStart(8, '0');
