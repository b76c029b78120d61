// What a screen reader says: one polite and one urgent voice for the whole page.
import { useEffect, useState } from "preact/hooks";

type Say = (text: string, urgent: boolean) => void;
let say: Say = () => {};

export function announce(text: string, urgent = false): void {
  say(text, urgent);
}

export function Announcer() {
  const [polite, setPolite] = useState("");
  const [urgent, setUrgent] = useState("");
  useEffect(() => {
    say = (text, now) => (now ? setUrgent : setPolite)(text);
    return () => {
      say = () => {};
    };
  }, []);
  return (
    <>
      <div class="unseen" role="status" aria-live="polite">
        {polite}
      </div>
      <div class="unseen" role="alert" aria-live="assertive">
        {urgent}
      </div>
    </>
  );
}
