import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface TextFieldProps {
  label: string;
  value: string;
  set: (value: string) => void;
  type?: string;
  placeholder?: string;
  required?: boolean;
  unseen?: boolean; // the label is for screen readers only
  list?: string;
  about?: string;
}

export function TextField({ label, value, set, type = "text", placeholder, required, unseen, list, about }: TextFieldProps) {
  const id = useId();
  return (
    <>
      <label class="field">
        <span class={unseen ? "unseen" : ""}>{label}</span>
        <input
          type={type}
          value={value}
          placeholder={placeholder}
          required={required}
          list={list}
          autocomplete="off"
          spellcheck={false}
          aria-describedby={about && id}
          onInput={(event) => set(event.currentTarget.value)}
        />
      </label>
      {about && <About id={id}>{about}</About>}
    </>
  );
}

/** What a field is for, under it and not part of its name. */
export function About({ id, children }: { id: string; children: ComponentChildren }) {
  return (
    <small id={id} class="quiet about">
      {children}
    </small>
  );
}

interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  set: (value: T) => void;
  choices: readonly T[] | readonly { value: T; text: string }[];
  unseen?: boolean;
}

export function Choice<T extends string>({ label, value, set, choices, unseen }: ChoiceProps<T>) {
  return (
    <label class="field">
      <span class={unseen ? "unseen" : ""}>{label}</span>
      <select value={value} onChange={(event) => set(event.currentTarget.value as T)}>
        {choices.map((choice) => {
          const { value: word, text } = typeof choice === "string" ? { value: choice, text: choice } : choice;
          return (
            <option key={word} value={word} selected={word === value}>
              {text}
            </option>
          );
        })}
      </select>
    </label>
  );
}

export function Check({ label, value, set }: { label: ComponentChildren; value: boolean; set: (value: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => set(event.currentTarget.checked)} />
      {label}
    </label>
  );
}
