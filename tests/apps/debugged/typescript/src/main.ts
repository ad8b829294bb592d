import { total, type Item } from './cart.js';

enum Rate { None = 0, Half = 2 }

const items: Item[] = [{ name: 'a', price: 8 }, { name: 'b', price: 4 }];
const found: number = total(items, (sum) => sum / Rate.Half);
console.log('total', found);
