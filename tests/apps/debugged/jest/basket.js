// The bug: removing the last article of a kind leaves it with a count of zero.
class Basket {
  #counts = new Map();

  add(name, count = 1) {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  remove(name) {
    this.#counts.set(name, this.#counts.get(name) - 1); // LEAVES
  }

  get kinds() {
    return this.#counts.size;
  }
}

module.exports = { Basket };
