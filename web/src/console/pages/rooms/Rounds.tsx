import { useEffect, useState } from "preact/hooks";
import type { RoomState } from "../../../client";
import { plainItemText, type Item } from "../../logic/attribute";
import { awsCli } from "../../logic/shell";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { ddb } from "../../server";
import { useServerFacts } from "../../serverFacts";
import { useAnswer } from "../../useAnswer";

interface Step {
  n: number;
  round: Item;
  reactions: Item[];
}

function request(table: string, code: string, prefix: string): Record<string, unknown> {
  return {
    TableName: table,
    KeyConditionExpression: "PK = :p AND begins_with(SK, :s)",
    ExpressionAttributeValues: { ":p": { S: `ROOM#${code}` }, ":s": { S: prefix } },
  };
}

function numberOf(item: Item): number {
  const key = item.SK && "S" in item.SK ? item.SK.S : "";
  return Number(key.split("#")[1] ?? 0);
}

/** The rounds or moves of the present match, with what was done in each. */
async function steps(table: string, code: string): Promise<Step[]> {
  const [rounds, clicks] = await Promise.all([ddb("Query", request(table, code, "ROUND#")), ddb("Query", request(table, code, "CLICK#"))]);
  return (rounds.Items as Item[]).map((round) => ({
    n: numberOf(round),
    round,
    reactions: (clicks.Items as Item[]).filter((click) => numberOf(click) === numberOf(round)),
  }));
}

const HIDDEN = new Set(["PK", "SK", "GSI1PK", "GSI1SK", "ttl"]);

function own(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([name]) => !HIDDEN.has(name)));
}

function StepView({ step }: { step: Step }) {
  return (
    <div class="step">
      <h3>Round {step.n}</h3>
      <code>{plainItemText(own(step.round))}</code>
      <ul>
        {step.reactions.map((reaction, i) => (
          <li key={i}>
            <code>{plainItemText(own(reaction))}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}

const STEP_MS = 1200;

/** Goes through the rounds one after the other, as they were played. */
export function Rounds({ code, state }: { code: string; state: RoomState }) {
  const { table } = useServerFacts();
  const found = useAnswer(() => (table ? steps(table, code) : Promise.resolve([])), [table, code, state.room.match, state.room.round]);
  const [at, set] = useState(0);
  const [playing, play] = useState(false);
  const list = found.value ?? [];
  const last = list.length - 1;
  useEffect(() => {
    if (!playing) return;
    const timer = setInterval(() => set((old) => (old < last ? old + 1 : old)), STEP_MS);
    return () => clearInterval(timer);
  }, [playing, last]);
  useEffect(() => {
    if (at >= last) play(false);
  }, [at, last]);
  return (
    <Panel title={`Match ${state.room.match}, replayed`} {...(table ? { how: [{ title: "AWS CLI", text: awsCli("Query", request(table, code, "ROUND#"), location.origin) }] } : {})}>
      {!found.value ? (
        <State of={found} />
      ) : list.length === 0 ? (
        <p class="quiet">No round has been played yet.</p>
      ) : (
        <>
          <div class="actions">
            <button onClick={() => set(0)} disabled={at === 0}>
              First
            </button>
            <button onClick={() => set(at - 1)} disabled={at === 0}>
              Back
            </button>
            <button
              aria-pressed={playing}
              onClick={() => {
                if (at >= last) set(0);
                play(!playing);
              }}
            >
              {playing ? "Stop" : "Play"}
            </button>
            <button onClick={() => set(at + 1)} disabled={at >= last}>
              On
            </button>
            <label class="grow">
              <span class="unseen">Which round</span>
              <input type="range" min={0} max={last} value={at} onInput={(event) => set(Number(event.currentTarget.value))} />
            </label>
            <span>
              {Math.min(at, last) + 1} of {list.length}
            </span>
          </div>
          <StepView step={list[Math.min(at, last)]} />
        </>
      )}
    </Panel>
  );
}
