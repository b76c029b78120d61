import { Link } from "../../../shared/address";
import { curl } from "../../logic/shell";
import { addressOf } from "../../pageList";
import { Facts } from "../../parts/Facts";
import { Page } from "../../parts/Page";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { When } from "../../parts/When";
import { isMissing, rest } from "../../server";
import { useAnswer } from "../../useAnswer";
import { PlayerActions } from "./PlayerActions";
import { PlayerBoards } from "./PlayerBoards";
import { PlayerPlays } from "./PlayerPlays";
import { PlayerRooms } from "./PlayerRooms";

export interface Profile {
  id: string;
  name?: string;
  email?: string;
  meta?: Record<string, unknown>;
  hidden: boolean;
  createdAt?: string;
  changedAt?: string;
}

interface GameStats {
  plays?: number;
  totalScore?: number | string;
  totalMs?: number;
  bestScore?: number | string;
  lastPlayedAt?: number;
}

function Stats({ id }: { id: string }) {
  const stats = useAnswer(() => rest<{ stats: GameStats & { games?: Record<string, GameStats> } }>("GET", `/players/${encodeURIComponent(id)}/stats?numbers=string`), [id]);
  const games = Object.entries(stats.value?.stats.games ?? {});
  if (!stats.value) return null;
  return (
    <Panel title="Plays add up to">
      <Facts
        facts={[
          ["Plays", String(stats.value.stats.plays ?? 0)],
          ["Points in all", String(stats.value.stats.totalScore ?? 0)],
          ...games.map(([game, of]): [string, string] => [game, `${of.plays ?? 0} plays, best ${of.bestScore ?? "–"}`]),
        ]}
      />
    </Panel>
  );
}

export function PlayerPage({ id }: { id: string }) {
  const path = `/players/${encodeURIComponent(id)}`;
  const profile = useAnswer(() => rest<Profile>("GET", path), [id]);
  const { value } = profile;
  const without = isMissing(profile.error);
  return (
    <Page title={value?.name || id} about={<Link to={addressOf("players")}>All players</Link>}>
      <Panel title="Profile" how={[{ title: "curl", text: curl({ method: "GET", path: `/v1${path}` }, location.origin) }]}>
        {value ? (
          <Facts
            facts={[
              ["Id", <code>{value.id}</code>],
              ["Name", value.name ?? "–"],
              ["E-mail", value.email ?? "–"],
              ["State", value.hidden ? <span class="pill warn">hidden</span> : <span class="pill good">shown</span>],
              ["Made", <When at={value.createdAt} />],
              ["Changed", <When at={value.changedAt} />],
              ...(value.meta ? [["Kept with it", <code>{JSON.stringify(value.meta)}</code>] as [string, preact.JSX.Element]] : []),
            ]}
          />
        ) : without ? (
          <p>This player has no profile. Scores, plays and rooms of it are below.</p>
        ) : (
          <State of={profile} />
        )}
      </Panel>
      <PlayerActions id={id} known={value !== undefined || without} hidden={value?.hidden} again={profile.again} />
      <PlayerBoards id={id} />
      <Stats id={id} />
      <PlayerPlays id={id} />
      <PlayerRooms id={id} />
    </Page>
  );
}
