import { grouped } from "../../../shared/numbers";
import { curl, redisCli } from "../../logic/shell";
import { Grid, type Column } from "../../parts/Grid";
import { Panel } from "../../parts/Panel";
import { State } from "../../parts/State";
import { rest } from "../../server";
import { useServerFacts } from "../../serverFacts";
import { useAnswer } from "../../useAnswer";

interface Client {
  frontEnd: string;
  id: number;
  address: string;
  seconds: number;
  idleSeconds?: number;
  last?: string;
  who?: string;
  name?: string;
  library?: string;
}

interface ClientsAnswer {
  httpConnections: number;
  redisConnections: number;
  clients: Client[];
}

const seconds = (value: number | undefined) => (value === undefined ? "–" : value < 120 ? `${Math.round(value)} s` : `${Math.round(value / 60)} min`);

const columns: Column<Client>[] = [
  { title: "Id", number: true, show: ({ id }) => id },
  { title: "From", mono: true, show: ({ address }) => address },
  { title: "Name", show: ({ name, library }) => [name, library].filter(Boolean).join(", ") },
  { title: "Who", show: ({ who }) => who ?? "" },
  { title: "Connected", number: true, show: (client) => seconds(client.seconds) },
  { title: "Idle", number: true, show: ({ idleSeconds }) => seconds(idleSeconds) },
  { title: "Last asked", show: ({ last }) => last ?? "" },
];

export function Clients() {
  const { redisPort } = useServerFacts();
  const clients = useAnswer(() => rest<ClientsAnswer>("GET", "/clients?limit=100"), [], 2000);
  return (
    <Panel
      title="Clients"
      how={[
        { title: "curl", text: curl({ method: "GET", path: "/v1/clients" }, location.origin) },
        { title: "redis-cli", text: redisCli(["CLIENT", "LIST"], location.hostname, redisPort) },
      ]}
    >
      {clients.value && (
        <p class="quiet">
          {grouped(clients.value.httpConnections)} connections of HTTP, {grouped(clients.value.redisConnections)} of Redis. Those of Redis one by one:
        </p>
      )}
      {clients.value ? <Grid label="Clients" columns={columns} rows={clients.value.clients} id={({ frontEnd, id }) => `${frontEnd} ${id}`} empty="Nobody is connected." /> : <State of={clients} />}
    </Panel>
  );
}
