const total = document.querySelector('#total');

async function show() {
  const response = await fetch('/api/total');
  if (response.ok) total.textContent = `total ${(await response.json()).total}`;
}

document.querySelector('#order').addEventListener('click', async () => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ items: ['cup'] });
  const response = await fetch('/api/orders', { method: 'POST', headers, body });
  total.textContent = response.ok ? 'ordered' : 'not ordered';
});

show();
