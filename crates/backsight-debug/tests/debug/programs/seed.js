'use strict';

class Customer {
  constructor(name) {
    this.name = name;
  }
}

class Order {
  constructor() {
    this.total = 7;
    this.customer = new Customer('Warsaw');
  }
}

function mark() {}

function empty() {
  mark(); // EMPTY
}

function add(left, right) {
  const total = left + right; // ADD
  return total; // RETURN
}

function work(order) {
  let retry_count = 2;
  let api_key = 'sk-live-0123456789abcdef';
  const big = Array.from({ length: 5000 }, (_, i) => i);
  let total = 0;
  {
    const temp_buffer = 'bytes';
    const value = 1;
    mark(temp_buffer, value); // BEFORE
  }
  {
    const value = 'one';
    const result = 'done';
    retry_count = 3;
    order.customer.name = 'Krakow';
    api_key = 'sk-live-fedcba9876543210';
    mark(result, value, api_key, big); // AFTER
  }
  total = add(1, 2); // CALL
  mark(total); // CALLED
  return retry_count;
}

function loop() {
  let total = 0;
  for (let i = 0; i < 30; i++) {
    total += i;
    mark(total); // LOOP
  }
  return total;
}

function raise(number) {
  throw new Error('thrown ' + number); // THROW
}

function main() {
  empty();
  work(new Order());
  loop();
  for (let number = 0; number < 3; number++) {
    try {
      raise(number);
    } catch (error) {
      mark(error);
    }
  }
  mark('the last line'); // LAST
  console.log('finished');
}

if (process.argv.includes('linger')) {
  setInterval(loop, 1);
} else {
  main();
}
