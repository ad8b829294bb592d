// Serves the page, the bundles and the prices.
import express from 'express';

const app = express();
app.disable('etag');
// Every load gets the bundle as it is now: stamps of whole seconds would call two builds of one second the same.
const setHeaders = (response) => response.set('Cache-Control', 'no-store');
app.use('/dist', express.static('dist', { etag: false, lastModified: false, cacheControl: false, setHeaders }));

app.get('/health', (request, response) => {
  response.json({ process: process.pid });
});

app.get('/api/prices', (request, response) => {
  response.json([4, 7]);
});

app.get('/api/events', (request, response) => {
  response.status(503).send('no events today');
});

app.get('/style.css', (request, response) => {
  response.type('css').send('body { font-family: sans-serif }');
});

app.get('/', (request, response) => {
  response.send('<!doctype html><title>Prices</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css"><div id="sum"></div><script src="/dist/main.js"></script>');
});

app.listen(Number(process.env.PORT), '127.0.0.1');
