import { expect, test } from 'vitest';
import { total } from './cart';

test('half of all', () => {
  const items = [{ name: 'a', price: 8 }, { name: 'b', price: 4 }];
  const found = total(items, (sum) => sum / 2);
  expect(found).toBe(6); // FAILS
});
