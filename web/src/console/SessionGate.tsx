// With access keys the server asks who opens the console; the answer is a session of the browser's own.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { isMissing, messageOf, onSessionEnd, Refused, rest, setSession, type Session } from "./server";
import { setUnlocked } from "./unlock";

type State = { at: "asking" | "in" | "out"; why: string };

function Login({ why, done }: { why: string; done: (session: Session) => void }) {
  const [problem, set] = useState(why);
  const enter = async (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const [id, ...rest_] = String(form.get("key")).trim().split(":");
    const secret = rest_.join(":") || String(form.get("secret"));
    try {
      done(await rest<Session>("POST", "/console/session", { id, secret }));
    } catch (error) {
      set(messageOf(error));
    }
  };
  return (
    <main id="main" class="login">
      <form class="card narrow" onSubmit={enter}>
        <h1>gametable console</h1>
        <p>This server has access keys. The console wants one that may administer; it is held for this session only.</p>
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <label>
          Access key id
          <input name="key" autocomplete="username" required autofocus />
        </label>
        <label>
          Secret
          <input name="secret" type="password" autocomplete="current-password" />
        </label>
        <button class="main">Sign in</button>
      </form>
    </main>
  );
}

export function SessionGate({ children }: { children: ComponentChildren }) {
  const [state, set] = useState<State>({ at: "asking", why: "" });
  const enter = (session: Session) => {
    setSession(session);
    set({ at: "in", why: "" });
  };
  useEffect(() => {
    onSessionEnd(() => {
      setUnlocked(false);
      set({ at: "out", why: "The session has ended: sign in again." });
    });
    rest<Session>("GET", "/console/session").then(enter, (error) => {
      if (isMissing(error)) enter({ session: "open", csrf: "" });
      else set({ at: "out", why: error instanceof Refused && error.status === 401 ? "" : messageOf(error) });
    });
  }, []);
  if (state.at === "asking") return <p class="unseen">Loading</p>;
  if (state.at === "out") return <Login why={state.why} done={enter} />;
  return <>{children}</>;
}
