// The console reads until somebody unlocks changes; a reload locks them again.
import { useEffect, useState } from "preact/hooks";

let open = false;
const listeners = new Set<(open: boolean) => void>();

export function locked(): boolean {
  return !open;
}

export function setUnlocked(value: boolean): void {
  open = value;
  for (const listener of listeners) listener(value);
}

export function useUnlocked(): boolean {
  const [value, set] = useState(open);
  useEffect(() => {
    listeners.add(set);
    set(open);
    return () => void listeners.delete(set);
  }, []);
  return value;
}
