  // Hashes of whole values, by which a change deep inside is seen. Part of the one function that `values.js` begins.

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
      // Two symbols of the same name are two.
      const which = typeof value === 'symbol' ? markOf(value) : '';
      return mixText(start, typeof value + which + (typeof value === 'bigint' ? digits(value)[2] : primitive(value)));
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
      if (opaque || keeps(value)) this.partial = true;
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
      const from = madeOf(value);
      if (from !== null) {
        const own = part(from);
        hash = mix(mix(hash, own[0]), own[1]);
      }
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
