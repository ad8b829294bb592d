/** Starts what runs beside the page. */
export function start() {
  new AudioContext().audioWorklet.addModule('/sound.js');
  new SharedWorker('/shared.js').port.start();
  const worker = new Worker('/outer.js');
  worker.onerror = () => worker.terminate();
  keep([{ id: 1 }, { id: 2 }]);
}

/** Keeps what was seen. */
function keep(seen) {
  const opened = indexedDB.open('seen', 1);
  opened.onupgradeneeded = () => opened.result.createObjectStore('rows', { keyPath: 'id' });
  opened.onsuccess = () => {
    const rows = opened.result.transaction('rows', 'readwrite').objectStore('rows');
    rows.clear();
    for (const row of seen) rows.add(row);
  };
}
