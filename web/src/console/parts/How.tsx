import { Command } from "../../shared/Copy";

export interface Told {
  title: string; // "AWS CLI", "redis-cli", "curl"
  text: string;
}

/** The commands that do what a panel does. */
export function How({ told, about }: { told: Told[]; about: string }) {
  return (
    <details class="how">
      <summary>
        The same from a shell<span class="unseen">: {about}</span>
      </summary>
      {told.map(({ title, text }) => (
        <Command key={title} title={title} text={text} />
      ))}
    </details>
  );
}
