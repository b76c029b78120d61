// The QR codes of the pages, as the pages ask for them, read by somebody else's reader.
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createRequire } from 'node:module';
import jsQR from 'jsqr';
import { root } from '../lib/server.mjs';

const { buildSync } = createRequire(path.join(root, 'web/package.json'))('esbuild');
const { outputFiles: [{ text: code }] } = buildSync({ entryPoints: [path.join(root, 'web/src/shared/qr.ts')], bundle: true, format: 'esm', write: false });
const { qr } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

function read(modules, scale = 4, quiet = 4) {
  const side = (modules.length + 2 * quiet) * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  modules.forEach((row, y) => row.forEach((dark, x) => {
    if (!dark) return;
    for (let dy = 0; dy < scale; dy++)
      for (let dx = 0; dx < scale; dx++) {
        const at = (((y + quiet) * scale + dy) * side + (x + quiet) * scale + dx) * 4;
        pixels.fill(0, at, at + 3);
      }
  }));
  return jsQR(pixels, side, side, { inversionAttempts: 'dontInvert' })?.data;
}

test('texts of every version are read back', () => {
  const sizes = new Set();
  for (const length of [1, 5, 14, 15, 26, 27, 42, 43, 62, 63, 84, 85, 106, 107, 122, 123, 152, 153, 180, 181, 213]) {
    const text = Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 37 + length) % 90))).join('');
    const modules = qr(text);
    sizes.add((modules.length - 17) / 4);
    assert.equal(read(modules), text, `${length} bytes`);
  }
  assert.deepEqual([...sizes], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test('links and other alphabets', () => {
  for (const text of ['http://192.168.178.23:8000/play/DW7ZP', 'कौआ उड़', 'https://games.example.org/play/K8V6Q'])
    assert.equal(read(qr(text)), text);
});

test('what is too long has none', () => assert.equal(qr('x'.repeat(214)), null));
