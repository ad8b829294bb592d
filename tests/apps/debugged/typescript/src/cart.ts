export interface Item {
  name: string;
  price: number;
}

type Discount = (sum: number) => number;

// The bug: the discount is taken of each item as well.
export function total(items: Item[], discount: Discount): number {
  let sum: number = 0;
  for (const item of items) {
    sum += discount(item.price); // ADDS
  }
  return discount(sum);
}
