import { go, useAddress } from "../../../shared/address";
import { addressOf } from "../../pageList";
import { Page } from "../../parts/Page";
import { Tabs } from "../../parts/Tabs";
import "../../styles/live.css";
import { Clients } from "./Clients";
import { HotPartitions } from "./HotPartitions";
import { SlowLog } from "./SlowLog";
import { Streams } from "./Streams";
import { Tail } from "./Tail";

const TABS = ["Hot partitions", "Slow log", "Tail", "Clients", "Streams"] as const;
type Tab = (typeof TABS)[number];

export default function LivePage() {
  const { query } = useAddress();
  const tab = TABS.find((name) => name === query.get("tab")) ?? TABS[0];
  const choose = (next: Tab) => go(`${addressOf("live")}?tab=${encodeURIComponent(next)}`, true);
  return (
    <Page title="Live" wide about="What is being asked right now, by whom, and where it is hot.">
      <Tabs label="What to look at" tabs={TABS} chosen={tab} choose={choose} />
      {tab === "Hot partitions" && <HotPartitions />}
      {tab === "Slow log" && <SlowLog />}
      {tab === "Tail" && <Tail />}
      {tab === "Clients" && <Clients />}
      {tab === "Streams" && <Streams />}
    </Page>
  );
}
