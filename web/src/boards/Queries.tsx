import { Command } from "../shared/Copy";
import { useServer } from "../shared/server";
import type { Place } from "./board";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

interface QueriesProps {
  place: Place;
  instance: string;
  order: "high" | "low";
}

/** The same list, for whoever would rather ask with their own client. */
export function Queries({ place, instance, order }: QueriesProps) {
  const redis = useServer()?.redisPort;
  const { origin, hostname } = location;
  const query = new URLSearchParams({ limit: "10" });
  if (place.scope) query.set("scope", place.scope);
  if (place.period) query.set("period", place.period);
  const values = quoted(JSON.stringify({ ":b": { S: `BOARD#${instance}` } }));
  const down = order === "high" ? " --no-scan-index-forward" : "";
  return (
    <section class="card" aria-labelledby="queries-title">
      <h2 id="queries-title">The same, with your own client</h2>
      <Command title="REST" text={`curl ${quoted(`${origin}/v1/boards/${encodeURIComponent(place.id).replaceAll("%3A", ":")}/entries?${query}`)}`} />
      {redis !== undefined && (
        <Command
          title="Redis"
          text={`redis-cli -h ${hostname} -p ${redis} ${order === "high" ? "ZREVRANGE" : "ZRANGE"} ${quoted(instance)} 0 9 WITHSCORES`}
        />
      )}
      <Command
        title="DynamoDB"
        text={`aws dynamodb query --endpoint-url ${origin} --table-name gametable --index-name ranks${down} --limit 10 --key-condition-expression 'PK = :b' --expression-attribute-values ${values}`}
      />
    </section>
  );
}
