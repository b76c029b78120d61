import { Link } from "../shared/address";
import { Command } from "../shared/Copy";
import { useKinds } from "../shared/kinds";
import { useServer } from "../shared/server";
import { useTitle } from "../shared/title";
import { Figures } from "./Figures";

function uptime(seconds: number): string {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`;
}

export function HomePage() {
  const server = useServer();
  const board = useKinds()[0]?.boards[0]?.board;
  const { origin, hostname } = location;
  useTitle("");
  return (
    <div class="page home">
      <section class="hero">
        <h1>One table for the whole game</h1>
        <p>
          Players, rooms, rounds, boards and scores in one durable table, for DynamoDB, Redis and REST clients alike.
        </p>
        <p class="hero-links">
          <Link to="/play" class="button main">
            Play
          </Link>
          <Link to="/boards" class="button">
            Boards
          </Link>
          <a href="/console" class="button">
            Console
          </a>
        </p>
        <p class="quiet">{server ? `gametable ${server.version}, up for ${uptime(server.uptimeSeconds)}` : "\u00a0"}</p>
      </section>
      <section class="card" aria-labelledby="figures-title">
        <h2 id="figures-title">Now</h2>
        <Figures />
      </section>
      <section class="card" aria-labelledby="faces-title">
        <h2 id="faces-title">Talk to it</h2>
        <Command
          title="AWS CLI (DynamoDB)"
          text={`AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any AWS_DEFAULT_REGION=us-east-1 aws dynamodb list-tables --endpoint-url ${origin}`}
        />
        {server?.redisPort !== undefined && (
          <Command title="redis-cli" text={`redis-cli -h ${hostname} -p ${server.redisPort} ZADD level:1 120 ann`} />
        )}
        {board && (
          <>
            <Command title="curl (REST)" text={`curl ${origin}/v1/boards/${board}/entries`} />
            <Command title="curl (live)" text={`curl -N ${origin}/v1/boards/${board}/live`} />
          </>
        )}
        <p class="quiet">
          All of REST: <a href="/v1/openapi.json">OpenAPI document</a>. Health: <a href="/healthz">/healthz</a>.
        </p>
      </section>
    </div>
  );
}
