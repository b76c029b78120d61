import { useEffect, useRef } from "preact/hooks";

interface TabsProps<T extends string> {
  label: string;
  tabs: readonly T[];
  chosen: T;
  choose: (tab: T) => void;
}

/** Arrow keys move between tabs, as ARIA's pattern has it. */
export function Tabs<T extends string>({ label, tabs, chosen, choose }: TabsProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = (tabs.indexOf(chosen) + step + tabs.length) % tabs.length;
    choose(tabs[at]);
    (list.current?.children[at] as HTMLElement | undefined)?.focus();
  };
  // Where there is no room for all of them, the chosen one is to be seen. Only the strip moves, not the page.
  useEffect(() => {
    const tab = list.current?.children[tabs.indexOf(chosen)]?.getBoundingClientRect();
    const strip = list.current?.getBoundingClientRect();
    if (tab && strip) list.current?.scrollBy({ left: Math.min(tab.left - strip.left, 0) || Math.max(tab.right - strip.right, 0) });
  }, [chosen]);
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={press}>
      {tabs.map((tab) => (
        <button key={tab} type="button" role="tab" aria-selected={tab === chosen} tabIndex={tab === chosen ? 0 : -1} onClick={() => choose(tab)}>
          {tab}
        </button>
      ))}
    </div>
  );
}
