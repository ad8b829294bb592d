// Walks the variables of a paused frame inside V8 and tells them as JSON, without running anything of the program. It lives
// in a realm of its own, whose built-in functions the program cannot have changed, and reads properties by their
// descriptors: an accessor is told, not called; a proxy is told, not asked.
// `native` is what only V8 itself can tell: `ofNumbers` hashes a list that holds nothing but numbers, `ofBytes` hashes bytes,
// `isBare` knows lists that have elements and nothing else, `privates` lists the names of private fields; each says null
// where it cannot tell.
(given, native) => {
  'use strict';
  // Names of the realm itself are looked up slowly, so they are looked up once.
  const { Object, Reflect, Map, Set, WeakMap, Array, Date, RegExp, ArrayBuffer, Uint8Array, Symbol, JSON, Number, String } = globalThis;
  const { Float64Array, Uint32Array, Infinity, parseInt, DataView, SharedArrayBuffer, BigInt, Boolean, Function } = globalThis;
  // The program may change what it was given.
  const types = Object.assign({}, given);
  const imul = globalThis.Math.imul, least = globalThis.Math.min, same = Object.is, isArray = Array.isArray;
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

  const data = (value, name) => {
    const found = descriptor(value, name);
    return found !== undefined && 'value' in found ? found.value : undefined;
  };

  // A variable of a module that has no value yet cannot be described.
  const slot = (value, name) => {
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
      // Reading it runs the program's `prepareStackTrace`.
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
  const add = (one, other) => [(one[0] + other[0]) | 0, (one[1] + other[1]) | 0];
  const hex = (hash) => (hash[0] >>> 0).toString(16).padStart(8, '0') + (hash[1] >>> 0).toString(16).padStart(8, '0');

  class TooMuch extends Error {}

  class Fingerprints {
    constructor(deadline) {
      this.deadline = deadline;
      this.memo = new Map();
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
      const quick = length > 64 ? this.quick(value, length) : null;
      if (quick !== null) return add(hash, quick);
      for (let at = 0; at < length; at++) {
        const found = descriptor(value, at);
        const one = found === undefined ? mix(start, 7) : 'value' in found ? part(found.value) : mix(start, 8);
        hash = mix(mix(hash, one[0]), one[1]);
      }
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
    quick(value, length) {
      const known = native.ofNumbers(value);
      if (known !== null) return [known | 0, length];
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
      let high = start[0], low = start[1];
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
      }
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
        if (node.n > TEXT) node.h = this.prints.of(value);
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
        return node;
      }
      const hash = this.prints.of(value);
      if (hash !== null) {
        node.h = hash;
        if (this.prints.partial) node.p = 1;
      }
      if (level >= this.config.depth) node.x = 1;
      else queue.push([value, node, level, path]);
      return node;
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

  // JSON in which half a character is told by its escape: outside JavaScript it is no text.
  const written = (answer) => {
    const text = JSON.stringify(answer);
    return text.includes('\\ud') ? text.replace(/(?<!\\)((?:\\\\)*)\\u(d[89a-f]..)/g, '$1\\\\u$2') : text;
  };

  // After `this` come the values of the watches, then what V8 made of the frame's scopes, innermost first.
  return (text, self, ...rest) => {
    const config = JSON.parse(text);
    const watches = rest.slice(0, config.watches.length), scopes = rest.slice(config.watches.length);
    const variables = [];
    const hidden = new Map();
    // Scopes are as they were when the program was paused; where code ran since, the last value holds what can be seen now.
    const fresh = config.fresh ? rest[rest.length - 1] : null;
    if (config.hasThis) variables.push({ n: 'this', s: 'this', value: self });
    config.scopes.forEach((kind, index) => {
      for (const name of Reflect.ownKeys(scopes[index])) {
        if (typeof name !== 'string' || config.skip.includes(name)) continue;
        const depth = hidden.get(name) || 0;
        hidden.set(name, depth + 1);
        let scope = kind === 'closure' ? 'closure' : 'local';
        if (kind === 'local' && config.arguments.includes(name)) scope = 'argument';
        const now = fresh !== null && depth === 0 ? descriptor(fresh, name) : undefined;
        const value = now === undefined ? data(scopes[index], name) : now.value;
        const variable = { n: name, s: scope, value };
        if (depth > 0) variable.d = depth;
        if (value === undefined && (config.unset[index] || []).includes(name)) variable.v = { k: 'undefined', t: '?', u: 1 };
        variables.push(variable);
      }
    });
    config.watches.forEach((name, index) => {
      const failed = config.failed[index];
      if (failed !== null) variables.push({ n: name, s: 'watch', v: { k: 'error', t: `<error: ${failed}>` } });
      else variables.push({ n: name, s: 'watch', value: data(watches, index) });
    });
    judged = new Map();
    const walk = new Walk(config);
    if (config.page) {
      const variable = variables[config.page.root];
      if (variable === undefined) return written({ error: 'there is no such variable' });
      if (variable.v !== undefined) return written({ refused: `\`${variable.n}\` has no value yet` });
      return written(walk.page(variable.value, config.page));
    }
    walk.frame(variables);
    return written({ v: variables, incomplete: walk.incomplete });
  };
}
