// Waits for what comes by itself: a page or a server is read again and again until it says so, for a bounded time.
import assert from 'node:assert/strict';

const LONGEST_MS = 60_000;
const EVERY_MS = 50;

// Resolves when what `read` resolves to passes `check`, which throws until then; its last reason is the failure.
export async function until(read, check, ms = LONGEST_MS) {
  const end = Date.now() + ms;
  for (;;) {
    try {
      const value = await read();
      check(value);
      return value;
    } catch (error) {
      if (Date.now() >= end) throw error;
    }
    await new Promise((done) => setTimeout(done, EVERY_MS));
  }
}

export const becomes = (read, wanted, told) => until(read, (value) => assert.deepEqual(value, wanted, told));

// Waits so long beside work that goes on: work that fails ends the wait with its failure, work that is done does not.
// (A race with promises that are already kept never gives timers their turn.)
export function waitBeside(work, ms) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, ms);
    for (const one of work) one.catch(reject);
  });
}
