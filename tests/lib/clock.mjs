// Moves the clock of a server started with --test-clock, and waits until what has ended by then is gone.
export async function timePasses({ endpoint }, forward) {
  for (const [path, body] of [['/admin/clock', JSON.stringify({ forward })], ['/admin/expire']]) {
    const answer = await fetch(new URL(path, endpoint), { method: 'POST', body });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }
}
