import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useDoing } from "../useAnswer";
import { Dialog } from "./Dialog";
import { How, type Told } from "./How";

interface ConfirmProps {
  title: string; // "Delete table scores"
  about: string; // what is lost
  name: string; // to be typed
  verb: string;
  how?: Told[];
  children?: ComponentChildren; // what else is asked
  act: () => Promise<unknown>;
  close: () => void;
}

/** What destroys is confirmed by typing the name of what is lost. */
export function ConfirmName({ title, about, name, verb, how, children, act, close }: ConfirmProps) {
  const [typed, set] = useState("");
  const doing = useDoing();
  const submit = async (event: Event) => {
    event.preventDefault();
    if (typed === name && (await doing.run(act))) close();
  };
  return (
    <Dialog title={title} close={close}>
      <form onSubmit={submit}>
        <p>{about}</p>
        <label>
          Type <code>{name}</code> to confirm
          <input value={typed} autocomplete="off" spellcheck={false} onInput={(event) => set(event.currentTarget.value)} />
        </label>
        {children}
        {doing.problem && (
          <p class="problem" role="alert">
            {doing.problem}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="danger" disabled={typed !== name || doing.busy}>
            {verb}
          </button>
        </div>
        {how && <How told={how} about={title} />}
      </form>
    </Dialog>
  );
}
