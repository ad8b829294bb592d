// Stock over HTTP. The bugs: a sale takes one too many, and a missing article is not looked for before it is used.
const express = require('express');

const stock = new Map([['apple', { count: 5, sold: [] }], ['pear', { count: 2, sold: [] }]]);
const app = express();

async function sell(name, count) {
  const article = stock.get(name);
  await null;
  article.count -= count + 1; // TAKES
  article.sold.push({ count, at: 'today' }); // NOTES
  return article.count;
}

app.post('/sell/:name/:count', async (request, response) => {
  const left = await sell(request.params.name, Number(request.params.count));
  response.json({ left });
});

app.listen(Number(process.env.PORT), '127.0.0.1');
