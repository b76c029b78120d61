// QR codes (ISO/IEC 18004): bytes, error correction level M, versions 1 to 10.
//
// A code is a square of modules. Around the fixed patterns the bits of data and of its correction
// wind up and down in columns of two, from the lower right; one of eight masks is laid over them,
// the one that makes the picture easiest to read.

export type Modules = boolean[][];

/** By version from 1: correction bytes of each block, blocks, bytes in all, alignment centres. */
const VERSIONS: { correction: number; blocks: number; total: number; centres: number[] }[] = [
  { correction: 10, blocks: 1, total: 26, centres: [] },
  { correction: 16, blocks: 1, total: 44, centres: [6, 18] },
  { correction: 26, blocks: 1, total: 70, centres: [6, 22] },
  { correction: 18, blocks: 2, total: 100, centres: [6, 26] },
  { correction: 24, blocks: 2, total: 134, centres: [6, 30] },
  { correction: 16, blocks: 4, total: 172, centres: [6, 34] },
  { correction: 18, blocks: 4, total: 196, centres: [6, 22, 38] },
  { correction: 22, blocks: 4, total: 242, centres: [6, 24, 42] },
  { correction: 22, blocks: 5, total: 292, centres: [6, 26, 46] },
  { correction: 26, blocks: 5, total: 346, centres: [6, 28, 50] },
];

// ---- the field of 256 elements that correction is reckoned in ----

const EXP = new Uint8Array(510);
const LOG = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
  EXP[i] = EXP[i + 255] = x;
  LOG[x] = i;
  x = (x << 1) ^ (x & 0x80 ? 0x11d : 0);
}

function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : EXP[LOG[a]! + LOG[b]!]!;
}

function generator(degree: number): number[] {
  let poly = [1];
  for (let i = 0; i < degree; i++) {
    const next = [...poly, 0];
    poly.forEach((value, at) => (next[at + 1]! ^= times(value, EXP[i]!)));
    poly = next;
  }
  return poly;
}

function correctionOf(data: number[], degree: number): number[] {
  const poly = generator(degree);
  const rest = [...data, ...new Array<number>(degree).fill(0)];
  for (let i = 0; i < data.length; i++) {
    const factor = rest[i]!;
    poly.forEach((value, at) => (rest[i + at]! ^= times(value, factor)));
  }
  return rest.slice(data.length);
}

// ---- data ----

function dataBytes(text: Uint8Array, version: number, room: number): number[] {
  const bits: number[] = [];
  const put = (value: number, count: number) => {
    for (let i = count - 1; i >= 0; i--) bits.push((value >> i) & 1);
  };
  put(4, 4);
  put(text.length, version < 10 ? 8 : 16);
  for (const byte of text) put(byte, 8);
  put(0, Math.min(4, room * 8 - bits.length));
  while (bits.length % 8 !== 0) bits.push(0);
  const bytes: number[] = [];
  for (let i = 0; i < bits.length; i += 8) bytes.push(parseInt(bits.slice(i, i + 8).join(""), 2));
  for (let pad = 0xec; bytes.length < room; pad ^= 0xec ^ 0x11) bytes.push(pad);
  return bytes;
}

/** Blocks of data and their correction, dealt out one byte at a time. */
function interleave(data: number[], blocks: number, correction: number): number[] {
  const short = Math.floor(data.length / blocks);
  const longOnes = data.length % blocks;
  const parts: number[][] = [];
  for (let i = 0, at = 0; i < blocks; i++) {
    const size = short + (i >= blocks - longOnes ? 1 : 0);
    parts.push(data.slice(at, (at += size)));
  }
  const checks = parts.map((part) => correctionOf(part, correction));
  const dealt: number[] = [];
  for (let i = 0; i <= short; i++) for (const part of parts) if (i < part.length) dealt.push(part[i]!);
  for (let i = 0; i < correction; i++) for (const check of checks) dealt.push(check[i]!);
  return dealt;
}

// ---- the picture ----

class Picture {
  readonly size: number;
  readonly dark: Modules;
  readonly fixed: Modules;

  constructor(readonly version: number) {
    this.size = 17 + 4 * version;
    this.dark = Array.from({ length: this.size }, () => new Array<boolean>(this.size).fill(false));
    this.fixed = Array.from({ length: this.size }, () => new Array<boolean>(this.size).fill(false));
  }

  set(x: number, y: number, dark: boolean): void {
    if (x < 0 || y < 0 || x >= this.size || y >= this.size) return;
    this.dark[y]![x] = dark;
    this.fixed[y]![x] = true;
  }

  finder(cx: number, cy: number): void {
    for (let dy = -4; dy <= 4; dy++)
      for (let dx = -4; dx <= 4; dx++) {
        const ring = Math.max(Math.abs(dx), Math.abs(dy));
        this.set(cx + dx, cy + dy, ring !== 2 && ring !== 4);
      }
  }

  patterns(centres: number[]): void {
    const last = this.size - 1;
    for (let i = 0; i < this.size; i++) {
      this.set(i, 6, i % 2 === 0);
      this.set(6, i, i % 2 === 0);
    }
    this.finder(3, 3);
    this.finder(last - 3, 3);
    this.finder(3, last - 3);
    const far = centres[centres.length - 1];
    for (const cy of centres)
      for (const cx of centres) {
        const corner = (cx === 6 && cy === 6) || (cx === 6 && cy === far) || (cx === far && cy === 6);
        if (corner) continue;
        for (let dy = -2; dy <= 2; dy++)
          for (let dx = -2; dx <= 2; dx++) this.set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
      }
    this.format(0);
    if (this.version >= 7) this.versionBits();
  }

  /** Level M and the mask, twice, with their own correction. */
  format(mask: number): void {
    let rest = mask;
    for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
    const bits = ((mask << 10) | rest) ^ 0x5412;
    const bit = (i: number) => ((bits >> i) & 1) === 1;
    const last = this.size - 1;
    for (let i = 0; i < 6; i++) this.set(8, i, bit(i));
    this.set(8, 7, bit(6));
    this.set(8, 8, bit(7));
    this.set(7, 8, bit(8));
    for (let i = 9; i < 15; i++) this.set(14 - i, 8, bit(i));
    for (let i = 0; i < 8; i++) this.set(last - i, 8, bit(i));
    for (let i = 8; i < 15; i++) this.set(8, last - 14 + i, bit(i));
    this.set(8, last - 7, true);
  }

  versionBits(): void {
    let rest = this.version;
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
    const bits = (this.version << 12) | rest;
    for (let i = 0; i < 18; i++) {
      const a = this.size - 11 + (i % 3);
      const b = Math.floor(i / 3);
      this.set(a, b, ((bits >> i) & 1) === 1);
      this.set(b, a, ((bits >> i) & 1) === 1);
    }
  }

  fill(bytes: number[]): void {
    let at = 0;
    let up = true;
    for (let right = this.size - 1; right >= 1; right -= 2, up = !up) {
      if (right === 6) right = 5; // the timing column is nobody's
      for (let i = 0; i < this.size; i++) {
        const y = up ? this.size - 1 - i : i;
        for (const x of [right, right - 1]) {
          if (this.fixed[y]![x]) continue;
          this.dark[y]![x] = at < bytes.length * 8 && ((bytes[at >> 3]! >> (7 - (at & 7))) & 1) === 1;
          at++;
        }
      }
    }
  }

  masked(mask: number): Modules {
    this.format(mask);
    return this.dark.map((row, y) => row.map((dark, x) => (this.fixed[y]![x] ? dark : dark !== MASKS[mask]!(x, y))));
  }
}

const MASKS: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** How hard it is to read: long runs, blocks of one colour, what looks like a finder, imbalance. */
function penalty(dark: Modules): number {
  const size = dark.length;
  const columns = dark.map((_, x) => dark.map((row) => row[x]!));
  let points = 0;
  for (const line of [...dark, ...columns]) {
    const text = line.map((on) => (on ? "1" : "0")).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2;
    for (const like of ["10111010000", "00001011101"])
      for (let at = text.indexOf(like); at >= 0; at = text.indexOf(like, at + 1)) points += 40;
  }
  let total = 0;
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      const on = dark[y]![x];
      if (on) total++;
      if (x > 0 && y > 0 && on === dark[y - 1]![x] && on === dark[y]![x - 1] && on === dark[y - 1]![x - 1]) points += 3;
    }
  return points + 10 * Math.floor(Math.abs((total * 20) / (size * size) - 10));
}

/** The code of a text, or null if it is too long for one (more than 213 bytes). */
export function qr(text: string): Modules | null {
  const bytes = new TextEncoder().encode(text);
  const rooms = VERSIONS.map(({ total, blocks, correction }) => total - blocks * correction);
  const at = rooms.findIndex((room, i) => bytes.length + (i < 9 ? 2 : 3) <= room);
  if (at < 0) return null;
  const { blocks, correction, centres } = VERSIONS[at]!;
  const picture = new Picture(at + 1);
  picture.patterns(centres);
  picture.fill(interleave(dataBytes(bytes, at + 1, rooms[at]!), blocks, correction));
  const all = MASKS.map((_, mask) => picture.masked(mask));
  return all.reduce((best, next) => (penalty(next) < penalty(best) ? next : best));
}
