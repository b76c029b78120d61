// A module of the pages' TypeScript, for tests in Node: bundled as the pages are.
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './server.mjs';

export async function webModule(file) {
  const { buildSync } = createRequire(path.join(root, 'web/package.json'))('esbuild');
  const { outputFiles: [{ text }] } = buildSync({ entryPoints: [path.join(root, 'web/src', file)], bundle: true, format: 'esm', write: false });
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}
