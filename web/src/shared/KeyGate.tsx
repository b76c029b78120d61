// A server with access keys answers nobody it does not know: then, and only then, one is asked for.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, isStatus, reasonOf } from "./api";
import { key } from "./store";

export function KeyGate({ children }: { children: ComponentChildren }) {
  const given = key.use();
  const [locked, lock] = useState("");
  useEffect(() => {
    api()
      .ask("GET", "/v1/kinds")
      .then(() => lock(""))
      .catch((error) => lock(isStatus(error, 401) || isStatus(error, 403) ? reasonOf(error) : ""));
  }, [given]);
  if (!locked) return <>{children}</>;
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        key.set(String(new FormData(event.currentTarget).get("key")));
      }}
    >
      <h1>This server asks who you are</h1>
      <p>{locked}</p>
      <label>
        Access key
        <input name="key" placeholder="ID:SECRET" autocomplete="off" required />
      </label>
      <button class="main">Come in</button>
    </form>
  );
}
