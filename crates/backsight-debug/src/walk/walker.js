// Walks the variables of a paused frame inside V8 and tells them as JSON, without running anything of the program. It lives
// in a realm of its own, whose built-in functions the program cannot have changed, and reads properties by their
// descriptors: an accessor is told, not called; a proxy is told, not asked.
// `ofNumbers` hashes a list that V8 knows to hold nothing but numbers, and says nothing of others.
(types, ofNumbers) => {
  'use strict';
  // Names of the realm itself are looked up slowly, so they are looked up once.
  const { Object, Reflect, Map, Set, WeakMap, Array, Date, RegExp, ArrayBuffer, Uint8Array, Symbol, JSON, Number, String } = globalThis;
  const { Float64Array, Uint32Array, Infinity, parseInt } = globalThis;
  const imul = globalThis.Math.imul, least = globalThis.Math.min, same = Object.is, isArray = Array.isArray;
  const TEXT = 400, KEY = 120, WHOLE_MAP = 48, FIELDS = 200, HASH_VALUE = 5000, HASH_ALL = 60000;
  const descriptor = Object.getOwnPropertyDescriptor, prototype = Object.getPrototypeOf;
  const getter = (owner, name) => descriptor(owner, name).get;
  const call = (method, self, ...rest) => Reflect.apply(method, self, rest);
  const mapSize = getter(Map.prototype, 'size'), setSize = getter(Set.prototype, 'size');
  const typed = prototype(Uint8Array.prototype);
  const typedLength = getter(typed, 'length'), source = getter(RegExp.prototype, 'source');
  const bufferLength = getter(ArrayBuffer.prototype, 'byteLength');
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

  const primitive = (value) => {
    switch (typeof value) {
      case 'string': return quote(value);
      case 'number': return number(value);
      case 'bigint': {
        const text = String(value);
        return text.length > TEXT ? text.slice(0, TEXT) + '...n' : text + 'n';
      }
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
      if (!isObject(value)) return [mixText(start, typeof value + primitive(typeof value === 'string' && value.length > TEXT ? '' : value) + (typeof value === 'string' && value.length > TEXT ? hex(mixText(start, value)) : '')), Infinity];
      const known = this.memo.get(value);
      if (known !== undefined) return [known, Infinity];
      if (this.above.has(value)) {
        const at = this.above.get(value);
        return [mix(start, this.above.size - at), at];
      }
      if (this.above.size > 100) throw new TooMuch();
      const position = this.above.size;
      this.above.set(value, position);
      const [hash, low] = this.inside(value);
      this.above.delete(value);
      if (low >= position) {
        this.memo.set(value, hash);
        return [hash, Infinity];
      }
      return [hash, low];
    }
    inside(value) {
      let hash = mixText(start, kindOf(value));
      let low = Infinity;
      const part = (value) => {
        const [hash, below] = this.node(value);
        low = least(low, below);
        return hash;
      };
      if (types.isProxy(value) || typeof value === 'function') return [mix(hash, parseInt(identity(value), 16)), low];
      if (isArray(value)) {
        const length = value.length;
        hash = mix(hash, length);
        const quick = length > 64 ? this.quick(value, length) : null;
        if (quick !== null) return [add(hash, quick), low];
        for (let at = 0; at < length; at++) {
          const found = descriptor(value, at);
          const one = found === undefined ? mix(start, 7) : 'value' in found ? part(found.value) : mix(start, 8);
          hash = mix(mix(hash, one[0]), one[1]);
        }
        return [hash, low];
      }
      if (types.isTypedArray(value)) {
        const length = call(typedLength, value);
        hash = mix(hash, length);
        for (let at = 0; at < length; at++) {
          bits[0] = Number(value[at]);
          hash = mix(mix(hash, words[0]), words[1]);
        }
        return [hash, low];
      }
      if (types.isMap(value)) {
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
      }
      let sum = [0, 0];
      for (const key of Reflect.ownKeys(value)) {
        const found = descriptor(value, key);
        if (found === undefined || key === 'stack') continue;
        const name = mixText(start, typeof key === 'symbol' ? primitive(key) : key);
        const one = 'value' in found ? part(found.value) : mix(start, 8);
        sum = add(sum, mix(mix(name, one[0]), one[1]));
      }
      return [add(hash, sum), low];
    }
    // A long list of numbers or short texts, without a descriptor for each. While a program is paused loops are slow, so
    // where V8 says that there are only numbers they are hashed as bytes.
    quick(value, length) {
      const known = ofNumbers(value);
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
        if (typeof value === 'string') {
          node.n = value.length;
          if (value.length > TEXT) node.h = this.prints.of(value);
        }
        return node;
      }
      node.i = identity(value);
      if (node.k === 'Proxy') {
        node.t = 'Proxy (not asked)';
        return node;
      }
      if (typeof value === 'function') {
        const name = data(value, 'name');
        node.t = `function ${typeof name === 'string' ? name : ''}`.trim();
        return node;
      }
      if (types.isDate(value)) {
        const time = call(Date.prototype.getTime, value);
        node.t = time === time ? call(Date.prototype.toISOString, value) : 'Invalid Date';
        delete node.i;
        return node;
      }
      if (types.isRegExp(value)) {
        node.t = `/${call(source, value)}/`;
        return node;
      }
      const length = this.length(value);
      if (length !== undefined) node.n = length;
      node.t = length === undefined ? node.k : `${node.k}[${length}]`;
      if (types.isNativeError(value)) {
        const message = data(value, 'message');
        node.t = typeof message === 'string' ? `${node.k}: ${message.slice(0, TEXT)}` : node.k;
      }
      if (length === 0 || (length === undefined && this.fields(value).length === 0)) return node;
      const hash = this.prints.of(value);
      if (hash !== null) node.h = hash;
      if (level >= this.config.depth) node.x = 1;
      else queue.push([value, node, level, path]);
      return node;
    }
    length(value) {
      if (isArray(value)) return value.length;
      if (types.isTypedArray(value)) return call(typedLength, value);
      if (types.isMap(value)) return call(mapSize, value);
      if (types.isSet(value)) return call(setSize, value);
      if (types.isArrayBuffer(value)) return call(bufferLength, value);
      return undefined;
    }
    fields(value) {
      return Reflect.ownKeys(value).filter((key) => !(key === 'stack' && types.isNativeError(value)));
    }
    expand(value, node, level, queue, path) {
      const child = (inner, label) => this.node(inner, level + 1, queue, path + label);
      const read = (key, label) => {
        const found = descriptor(value, key);
        if (found === undefined) return { k: 'empty', t: 'empty' };
        return 'value' in found ? child(found.value, label) : { k: 'accessor', t: '(not called)' };
      };
      const { head, tail } = this.config;
      const length = this.length(value);
      if (isArray(value) || types.isTypedArray(value)) {
        const chosen = [];
        for (let at = 0; at < length; at++) {
          if (length > head + tail && at === head) at = length - tail;
          chosen.push(at);
        }
        node.e = chosen.map((at) => [at, read(at, `[${at}]`)]);
        this.sampled(path, length, chosen.length, 'elements');
      } else if (types.isMap(value) || types.isSet(value)) {
        const most = length <= WHOLE_MAP ? length : head + tail;
        const isMap = types.isMap(value);
        node.m = [];
        call((isMap ? Map : Set).prototype.forEach, value, (inner, key) => {
          if (node.m.length >= most) return;
          const label = this.key(key);
          node.m.push([label, child(inner, `[${label}]`)]);
        });
        this.sampled(path, length, node.m.length, 'entries');
      } else {
        const keys = this.fields(value);
        const name = (key) => (typeof key === 'symbol' ? primitive(key) : key);
        node.f = keys.slice(0, FIELDS).map((key) => [name(key), read(key, `.${name(key)}`)]);
        this.sampled(path, keys.length, node.f.length, 'fields');
      }
    }
    // Some of what is directly inside a value: in what form, what, and how much there is in all. What is not there or would
    // have to be called is told and has no value.
    parts(value, start, count) {
      const read = (label, key) => {
        const found = descriptor(value, key);
        if (found === undefined) return { label, told: { k: 'empty', t: 'empty' } };
        return 'value' in found ? { label, value: found.value } : { label, told: { k: 'accessor', t: '(not called)' } };
      };
      if (types.isArrayBuffer(value)) value = new Uint8Array(value);
      const found = [];
      if (isArray(value) || types.isTypedArray(value)) {
        const length = this.length(value);
        for (let at = start; at < length && at < start + count; at++) found.push(read(at, at));
        return { form: 'e', found, total: length };
      }
      if (types.isMap(value) || types.isSet(value)) {
        // An iterator of this realm, which the program cannot have changed.
        const entries = call((types.isMap(value) ? Map : Set).prototype.entries, value);
        for (let at = 0; at < start + count; at++) {
          const { done, value: entry } = entries.next();
          if (done) break;
          if (at >= start) found.push({ label: this.key(entry[0]), value: entry[1] });
        }
        return { form: 'm', found, total: this.length(value) };
      }
      const keys = this.fields(value);
      for (const key of keys.slice(start, start + count)) found.push(read(typeof key === 'symbol' ? primitive(key) : key, key));
      return { form: 'f', found, total: keys.length };
    }
    // A value and some of what is directly inside it; the way to it is told by positions.
    page(value, { at, start, count }) {
      for (const position of at) {
        const [found] = this.parts(value, position, 1).found;
        if (found === undefined) return { error: `there are fewer than ${position + 1} values` };
        if (found.told !== undefined) return { refused: `\`${found.label}\` is ${found.told.k === 'accessor' ? 'computed by code' : 'empty'}` };
        value = found.value;
      }
      const node = this.node(value, 0, [], '');
      if (node.x === undefined) return { v: node, total: 0 };
      const { form, found, total } = this.parts(value, start, count);
      node[form] = found.map((part) => [part.label, part.told || this.node(part.value, 0, [], '')]);
      return { v: node, total };
    }
    key(key) {
      if (typeof key === 'string') return key.slice(0, KEY);
      return isObject(key) ? `${kindOf(key)} ${identity(key)}` : primitive(key).slice(0, KEY);
    }
    sampled(path, length, told, what) {
      if (told < length) this.incomplete.push([path, `${length} ${what}, ${told} captured`]);
    }
  }

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
    const walk = new Walk(config);
    if (config.page) {
      const variable = variables[config.page.root];
      if (variable === undefined) return JSON.stringify({ error: 'there is no such variable' });
      if (variable.v !== undefined) return JSON.stringify({ refused: `\`${variable.n}\` has no value yet` });
      return JSON.stringify(walk.page(variable.value, config.page));
    }
    walk.frame(variables);
    return JSON.stringify({ v: variables, incomplete: walk.incomplete });
  };
}
