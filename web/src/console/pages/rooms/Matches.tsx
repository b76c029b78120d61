import { Link } from "../../../shared/address";
import type { Attribute, Item } from "../../logic/attribute";
import { awsCli } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { When } from "../../parts/When";
import { ddb } from "../../server";
import { useServerFacts } from "../../serverFacts";
import { useAnswer } from "../../useAnswer";

function request(table: string, code: string): Record<string, unknown> {
  return {
    TableName: table,
    IndexName: "GSI1",
    KeyConditionExpression: "GSI1PK = :m",
    ExpressionAttributeValues: { ":m": { S: `MATCHES#${code}` } },
    ScanIndexForward: false,
    Limit: 50,
  };
}

function numberOf(value: Attribute | undefined): number {
  return value && "N" in value ? Number(value.N) : 0;
}

function textOf(value: Attribute | undefined): string {
  return value && "S" in value ? value.S : value && "N" in value ? value.N : "";
}

function results(item: Item): Item[] {
  const list = item.results;
  return list && "L" in list ? list.L.flatMap((member) => ("M" in member ? [member.M] : [])) : [];
}

const columns: Column<Item>[] = [
  { title: "Match", number: true, show: (item) => numberOf(item.match) },
  { title: "Ended", show: (item) => <When at={numberOf(item.endedAt)} /> },
  {
    title: "Results",
    show: (item) =>
      results(item).map((result, i) => (
        <span key={i} class="result">
          {textOf(result.place)}. <Link to={addressOf("players", textOf(result.player))}>{textOf(result.name) || textOf(result.player)}</Link> {textOf(result.points)}
        </span>
      )),
  },
];

/** Matches that were played to their end in this room. */
export function Matches({ code, match }: { code: string; match: number }) {
  const { table } = useServerFacts();
  const found = useAnswer(async () => (table ? ((await ddb("Query", request(table, code))).Items as Item[]) : []), [table, code, match]);
  if (!found.value || found.value.length === 0 || !table) return null;
  return (
    <Panel title="Matches that ended" how={[{ title: "AWS CLI", text: awsCli("Query", request(table, code), location.origin) }]}>
      <Grid label="Matches that ended" columns={columns} rows={found.value} id={(item) => textOf(item.id)} />
    </Panel>
  );
}
