// What the shop asks its server for.

export async function items() {
  const response = await fetch('/api/items');
  return response.json();
}

export async function stock() {
  const response = await fetch('/api/stock');
  if (!response.ok) return null;
  return response.json();
}

export async function user() {
  const query = 'query GetUser { user { name } }';
  return post('/api/graphql', { operationName: 'GetUser', query });
}

export async function order(items) {
  return post('/api/orders', { items: items.map((item) => item.id) });
}

async function post(path, body) {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.json();
}
