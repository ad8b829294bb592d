import { Cart } from './Cart.jsx';
import { Live } from './Live.jsx';
import { Stock } from './Stock.jsx';

export function App() {
  return (
    <main>
      <img src="/logo.svg" alt="" width="20" height="20" />
      <h1>Shop</h1>
      <Cart />
      <Stock />
      <Live />
    </main>
  );
}
