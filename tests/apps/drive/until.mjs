// Waits for what another process does in its own time.

/** Tries again until something comes that is not falsy. */
export async function until(what, attempt, limit = 30_000) {
  const deadline = Date.now() + limit;
  for (;;) {
    const found = await attempt();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`this did not happen: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
