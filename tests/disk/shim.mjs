// Starting the real program under the file shim, and telling the shim what shall fail: tests/shim/shim_journal.h.
import { appendFileSync, closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, startServer } from '../lib/server.mjs';

export const shim = path.join(root, 'build/disk/file_shim.so');

// In memory where there is any: what is tested is what the program asks of the disk.
export function scratchFolder() {
  const folder = mkdtempSync(path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'gametable-disk-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const headSize = 32;
export const kinds = { open: 1, write: 3, syncBegun: 5, syncLost: 7, mark: 16 };
export const created = 1; // a flag of kinds.open

// The journal of a run, with the driver's marks in it.
export class Journal {
  constructor(file) {
    this.file = file;
    this.open = openSync(file, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
  }

  record(kind, { text = '', flags = 0, file = 0, offset = 0 }) {
    const bytes = Buffer.alloc(headSize + Buffer.byteLength(text));
    bytes.writeUInt32LE(bytes.length, 0);
    bytes.writeUInt8(kind, 4);
    bytes.writeUInt8(flags, 5);
    bytes.writeBigUInt64LE(BigInt(file), 8);
    bytes.writeBigUInt64LE(BigInt(offset), 16);
    bytes.write(text, headSize);
    writeSync(this.open, bytes);
  }

  mark(text) {
    this.record(kinds.mark, { text });
  }

  close() {
    closeSync(this.open);
  }
}

export const faultKinds = { write: 1, sync: 2, allocate: 3, rename: 4, open: 5, mkdir: 6, unlink: 7, read: 8 };
export const errors = { EIO: 5, ENOSPC: 28, short: 0 };

const offsets = { kind: 0, error: 4, in: 8, times: 16, room: 24, used: 32, fired: 40, counts: 48, dieIn: 120 };
const controlSize = 128;

export class Control {
  constructor(file) {
    this.file = file;
    writeFileSync(file, Buffer.alloc(controlSize));
    this.open = openSync(file, 'r+');
  }

  put(offset, value, size = 8) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(BigInt(value));
    writeSync(this.open, bytes, 0, size, offset);
  }

  // The `at`th operation of the kind from now on fails, and as many as `times` in a row.
  fail(kind, at, error = 'EIO', times = 1) {
    this.put(offsets.in, 0);
    this.put(offsets.error, errors[error], 4);
    this.put(offsets.times, times);
    this.put(offsets.kind, faultKinds[kind], 4);
    this.put(offsets.in, at);
  }

  // Nothing fails any more, and nobody is killed.
  heal() {
    this.put(offsets.dieIn, 0);
    this.put(offsets.in, 0);
    this.put(offsets.kind, 0, 4);
  }

  // The process is killed at the `at`th operation from now on, before it is done.
  die(at) {
    this.put(offsets.dieIn, at);
  }

  // The folder may take so many bytes; 0: any.
  room(bytes) {
    this.put(offsets.room, bytes);
  }

  get(offset) {
    return Number(readFileSync(this.file).readBigUInt64LE(offset));
  }

  get used() {
    return this.get(offsets.used);
  }

  get fired() {
    return this.get(offsets.fired);
  }

  // How many operations of each kind there were.
  counts() {
    const bytes = readFileSync(this.file);
    return Object.fromEntries(Object.entries(faultKinds).map(([name, kind]) => [name, Number(bytes.readBigUInt64LE(offsets.counts + 8 * kind))]));
  }

  close() {
    closeSync(this.open);
  }
}

// Environment that puts a program under the shim.
export const shimmed = ({ data, journal, control }) => ({
  LD_PRELOAD: shim,
  SHIM_FOLDER: data,
  ...(journal ? { SHIM_JOURNAL: journal.file } : {}),
  ...(control ? { SHIM_CONTROL: control.file } : {}),
});

export const startShimmed = (settings) =>
  startServer({ data: settings.data, args: ['--log-level', 'error', ...(settings.args ?? [])], env: shimmed(settings) });

const isAlive = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

// Waits until the process has been killed by itself at one of its next file operations, so that the journal has all that it has
// done: a signal from outside may come between an operation and its record. False: it does nothing any more.
export async function diesBetween(pid, control, at = 1) {
  control.die(at);
  for (const end = Date.now() + 500; isAlive(pid) && Date.now() < end;) await sleep(2);
  control.die(0);
  return !isAlive(pid);
}
