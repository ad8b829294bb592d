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

  class TooMuch {}

  class Fingerprints {
    constructor(deadline) {
      this.deadline = deadline;
      this.memo = new Map();
      // Hashes of runs of elements of long lists.
      this.runs = new Map();
      this.total = 0;
      this.missing = 0;
    }
    of(value) {
      if (this.total > HASH_ALL || Date.now() > this.deadline) {
        this.missing++;
        return null;
      }
      this.count = 0;
      this.above = new Map();
      this.partial = false;
      try {
        return hex(this.node(value)[0]);
      } catch (error) {
        this.missing++;
        return null;
      } finally {
        this.total += this.count;
      }
    }
    node(value) {
      if (++this.count > HASH_VALUE) throw new TooMuch();
      if (!isObject(value)) return [this.plain(value), Infinity];
      const known = this.memo.get(value);
      if (known !== undefined) {
        this.partial = this.partial || known.partial;
        return [known.hash, Infinity];
      }
      if (this.above.has(value)) {
        const at = this.above.get(value);
        return [mix(start, this.above.size - at), at];
      }
      if (this.above.size > 100) throw new TooMuch();
      const position = this.above.size;
      this.above.set(value, position);
      const outer = this.partial;
      this.partial = false;
      const [hash, low] = this.inside(value);
      const { partial } = this;
      this.partial = outer || partial;
      this.above.delete(value);
      if (low >= position) {
        this.memo.set(value, { hash, partial });
        return [hash, Infinity];
      }
      return [hash, low];
    }
    plain(value) {
      if (typeof value === 'string') return mixText(mix(start, 1), value);
      return mixText(start, typeof value + (typeof value === 'bigint' ? digits(value)[2] : primitive(value)));
    }
    inside(value) {
      let hash = mixText(start, kindOf(value));
      let low = Infinity;
      const part = (value) => {
        const [hash, below] = this.node(value);
        low = least(low, below);
        return hash;
      };
      // What cannot be read at least is the same object or is not.
      const opaque = isOpaque(value);
      if (opaque) this.partial = true;
      if (opaque || typeof value === 'function') hash = mix(hash, parseInt(identity(value), 16));
      if (types.isProxy(value)) return [hash, low];
      if (isArray(value)) hash = this.list(hash, value, part);
      else if (types.isTypedArray(value) || types.isAnyArrayBuffer(value) || types.isDataView(value)) hash = this.bytes(hash, value);
      else if (types.isMap(value)) {
        let sum = [0, 0];
        call(Map.prototype.forEach, value, (inner, key) => {
          const one = part(key), other = part(inner);
          sum = add(sum, mix(mix(mix(one, other[0]), other[1]), 3));
        });
        hash = add(mix(hash, call(mapSize, value)), sum);
      } else if (types.isSet(value)) {
        let sum = [0, 0];
        call(Set.prototype.forEach, value, (inner) => { sum = add(sum, part(inner)); });
        hash = add(mix(hash, call(setSize, value)), sum);
      } else if (types.isDate(value)) {
        bits[0] = call(Date.prototype.getTime, value);
        hash = mix(mix(hash, words[0]), words[1]);
      } else if (types.isRegExp(value)) hash = mixText(hash, pattern(value));
      else if (types.isBoxedPrimitive(value)) hash = mixText(hash, primitive(boxed(value)));
      const named = fields(value);
      if (named === null) throw new TooMuch();
      let sum = [0, 0];
      for (const [label, key, isPrivate] of named) {
        const found = held(value, key, isPrivate);
        if (found === undefined) continue;
        const one = 'value' in found ? part(found.value) : mix(start, 8);
        sum = add(sum, mix(mix(mixText(start, label), one[0]), one[1]));
      }
      return [add(hash, sum), low];
    }
    list(hash, value, part) {
      const length = value.length;
      hash = mix(hash, length);
      const size = runOf(length), runs = [];
      const quick = length > 64 ? this.quick(value, length, runs, size) : null;
      if (quick !== null) {
        this.runs.set(value, runs);
        return add(hash, quick);
      }
      runs.length = 0;
      let run = start;
      for (let at = 0; at < length; at++) {
        const found = descriptor(value, at);
        const one = found === undefined ? mix(start, 7) : 'value' in found ? part(found.value) : mix(start, 8);
        hash = mix(mix(hash, one[0]), one[1]);
        run = mix(mix(run, one[0]), one[1]);
        if ((at + 1) % size === 0 || at + 1 === length) {
          runs.push(run[0] >>> 0);
          run = start;
        }
      }
      if (length > 12) this.runs.set(value, runs);
      return hash;
    }
    bytes(hash, value) {
      const bytes = bytesOf(value);
      const length = bytes === null ? 0 : call(typedLength, bytes);
      hash = mix(hash, length);
      if (length === 0) return hash;
      if (length > BYTES) throw new TooMuch();
      const known = length > 64 ? native.ofBytes(bytes) : null;
      if (known !== null) return mix(hash, known | 0);
      if (length > LOOPED) throw new TooMuch();
      for (let at = 0; at < length; at++) hash = mix(hash, bytes[at]);
      return hash;
    }
    // A long list of numbers or short texts, without a descriptor for each. While a program is paused loops are slow, so
    // where V8 says that there are only numbers they are hashed as bytes.
    quick(value, length, runs, size) {
      const known = native.ofNumbers(value, size);
      if (known !== null) {
        let sum = start;
        for (let at = 0; at < known.length; at++) {
          runs.push(known[at] >>> 0);
          sum = mix(sum, known[at] | 0);
        }
        return sum;
      }
      if (length > 100000) throw new TooMuch();
      const step = length < 128 ? 1 : (length - (length % 64)) / 64;
      let texts = false;
      for (let at = 0; at < length; at += step) {
        const found = descriptor(value, at);
        if (found === undefined || !('value' in found)) return null;
        const kind = typeof found.value;
        if (kind === 'string') texts = true;
        else if (kind !== 'number') return null;
      }
      let high = start[0], low = start[1], total = start;
      for (let at = 0; at < length; at++) {
        const one = value[at];
        if (typeof one === 'number') {
          if ((one | 0) === one && !same(one, -0)) {
            low = imul(low ^ one, 0x01000193) ^ (low >>> 15);
          } else {
            bits[0] = one;
            low = imul(low ^ words[0], 0x01000193) ^ (low >>> 15);
            low = imul(low ^ words[1], 0x01000193) ^ (low >>> 15);
          }
          high = imul(high ^ low, 0x85ebca6b) ^ (high >>> 13);
        } else if (typeof one === 'string') {
          [high, low] = mixText([high, low], one);
        } else {
          return null;
        }
        // What came before is in it, so it differs from the first change on: a run of its own begins anew.
        if ((at + 1) % size === 0 || at + 1 === length) {
          runs.push(high >>> 0);
          total = mix(mix(total, high), low);
          high = start[0];
          low = start[1];
        }
      }
      [high, low] = total;
      return [high | 0, low | 0];
    }
  }

  class Walk {
    constructor(config) {
      this.config = config;
      this.started = Date.now();
      this.prints = new Fingerprints(config.hash === false ? 0 : this.started + least(config.ms / 2, 1000));
      this.incomplete = [];
      this.count = this.late = this.cut = 0;
    }
    frame(variables) {
      const queue = [];
      const seen = new Set();
      for (const variable of variables) {
        const value = variable.value;
        delete variable.value;
        if (variable.v === undefined) variable.v = this.node(value, 0, queue, variable.n);
      }
      for (let at = 0; at < queue.length; at++) {
        const [value, node, level, path] = queue[at];
        if (this.count >= this.config.nodes) {
          this.cut++;
          node.x = 1;
        } else if (at % 64 === 0 && Date.now() - this.started > this.config.ms) {
          this.late += queue.length - at;
          for (const [, node] of queue.slice(at)) node.x = 1;
          break;
        } else if (seen.has(value)) {
          node.s = 1;
        } else {
          seen.add(value);
          this.expand(value, node, level, queue, path);
        }
      }
      if (this.late) this.incomplete.push(['', `timed out after ${this.config.ms} ms: ${this.late} values not expanded`]);
      if (this.cut) this.incomplete.push(['', `more than ${this.config.nodes} values: ${this.cut} not expanded`]);
      if (this.prints.missing) this.incomplete.push(['', `${this.prints.missing} values were not hashed: a change deep inside them may go unseen`]);
    }
    node(value, level, queue, path) {
      this.count++;
      const node = { k: kindOf(value) };
      if (!isObject(value)) {
        node.t = primitive(value);
        if (typeof value === 'string') node.n = value.length;
        if (typeof value === 'bigint') node.n = digits(value)[1];
        if (node.n > TEXT) this.hash(value, node);
        return node;
      }
      node.i = identity(value);
      const length = this.length(value);
      if (length !== undefined) node.n = length;
      node.t = this.text(value, node.k, length);
      const opaque = isOpaque(value);
      const named = node.k === 'Proxy' ? [] : fields(value);
      if (!length && named !== null && named.length === 0) {
        if (opaque) node.x = 1;
        // Equal dates are as good as the same.
        else if (types.isDate(value)) delete node.i;
        // Another function of the same name is another one.
        else if (typeof value === 'function') this.hash(value, node);
        return node;
      }
      this.hash(value, node);
      if (level >= this.config.depth) node.x = 1;
      else queue.push([value, node, level, path]);
      return node;
    }
    // The hash of all of it; where that is not to be had, or not of all, the value is told as not known whole.
    hash(value, node) {
      const hash = this.prints.of(value);
      if (hash !== null) node.h = hash;
      if (hash === null || this.prints.partial) node.p = 1;
    }
    text(value, kind, length) {
      if (kind === 'Proxy') return 'Proxy (not asked)';
      if (typeof value === 'function') {
        const name = data(value, 'name');
        return `function ${typeof name === 'string' ? name : ''}`.trim();
      }
      if (types.isDate(value)) {
        const time = call(Date.prototype.getTime, value);
        return time === time ? call(Date.prototype.toISOString, value) : 'Invalid Date';
      }
      if (types.isRegExp(value)) return pattern(value);
      if (types.isBoxedPrimitive(value)) return `${kind}: ${primitive(boxed(value))}`;
      if (types.isNativeError(value)) {
        const message = data(value, 'message');
        return typeof message === 'string' ? `${kind}: ${message.slice(0, TEXT)}` : kind;
      }
      return length === undefined ? kind : `${kind}[${length}]`;
    }
    length(value) {
      if (isArray(value)) return value.length;
      if (types.isTypedArray(value)) return call(typedLength, value);
      if (types.isMap(value)) return call(mapSize, value);
      if (types.isSet(value)) return call(setSize, value);
      if (types.isArrayBuffer(value)) return call(bufferLength, value);
      if (types.isSharedArrayBuffer(value)) return call(sharedLength, value);
      if (types.isDataView(value)) return call(typedLength, bytesOf(value) || new Uint8Array(0));
      return undefined;
    }
    expand(value, node, level, queue, path) {
      const child = (inner, label) => this.node(inner, level + 1, queue, path + label);
      const told = (found, label) => {
        if (found === undefined) return { k: 'empty', t: 'empty' };
        return 'value' in found ? child(found.value, label) : { k: 'accessor', t: '(not called)' };
      };
      const { head, tail } = this.config;
      const length = this.length(value);
      const named = fields(value);
      if (named === null) this.incomplete.push([path, 'whether it has more than elements was not looked at']);
      const others = (named || []).slice(0, FIELDS).map(([label, key, isPrivate]) => [label, told(held(value, key, isPrivate), `.${label}`)]);
      if (named !== null) this.sampled(path, named.length, others.length, 'fields');
      if (isOpaque(value)) others.push(['[[state]]', UNREAD]);
      let form = 'f', inner = [];
      if (types.isMap(value) || types.isSet(value)) {
        const most = length <= WHOLE_MAP ? length : head + tail;
        form = 'm';
        call((types.isMap(value) ? Map : Set).prototype.forEach, value, (one, key) => {
          if (inner.length >= most) return;
          const label = this.key(key);
          inner.push([label, child(one, `[${label}]`)]);
        });
        this.sampled(path, length, inner.length, 'entries');
      } else if (length !== undefined) {
        const list = isList(value) ? value : bytesOf(value);
        form = 'e';
        for (let at = 0; at < length; at++) {
          if (length > head + tail && at === head) at = length - tail;
          inner.push([at, told(descriptor(list, at), `[${at}]`)]);
        }
        this.sampled(path, length, inner.length, 'elements');
        const runs = this.prints.runs.get(value);
        if (runs !== undefined && inner.length < length && node.h !== undefined) node.r = runs;
      }
      // What has both is told as one list of fields, whose names lead to elements and entries all the same.
      if (others.length === 0) node[form] = inner;
      else node.f = [...inner.map(([label, one]) => [`[${label}]`, one]), ...others];
    }
    // Some of what is directly inside a value: in what form, what, and how much there is in all. What is not there or would
    // have to be called is told and has no value.
    parts(value, start, count) {
      if (types.isProxy(value)) return { form: 'f', found: [], total: 0 };
      const read = (label, found) => {
        if (found === undefined) return { label, told: { k: 'empty', t: 'empty' } };
        return 'value' in found ? { label, value: found.value } : { label, told: { k: 'accessor', t: '(not called)' } };
      };
      const others = fields(value) || [];
      const unread = isOpaque(value) ? 1 : 0;
      const length = this.length(value) || 0;
      let form = 'f', found = [];
      if (types.isMap(value) || types.isSet(value)) {
        // An iterator of this realm, which the program cannot have changed.
        const entries = call((types.isMap(value) ? Map : Set).prototype.entries, value);
        form = 'm';
        for (let at = 0; at < start + count; at++) {
          const { done, value: entry } = entries.next();
          if (done) break;
          if (at >= start) found.push({ label: this.key(entry[0]), value: entry[1] });
        }
      } else if (this.length(value) !== undefined) {
        const list = isList(value) ? value : bytesOf(value);
        form = 'e';
        for (let at = start; at < length && at < start + count; at++) found.push(read(at, descriptor(list, at)));
      }
      const total = length + others.length + unread;
      if (others.length + unread === 0) return { form, found, total };
      found = found.map((part) => ({ ...part, label: `[${part.label}]` }));
      const from = start > length ? start - length : 0;
      for (const [label, key, isPrivate] of others.slice(from, from + count - found.length)) found.push(read(label, held(value, key, isPrivate)));
      if (unread && found.length < count && start < total) found.push({ label: '[[state]]', told: UNREAD });
      return { form: 'f', found, total };
    }
    // A value and some of what is directly inside it; the way to it is told by positions.
    page(value, { at, start, count }) {
      for (const position of at) {
        const [found] = this.parts(value, position, 1).found;
        if (found === undefined) return { error: `there are fewer than ${position + 1} values` };
        if (found.told !== undefined) return { refused: `\`${found.label}\` is ${{ accessor: 'computed by code', internal: 'not looked into' }[found.told.k] || 'empty'}` };
        value = found.value;
      }
      const node = this.node(value, 0, [], '');
      if (node.x === undefined) return { v: node, total: 0 };
      const { form, found, total } = this.parts(value, start, count);
      node[form] = found.map((part) => [part.label, part.told || this.node(part.value, 0, [], '')]);
      return { v: node, total };
    }
    key(key) {
      // A text that could be taken for another key is quoted; of a long one the end matters too.
      if (typeof key === 'string') {
        const shown = key.length > KEY ? `${key.slice(0, KEY)}...${hex(mixText(start, key))}` : key;
        return /^[\p{L}_$/][^\s()[\]"']*$/u.test(key) && !WORDS.includes(key) ? shown : JSON.stringify(shown);
      }
      return isObject(key) ? `${kindOf(key)} ${identity(key)}` : primitive(key).slice(0, KEY);
    }
    sampled(path, length, told, what) {
      if (told < length) this.incomplete.push([path, `${length} ${what}, ${told} captured`]);
    }
  }

  // Thrown by what follows an expression: what would run code, and what fails as it would in the program.
  class Refused {
    constructor(why) { this.why = why; }
  }
  class Failed {
    constructor(why) { this.why = why; }
  }
  const refuse = (why) => { throw new Refused(why); };
  const fail = (why) => { throw new Failed(why); };
  // What is said of whatever was thrown in here.
  const said = (thrown) => {
    if (thrown instanceof Refused || thrown instanceof Failed) return thrown.why;
    const message = isObject(thrown) && types.isNativeError(thrown) ? data(thrown, 'message') : undefined;
    return `${kindOf(thrown)}: ${typeof message === 'string' ? message.slice(0, TEXT) : 'it failed'}`;
  };
  const isNative = (value, name) => typeof value === 'function' && !types.isProxy(value)
    && call(Function.prototype.toString, value) === `function ${name}() { [native code] }`;
  const asked = (value) => { if (types.isProxy(value)) refuse('a proxy would be asked'); };

  // A property and who has it, as a descriptor tells it, up the prototypes.
  const found = (value, key) => {
    let at = value;
    for (let steps = 0; at !== null; steps++) {
      asked(at);
      if (steps > 1000) refuse('it has too many prototypes');
      const slotted = slot(at, key);
      if (slotted !== undefined) return slotted;
      // Beyond its elements a list of bytes has none.
      if (types.isTypedArray(at) && isIndex(key)) return undefined;
      at = prototype(at);
    }
    return undefined;
  };

  // What built-in accessors tell, as long as they are V8's own.
  const BUILT_IN = [
    ['size', types.isMap, mapSize], ['size', types.isSet, setSize], ['length', types.isTypedArray, typedLength],
    ['byteLength', types.isTypedArray, ofTyped[2]], ['byteOffset', types.isTypedArray, ofTyped[1]], ['byteLength', types.isArrayBuffer, bufferLength],
    ['byteLength', types.isSharedArrayBuffer, sharedLength], ['source', types.isRegExp, source],
  ];
  const shownKey = (key) => (typeof key === 'string' ? key.slice(0, KEY) : primitive(key));
  const member = (value, key) => {
    if (value === null || value === undefined) return fail(`TypeError: \`${shownKey(key)}\` of ${value} cannot be read`);
    if (typeof value === 'string' && (key === 'length' || isIndex(key))) return value[key];
    if (typeof value === 'symbol' && key === 'description') return call(description, value);
    if (!isObject(value)) return refuse(`\`${shownKey(key)}\` of a ${typeof value} is not looked up`);
    const slotted = found(value, key);
    if (slotted === undefined) return undefined;
    if ('value' in slotted) return slotted.value;
    const known = BUILT_IN.find(([name, is]) => name === key && is(value));
    if (known !== undefined && isNative(slotted.get, `get ${key}`)) return call(known[2], value);
    return refuse(`\`${shownKey(key)}\` is computed by code`);
  };
  const plainly = (value, what) => (isObject(value) ? refuse(`${what} would be converted by code`) : value);

  // Numbers without bound are kept small, texts too.
  const DIGITS = 20000, LONG = 1 << 20;
  const size = (value) => (typeof value === 'bigint' ? call(BigInt.prototype.toString, value, 16).length : typeof value === 'string' ? value.length : 1);
  const bounded = (operator, one, other) => {
    const sum = size(one) + size(other);
    if (typeof one !== 'bigint' && typeof other !== 'bigint') return operator !== '+' || sum <= LONG;
    if (operator === '**') return typeof other !== 'bigint' || (other <= 100000n && size(one) * Number(other) <= DIGITS);
    if (operator === '<<' || operator === '>>') return typeof other !== 'bigint' || (other <= 50000n && other >= -50000n && sum <= DIGITS);
    return sum <= DIGITS;
  };
  const BINARY = {
    __proto__: null,
    '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '%': (a, b) => a % b, '**': (a, b) => a ** b,
    '<<': (a, b) => a << b, '>>': (a, b) => a >> b, '>>>': (a, b) => a >>> b, '&': (a, b) => a & b, '|': (a, b) => a | b, '^': (a, b) => a ^ b,
    '<': (a, b) => a < b, '>': (a, b) => a > b, '<=': (a, b) => a <= b, '>=': (a, b) => a >= b,
  };
  const equal = (one, other) => {
    if (isObject(one) === isObject(other)) return isObject(one) ? one === other : one == other;
    const plain = isObject(one) ? other : one;
    return plain === null || plain === undefined ? false : refuse('an object would be converted by code');
  };
  const isIn = (key, value) => {
    if (!isObject(value)) return fail('TypeError: only an object has members');
    for (let at = value; at !== null; at = prototype(at)) {
      asked(at);
      if (hasOwn(at, key)) return true;
    }
    return false;
  };
  const isInstance = (value, maker) => {
    if (typeof maker !== 'function') return isObject(maker) ? refuse('what counts as an instance is computed by code') : fail('TypeError: the right side of `instanceof` is no function');
    const judge = found(maker, Symbol.hasInstance);
    if (judge === undefined || !isNative(judge.value, '[Symbol.hasInstance]')) return refuse('what counts as an instance is computed by code');
    const wanted = data(maker, 'prototype');
    if (!isObject(wanted)) return refuse('the function has no prototype of its own');
    if (!isObject(value)) return false;
    asked(value);
    for (let at = prototype(value); at !== null; at = prototype(at)) {
      if (at === wanted) return true;
      asked(at);
    }
    return false;
  };

  // Calls that are answered here, of what takes no longer than reading it.
  const OF_TEXTS = ['at', 'charAt', 'charCodeAt', 'codePointAt', 'endsWith', 'includes', 'indexOf', 'lastIndexOf', 'slice', 'startsWith', 'substring', 'toLowerCase', 'toUpperCase', 'trim', 'trimEnd', 'trimStart'];
  const CALLED = 100000, COPIED = 1000;
  const element = (list, at) => {
    const slotted = found(list, String(at));
    if (slotted === undefined) return undefined;
    return 'value' in slotted ? slotted.value : refuse(`\`[${at}]\` is computed by code`);
  };
  const whole = (value, otherwise) => {
    if (value === undefined) return otherwise;
    return typeof value === 'number' && (value | 0) === value ? value : refuse('only a whole number says where');
  };
  const ofList = (list, name, [first, second]) => {
    const { length } = list;
    const from = (at) => (at < 0 ? (length + at < 0 ? 0 : length + at) : least(at, length));
    if (name === 'at') {
      const at = whole(first, 0);
      return element(list, at < 0 ? length + at : at);
    }
    if (name === 'slice') {
      const begin = from(whole(first, 0)), end = from(whole(second, length)), part = [];
      if (end - begin > COPIED) return refuse(`it would copy more than ${COPIED} elements`);
      for (let at = begin; at < end; at++) part.push(element(list, at));
      return part;
    }
    if (length > CALLED) return refuse(`it would look through more than ${CALLED} elements`);
    for (let at = from(whole(second, 0)); at < length; at++) {
      if (name === 'indexOf' && !isIn(at, list)) continue;
      const one = element(list, at);
      if (one === first || (name === 'includes' && same(one, first))) return name === 'includes' ? true : at;
    }
    return name === 'includes' ? false : -1;
  };
  const method = (value, name, given) => {
    const unknown = () => refuse(`\`${shownKey(name)}()\` may run code, or take long`);
    if (typeof value === 'string') {
      if (!OF_TEXTS.includes(name) || value.length > LONG || !given.every((one) => ['string', 'number', 'undefined'].includes(typeof one))) return unknown();
      return call(data(String.prototype, name), value, ...given);
    }
    if (value === null || !isObject(value)) return value === null || value === undefined ? member(value, name) : unknown();
    const slotted = found(value, name);
    if (slotted === undefined) return fail(`TypeError: there is no function \`${shownKey(name)}\``);
    if (!isNative(slotted.value, name)) return unknown();
    if (types.isMap(value) && name === 'get') return call(Map.prototype.get, value, given[0]);
    if (types.isMap(value) && name === 'has') return call(Map.prototype.has, value, given[0]);
    if (types.isSet(value) && name === 'has') return call(Set.prototype.has, value, given[0]);
    if (isArray(value) && ['at', 'includes', 'indexOf', 'slice'].includes(name)) return ofList(value, name, given);
    if (name === 'hasOwnProperty') return hasOwn(value, plainly(given[0], 'the name'));
    if (isNative(value, 'Array') && name === 'isArray') return Array.isArray(given[0]);
    if (isNative(value, 'Object') && name === 'keys' && isObject(given[0])) {
      asked(given[0]);
      if (isList(given[0]) && given[0].length > CALLED) return unknown();
      return Reflect.ownKeys(given[0]).filter((key) => typeof key === 'string' && call(enumerable, given[0], key));
    }
    return unknown();
  };

  const SKIPPED = {};
  class Expression {
    constructor(config, self, scopes, fresh) {
      this.config = config;
      this.self = self;
      this.scopes = scopes;
      this.fresh = fresh;
    }
    of([kind, ...rest]) {
      return this[kind](...rest);
    }
    literal(value) { return value; }
    string(text) { return text; }
    units(units) { return String.fromCharCode(...units); }
    number(text) { return Number(text); }
    bigint(text) { return BigInt(text); }
    undefined() { return undefined; }
    this() { return this.self; }
    name(name) {
      const slotted = this.lookup(name);
      return slotted === undefined ? fail(`ReferenceError: ${name} is not defined, or not kept where the program is paused`) : slotted.value;
    }
    // The innermost variable of a name, in a box.
    lookup(name) {
      for (let at = 0; at < this.config.scopes.length; at++) {
        const kind = this.config.scopes[at], scope = this.scopes[at];
        if (kind === 'global' || kind === 'with') {
          const slotted = found(scope, name);
          if (slotted === undefined) continue;
          if ('value' in slotted) return slotted;
          if (name === 'process' && slotted.get === native.process.get) return { value: native.process.value };
          return refuse(`\`${name}\` is computed by code`);
        }
        const there = descriptor(scope, name);
        if (there === undefined) continue;
        if (!('value' in there)) return refuse(`\`${name}\` is computed by code`);
        const now = this.fresh === null ? undefined : descriptor(this.fresh, name);
        const value = now === undefined ? there.value : now.value;
        if (value === undefined && this.config.unset[at].includes(name)) fail(`ReferenceError: ${name} has no value yet`);
        return { value };
      }
      return undefined;
    }
    index(tree, key, optional) {
      const value = this.of(tree);
      if (value === SKIPPED || (optional && (value === null || value === undefined))) return SKIPPED;
      return member(value, this.key(key));
    }
    key(tree) {
      const key = plainly(this.of(tree), 'a key');
      return typeof key === 'symbol' ? key : String(bounded('+', key, '') && size(key) <= DIGITS ? key : refuse('the key is too long'));
    }
    private(tree, name, optional) {
      const value = this.of(tree);
      if (value === SKIPPED || (optional && (value === null || value === undefined))) return SKIPPED;
      if (!isObject(value) || native.privates === null) return refuse(`\`${name}\` is not looked up`);
      asked(value);
      const hidden = (fields(value) || []).find(([label, , isPrivate]) => isPrivate && label === name);
      return hidden === undefined ? fail(`TypeError: there is no \`${name}\``) : held(value, hidden[1], true).value;
    }
    call(callee, given, optional) {
      if (callee[0] !== 'index' || optional) return refuse('a call runs code');
      const value = this.of(callee[1]);
      if (value === SKIPPED || (callee[3] && (value === null || value === undefined))) return SKIPPED;
      const name = this.key(callee[2]);
      return method(value, name, given.map((one) => this.of(one)));
    }
    chain(tree) {
      const value = this.of(tree);
      return value === SKIPPED ? undefined : value;
    }
    choose(condition, first, second) { return this.of(condition) ? this.of(first) : this.of(second); }
    logic(operator, one, other) {
      const value = this.of(one);
      if (operator === '&&') return value ? this.of(other) : value;
      if (operator === '||') return value ? value : this.of(other);
      return value === null || value === undefined ? this.of(other) : value;
    }
    unary(operator, tree) {
      if (operator === 'typeof') return tree[0] === 'name' && this.lookup(tree[1]) === undefined ? 'undefined' : typeof this.of(tree);
      const value = this.of(tree);
      if (operator === '!') return !value;
      if (operator === 'void') return undefined;
      const plain = plainly(value, 'an object');
      return operator === '-' ? -plain : operator === '+' ? +plain : ~plain;
    }
    binary(operator, left, right) {
      const one = this.of(left), other = this.of(right);
      if (operator === '===') return one === other;
      if (operator === '!==') return one !== other;
      if (operator === 'instanceof') return isInstance(one, other);
      if (operator === 'in') return isIn(plainly(one, 'a key'), other);
      if (!isObject(one) && !isObject(other) && !bounded(operator, one, other)) return refuse('its value would be too large');
      if (operator === '==') return equal(one, other);
      if (operator === '!=') return !equal(one, other);
      return BINARY[operator](plainly(one, 'an object'), plainly(other, 'an object'));
    }
    template(texts, values) {
      let text = this.of(texts[0]);
      for (let at = 0; at < values.length; at++) {
        const value = plainly(this.of(values[at]), 'an object');
        if (size(value) > LONG || (typeof value === 'bigint' && size(value) > DIGITS)) refuse('its value would be too large');
        text += `${value}${this.of(texts[at + 1])}`;
        if (text.length > LONG) refuse('its value would be too large');
      }
      return text;
    }
    list(all) { return all.map((one) => this.of(one)); }
    record(all) {
      const made = {};
      for (const [key, value] of all) Object.defineProperty(made, this.of(key), { value: this.of(value), writable: true, enumerable: true, configurable: true });
      return made;
    }
  }

  // JSON in which half a character is told by its escape: outside JavaScript it is no text.
  const written = (answer) => {
    const text = JSON.stringify(answer);
    return text.includes('\\ud') ? text.replace(/(?<!\\)((?:\\\\)*)\\u(d[89a-f]..)/g, '$1\\\\u$2') : text;
  };

  const answer = (config, self, rest) => {
    const scopes = rest.slice(0, config.scopes.length);
    // Scopes are as they were when the program was paused; where code ran since, the last value holds what can be seen now.
    const fresh = config.fresh ? rest[rest.length - 1] : null;
    if (config.names) return { names: scopes.map((scope, index) => (config.live[index] ? [] : Reflect.ownKeys(scope).filter((name) => typeof name === 'string'))) };
    judged = new Map();
    const walk = new Walk(config);
    const expression = new Expression(config, self, scopes, fresh);
    if (config.page && config.page.scope !== null) return walk.page(scopes[config.at], config.page);
    if (config.value) {
      const value = expression.of(config.trees[0]);
      if (config.page) return walk.page(value, config.page);
      const told = [{ n: '', value }];
      walk.frame(told);
      return { v: told[0].v };
    }
    const variables = [];
    const hidden = new Map();
    if (config.hasThis) variables.push({ n: 'this', s: 'this', value: self });
    config.scopes.forEach((kind, index) => {
      if (!config.own[index]) return;
      for (const name of Reflect.ownKeys(scopes[index])) {
        if (typeof name !== 'string' || config.skip.includes(name)) continue;
        const depth = hidden.get(name) || 0;
        hidden.set(name, depth + 1);
        let scope = kind === 'closure' ? 'closure' : 'local';
        if (kind === 'local' && config.arguments.includes(name)) scope = 'argument';
        let value;
        let unset = false;
        try {
          const now = fresh !== null && depth === 0 ? descriptor(fresh, name) : undefined;
          value = now === undefined ? data(scopes[index], name) : now.value;
        } catch {
          // What a module has not come to yet: V8 refuses to read it.
          unset = true;
        }
        const variable = { n: name, s: scope, value };
        if (depth > 0) variable.d = depth;
        if (unset || value === undefined && config.unset[index].includes(name)) variable.v = { k: 'undefined', t: '?', u: 1 };
        variables.push(variable);
      }
    });
    config.watches.forEach((name, index) => {
      let failed = config.failed[index], value;
      try {
        if (failed === null) value = expression.of(config.trees[index]);
      } catch (thrown) {
        failed = said(thrown);
      }
      if (failed !== null) variables.push({ n: name, s: 'watch', v: { k: 'error', t: `<error: ${failed}>` } });
      else variables.push({ n: name, s: 'watch', value });
    });
    if (config.page) {
      const variable = variables[config.page.root];
      if (variable === undefined) return { error: 'there is no such variable' };
      if (variable.v !== undefined) return { refused: `\`${variable.n}\` has no value yet` };
      return walk.page(variable.value, config.page);
    }
    // What a function keeps of the one it was made in cannot be read from here. Those of the module keep what is told anyway.
    const keeps = (value) => {
      if (typeof value !== 'function' || types.isProxy(value)) return false;
      const text = call(Function.prototype.toString, value);
      return !text.endsWith('{ [native code] }') && !text.startsWith('class');
    };
    const closures = config.isModule ? [] : variables.filter(({ s, value }) => s !== 'closure' && s !== 'this' && keeps(value));
    walk.frame(variables);
    for (const { v } of closures) v.p = 1;
    return { v: variables, incomplete: walk.incomplete };
  };

  // After `this` comes what V8 made of the frame's scopes, innermost first. What fails is told here: V8 would describe it by
  // running the program's `prepareStackTrace`.
  return (text, self, ...rest) => {
    try {
      return written(answer(JSON.parse(text), self, rest));
    } catch (thrown) {
      return written(thrown instanceof Refused ? { refused: thrown.why } : { error: said(thrown) });
    }
  };
}
