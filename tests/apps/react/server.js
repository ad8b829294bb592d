// The shop's API.
import express from 'express';

const app = express();
const goods = [{ id: 1, name: 'cup' }, { id: 2, name: 'plate' }];
app.use(express.json());

app.get('/health', (request, response) => {
  response.json({ process: process.pid });
});

app.get('/api/items', (request, response) => {
  response.json(goods);
});

app.get('/api/stock', (request, response) => {
  response.json({ cup: 3, plate: 5 });
});

app.post('/api/graphql', (request, response) => {
  response.json({ data: { user: { name: 'Ada' } } });
});

app.post('/api/orders', (request, response) => {
  response.json({ ok: true, number: 7 });
});

app.listen(Number(process.env.API_PORT), '127.0.0.1');
