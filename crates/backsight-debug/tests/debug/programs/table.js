'use strict';

let runs = 0;

class Customer {
  constructor(name) {
    this.name = name;
  }
  get shout() {
    runs += 1;
    return this.name.toUpperCase();
  }
  toString() {
    runs += 1;
    return this.name;
  }
}

class Order {
  constructor() {
    this.customer = new Customer('Ann');
    this.items = [{ name: 'pen', price: 10 }, { name: 'ink', price: 20 }];
    this.me = this;
    Object.defineProperty(this, 'total', { enumerable: true, get() { runs += 1; return 30; } });
  }
  toJSON() {
    runs += 1;
    return 'order';
  }
}

const trap = new Proxy({}, {
  get() { runs += 1; },
  ownKeys() { runs += 1; return []; },
  getPrototypeOf() { runs += 1; return null; },
  getOwnPropertyDescriptor() { runs += 1; },
});

class Shop {
  work(order, count, label, ...rest) {
    const x = 1;
    const ratio = 2.5;
    const flag = true;
    const nothing = null;
    const text = 'héllo wörld 世界';
    const lengthy = 'abcdefghij'.repeat(10000);
    const größe = 7;
    const empty = [];
    const nested = [[1, 2], [3]];
    const small = [1, 2, 3];
    const big = Array.from({ length: 1000000 }, (_, i) => i);
    const prices = new Map([['apple', 3], ['pear', 5]]);
    const proxy = trap;
    let number = 42;
    {
      const x = 2;
      number += x - x; // FIRST
      number += 1;
      order.customer.name = 'Bob';
      order.items[1].price = 21;
      small.push(4);
      prices.set('pear', 6);
      big[500000] = 7;
      number += x - x; // SECOND
      const later = number;
    }
    return [größe, empty, nested, number, x, ratio, flag, nothing, text, lengthy, small, big, prices, proxy, count, label, rest];
  }
}

function recurse(n) {
  if (n === 0) {
    return 0; // DEEP
  }
  return 1 + recurse(n - 1);
}

function loop() {
  let total = 0;
  let here = 0;
  for (let i = 0; i < 1000; i++) {
    total += i;
    here = total; // LOOP
  }
  return here;
}

console.log('hello from the program');
new Shop().work(new Order(), 3, 'label', 7);
recurse(5);
loop();
try {
  throw new Error('caught it'); // THROW
} catch (error) {
  console.error('ran', runs);
}
process.exit(3);
