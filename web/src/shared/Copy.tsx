import { useState } from "preact/hooks";
import { announce } from "./announce";
import { Icon } from "./Icon";

/** Without a secure origin there is no clipboard: then the text is taken by way of a selection. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, set] = useState(false);
  const click = async () => {
    try {
      await copy(text);
    } catch {
      return;
    }
    set(true);
    announce("Copied");
    setTimeout(() => set(false), 1500);
  };
  return (
    <button type="button" class="icon copy" aria-label={label} title={label} onClick={click}>
      <Icon name={done ? "done" : "copy"} />
    </button>
  );
}

/** A command to try, ready to be taken along. */
export function Command({ title, text }: { title: string; text: string }) {
  return (
    <figure class="command">
      <figcaption>
        {title}
        <CopyButton text={text} label={`Copy: ${title}`} />
      </figcaption>
      <pre>
        <code>{text}</code>
      </pre>
    </figure>
  );
}
