export function sum(prices) {
  let total = 0;
  for (const price of prices) {
    total += price;
  }
  return total;
}
