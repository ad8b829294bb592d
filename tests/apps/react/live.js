// The shop's prices, as they change.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const server = createServer((request, response) => {
  response.end(JSON.stringify({ process: process.pid }));
});
new WebSocketServer({ server, path: '/live' }).on('connection', (socket) => {
  socket.send('4.50');
});
server.listen(Number(process.env.LIVE_PORT), '127.0.0.1');
