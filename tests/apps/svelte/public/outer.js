const totals = [1, 2];
new Worker('/inner.js').onmessage = ({ data }) => {
  postMessage(totals.length + data);
};
