import { useEffect, useState } from 'react';

export function Live() {
  const [price, setPrice] = useState('');
  useEffect(() => {
    const socket = new WebSocket(__LIVE__);
    socket.onmessage = (message) => setPrice(message.data);
    return () => socket.close();
  }, []);
  return <p id="price">{price}</p>;
}
