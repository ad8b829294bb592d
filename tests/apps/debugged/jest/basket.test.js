const { Basket } = require('./basket');

test('what is taken out is gone', () => {
  const basket = new Basket();
  basket.add('apple');
  basket.add('pear', 2);
  basket.remove('apple');
  const kinds = basket.kinds;
  expect(kinds).toBe(1); // FAILS
});
