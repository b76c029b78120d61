import { useState } from "preact/hooks";
import { go, Link, useAddress } from "../../../shared/address";
import { grouped } from "../../../shared/numbers";
import { addressOf } from "../../pageList";
import { Choice } from "../../parts/Field";
import { Page } from "../../parts/Page";
import { State } from "../../parts/State";
import { Tabs } from "../../parts/Tabs";
import { describeTable, tableNames } from "../../tables";
import { useAnswer } from "../../useAnswer";
import { EntityMap } from "./EntityMap";
import { PartiQl } from "./PartiQl";
import { QueryTab } from "./QueryTab";

const TABS = ["Query and scan", "PartiQL", "Entity map"] as const;
type Tab = (typeof TABS)[number];

function OfTable({ name }: { name: string }) {
  const table = useAnswer(() => describeTable(name), [name]);
  const [tab, choose] = useState<Tab>("Query and scan");
  if (!table.value) return <State of={table} />;
  return (
    <>
      <Tabs label="View" tabs={TABS} chosen={tab} choose={choose} />
      {tab === "Query and scan" && <QueryTab table={table.value} />}
      {tab === "PartiQL" && <PartiQl table={table.value} />}
      {tab === "Entity map" && <EntityMap table={table.value} />}
    </>
  );
}

export default function ItemsPage() {
  const names = useAnswer(tableNames, []);
  const asked = useAddress().query.get("table") ?? "";
  const name = asked || (names.value?.[0] ?? "");
  const choose = (table: string) => go(`${addressOf("items")}?table=${encodeURIComponent(table)}`, true);
  return (
    <Page
      title="Items"
      wide
      about={name && <Link to={addressOf("tables", name)}>About table {name}</Link>}
      actions={
        names.value && names.value.length > 0 ? (
          <Choice label={`Table, of ${grouped(names.value.length)}`} value={name} set={choose} choices={names.value} />
        ) : undefined
      }
    >
      {!names.value && <State of={names} />}
      {names.value?.length === 0 && <p>There are no tables yet.</p>}
      {name && <OfTable key={name} name={name} />}
    </Page>
  );
}
