import { encode } from "uqr";

const LARGEST = 10; // version: what a phone still reads off a screen at arm's length

/** The code of a text, dark modules by row, without a margin; null if it is too long (over 213 bytes). */
export function qr(text: string): boolean[][] | null {
  try {
    return encode(text, { ecc: "M", border: 0, maxVersion: LARGEST }).data;
  } catch {
    return null;
  }
}
