import type { ComponentChildren } from "preact";
import { useUnlocked } from "../unlock";

interface ChangeProps {
  onClick?: () => void;
  submit?: boolean;
  danger?: boolean;
  main?: boolean;
  busy?: boolean;
  disabled?: boolean;
  label?: string;
  children: ComponentChildren;
}

/** A button that changes something: dead until changes are unlocked, and says so. */
export function Change({ onClick, submit, danger, main, busy, disabled, label, children }: ChangeProps) {
  const open = useUnlocked();
  return (
    <button
      type={submit ? "submit" : "button"}
      class={danger ? "danger" : main ? "main" : ""}
      disabled={!open || busy || disabled}
      title={open ? undefined : "Unlock changes first"}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </button>
  );
}
