import type { Item } from "../../logic/attribute";
import { ddb, Refused } from "../../server";

export type WriteRequest = { PutRequest: { Item: Item } } | { DeleteRequest: { Key: Item } };

const BATCH = 25;
const TRIES = 8;

/** Writes any number of requests, 25 a batch; what the server leaves over is sent again. */
export async function writeBatches(table: string, requests: WriteRequest[], tell: (done: number) => void = () => {}): Promise<void> {
  for (let at = 0; at < requests.length; at += BATCH) {
    let left: Record<string, WriteRequest[]> = { [table]: requests.slice(at, at + BATCH) };
    for (let tries = 0; Object.keys(left).length > 0; tries++) {
      if (tries === TRIES) throw new Refused(503, "busy", `The server is busy: ${at} of ${requests.length} are done.`);
      left = (await ddb("BatchWriteItem", { RequestItems: left })).UnprocessedItems ?? {};
    }
    tell(Math.min(at + BATCH, requests.length));
  }
}
