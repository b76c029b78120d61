import { Link } from "../../../shared/address";
import { announce } from "../../../shared/announce";
import { compact } from "../../../shared/numbers";
import { heatGrid, type Hot } from "../../logic/heatGrid";
import { awsCli } from "../../logic/shell";
import type { TableSchema } from "../../logic/tableSchema";
import { addressOf } from "../../pageList";
import { Change } from "../../parts/Change";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { ddb, queryText, rest } from "../../server";
import { useAnswer, useDoing } from "../../useAnswer";

interface Insights {
  IndexName?: string;
  ContributorInsightsStatus: string;
  ContributorInsightsRuleList?: string[];
  LastUpdateDateTime?: number;
}

const RULES: Record<string, string> = {
  PKC: "partitions asked for most",
  SKC: "items asked for most; counted by their partition here",
  PKT: "partitions that were throttled; nothing is throttled here",
  SKT: "items that were throttled; nothing is throttled here",
};

function ruleKind(rule: string): string {
  return rule.split("-")[1] ?? "";
}

/** The first few keys that the rule about partitions lists. */
function Contributors({ of }: { of: string }) {
  const hot = useAnswer(() => rest<{ tables: Hot[] }>("GET", `/hot${queryText({ table: of, limit: 5 })}`), [of], 5000);
  const found = hot.value?.tables[0];
  const rows = found ? heatGrid(found, "both", 5).rows : [];
  if (hot.value === undefined) return <State of={hot} />;
  if (rows.length === 0) return <p class="quiet">Nothing was asked of it since the server started.</p>;
  return (
    <ol class="contributors" aria-label={`Hottest partitions of ${of}`}>
      {rows.map(({ key, reads, writes, share }) => (
        <li key={key}>
          <code>{key}</code> {compact(reads + writes)} requests, {(share * 100).toFixed(0)} %
        </li>
      ))}
    </ol>
  );
}

function OneInsights({ table, index }: { table: string; index?: string }) {
  const request = { TableName: table, ...(index ? { IndexName: index } : {}) };
  const insights = useAnswer(() => ddb<Insights>("DescribeContributorInsights", request), [table, index]);
  const doing = useDoing();
  const name = index ? `${table}/${index}` : table;
  const on = insights.value?.ContributorInsightsStatus === "ENABLED";
  const turn = async () => {
    const action = on ? "DISABLE" : "ENABLE";
    if (!(await doing.run(() => ddb("UpdateContributorInsights", { ...request, ContributorInsightsAction: action })))) return;
    announce(on ? "Switched off" : "Switched on");
    insights.again();
  };
  if (!insights.value) return <State of={insights} />;
  return (
    <section class="insights" aria-label={`Insights of ${name}`}>
      <div class="panel-top">
        <h3>
          {index ? `Index ${index}` : "The table"} <span class={`pill ${on ? "good" : ""}`}>{on ? "on" : "off"}</span>
        </h3>
        <div class="actions">
          <Change busy={doing.busy} label={`Switch ${on ? "off" : "on"} insights of ${name}`} onClick={turn}>
            Switch {on ? "off" : "on"}
          </Change>
        </div>
      </div>
      {doing.problem && (
        <p class="problem" role="alert">
          {doing.problem}
        </p>
      )}
      {on && (
        <>
          <Contributors of={name} />
          <ul class="rules">
            {insights.value.ContributorInsightsRuleList?.map((rule) => (
              <li key={rule}>
                <code>{rule}</code> <span class="quiet">{RULES[ruleKind(rule)]}</span>
              </li>
            ))}
          </ul>
          <p class="quiet">
            Since <When at={new Date(1000 * (insights.value.LastUpdateDateTime ?? 0)).toISOString()} />.
          </p>
        </>
      )}
    </section>
  );
}

/** Contributor insights of the table and of each global index: which keys are asked for most. */
export function Insights({ table }: { table: TableSchema }) {
  const { origin } = location;
  return (
    <Panel
      title="Contributor insights"
      actions={
        <Link class="button small" to={addressOf("live")}>
          Hot partitions over time
        </Link>
      }
      how={[
        { title: "AWS CLI", text: awsCli("DescribeContributorInsights", { TableName: table.name }, origin) },
        { title: "AWS CLI: switch it on", text: awsCli("UpdateContributorInsights", { TableName: table.name, ContributorInsightsAction: "ENABLE" }, origin) },
      ]}
    >
      <OneInsights table={table.name} />
      {table.indexes
        .filter(({ local }) => !local)
        .map(({ name }) => (
          <OneInsights key={name} table={table.name} index={name} />
        ))}
    </Panel>
  );
}
