import { useEffect, useState } from 'react';
import { stock, user } from './api.js';

export function Stock() {
  const [counts, setCounts] = useState({});
  const [name, setName] = useState('');

  function refresh() {
    stock().then((answer) => setCounts(answer ?? {}));
    user().then((answer) => setName(answer.data?.user?.name));
  }

  useEffect(refresh, []);
  return (
    <aside>
      <p id="counts">{JSON.stringify(counts)}</p>
      <p id="user">{name}</p>
      <button id="refresh" onClick={refresh}>Refresh</button>
    </aside>
  );
}
