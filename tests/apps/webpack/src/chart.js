export function draw(prices) {
  document.body.dataset.bars = '#'.repeat(prices.length);
}
