const rows = [3];
postMessage(rows.length);
