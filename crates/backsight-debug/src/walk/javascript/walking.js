  // Walks values and tells what is there. Part of the one function that `values.js` begins.

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
        if (node.n > TEXT || typeof value === 'symbol') this.hash(value, node);
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
        else if (typeof value === 'function' || madeOf(value) !== null) this.hash(value, node);
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
