const prices = { cup: 3 };
onconnect = ({ ports: [port] }) => {
  port.postMessage(prices.cup);
};
