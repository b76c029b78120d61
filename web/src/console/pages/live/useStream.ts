// The records of a stream, of all its shards, as they come.
import { useEffect, useState } from "preact/hooks";
import type { Item } from "../../logic/attribute";
import { ddb, messageOf } from "../../server";

export interface StreamRecord {
  eventName: "INSERT" | "MODIFY" | "REMOVE";
  userIdentity?: { PrincipalId: string };
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: Item;
    NewImage?: Item;
    OldImage?: Item;
    SequenceNumber: string;
  };
}

const KEPT = 50;
const EVERY_MS = 1000;

function newest(a: StreamRecord, b: StreamRecord): number {
  const x = BigInt(a.dynamodb.SequenceNumber);
  const y = BigInt(b.dynamodb.SequenceNumber);
  return x < y ? 1 : x > y ? -1 : 0;
}

async function open(StreamArn: string, ShardIteratorType: string): Promise<string[]> {
  const { StreamDescription } = await ddb("DescribeStream", { StreamArn });
  const shards = (StreamDescription.Shards ?? []) as { ShardId: string }[];
  const opened = await Promise.all(shards.map(({ ShardId }) => ddb("GetShardIterator", { StreamArn, ShardId, ShardIteratorType })));
  return opened.map(({ ShardIterator }) => ShardIterator as string);
}

export function useStream(arn: string, from: "LATEST" | "TRIM_HORIZON"): { records: StreamRecord[]; problem: string } {
  const [records, set] = useState<StreamRecord[]>([]);
  const [problem, tell] = useState("");
  useEffect(() => {
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let iterators: string[] = [];
    const turn = async () => {
      const answers = await Promise.all(iterators.map((ShardIterator) => ddb("GetRecords", { ShardIterator })));
      if (ended) return;
      iterators = answers.flatMap(({ NextShardIterator }) => (NextShardIterator ? [NextShardIterator as string] : []));
      const fresh = answers.flatMap(({ Records }) => Records as StreamRecord[]);
      if (fresh.length > 0) set((old) => [...fresh, ...old].sort(newest).slice(0, KEPT));
      // A full page has more behind it.
      timer = setTimeout(again, fresh.length >= 1000 ? 0 : EVERY_MS);
    };
    const again = () => turn().catch((error) => tell(messageOf(error)));
    open(arn, from).then(
      (found) => {
        iterators = found;
        if (!ended) void again();
      },
      (error) => tell(messageOf(error)),
    );
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [arn, from]);
  return { records, problem };
}
