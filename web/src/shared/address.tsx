// Where we are: the page's own address, without a router's weight.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const listeners = new Set<() => void>();

export interface Address {
  path: string;
  query: URLSearchParams;
}

function read(): Address {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

function tell(): void {
  for (const listener of listeners) listener();
}

addEventListener("popstate", tell);

export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  scrollTo(0, 0);
  tell();
}

export function useAddress(): Address {
  const [address, set] = useState(read);
  useEffect(() => {
    const listener = () => set(read());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return address;
}

interface LinkProps {
  to: string;
  class?: string;
  current?: boolean;
  label?: string; // where the text may not be shown
  children: ComponentChildren;
}

/** A link of our own: no reload, but a new tab if one asks for it. */
export function Link({ to, class: name, current, label, children }: LinkProps) {
  const click = (event: JSX.TargetedMouseEvent<HTMLAnchorElement>) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} class={name} onClick={click} aria-label={label} aria-current={current ? "page" : undefined}>
      {children}
    </a>
  );
}
