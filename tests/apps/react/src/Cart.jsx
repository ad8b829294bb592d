import { useEffect, useState } from 'react';
import { items as load, order } from './api.js';

export function Cart() {
  const [items, setItems] = useState([]);
  const [number, setNumber] = useState('');
  useEffect(() => {
    load().then(setItems);
  }, []);

  async function buy() {
    const answer = await order(items);
    setNumber(answer.number);
  }

  return (
    <section>
      <ul>
        {items.map((item) => (
          <li key={item.id}>{item.name}</li>
        ))}
      </ul>
      <button id="buy" onClick={buy}>Buy</button>
      <output id="number">{number}</output>
    </section>
  );
}
