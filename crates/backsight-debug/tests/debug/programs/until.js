class Order {
  constructor() {
    this.total = 0;
    this.items = [1, 2, 3];
    this.prices = new Map([['apple', 3]]);
  }
}

function audit(order, at) {
  const note = JSON.stringify({ at });
  if (at === 3) {
    order.items[1] = 20; // GUILTY
  }
  return note.length;
}

function main() {
  const order = new Order();
  let count = 0;
  let at = 0; // START
  for (; at < 6; at++) {
    audit(order, at);
    count += 1;
    if (at === 4) {
      order.total = 7; // TOTAL
    }
  }
  console.log('counted', count); // END
  return count;
}

main();
