class LoadError extends Error {}

function load() {
  try {
    throw new TypeError('disk');
  } catch (missing) {
    throw new LoadError('cannot load', { cause: missing });
  }
}

load();
