import { sum } from './sum.js';

function load(path, done) {
  const request = new XMLHttpRequest();
  request.open('GET', path);
  request.onload = () => done(JSON.parse(request.responseText));
  request.send();
}

load('/api/prices', (prices) => {
  document.querySelector('#sum').textContent = `sum ${sum(prices)}`;
  import('./chart.js').then(({ draw }) => draw(prices));
});
