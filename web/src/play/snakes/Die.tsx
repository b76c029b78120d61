import { useEffect, useState } from "preact/hooks";
import { still } from "../../shared/motion";

/** Which of the nine places have a dot. */
const DOTS: number[][] = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

export function Die({ roll, rolling }: { roll: number; rolling: boolean }) {
  const [face, set] = useState(roll);
  const turns = rolling && !still();
  useEffect(() => {
    if (!turns) return;
    const timer = setInterval(() => set((old) => 1 + ((old + Math.floor(Math.random() * 5)) % 6)), 80);
    return () => clearInterval(timer);
  }, [turns]);
  const shown = rolling ? face : roll;
  return (
    <svg class={`die ${turns ? "rolling" : ""}`} viewBox="0 0 30 30" role="img" aria-label={rolling || !roll ? "The die" : `The die shows ${roll}`}>
      <rect x="1" y="1" width="28" height="28" rx="6" />
      {(DOTS[shown] ?? []).map((dot) => (
        <circle key={dot} cx={7.5 + (dot % 3) * 7.5} cy={7.5 + Math.floor(dot / 3) * 7.5} r="2.6" />
      ))}
    </svg>
  );
}
