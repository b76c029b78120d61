import { go, useAddress } from "../../../shared/address";
import { addressOf } from "../../pageList";
import { Page } from "../../parts/Page";
import { Tabs } from "../../parts/Tabs";
import { AccessKeys } from "./AccessKeys";
import { Backups } from "./Backups";
import { Exports } from "./Exports";
import { Imports } from "./Imports";
import { Settings } from "./Settings";

const TABS = ["Backups", "Exports", "Imports", "Access keys", "Settings"] as const;
type Tab = (typeof TABS)[number];

export default function CopiesPage() {
  const { query } = useAddress();
  const tab = TABS.find((name) => name === query.get("tab")) ?? TABS[0];
  const choose = (next: Tab) => go(`${addressOf("copies")}?tab=${encodeURIComponent(next)}`, true);
  return (
    <Page title="Copies and keys">
      <Tabs label="What to look at" tabs={TABS} chosen={tab} choose={choose} />
      {tab === "Backups" && <Backups />}
      {tab === "Exports" && <Exports />}
      {tab === "Imports" && <Imports />}
      {tab === "Access keys" && <AccessKeys />}
      {tab === "Settings" && <Settings />}
    </Page>
  );
}
