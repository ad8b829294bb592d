  // Expressions that only read, followed without running anything. Part of the one function that `values.js` begins.

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
