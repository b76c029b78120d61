import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface Choice {
  label: string;
  act(): void;
}

interface ConfirmProps {
  title: string;
  choices: Choice[];
  cancel: string;
  onDone(): void;
  children?: ComponentChildren;
}

/** Asks first. Escape, and what is outside, mean no. */
export function Confirm({ title, choices, cancel, onDone, children }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="card confirm"
      aria-labelledby="confirm-title"
      onClose={onDone}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <h2 id="confirm-title">{title}</h2>
      {children}
      <div class="confirm-choices">
        {choices.map(({ label, act }) => (
          <button
            key={label}
            class="danger"
            onClick={() => {
              act();
              dialog.current?.close();
            }}
          >
            {label}
          </button>
        ))}
        <button autofocus onClick={() => dialog.current?.close()}>
          {cancel}
        </button>
      </div>
    </dialog>
  );
}
