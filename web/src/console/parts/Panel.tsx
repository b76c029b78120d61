import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { How, type Told } from "./How";

interface PanelProps {
  title: string;
  actions?: ComponentChildren;
  how?: Told[]; // the commands that do the same
  children: ComponentChildren;
  class?: string;
}

export function Panel({ title, actions, how, children, class: name = "" }: PanelProps) {
  const id = useId();
  return (
    <section class={`panel ${name}`} aria-labelledby={id}>
      <div class="panel-top">
        <h2 id={id}>{title}</h2>
        {actions && <div class="actions">{actions}</div>}
      </div>
      {children}
      {how && <How told={how} about={title} />}
    </section>
  );
}
