import { bytes, compact } from "../../../shared/numbers";
import { curl } from "../../logic/shell";
import { Facts } from "../../parts/Facts";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { rest } from "../../server";
import { useAnswer } from "../../useAnswer";

interface Use {
  table: string;
  operation: string;
  readUnits: number;
  writeUnits: number;
}

interface CostsAnswer {
  seconds: number;
  uses: Use[];
  prices: { region: string; asOf: string; millionWriteUnits: number; millionReadUnits: number; gigabyteMonth: number };
  month: { reads: number; writes: number; storage: number; total: number };
}

function dollars(number: number): string {
  return `$${number.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

const columns: Column<Use>[] = [
  { title: "Table", show: ({ table }) => table },
  { title: "Operation", show: ({ operation }) => operation },
  { title: "Read units", number: true, show: ({ readUnits }) => compact(readUnits) },
  { title: "Write units", number: true, show: ({ writeUnits }) => compact(writeUnits) },
];

const SHOWN = 12;

/** What the DynamoDB traffic since the start would cost on AWS, if it went on like that for a month. */
export function Costs({ stored }: { stored: number }) {
  const costs = useAnswer(() => rest<CostsAnswer>("GET", "/costs"), [], 10000);
  const { value } = costs;
  if (!value) return null;
  const { prices, month } = value;
  const heaviest = [...value.uses].sort((a, b) => b.readUnits + 5 * b.writeUnits - (a.readUnits + 5 * a.writeUnits)).slice(0, SHOWN);
  return (
    <Panel title="What this traffic would cost on AWS" how={[{ title: "curl", text: curl({ method: "GET", path: "/v1/costs" }, location.origin) }]}>
      <p class="price">{dollars(month.total)} a month</p>
      <Facts
        facts={[
          ["Reads", dollars(month.reads)],
          ["Writes", dollars(month.writes)],
          [`Storage of ${bytes(stored)}`, dollars(month.storage)],
        ]}
      />
      <p class="quiet">
        Thirty days like the {compact(value.seconds)} seconds since the start, on demand in {prices.region} at prices of {prices.asOf}:{" "}
        ${prices.millionWriteUnits} for a million write units, ${prices.millionReadUnits} for a million read units, ${prices.gigabyteMonth} a GB.
        Here it costs the machine that this program runs on.
      </p>
      <Grid label="Capacity by table and operation" columns={columns} rows={heaviest} id={({ table, operation }) => `${table} ${operation}`} empty="DynamoDB was not asked yet." />
    </Panel>
  );
}
